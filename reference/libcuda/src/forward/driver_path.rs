//! Finds the genuine driver and opens it.

use std::{
    ffi::{CStr, CString, OsStr, c_void},
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

/// Where drivers are installed: Debian, Fedora, container runtimes, WSL, Arch, NixOS.
const USUAL: [&str; 7] = [
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    "/run/opengl-driver/lib/libcuda.so.1",
];
const VARIABLE: &str = "ALLOCERT_REAL_DRIVER";
const ADVICE: &str = "set ALLOCERT_REAL_DRIVER to the absolute path of the genuine libcuda.so.1";

/// A library that stays open.
#[derive(Debug)]
pub(super) struct Library {
    handle: *mut c_void,
    pub(super) path: PathBuf,
}

/// Opens the driver that the environment names, or the first one in the usual places.
pub(super) fn find() -> Result<Library, String> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return open_named(Path::new(&named))
            .map_err(|reason| format!("{VARIABLE}={}: {reason}; {ADVICE}", named.display()));
    }
    let mut reasons = String::new();
    for path in
        USUAL.map(Path::new).into_iter().filter(|path| path.exists() && !is_this_library(path))
    {
        match Library::open(path) {
            Ok(library) if library.symbol(c"allocert_control_version").is_null() => {
                return Ok(library);
            }
            // Another copy of this library is no genuine driver; it stays open and unused.
            Ok(_) => {}
            Err(reason) => reasons = format!("{reasons} ({reason})"),
        }
    }
    Err(format!("there is no genuine CUDA driver in {}{reasons}; {ADVICE}", USUAL.join(", ")))
}

fn open_named(path: &Path) -> Result<Library, String> {
    if !path.is_absolute() {
        return Err("not an absolute path".to_owned());
    }
    if is_this_library(path) {
        return Err("that is this library itself".to_owned());
    }
    Library::open(path)
}

impl Library {
    /// By absolute path, which glibc opens although a library of the same SONAME (this one) is
    /// there.
    fn open(path: &Path) -> Result<Self, String> {
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| "the path holds a NUL".to_owned())?;
        // SAFETY: the name is NUL-terminated; the initializers of the driver that the user named
        // are the user's choice.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() { Err(reason()) } else { Ok(Self { handle, path: path.to_owned() }) }
    }

    /// The address of a symbol of the library; null if it has none.
    pub(super) fn symbol(&self, name: &CStr) -> *const c_void {
        // SAFETY: the handle is never closed, and the name is NUL-terminated.
        unsafe { libc::dlsym(self.handle, name.as_ptr()) }
    }
}

/// Why `dlopen` failed.
fn reason() -> String {
    // SAFETY: without preconditions.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "cannot be loaded".to_owned();
    }
    // SAFETY: dlerror's string is valid until this thread's next call of its family.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// By device and inode, so under any name.
fn is_this_library(path: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let own = own_path().and_then(|path| identity(&path));
    own.is_some() && own == identity(path)
}

fn own_path() -> Option<PathBuf> {
    // SAFETY: a struct of pointers, for which zeros are a value.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for; the answer goes to a live struct.
    let known = unsafe { libc::dladdr(find as *const c_void, &mut found) } != 0;
    if !known || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's own string, which lives as long as this library.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}
