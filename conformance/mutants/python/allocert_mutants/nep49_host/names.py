"""Hosts that say wrong names of handlers, or hide that an array has none."""

from typing import Any

import numpy

from .repaired_numpy import mutant


@mutant
def names_default_handler(host: Any) -> None:
    """Says the name of the default handler, whatever is installed."""
    own = host.private.get_handler_name
    host.private.get_handler_name = lambda *array: own(*array) if array else "default_allocator"


@mutant
def names_handler_of_view(host: Any) -> None:
    """Says of a view the name of the handler of its base."""
    own = host.private.get_handler_name

    def get_handler_name(*array: Any) -> Any:
        owners = [one.base if isinstance(one.base, numpy.ndarray) else one for one in array]
        return own(*owners)

    host.private.get_handler_name = get_handler_name


@mutant
def names_handler_of_number(host: Any) -> None:
    """Says None of what is no array."""
    own = host.private.get_handler_name
    host.private.get_handler_name = lambda *array: (
        None if array and not isinstance(array[0], numpy.ndarray) else own(*array)
    )


@mutant
def never_warns(host: Any) -> None:
    """Does not look at NUMPY_WARN_IF_NO_MEM_POLICY."""
    host._core._multiarray_umath._set_numpy_warn_if_no_mem_policy = lambda _warn: False


@mutant
def loads_in_second_interpreter(host: Any) -> None:
    """Can be imported in a second interpreter, as any module of Python code."""
    host.__name__ = "colorsys"
