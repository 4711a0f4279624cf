//! What the software driver costs: cuMemAlloc and cuMemFree through cudarc, with the trace off and
//! on; and what forwarding adds, over a copy of the library in the genuine driver's place.
//!
//! Library search path and trace are read when a process starts, so each side runs in a process of
//! its own.
#![expect(unsafe_code, reason = "cudarc's raw driver calls")]

use std::{
    env, fs, io,
    os::unix::fs::{FileExt, symlink},
    path::Path,
    process::{Command, exit},
};

use allocert_contract::trace::ring::Header;
use criterion::Criterion;
use cudarc::driver::result;

const SIDE: &str = "ALLOCERT_BENCH_SIDE";

fn main() {
    match env::var(SIDE) {
        Ok(side) => measure(&side),
        Err(_) => {
            let done = run_sides();
            exit(done.map_or_else(
                |error| {
                    eprintln!("pair: {error}");
                    1
                },
                |()| 0,
            ));
        }
    }
}

fn run_sides() -> io::Result<()> {
    let directory = tempfile::tempdir()?;
    let program = env::current_exe()?;
    let library = program.with_file_name("liballocert_libcuda.so");
    for name in ["libcuda.so", "libcuda.so.1"] {
        symlink(&library, directory.path().join(name))?;
    }
    let ring = directory.path().join("ring");
    let header = Header::new(1 << 16).map_err(io::Error::other)?;
    let file = fs::File::create(&ring)?;
    file.set_len(header.file_bytes())?;
    file.write_all_at(&header.encode(), 0)?;
    let genuine = directory.path().join("genuine.so");
    fs::copy(&library, &genuine)?;
    let (off, on) = (Path::new(""), ring.as_path());
    let sides = [
        ("trace off", "simulate", off),
        ("trace on", "simulate", on),
        ("forwarded, trace off", "forward", off),
        ("forwarded, trace on", "forward", on),
    ];
    for (side, mode, trace) in sides {
        let mut command = Command::new(&program);
        command
            .args(env::args_os().skip(1))
            .env(SIDE, side)
            .env("LD_LIBRARY_PATH", directory.path())
            .env("ALLOCERT_MODE", mode)
            .env("ALLOCERT_REAL_DRIVER", &genuine)
            .env("ALLOCERT_TRACE", trace);
        if !command.status()?.success() {
            return Err(io::Error::other(format!("the side `{side}` failed")));
        }
    }
    Ok(())
}

fn measure(side: &str) {
    result::init().expect("the software driver initializes");
    let device = result::device::get(0).expect("a device");
    // SAFETY: a device of this driver; the context is never released.
    let context = unsafe { result::primary_ctx::retain(device) }.expect("a context");
    // SAFETY: the context just retained.
    unsafe { result::ctx::set_current(context) }.expect("current");
    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function(&format!("alloc and free 256 B, {side}"), |bencher| {
        bencher.iter(|| {
            // SAFETY: a context is current.
            let address = unsafe { result::malloc_sync(256) }.expect("memory");
            // SAFETY: allocated just now, and not used again.
            unsafe { result::free_sync(address) }.expect("freed");
        });
    });
    criterion.bench_function(&format!("memory information, {side}"), |bencher| {
        bencher.iter(|| result::mem_get_info().expect("a context is current"))
    });
    criterion.final_summary();
}
