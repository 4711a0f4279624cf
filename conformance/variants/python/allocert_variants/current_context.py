"""Adapters whose methods leave no CUDA context current."""

import ctypes
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from allocert_mutants.cuda_driver import call

C = TypeVar("C", bound=type)


def leaves_no_context_current(*methods: str) -> Callable[[C], C]:
    """Makes no context current at the end of each of these methods of a class."""

    def wrap(cls: C) -> C:
        for name in methods:
            setattr(cls, name, _without_context_after(getattr(cls, name)))
        return cls

    return wrap


def _without_context_after(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(*arguments: Any) -> Any:
        try:
            return method(*arguments)
        finally:
            call("cuCtxSetCurrent", ctypes.c_void_p())

    return wrapped
