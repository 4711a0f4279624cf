"""libcuda.so.1, called by the worker itself.

Every call of the worker's own stands between two markers in the trace, so that nobody takes it for
the subject's.
"""

import contextlib
import ctypes
import os

from .outcome import DriverError
from .recorder import Recorder, control

NOT_INITIALIZED, NOT_FOUND = 3, 500
_MEMORY_TYPE, _RANGE_START, _RANGE_SIZE = 2, 11, 12
_HOST = 1
_WRITE_COMBINED = 4

#: The environment variable of each driver setting that a case may change.
SETTINGS = {
    "devices": "ALLOCERT_DEVICES",
    "memory_bytes": "ALLOCERT_MEMORY_BYTES",
    "version": "ALLOCERT_DRIVER_VERSION",
    "peer_access": "ALLOCERT_PEER_ACCESS",
}


class Driver:
    def __init__(self):
        """Loads the library; OSError when there is none. Initializes nothing."""
        self._lib = ctypes.CDLL("libcuda.so.1")
        self.recorder = Recorder(self._lib)
        self._fault_add = control(
            self._lib,
            "allocert_fault_add",
            ctypes.c_char_p,
            ctypes.c_uint64,
            ctypes.c_uint64,
            ctypes.c_int32,
            returns=ctypes.c_int,
        )
        self._fault_clear = control(self._lib, "allocert_fault_clear")
        self._restart = control(self._lib, "allocert_driver_restart", returns=ctypes.c_int)

    def harness(self):
        """Around driver calls of the worker's own."""
        return self.recorder.harness()

    # -- the software driver's controls
    # ------------------------------------------------------------------------------

    def fault_add(self, call, nth, count, error):
        """`call` is a symbol's exact name, or the name that every version of the function shares."""
        code = self._fault_add(call.encode(), nth, count, error)
        if code == NOT_FOUND:
            code = self._fault_add(f"{call}_v2".encode(), nth, count, error)
        if code != 0:
            raise DriverError(f"allocert_fault_add({call})", code)

    def fault_clear(self):
        self._fault_clear()

    def restart(self, settings):
        """A driver as at process start, with these settings of a case."""
        for name, variable in SETTINGS.items():
            # Empty means the default to the driver, whatever the harness was started with.
            chosen = settings.get(name)
            os.environ[variable] = "" if chosen is None else str(int(chosen))
        code = self._restart()
        if code != 0:
            raise DriverError("allocert_driver_restart", code)

    # -- the public API
    # ----------------------------------------------------------------------------------------------

    def call(self, name, *arguments):
        """Calls a driver function; DriverError unless it succeeds. Arguments are ctypes values."""
        code = self.code(name, *arguments)
        if code != 0:
            raise DriverError(name, code)

    def code(self, name, *arguments):
        """The CUresult of a driver function."""
        return getattr(self._lib, name)(*arguments)

    def initialize(self):
        with self.harness():
            self.call("cuInit", ctypes.c_uint(0))

    def initialized(self):
        """Whether this process called cuInit."""
        count = ctypes.c_int()
        with self.harness():
            return self.code("cuDeviceGetCount", ctypes.byref(count)) != NOT_INITIALIZED

    def set_current(self, handle):
        """Makes a CUcontext (0: none) the calling thread's current one."""
        with self.harness():
            self.call("cuCtxSetCurrent", ctypes.c_void_p(handle))

    @contextlib.contextmanager
    def current_kept(self):
        """Whatever happens inside, the same context is current afterwards."""
        before = ctypes.c_void_p()
        if self.code("cuCtxGetCurrent", ctypes.byref(before)) == NOT_INITIALIZED:
            before.value = None
        try:
            yield
        finally:
            self.call("cuCtxSetCurrent", before)

    def fill(self, pointer, byte, size_bytes):
        with self.harness():
            self.call(
                "cuMemsetD8_v2",
                ctypes.c_uint64(pointer),
                ctypes.c_ubyte(byte),
                ctypes.c_size_t(size_bytes),
            )

    def read(self, pointer, size_bytes):
        buffer = ctypes.create_string_buffer(size_bytes)
        with self.harness():
            self.call(
                "cuMemcpyDtoH_v2", buffer, ctypes.c_uint64(pointer), ctypes.c_size_t(size_bytes)
            )
        return buffer.raw

    def write_combined(self, pointer):
        """Whether the driver allocated host memory as that; None where it did not allocate it, as for registered memory."""
        flags = ctypes.c_uint()
        with self.harness():
            code = self.code("cuMemHostGetFlags", ctypes.byref(flags), ctypes.c_void_p(pointer))
        return bool(flags.value & _WRITE_COMBINED) if code == 0 else None

    def owns_host_memory(self, pointer, size_bytes):
        """Whether all of it is host memory that the driver allocated or registered: then touching it is safe."""
        with self.harness():
            kind = self._attribute(_MEMORY_TYPE, ctypes.c_uint(), pointer)
            start = self._attribute(_RANGE_START, ctypes.c_uint64(), pointer)
            length = self._attribute(_RANGE_SIZE, ctypes.c_size_t(), pointer)
        known = kind == _HOST and start is not None and length is not None
        return known and start <= pointer and pointer + size_bytes <= start + length

    def _attribute(self, attribute, out, pointer):
        code = self.code(
            "cuPointerGetAttribute",
            ctypes.byref(out),
            ctypes.c_int(attribute),
            ctypes.c_uint64(pointer),
        )
        return out.value if code == 0 else None
