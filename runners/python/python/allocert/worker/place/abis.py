"""How the objects of each ABI are called: as the library does that the ABI is named after."""

import logging
import operator
import sys
from collections.abc import Callable
from typing import Any

from ..driver import Driver
from ..outcome import UnraisableHook, UnusableSubject
from ..safe_access import read_attribute
from ..safe_text import type_name
from .places import PlaceKind

_LARGEST_ADDRESS = 2**64 - 1


class WrongAnswer(Exception):
    """A call returned something that its caller cannot use."""


class NotReleased(Exception):
    """The end of an object that owns memory raised an exception, which Python ignores."""


class Taken:
    """What a call gave for a request."""

    def __init__(self, address: int, owner: Any = None, stated_bytes: Any = None) -> None:
        #: 0 where there is no memory.
        self.address = address
        #: The object that owns the memory, for an ABI that has one.
        self.owner = owner
        #: The size that this object says it has.
        self.stated_bytes = stated_bytes


class Abi:
    """How a subject is called."""

    #: Whether a caller makes the device of a block current before it frees the block.
    frees_on_its_device = False
    #: What a subject must have.
    methods: tuple[str, ...] = ()
    #: The same in words.
    shape: str

    def __init__(self, found: Any, driver: Driver) -> None:
        """`found` is the object that the user named."""
        self._found, self._driver = found, driver
        #: One for each device. A subject is made where its device is current.
        self._made: dict[int, Any] = {}

    @classmethod
    def accepts(cls, found: Any) -> bool:
        """Whether this can be a subject, or make one."""
        return cls.is_allocator(found) or callable(found)

    @classmethod
    def is_allocator(cls, found: Any) -> bool:
        """Whether this is a subject itself: an object with the methods, and not its class."""
        return cls.has_methods(found) and not isinstance(found, type)

    @classmethod
    def has_methods(cls, found: Any) -> bool:
        """Whether this is a subject or the class of one."""
        return all(callable(read_attribute(found, name)) for name in cls.methods)

    @classmethod
    def has_streams(cls, _found: Any) -> bool:
        """Whether a request to the object that the user named says for which stream it is."""
        return False

    def allocator(self, device: int) -> Any:
        """The subject of a device, which is current. It is made at its first use."""
        if self.is_allocator(self._found):
            return self._found
        if device not in self._made:
            made = self.make(device)
            if not self.is_allocator(made):
                raise UnusableSubject(
                    f"the subject made {type_name(made)}, which is not {self.shape}"
                )
            self._made.setdefault(device, made)
        return self._made[device]

    def make(self, device: int) -> Any:
        """Makes the subject of a device."""
        return self._found()

    def kind(self, device: int) -> PlaceKind:
        """The kind of place that the subject serves."""
        return PlaceKind.CUDA

    def device(self, device: int) -> int:
        """The device whose memory comes from a subject that is asked for that of `device`."""
        return device

    def alloc(self, device: int, size_bytes: int, stream: int) -> Taken:
        """Asks for a block."""
        raise NotImplementedError

    def free(self, device: int, taken: Taken, size_bytes: int, stream: int) -> None:
        """Gives a block back."""
        raise NotImplementedError


class Cupy(Abi):
    """`malloc(size, device)` and `free(address, device)`, also as a pair of functions."""

    methods = ("malloc", "free")
    shape = "a pair of functions, or an object with `malloc` and `free`"

    @classmethod
    def is_allocator(cls, found: Any) -> bool:
        return _is_pair(found) or super().is_allocator(found)

    def alloc(self, device: int, size_bytes: int, stream: int) -> Taken:
        malloc = self._function(device, 0)
        return Taken(_address("malloc()", malloc(size_bytes, device)))

    def free(self, device: int, taken: Taken, size_bytes: int, stream: int) -> None:
        self._function(device, 1)(taken.address, device)

    def _function(self, device: int, index: int) -> Callable[..., Any]:
        allocator = self.allocator(device)
        found = allocator[index] if _is_pair(allocator) else None
        return found or getattr(allocator, self.methods[index])  # type: ignore[no-any-return]


def _is_pair(found: Any) -> bool:
    return isinstance(found, (tuple, list)) and len(found) == 2 and all(map(callable, found))


class CudaStream:
    """A stream for everybody who knows the protocol of CUDA streams in Python."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


class Rmm(Abi):
    """`allocate(size, stream)` and `deallocate(address, size, stream)`."""

    frees_on_its_device = True
    methods = ("allocate", "deallocate")
    shape = "an object with `allocate` and `deallocate`"

    @classmethod
    def has_streams(cls, _found: Any) -> bool:
        return True

    def alloc(self, device: int, size_bytes: int, stream: int) -> Taken:
        allocator = self.allocator(device)
        answer = allocator.allocate(size_bytes, self._stream(stream))
        return Taken(_address("allocate()", answer))

    def free(self, device: int, taken: Taken, size_bytes: int, stream: int) -> None:
        self.allocator(device).deallocate(taken.address, size_bytes, self._stream(stream))

    def _stream(self, handle: int) -> Any:
        """A subject that RMM is part of takes RMM's own streams alone."""
        streams = sys.modules.get("rmm.pylibrmm.stream")
        stream = CudaStream(handle)
        return stream if streams is None else streams.Stream(stream)


class CudaCore(Abi):
    """`allocate(size, stream=stream)` of a resource, and `close(stream)` of the buffer."""

    methods = ("allocate",)
    shape = "an object with `allocate`"

    @classmethod
    def has_streams(cls, _found: Any) -> bool:
        return True

    def make(self, device: int) -> Any:
        return self._found(device)

    def kind(self, device: int) -> PlaceKind:
        allocator = self.allocator(device)
        on_device = bool(allocator.is_device_accessible)
        on_host = bool(allocator.is_host_accessible)
        if on_device and on_host and not read_attribute(allocator, "is_managed", False):
            return PlaceKind.CUDA_PINNED
        return PlaceKind.CUDA if on_device else PlaceKind.CPU

    def device(self, device: int) -> int:
        """A resource that is made already belongs to one device.

        One that was made for a device has to serve that device, whatever it says.
        """
        if self.kind(device) != PlaceKind.CUDA:
            return 0
        is_made = self.is_allocator(self._found)
        return int(self.allocator(device).device_id) if is_made else device

    def alloc(self, device: int, size_bytes: int, stream: int) -> Taken:
        allocator, own = self.allocator(device), _core_stream(self._driver, device, stream)
        buffer = allocator.allocate(size_bytes, stream=own)
        return Taken(_address("handle", buffer.handle), buffer, buffer.size)

    def free(self, device: int, taken: Taken, size_bytes: int, stream: int) -> None:
        """A buffer remembers the stream that it was taken for.

        The default stream is one of the context that is current, which may be another one now.
        """
        buffer, taken.owner = taken.owner, None
        buffer.close(*([_core_stream(self._driver, device, stream)] if stream else []))


def _core_stream(driver: Driver, device: int, handle: int) -> Any:
    """A stream as an object of cuda.core."""
    from cuda.core import Device, Stream

    with driver.harness():
        return Stream.from_handle(handle) if handle else Device(device).default_stream


class Nvmath(Abi):
    """`memalloc(size)` or `memalloc_async(size, stream)` of a manager.

    nvmath-python calls the second one of a manager that has both. The object that comes back owns
    the memory.
    """

    methods = ("memalloc",)
    shape = "an object with `memalloc` or `memalloc_async`"
    _WITH_STREAM = "memalloc_async"
    #: The names that the address may have, in the order in which nvmath-python looks for them.
    _ADDRESSES = ("device_ptr", "device_pointer", "ptr")

    @classmethod
    def has_methods(cls, found: Any) -> bool:
        return cls.has_streams(found) or super().has_methods(found)

    @classmethod
    def has_streams(cls, found: Any) -> bool:
        return callable(read_attribute(found, cls._WITH_STREAM))

    def make(self, device: int) -> Any:
        return self._found(device, logging.getLogger("allocert"))

    def alloc(self, device: int, size_bytes: int, stream: int) -> Taken:
        allocator = self.allocator(device)
        if self.has_streams(allocator):
            function, own = self._WITH_STREAM, _core_stream(self._driver, device, stream)
            owner = allocator.memalloc_async(size_bytes, own)
        else:
            function, owner = self.methods[0], allocator.memalloc(size_bytes)
        for name in self._ADDRESSES:
            if hasattr(owner, name):
                return Taken(_address(name, getattr(owner, name)), owner)
        names = ", ".join(self._ADDRESSES)
        raise WrongAnswer(f"{function}() returned {type_name(owner)}, which has none of {names}")

    def free(self, device: int, taken: Taken, size_bytes: int, stream: int) -> None:
        """The end of the object gives the memory back; an error there is the error of the call."""
        with UnraisableHook() as unraisable:
            taken.owner = None
        if unraisable.outcome is not None:
            error = unraisable.outcome["raised"]
            raise NotReleased(f"{error['ignored_in']} raised {error['type']}: {error['message']}")


#: The name of an ABI, as the harness writes it -> how its subjects are called.
ABIS: dict[str, type[Abi]] = {
    "cupy": Cupy,
    "rmm": Rmm,
    "cuda-core": CudaCore,
    "nvmath": Nvmath,
}


def _address(source: str, answer: Any) -> int:
    """The number that an answer stands for."""
    try:
        address = operator.index(answer)
    except TypeError:
        if isinstance(answer, (str, float)) or not hasattr(type(answer), "__int__"):
            raise WrongAnswer(f"{source} is {type_name(answer)}, not an address") from None
        address = int(answer)
    if not 0 <= address <= _LARGEST_ADDRESS:
        raise WrongAnswer(f"{source} is {address}, which is not an address")
    return address
