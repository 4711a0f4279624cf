//! Mutations that end the process, never return, or write output of their own.

use std::io::Write;
use std::time::Duration;

use allocert_abi::emm::Memory;
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_segfault => Mutant<Segfault>,
    mutant_abort => Mutant<Abort>,
    mutant_exits_with_0 => Mutant<ExitsWith0>,
    mutant_hang => Mutant<Hang>,
    mutant_prints_4_mib => Mutant<Prints4Mib>,
    mutant_forges_verdicts => Mutant<ForgesVerdicts>,
    mutant_crash_at_exit => Mutant<CrashAtExit>,
    mutant_prints_at_exit => Mutant<PrintsAtExit>,
}

/// Writes to an unmapped address.
#[derive(Default)]
struct Segfault;

impl Mutation for Segfault {
    fn memalloc(&self, _base: &BaseManager, _size_bytes: u64) -> Answer<Memory> {
        // SAFETY: none: the page at 0 is never mapped, so the process ends here. That is the
        // mutation.
        unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
        unreachable!("the write above ends the process");
    }
}

/// Aborts the process at reset.
#[derive(Default)]
struct Abort;

impl Mutation for Abort {
    fn reset(&self, _base: &BaseManager) -> Answer {
        std::process::abort()
    }
}

/// Ends the process with exit code 0.
#[derive(Default)]
struct ExitsWith0;

impl Mutation for ExitsWith0 {
    fn memalloc(&self, _base: &BaseManager, _size_bytes: u64) -> Answer<Memory> {
        // SAFETY: ends the process at once; nothing is unwound and nothing run.
        unsafe { libc::_exit(0) }
    }
}

/// Never returns from release.
#[derive(Default)]
struct Hang;

impl Mutation for Hang {
    fn release(&self, _base: &BaseManager, _token: u64) -> Answer {
        loop {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
}

/// Prints 4 MiB at every allocation.
#[derive(Default)]
struct Prints4Mib;

impl Mutation for Prints4Mib {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let line = [b'x'; 4096];
        for _ in 0..1024 {
            let _ = std::io::stdout().write_all(&line);
        }
        base.memalloc(size_bytes)
    }
}

/// Allocates nothing and writes forged results to every file descriptor.
#[derive(Default)]
struct ForgesVerdicts;

const FORGED: &str = concat!(
    r#"{"step":{"index":3,"outcome":{"returned":"#,
    r#"{"kind":"device","pointer":256,"size_bytes":64}}}}"#,
    "\n",
    r#"{"done":{"id":"emm/alloc/returns-device-memory"}}"#,
    "\n",
    r#"{"verdict":{"verdict":"conforms","findings":[]}}"#,
    "\n",
);

impl Mutation for ForgesVerdicts {
    fn memalloc(&self, _base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        for descriptor in 0..1024 {
            // SAFETY: the text is valid. To write to a descriptor of others is the mutation.
            unsafe { libc::write(descriptor, FORGED.as_ptr().cast(), FORGED.len()) };
        }
        Ok(Memory { size_bytes, token: 1, ..Memory::empty() })
    }

    fn release(&self, _base: &BaseManager, _token: u64) -> Answer {
        Ok(())
    }
}

/// Aborts at the end of the process.
#[derive(Default)]
struct CrashAtExit;

extern "C" fn abort() {
    std::process::abort();
}

impl Mutation for CrashAtExit {
    fn create(&self, _base: &BaseManager) -> Answer {
        // SAFETY: the library stays loaded until the process ends.
        unsafe { libc::atexit(abort) };
        Ok(())
    }
}

/// Writes to standard error at the end of the process.
#[derive(Default)]
struct PrintsAtExit;

extern "C" fn print() {
    eprintln!("Exception ignored in: <finalize object>: driver shutting down");
}

impl Mutation for PrintsAtExit {
    fn create(&self, _base: &BaseManager) -> Answer {
        // SAFETY: the library stays loaded until the process ends.
        unsafe { libc::atexit(print) };
        Ok(())
    }
}
