//! Each case of allocert is a test: `cargo test --test allocert emm/reset` runs a part of them.

fn main() -> std::process::ExitCode {
    allocert_cargo::main("emm", "libemm_plugin.so")
}
