//! What a crate's author writes, on the reference manager's library.

fn main() -> std::process::ExitCode {
    allocert_cargo::main("emm", "liballocert_emm_reference.so")
}
