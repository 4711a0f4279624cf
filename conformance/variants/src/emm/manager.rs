//! A manager with one choice, as a plugin of the C contract.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::emm::{HOST_MAPPED, HOST_PORTABLE, HOST_WRITE_COMBINED, IpcHandle};
use allocert_abi::emm::{KIND_DEVICE, KIND_MAPPED, KIND_PINNED, Memory, MemoryInfo, Status};
use allocert_abi::plugin::{CudaContext, EmmPlugin, Failure};
use allocert_cuda::{Context, Driver, DriverError};

use crate::emm::choice::{Answer, Choice, Cuda, failure};
use crate::emm::manager_records::{Held, Records, Token};

/// A manager that makes one driver allocation for each request, except where its choice says
/// otherwise.
#[derive(Debug)]
pub(crate) struct Manager<C: Choice> {
    choice: C,
    cuda: Cuda,
    records: Mutex<Records>,
}

impl<C: Choice> Manager<C> {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the driver, and once more after a trim if memory is short outside of all scopes.
    fn attempt<T>(&self, allocate: impl Fn() -> Result<T, DriverError>) -> Result<T, DriverError> {
        match allocate() {
            Err(error) if error.is_out_of_memory() && !self.records().in_scope() => {
                self.choice.trim(self.cuda);
                allocate()
            }
            answer => answer,
        }
    }

    fn give_back(&self, held: Held) -> Result<(), DriverError> {
        match held {
            Held::Device { pointer, .. } => self.choice.free(self.cuda, pointer),
            Held::Host { pointer } => self.choice.free_host(self.cuda, pointer),
            Held::Pinned { pointer } => self.cuda.unregister(pointer),
        }
    }

    /// Returns host memory to the host, or gives it back if the driver has no address for it.
    fn host_memory(&self, held: Held, size_bytes: u64, mapped: bool) -> Answer<Memory> {
        let (Held::Host { pointer } | Held::Pinned { pointer }) = held else {
            return Err(Failure::new(Status::INTERNAL, "this is device memory"));
        };
        let mut device_pointer = 0;
        if mapped {
            let address = self.cuda.driver.mem_host_get_device_pointer(pointer);
            device_pointer = address.map_err(|error| {
                let _ = self.give_back(held);
                failure("cuMemHostGetDevicePointer")(error)
            })?;
        }
        Ok(Memory {
            kind: if mapped { KIND_MAPPED } else { KIND_PINNED },
            device_pointer,
            host_pointer: ptr::with_exposed_provenance_mut(pointer),
            size_bytes,
            token: self.choice.token(self.records().add(held)),
            ..Memory::empty()
        })
    }

    /// What to ask the driver for: it refuses 0 bytes.
    fn backing_bytes(call: &str, size_bytes: u64) -> Answer<u64> {
        if size_bytes == 0 && !C::SERVES_ZERO_BYTES {
            return Err(invalid(format!("{call}: there is no memory of zero bytes")));
        }
        Ok(size_bytes.max(1))
    }
}

impl<C: Choice> EmmPlugin for Manager<C> {
    const NAME: &'static CStr = c"allocert variant";
    const VERSION: &'static CStr = c"1";
    const CAPABILITIES: u32 = C::CAPABILITIES;

    fn create(context: CudaContext, device: i32) -> Answer<Self> {
        let driver = Driver::load().map_err(failure("create"))?;
        let count = driver.device_get_count().map_err(failure("create"))?;
        if !(0..count).contains(&device) {
            return Err(invalid(format!("create: there is no device {device}")));
        }
        // SAFETY: the host promises a CUcontext of the driver (allocert_emm.h, create).
        let context = unsafe { Context::from_raw(context.as_non_null()) };
        let cuda = Cuda { driver, context, device };
        Ok(Self { choice: C::default(), cuda, records: Mutex::default() })
    }

    fn initialize(&self) -> Answer {
        self.choice.initialize(self.cuda)
    }

    fn memalloc(&self, size_bytes: u64) -> Answer<Memory> {
        let backing_bytes = Self::backing_bytes("memalloc", size_bytes)?;
        let pointer = self.attempt(|| self.choice.allocate(self.cuda, backing_bytes));
        let device_pointer = pointer.map_err(failure("memalloc"))?;
        let held = Held::Device { pointer: device_pointer, size_bytes };
        let token = self.choice.token(self.records().add(held));
        Ok(Memory { kind: KIND_DEVICE, device_pointer, size_bytes, token, ..Memory::empty() })
    }

    fn memhostalloc(&self, size_bytes: u64, flags: u32) -> Answer<Memory> {
        if flags & !(HOST_MAPPED | HOST_PORTABLE | HOST_WRITE_COMBINED) != 0 {
            return Err(invalid(format!("memhostalloc: flags {flags:#x}")));
        }
        let backing_bytes = Self::backing_bytes("memhostalloc", size_bytes)?;
        let pointer = self.attempt(|| self.choice.allocate_host(self.cuda, backing_bytes, flags));
        let pointer = pointer.map_err(failure("memhostalloc"))?;
        self.host_memory(Held::Host { pointer }, size_bytes, flags & HOST_MAPPED != 0)
    }

    fn mempin(&self, pointer: NonNull<c_void>, size_bytes: u64, flags: u32) -> Answer<Memory> {
        if flags & !HOST_MAPPED != 0 || size_bytes == 0 {
            return Err(invalid(format!("mempin: {size_bytes} bytes with flags {flags:#x}")));
        }
        let (mapped, pointer) = (flags & HOST_MAPPED != 0, pointer.as_ptr().expose_provenance());
        let pin = || self.cuda.driver.mem_host_register(pointer, size_bytes, mapped);
        self.attempt(pin).map_err(failure("mempin"))?;
        self.host_memory(Held::Pinned { pointer }, size_bytes, mapped)
    }

    fn release(&self, token: u64) -> Answer {
        let number = self.choice.number(token);
        let mut records = self.records();
        let due = match records.find(number) {
            Token::Live(_) => records.release(number),
            Token::Old => None,
            Token::Unknown => return Err(invalid(format!("release: no memory has {token}"))),
        };
        drop(records);
        due.map_or(Ok(()), |held| self.give_back(held)).map_err(failure("release"))
    }

    fn get_memory_info(&self) -> Answer<MemoryInfo> {
        self.choice.memory_info(self.cuda)
    }

    fn get_ipc_handle(&self, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        if !self.choice.shares() {
            let text = "get_ipc_handle: this memory cannot be shared";
            return Err(Failure::new(Status::NOT_SUPPORTED, text));
        }
        let found = self.records().find(self.choice.number(token));
        let Token::Live(Held::Device { pointer, size_bytes }) = found else {
            return Err(invalid(format!("get_ipc_handle: no live device memory has {token}")));
        };
        if offset_bytes >= size_bytes {
            return Err(invalid(format!("get_ipc_handle: {offset_bytes} of {size_bytes} bytes")));
        }
        let driver = self.cuda.driver;
        let handle = || {
            let (base, _) = driver.mem_get_address_range(pointer)?;
            let handle = driver.ipc_get_mem_handle(base)?;
            Ok((base, handle, driver.device_get_uuid(self.cuda.device)?))
        };
        let (base, handle, device_uuid) = handle().map_err(failure("get_ipc_handle"))?;
        let offset_bytes = pointer - base + offset_bytes;
        Ok(IpcHandle { handle, size_bytes, offset_bytes, device_uuid, ..IpcHandle::empty() })
    }

    fn reset(&self) -> Answer {
        let all = self.records().reset();
        for held in all {
            // A context that is going away may refuse, and reset() has no error for the host.
            let _ = self.give_back(held);
        }
        self.choice.trim(self.cuda);
        Ok(())
    }

    fn defer_begin(&self) -> Answer {
        self.records().begin_scope();
        Ok(())
    }

    fn defer_end(&self) -> Answer {
        let due = self.records().end_scope();
        let due = due.ok_or_else(|| Failure::new(Status::STATE, "defer_end: no scope is open"))?;
        let given = due.into_iter().map(|held| self.give_back(held));
        given.fold(Ok(()), Result::and).map_err(failure("defer_end"))
    }
}

impl<C: Choice> Drop for Manager<C> {
    fn drop(&mut self) {
        let _ = self.reset();
    }
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(Status::INVALID_VALUE, message)
}
