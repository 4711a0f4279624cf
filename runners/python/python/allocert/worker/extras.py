"""Which extra of allocert installs a library that a subject needs."""

#: Top-level module -> the extra in pyproject.toml.
_EXTRAS = {"cuda": "numba", "numba": "numba", "numba_cuda": "numba", "numpy": "numpy"}


def advice(error: BaseException, extra: str | None = None) -> str:
    """What to install where a module is missing; empty if allocert has no extra for it.

    `extra` is the one that the side needs, whichever of its modules is missed first.
    """
    if not isinstance(error, ModuleNotFoundError) or not isinstance(error.name, str):
        return ""
    extra = extra or _EXTRAS.get(error.name.partition(".")[0])
    if extra is None:
        return ""
    return (
        f"; the extra `{extra}` of allocert installs it:"
        f' pip install ".[{extra}]" in the root of the repository'
    )
