"""Hosts that use what NEP 49 leaves open: NumPy, repaired, with other calls of the handler."""

from typing import Any

from allocert_mutants.nep49_host.repaired_numpy import Host
from allocert_mutants.nep49_host.requests import Requests, distort

#: Hosts round the size of data up to a multiple of this.
_UNIT = 64
_TRIES = 3


def _host(kind: type[Requests]) -> Host:
    host = Host()
    distort(host, kind)
    return host


def _rounded(size: int) -> int:
    return -(-size // _UNIT) * _UNIT


class _AsksForMore(Requests):
    def malloc(self, _context: Any, size: int) -> Any:
        return self.inner_malloc(_rounded(size))

    def calloc(self, _context: Any, nelem: int, elsize: int) -> Any:
        return self.inner_calloc(_rounded(nelem * elsize), 1)

    def realloc(self, _context: Any, block: Any, size: int) -> Any:
        return self.inner_realloc(block, _rounded(size))


class _AsksForZeros(Requests):
    def malloc(self, _context: Any, size: int) -> Any:
        return self.inner_calloc(1, size)


class _AsksAgain(Requests):
    def malloc(self, _context: Any, size: int) -> Any:
        return _again(self.inner_malloc, size)

    def calloc(self, _context: Any, nelem: int, elsize: int) -> Any:
        return _again(self.inner_calloc, nelem, elsize)

    def realloc(self, _context: Any, block: Any, size: int) -> Any:
        return _again(self.inner_realloc, block, size)


def _again(function: Any, *arguments: Any) -> Any:
    answers = (function(*arguments) for _ in range(_TRIES))
    return next((block for block in answers if block), None)


def __getattr__(name: str) -> Any:
    kinds = {
        "asks_for_more": _AsksForMore,
        "asks_for_zeros": _AsksForZeros,
        "asks_again": _AsksAgain,
    }
    if name not in kinds:
        raise AttributeError(f"no host {name}")
    return _host(kinds[name])
