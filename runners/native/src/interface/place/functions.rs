//! Two functions of a library that are an allocator by place, without a table.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};

use allocert_abi::place::{CPU, CUDA, Place};
use allocert_suite::interface::place::{FunctionAbi, FunctionNames};
use libloading::os::unix::Library;

use crate::exceptions::{self, Arguments, Thrown};
use crate::library;
use crate::protocol::Refused;

/// The functions of a library.
#[derive(Debug)]
pub(crate) struct Functions {
    names: FunctionNames,
    alloc: *const c_void,
    free: *const c_void,
    /// The address that functions for CuPy are given.
    param: u64,
    path: Option<PathBuf>,
    /// It stays open as long as the functions may be called.
    library: Option<Library>,
}

// SAFETY: the addresses are of functions that every thread may call, and of the library's own data,
// which only its functions read.
unsafe impl Send for Functions {}
// SAFETY: as for Send.
unsafe impl Sync for Functions {}

impl Functions {
    /// The functions that are part of this program.
    pub(crate) fn reference(names: FunctionNames) -> Result<Self, Refused> {
        let (alloc, free) = match names.abi {
            FunctionAbi::Torch => (
                allocert_place::allocert_place_torch_malloc as *const (),
                allocert_place::allocert_place_torch_free as *const (),
            ),
            FunctionAbi::Cupy => (
                allocert_place::allocert_place_cupy_malloc as *const (),
                allocert_place::allocert_place_cupy_free as *const (),
            ),
            FunctionAbi::Malloc => {
                let message = "the reference allocator has no functions of --abi malloc";
                return Err(Refused::new("symbol", message.to_owned(), ""));
            }
        };
        let (alloc, free) = (alloc.cast(), free.cast());
        Ok(Self { names, alloc, free, param: 0, path: None, library: None })
    }

    /// Loads the library and looks the functions up.
    pub(crate) fn open(path: PathBuf, names: FunctionNames) -> Result<Self, Refused> {
        let library = library::open(&path)?;
        let alloc = symbol(&library, &path, &names.alloc)?;
        let free = symbol(&library, &path, &names.free)?;
        let param = match &names.param {
            Some(param) => symbol(&library, &path, param)?.expose_provenance() as u64,
            None => 0,
        };
        Ok(Self { names, alloc, free, param, path: Some(path), library: Some(library) })
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
            FunctionAbi::Torch | FunctionAbi::Cupy => (CUDA, "devices"),
            FunctionAbi::Malloc => (CPU, "the host"),
        };
        if place.kind != kind {
            return Some(format!("the functions of --abi {abi} serve memory of {kind_name} alone"));
        }
        let is_asked_for = match abi {
            FunctionAbi::Torch => isize::try_from(size_bytes).is_ok(),
            FunctionAbi::Cupy => size_bytes > 0 && isize::try_from(size_bytes).is_ok(),
            FunctionAbi::Malloc => true,
        };
        (!is_asked_for).then(|| format!("a caller of --abi {abi} asks for no {size_bytes} bytes"))
    }

    /// Whether a caller of the functions frees NULL.
    pub(crate) fn frees_null(&self) -> bool {
        match self.names.abi {
            FunctionAbi::Torch | FunctionAbi::Cupy => false,
            FunctionAbi::Malloc => true,
        }
    }

    /// The address that came back, 0 for NULL. The caller has made the device current.
    pub(crate) fn alloc(&self, place: Place, size_bytes: u64, stream: u64) -> Result<u64, Thrown> {
        let device = device(place);
        self.call(
            self.alloc,
            &match self.names.abi {
                FunctionAbi::Torch => [size_bytes, device, stream, 0],
                FunctionAbi::Cupy => [self.param, size_bytes, device, 0],
                FunctionAbi::Malloc => [size_bytes, 0, 0, 0],
            },
        )
    }

    /// Gives a block back with the size, the device and the stream that it was taken with.
    pub(crate) fn free(
        &self,
        place: Place,
        address: u64,
        size_bytes: u64,
        stream: u64,
    ) -> Result<(), Thrown> {
        let device = device(place);
        let answer = self.call(
            self.free,
            &match self.names.abi {
                FunctionAbi::Torch => [address, size_bytes, device, stream],
                FunctionAbi::Cupy => [self.param, address, device, 0],
                FunctionAbi::Malloc => [address, 0, 0, 0],
            },
        );
        answer.map(drop)
    }

    /// PyTorch catches what its functions throw. The other callers are C code, which cannot.
    fn call(&self, function: *const c_void, arguments: &Arguments) -> Result<u64, Thrown> {
        match self.names.abi {
            // SAFETY: the user says that the symbol is a function of this ABI, whose arguments
            // these are; the worker frees what the library gave, once, or NULL where callers do.
            FunctionAbi::Torch => unsafe {
                exceptions::call(self.library.as_ref(), function, arguments)
            },
            FunctionAbi::Cupy | FunctionAbi::Malloc => {
                // SAFETY: as above.
                Ok(unsafe { exceptions::call_without_catching(function, arguments) })
            }
        }
    }
}

/// An `int` as an argument.
fn device(place: Place) -> u64 {
    u64::from(place.device.cast_unsigned())
}

/// The address of a symbol.
fn symbol(library: &Library, path: &Path, name: &str) -> Result<*const c_void, Refused> {
    let text = CString::new(name).unwrap_or_default();
    // SAFETY: nothing is behind the address before a function of this type is called there.
    let found = unsafe { library.get::<*const c_void>(text.as_bytes_with_nul()) };
    found.map(|address| *address).map_err(|error| library::no_symbol(path, name, &error))
}
