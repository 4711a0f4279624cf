//! Two functions of a library that are an allocator by place, without a table.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use allocert_abi::place::{CPU, CUDA, Place};
use allocert_suite::interface::place::{Abi, FunctionNames};
use libloading::os::unix::Library;

use crate::library;
use crate::protocol::Refused;

type TorchAlloc =
    unsafe extern "C-unwind" fn(size: isize, device: i32, stream: *mut c_void) -> *mut c_void;
type TorchFree = unsafe extern "C-unwind" fn(
    pointer: *mut c_void,
    size: isize,
    device: i32,
    stream: *mut c_void,
);

type CupyAlloc =
    unsafe extern "C-unwind" fn(param: *mut c_void, size: usize, device: i32) -> *mut c_void;
type CupyFree = unsafe extern "C-unwind" fn(param: *mut c_void, pointer: *mut c_void, device: i32);
type MallocAlloc = unsafe extern "C-unwind" fn(size: usize) -> *mut c_void;
type MallocFree = unsafe extern "C-unwind" fn(pointer: *mut c_void);

/// The functions of a library, which is never closed.
#[derive(Debug)]
pub(crate) struct Functions {
    names: FunctionNames,
    pair: Pair,
    path: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
enum Pair {
    Torch {
        alloc: TorchAlloc,
        free: TorchFree,
    },
    /// `param` is the address that the functions are given.
    Cupy {
        alloc: CupyAlloc,
        free: CupyFree,
        param: u64,
    },
    Malloc {
        alloc: MallocAlloc,
        free: MallocFree,
    },
}

impl Functions {
    /// The functions that are part of this program.
    pub(crate) fn reference(names: FunctionNames) -> Result<Self, Refused> {
        let pair = match names.abi {
            Abi::Torch => Pair::Torch { alloc: own_torch_alloc, free: own_torch_free },
            abi @ (Abi::Cupy | Abi::Malloc) => {
                let message = format!("the reference allocator has no functions of --abi {abi}");
                return Err(Refused::new("symbol", message, ""));
            }
        };
        Ok(Self { names, pair, path: None })
    }

    /// Loads the library and looks the functions up.
    pub(crate) fn open(path: PathBuf, names: FunctionNames) -> Result<Self, Refused> {
        let library = library::open(&path)?;
        let (alloc, free) = (names.alloc.as_str(), names.free.as_str());
        let pair = match names.abi {
            Abi::Torch => Pair::Torch {
                // SAFETY: the user says that the symbol has this type.
                alloc: unsafe { symbol(&library, &path, alloc) }?,
                // SAFETY: as above.
                free: unsafe { symbol(&library, &path, free) }?,
            },
            Abi::Cupy => Pair::Cupy {
                // SAFETY: as above.
                alloc: unsafe { symbol(&library, &path, alloc) }?,
                // SAFETY: as above.
                free: unsafe { symbol(&library, &path, free) }?,
                param: match &names.param {
                    // SAFETY: the address of whatever the symbol is.
                    Some(param) => unsafe { symbol::<*mut c_void>(&library, &path, param) }?
                        .expose_provenance() as u64,
                    None => 0,
                },
            },
            Abi::Malloc => Pair::Malloc {
                // SAFETY: as above.
                alloc: unsafe { symbol(&library, &path, alloc) }?,
                // SAFETY: as above.
                free: unsafe { symbol(&library, &path, free) }?,
            },
        };
        std::mem::forget(library);
        Ok(Self { names, pair, path: Some(path) })
    }

    pub(crate) fn names(&self) -> &FunctionNames {
        &self.names
    }

    pub(crate) fn file(&self) -> String {
        self.path.as_deref().map_or_else(String::new, |path| path.display().to_string())
    }

    /// Why the functions cannot be asked for a block, if they cannot: no caller of theirs would.
    pub(crate) fn declines(&self, place: Place, size_bytes: u64) -> Option<String> {
        let abi = self.names.abi;
        let (kind, kind_name) = match abi {
            Abi::Torch | Abi::Cupy => (CUDA, "devices"),
            Abi::Malloc => (CPU, "the host"),
        };
        if place.kind != kind {
            return Some(format!("the functions of --abi {abi} serve memory of {kind_name} alone"));
        }
        let is_asked_for = match abi {
            Abi::Torch => isize::try_from(size_bytes).is_ok(),
            Abi::Cupy => size_bytes > 0 && isize::try_from(size_bytes).is_ok(),
            Abi::Malloc => true,
        };
        (!is_asked_for).then(|| format!("a caller of --abi {abi} asks for no {size_bytes} bytes"))
    }

    /// Whether a caller of the functions frees NULL.
    pub(crate) fn frees_null(&self) -> bool {
        match self.names.abi {
            Abi::Torch | Abi::Cupy => false,
            Abi::Malloc => true,
        }
    }

    /// The address that came back. The caller has made the device current.
    pub(crate) fn alloc(&self, place: Place, size_bytes: u64, stream: u64) -> u64 {
        let address = match self.pair {
            Pair::Torch { alloc, .. } => {
                // SAFETY: the library's own function; it takes any number, and a stream of the
                // driver or the default one.
                unsafe { alloc(size_bytes as isize, place.device, pointer(stream)) }
            }
            Pair::Cupy { alloc, param, .. } => {
                // SAFETY: as above; `param` is what the user named for it.
                unsafe { alloc(pointer(param), size_bytes as usize, place.device) }
            }
            Pair::Malloc { alloc, .. } => {
                // SAFETY: as above.
                unsafe { alloc(size_bytes as usize) }
            }
        };
        address.expose_provenance() as u64
    }

    /// Gives a block back with the size, the device and the stream that it was taken with.
    pub(crate) fn free(&self, place: Place, address: u64, size_bytes: u64, stream: u64) {
        match self.pair {
            Pair::Torch { free, .. } => {
                // SAFETY: the library's own function; the worker passes a block that the library
                // gave, once.
                unsafe {
                    free(pointer(address), size_bytes as isize, place.device, pointer(stream))
                }
            }
            Pair::Cupy { free, param, .. } => {
                // SAFETY: as above.
                unsafe { free(pointer(param), pointer(address), place.device) }
            }
            Pair::Malloc { free, .. } => {
                // SAFETY: as above, or NULL.
                unsafe { free(pointer(address)) }
            }
        }
    }
}

fn pointer(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// The function behind a symbol.
///
/// # Safety
/// The symbol is a function of the type `F`.
unsafe fn symbol<F: Copy>(library: &Library, path: &Path, name: &str) -> Result<F, Refused> {
    let text = CString::new(name).unwrap_or_default();
    // SAFETY: the caller's promise.
    let found = unsafe { library.get::<F>(text.as_bytes_with_nul()) };
    found.map(|function| *function).map_err(|error| library::no_symbol(path, name, &error))
}

unsafe extern "C-unwind" fn own_torch_alloc(
    size: isize,
    device: i32,
    stream: *mut c_void,
) -> *mut c_void {
    allocert_place::allocert_place_torch_malloc(size, device, stream)
}

unsafe extern "C-unwind" fn own_torch_free(
    pointer: *mut c_void,
    size: isize,
    device: i32,
    stream: *mut c_void,
) {
    allocert_place::allocert_place_torch_free(pointer, size, device, stream);
}
