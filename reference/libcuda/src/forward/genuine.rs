//! The genuine driver. It is loaded at the first call that needs it, and never closed.

use std::{
    ffi::{CString, c_void},
    mem, ptr,
    sync::OnceLock,
};

use allocert_contract::trace::cuda::Function;

use super::driver_path::{self, Library};

type GetCurrent = unsafe extern "C" fn(*mut u64) -> i32;
type GetVersion = unsafe extern "C" fn(*mut i32) -> i32;

#[derive(Debug)]
pub(crate) struct Genuine {
    /// By function number: its symbol, and that for per-thread default streams. Null where the
    /// driver has none.
    exports: Vec<[*const c_void; 2]>,
    get_current: GetCurrent,
    /// As `cuDriverGetVersion` answers.
    pub(super) version: i32,
}

// SAFETY: addresses of functions, which never change; the driver is made to be called by all
// threads.
unsafe impl Send for Genuine {}
// SAFETY: as above.
unsafe impl Sync for Genuine {}

static GENUINE: OnceLock<Option<Genuine>> = OnceLock::new();

/// The driver, loaded after `prepare` if need be. Says once on stderr why there is none.
#[inline]
pub(super) fn load(prepare: fn()) -> Option<&'static Genuine> {
    let start = || {
        prepare();
        Genuine::start()
            .map_err(|message| eprintln!("allocert: ALLOCERT_MODE=forward: {message}"))
            .ok()
    };
    GENUINE.get_or_init(start).as_ref()
}

/// The driver, if it was needed already.
pub(super) fn loaded() -> Option<&'static Genuine> {
    GENUINE.get()?.as_ref()
}

impl Genuine {
    #[cold]
    fn start() -> Result<Self, String> {
        let library = driver_path::find()?;
        subordinate(&library)?;
        let exports: Vec<_> = Function::all()
            .map(|function| [Some(function.name()), function.per_thread_name()])
            .map(|names| names.map(|name| export(&library, name)))
            .collect();
        let needed = |function: Function| {
            let found = exports[usize::from(function.index())][0];
            let lacks = || {
                format!(
                    "{}: has no {function}, so it is too old or no CUDA driver",
                    library.path.display()
                )
            };
            if found.is_null() { Err(lacks()) } else { Ok(found) }
        };
        needed(Function::cuInit)?;
        needed(Function::cuGetProcAddress)?;
        let (get_current, get_version) =
            (needed(Function::cuCtxGetCurrent)?, needed(Function::cuDriverGetVersion)?);
        // SAFETY: the driver's function of this name has this prototype.
        let get_current = unsafe { mem::transmute::<*const c_void, GetCurrent>(get_current) };
        // SAFETY: the driver's function of this name has this prototype.
        let get_version = unsafe { mem::transmute::<*const c_void, GetVersion>(get_version) };
        let mut version = 0;
        // SAFETY: into a live variable; CUDA permits it before cuInit.
        unsafe { get_version(&mut version) };
        Ok(Self { exports, get_current, version })
    }

    /// The driver's own symbol; null if it has none.
    #[inline]
    pub(super) fn export(&self, function: Function, per_thread: bool) -> *const c_void {
        self.exports[usize::from(function.index())][usize::from(per_thread)]
    }

    /// The calling thread's context; 0 for none, and before `cuInit`.
    #[inline]
    pub(super) fn current_context(&self) -> u64 {
        let mut context = 0;
        // SAFETY: into a live variable.
        let result = unsafe { (self.get_current)(&mut context) };
        if result == 0 { context } else { 0 }
    }
}

fn export(library: &Library, name: Option<&str>) -> *const c_void {
    let name = name.and_then(|name| CString::new(name).ok());
    name.map_or(ptr::null(), |name| library.symbol(&name))
}

/// Tells another copy of this library, in the genuine driver's place, to simulate and to leave
/// recording to this one.
fn subordinate(library: &Library) -> Result<(), String> {
    let function = library.symbol(c"allocert_driver_subordinate");
    if function.is_null() {
        return Ok(());
    }
    // SAFETY: this library's control function of this name has this prototype.
    let function = unsafe { mem::transmute::<*const c_void, extern "C" fn() -> i32>(function) };
    match function() {
        0 => Ok(()),
        code => Err(format!(
            "{}: the software driver there is in use already ({code})",
            library.path.display()
        )),
    }
}
