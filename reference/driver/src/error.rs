//! `CUresult` values other than success.

use std::ffi::CStr;

/// A `CUresult` that is not `CUDA_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CudaError(i32);

pub type Result<T = ()> = std::result::Result<T, CudaError>;

macro_rules! codes {
    ($($code:literal $name:ident $(=> $text:literal)?;)*) => {
        impl CudaError {
            $(pub const $name: Self = Self($code);)*
        }

        static NAMES: &[(i32, &CStr, &[&CStr])] = &[
            $((
                $code,
                c_str(concat!("CUDA_ERROR_", stringify!($name), "\0")),
                &[$(c_str(concat!($text, "\0")))?],
            ),)*
        ];
    };
}

const fn c_str(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a table entry contains a NUL"),
    }
}

impl CudaError {
    /// No answer: a function of the host has to run before the call can go on. Whoever holds the
    /// driver runs it ([`Driver::next_host_function`](crate::Driver::next_host_function)), and
    /// makes the call again.
    pub const HOST_FUNCTION_FIRST: Self = Self(-1);
    /// No answer: a query found a function of the host unfinished. Whoever holds the driver lets
    /// another thread run it, and makes the call again after a moment. In the end the answer is
    /// `NOT_READY`: the function may wait for the thread that asks.
    pub const HOST_FUNCTION_SOON: Self = Self(-2);
}

codes! {
    1 INVALID_VALUE => "invalid argument";
    2 OUT_OF_MEMORY => "out of memory";
    3 NOT_INITIALIZED => "initialization error";
    4 DEINITIALIZED => "driver shutting down";
    5 PROFILER_DISABLED => "profiler disabled while using external profiling tool";
    6 PROFILER_NOT_INITIALIZED;
    7 PROFILER_ALREADY_STARTED;
    8 PROFILER_ALREADY_STOPPED;
    34 STUB_LIBRARY;
    36 CALL_REQUIRES_NEWER_DRIVER;
    46 DEVICE_UNAVAILABLE;
    47 MULTICAST_RESOURCE_FULL;
    100 NO_DEVICE => "no CUDA-capable device is detected";
    101 INVALID_DEVICE => "invalid device ordinal";
    102 DEVICE_NOT_LICENSED;
    200 INVALID_IMAGE => "device kernel image is invalid";
    201 INVALID_CONTEXT => "invalid device context";
    202 CONTEXT_ALREADY_CURRENT;
    205 MAP_FAILED;
    206 UNMAP_FAILED;
    207 ARRAY_IS_MAPPED;
    208 ALREADY_MAPPED;
    209 NO_BINARY_FOR_GPU;
    210 ALREADY_ACQUIRED;
    211 NOT_MAPPED;
    212 NOT_MAPPED_AS_ARRAY;
    213 NOT_MAPPED_AS_POINTER;
    214 ECC_UNCORRECTABLE;
    215 UNSUPPORTED_LIMIT;
    216 CONTEXT_ALREADY_IN_USE;
    217 PEER_ACCESS_UNSUPPORTED;
    218 INVALID_PTX;
    219 INVALID_GRAPHICS_CONTEXT;
    220 NVLINK_UNCORRECTABLE;
    221 JIT_COMPILER_NOT_FOUND;
    222 UNSUPPORTED_PTX_VERSION;
    223 JIT_COMPILATION_DISABLED;
    224 UNSUPPORTED_EXEC_AFFINITY;
    225 UNSUPPORTED_DEVSIDE_SYNC;
    226 CONTAINED;
    227 INSUFFICIENT_LOADER_VERSION;
    300 INVALID_SOURCE;
    301 FILE_NOT_FOUND;
    302 SHARED_OBJECT_SYMBOL_NOT_FOUND;
    303 SHARED_OBJECT_INIT_FAILED;
    304 OPERATING_SYSTEM;
    400 INVALID_HANDLE => "invalid resource handle";
    401 ILLEGAL_STATE => "the operation cannot be performed in the present state";
    402 LOSSY_QUERY;
    500 NOT_FOUND => "named symbol not found";
    600 NOT_READY => "device not ready";
    700 ILLEGAL_ADDRESS => "an illegal memory access was encountered";
    701 LAUNCH_OUT_OF_RESOURCES;
    702 LAUNCH_TIMEOUT;
    703 LAUNCH_INCOMPATIBLE_TEXTURING;
    704 PEER_ACCESS_ALREADY_ENABLED => "peer access is already enabled";
    705 PEER_ACCESS_NOT_ENABLED => "peer access has not been enabled";
    708 PRIMARY_CONTEXT_ACTIVE;
    709 CONTEXT_IS_DESTROYED => "context is destroyed";
    710 ASSERT;
    711 TOO_MANY_PEERS;
    712 HOST_MEMORY_ALREADY_REGISTERED
        => "part or all of the requested memory range is already mapped";
    713 HOST_MEMORY_NOT_REGISTERED => "pointer does not correspond to a registered memory region";
    714 HARDWARE_STACK_ERROR;
    715 ILLEGAL_INSTRUCTION;
    716 MISALIGNED_ADDRESS;
    717 INVALID_ADDRESS_SPACE;
    718 INVALID_PC;
    719 LAUNCH_FAILED => "unspecified launch failure";
    720 COOPERATIVE_LAUNCH_TOO_LARGE;
    721 TENSOR_MEMORY_LEAK;
    800 NOT_PERMITTED => "operation not permitted";
    801 NOT_SUPPORTED => "operation not supported";
    802 SYSTEM_NOT_READY;
    803 SYSTEM_DRIVER_MISMATCH;
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE;
    805 MPS_CONNECTION_FAILED;
    806 MPS_RPC_FAILURE;
    807 MPS_SERVER_NOT_READY;
    808 MPS_MAX_CLIENTS_REACHED;
    809 MPS_MAX_CONNECTIONS_REACHED;
    810 MPS_CLIENT_TERMINATED;
    811 CDP_NOT_SUPPORTED;
    812 CDP_VERSION_MISMATCH;
    900 STREAM_CAPTURE_UNSUPPORTED
        => "operation not permitted when stream is capturing";
    901 STREAM_CAPTURE_INVALIDATED;
    902 STREAM_CAPTURE_MERGE;
    903 STREAM_CAPTURE_UNMATCHED;
    904 STREAM_CAPTURE_UNJOINED;
    905 STREAM_CAPTURE_ISOLATION;
    906 STREAM_CAPTURE_IMPLICIT;
    907 CAPTURED_EVENT;
    908 STREAM_CAPTURE_WRONG_THREAD;
    909 TIMEOUT;
    910 GRAPH_EXEC_UPDATE_FAILURE;
    911 EXTERNAL_DEVICE;
    912 INVALID_CLUSTER_SIZE;
    913 FUNCTION_NOT_LOADED;
    914 INVALID_RESOURCE_TYPE;
    915 INVALID_RESOURCE_CONFIGURATION;
    916 KEY_ROTATION;
    917 STREAM_DETACHED;
    918 GRAPH_RECAPTURE_FAILURE;
    919 FABRIC_NOT_READY;
    999 UNKNOWN => "unknown error";
}

impl CudaError {
    /// The error with this number; `None` for 0 and for numbers that CUDA does not use.
    pub fn from_code(code: i32) -> Option<Self> {
        NAMES.iter().any(|entry| entry.0 == code).then_some(Self(code))
    }

    /// Whether a driver of this version, 13000 for 13.0, knows the error. As measured, 13.0 does
    /// not know all that the headers of later versions name.
    pub fn is_known_to(self, driver_version: i32) -> bool {
        driver_version > 13000 || !matches!(self.0, 47 | 227 | 917..=919)
    }

    pub const fn code(self) -> i32 {
        self.0
    }

    /// As `cuGetErrorName` gives it, e.g. `CUDA_ERROR_OUT_OF_MEMORY`.
    pub fn name(self) -> &'static CStr {
        self.row().1
    }

    /// As `cuGetErrorString` gives it.
    pub fn description(self) -> &'static CStr {
        self.row().2.first().copied().unwrap_or(self.name())
    }

    /// Whether it leaves the process's use of the device unusable (CUDA Driver API, `CUresult`:
    /// "the process must be terminated").
    pub const fn is_sticky(self) -> bool {
        matches!(self.0, 700 | 702 | 710 | 714..=719)
    }

    fn row(self) -> &'static (i32, &'static CStr, &'static [&'static CStr]) {
        NAMES.iter().find(|entry| entry.0 == self.0).unwrap_or(&NAMES[NAMES.len() - 1])
    }
}
