//! Calls that do not return as calls do.

use std::io::Write;
use std::time::Duration;

use allocert_abi::emm::Memory;

use crate::base::{Answer, Base};
use crate::mutant::Mutation;

/// Reads where nothing is.
#[derive(Default)]
pub(crate) struct Segfault;

impl Mutation for Segfault {
    fn memalloc(&self, _base: &Base, _size_bytes: u64) -> Answer<Memory> {
        // SAFETY: none, that is the mutation: the page at 0 is never mapped, so the process ends
        // here.
        unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
        unreachable!("the write above ends the process");
    }
}

/// Gives up.
#[derive(Default)]
pub(crate) struct Abort;

impl Mutation for Abort {
    fn reset(&self, _base: &Base) -> Answer {
        std::process::abort()
    }
}

/// Leaves as if all were well.
#[derive(Default)]
pub(crate) struct LeavesWithZero;

impl Mutation for LeavesWithZero {
    fn memalloc(&self, _base: &Base, _size_bytes: u64) -> Answer<Memory> {
        // SAFETY: ends the process at once; nothing is unwound and nothing run.
        unsafe { libc::_exit(0) }
    }
}

/// Waits for something that never comes.
#[derive(Default)]
pub(crate) struct Hang;

impl Mutation for Hang {
    fn release(&self, _base: &Base, _token: u64) -> Answer {
        loop {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
}

/// Prints 4 MiB in each allocation.
#[derive(Default)]
pub(crate) struct Flood;

impl Mutation for Flood {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let line = [b'x'; 4096];
        for _ in 0..1024 {
            let _ = std::io::stdout().write_all(&line);
        }
        base.memalloc(size_bytes)
    }
}

/// Allocates nothing and says on every descriptor that it knows of that all went well.
#[derive(Default)]
pub(crate) struct Forger;

const FORGED: &str = concat!(
    r#"{"step":{"index":3,"outcome":{"returned":{"kind":"device","pointer":256,"size_bytes":64}}}}"#,
    "\n",
    r#"{"done":{"id":"emm/alloc/serves"}}"#,
    "\n",
    r#"{"verdict":{"verdict":"conforms","findings":[]}}"#,
    "\n",
);

impl Mutation for Forger {
    fn memalloc(&self, _base: &Base, size_bytes: u64) -> Answer<Memory> {
        for descriptor in 0..1024 {
            // SAFETY: writing to a descriptor that is not ours is the mutation; the text is valid.
            unsafe { libc::write(descriptor, FORGED.as_ptr().cast(), FORGED.len()) };
        }
        Ok(Memory { size_bytes, token: 1, ..Memory::empty() })
    }

    fn release(&self, _base: &Base, _token: u64) -> Answer {
        Ok(())
    }
}

/// Crashes when the program ends.
#[derive(Default)]
pub(crate) struct CrashAtExit;

extern "C" fn crash() {
    std::process::abort();
}

impl Mutation for CrashAtExit {
    fn create(&self, _base: &Base) -> Answer {
        // SAFETY: the library stays loaded until the process ends.
        unsafe { libc::atexit(crash) };
        Ok(())
    }
}

/// Complains when the program ends.
#[derive(Default)]
pub(crate) struct MutterAtExit;

extern "C" fn mutter() {
    eprintln!("Exception ignored in: <finalize object>: driver shutting down");
}

impl Mutation for MutterAtExit {
    fn create(&self, _base: &Base) -> Answer {
        // SAFETY: the library stays loaded until the process ends.
        unsafe { libc::atexit(mutter) };
        Ok(())
    }
}
