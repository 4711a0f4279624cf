"""The stub `_allocert.pyi` has what the native module has: names, and names of parameters."""

import ast
import inspect
import pathlib
from typing import Any, TypeAlias

import allocert
from allocert import _allocert

STUB = pathlib.Path(allocert.__file__).parent / "_allocert.pyi"

#: Name -> the names of the parameters, or None for a property.
Members: TypeAlias = dict[str, list[str] | None]
#: Name -> the members of a class, or the parameters of a function.
Contents: TypeAlias = dict[str, Members | list[str]]

#: The methods with two underscores that the stub declares.
SPECIAL = ("__call__", "__cuda_stream__", "__new__")


def stub_contents() -> Contents:
    found: Contents = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ClassDef):
            functions = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            found[node.name] = {
                function.name: None if function.decorator_list else stub_parameters(function)
                for function in functions
            }
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = stub_parameters(node)
    return found


def stub_parameters(function: ast.FunctionDef) -> list[str]:
    return [part.arg for part in function.args.args if part.arg not in ("self", "cls")]


def module_contents() -> Contents:
    public = {name: value for name, value in vars(_allocert).items() if not name.startswith("_")}
    return {
        name: class_members(value) if isinstance(value, type) else parameters(value)
        for name, value in public.items()
    }


def class_members(cls: type) -> Members:
    if issubclass(cls, Exception):
        return {}
    members: Members = {}
    for name, value in vars(cls).items():
        if name == "__new__":
            members[name] = parameters(cls)
        elif name == "__call__":
            members[name] = []  # Python knows no signature of it
        elif name in SPECIAL or not name.startswith("_"):
            members[name] = parameters(value) if callable(value) else None
    return members


def parameters(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_the_stub_has_what_the_module_has() -> None:
    assert stub_contents() == module_contents()
