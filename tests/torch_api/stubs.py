"""Signatures and results of torch's functions and methods, read from the type stubs that torch installs."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

_ROOT = Path(torch.__file__).parent
_TENSOR = "Tensor"

_RESULTS = {
    "Tensor": "tensor",
    "Self": "tensor",
    "_int": "number",
    "int": "number",
    "_float": "number",
    "float": "number",
    "Number": "number",
    "SymInt": "number",
    "_complex": "number",
    "_bool": "bool",
    "bool": "bool",
    "str": "string",
    "None": "none",
    "Size": "size",
    "_size": "size",
    "Device": "device",
    "_device": "device",
    "device": "device",
    "_dtype": "dtype",
    "dtype": "dtype",
    "_layout": "layout",
    "layout": "layout",
    "ndarray": "array",
    "PackedSequence": "packed",
    "_Node": "node",
    "Storage": "storage",
    "UntypedStorage": "storage",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature; ``required`` where it has no default."""

    name: str
    type: str
    required: bool
    keyword_only: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """One overload: its parameters without ``self``, and what it returns in the table's vocabulary (empty: not known)."""

    parameters: tuple[Parameter, ...]
    result: str

    def takes(self, name: str) -> bool:
        """Whether there is a parameter of that name."""
        return any(parameter.name == name for parameter in self.parameters)

    @property
    def required(self) -> tuple[Parameter, ...]:
        """The parameters that every call has to give."""
        return tuple(parameter for parameter in self.parameters if parameter.required)


def result_of(annotation: str) -> str:
    """The table's word for a return annotation; empty where it has none."""
    text = annotation.replace("typing.", "").strip("'\" ")
    if text.rpartition(".")[2] in _RESULTS:
        return _RESULTS[text.rpartition(".")[2]]
    inner = text.partition("[")[2].removesuffix("]")
    head = text.partition("[")[0].lower()
    if "return_types." in text:
        return "tuple"
    if head in {"tuple", "list", "sequence"} and "]" not in inner:
        parts = {part.replace("| None", "").strip() for part in inner.split(",")} - {"..."}
        if parts == {_TENSOR}:
            return "list" if head == "list" else "tuple"
        if parts and parts <= {"_int", "int"}:
            return "size"
        return ""
    if "|" in text:
        words = {result_of(part) for part in text.split("|")} - {"none"}
        return words.pop() if len(words) == 1 else ""
    return ""


def _annotation(node: ast.expr | None) -> str:
    return "" if node is None else ast.unparse(node)


def _signature(node: ast.FunctionDef, *, method: bool) -> Signature:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    parameters = [
        Parameter(argument.arg, _annotation(argument.annotation), default is None, keyword_only=False)
        for argument, default in zip(positional, defaults, strict=True)
    ]
    if method:
        parameters = parameters[1:]
    if arguments.vararg is not None:
        parameters.append(Parameter(arguments.vararg.arg, f"*{_annotation(arguments.vararg.annotation)}", True, False))
    parameters += [
        Parameter(argument.arg, _annotation(argument.annotation), default is None, keyword_only=True)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return Signature(tuple(parameters), result_of(_annotation(node.returns)))


def _functions(body: list[ast.stmt], *, method: bool) -> dict[str, tuple[Signature, ...]]:
    found: dict[str, list[Signature]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found.setdefault(node.name, []).append(_signature(node, method=method))
    return {name: tuple(signatures) for name, signatures in found.items()}


def _parse(stub: str) -> ast.Module:
    return ast.parse((_ROOT / stub).read_text(encoding="utf-8"))


def torch_functions() -> dict[str, tuple[Signature, ...]]:
    """The overloads of the functions of ``torch`` that are written in C++."""
    return _functions(_parse("_C/_VariableFunctions.pyi").body, method=False)


def functional_functions() -> dict[str, tuple[Signature, ...]]:
    """The overloads of the functions of ``torch.nn.functional``."""
    return _functions(_parse("nn/functional.pyi").body, method=False)


def _tensor_base() -> ast.ClassDef:
    tree = _parse("_C/__init__.pyi")
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "TensorBase")


def tensor_methods() -> dict[str, tuple[Signature, ...]]:
    """The overloads of the methods of a tensor that are written in C++."""
    return _functions(_tensor_base().body, method=True)


def tensor_properties() -> dict[str, str]:
    """The data attributes of a tensor, with what they hold."""
    found: dict[str, str] = {}
    for node in _tensor_base().body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
            found[node.target.id] = result_of(ast.unparse(node.annotation))
    return found


def python_signature(function: Callable[..., object], *, method: bool = False) -> tuple[Signature, ...]:
    """The signature of a function that is written in Python, empty where it shows none."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ()
    parameters = tuple(_python_parameters(signature))
    annotation = signature.return_annotation
    text = "" if annotation is inspect.Signature.empty else _text(annotation)
    return (Signature(parameters[1:] if method else parameters, result_of(text)),)


def _python_parameters(signature: inspect.Signature) -> Iterator[Parameter]:
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        required = parameter.default is parameter.empty
        annotation = "" if parameter.annotation is parameter.empty else _text(parameter.annotation)
        yield Parameter(parameter.name, star + annotation, required, parameter.kind is parameter.KEYWORD_ONLY)


def _text(annotation: object) -> str:
    if annotation is None or annotation is type(None):
        return "None"
    if annotation is torch.Tensor:
        return _TENSOR
    if isinstance(annotation, str):
        return annotation.replace("torch.Tensor", _TENSOR)
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return annotation.__name__ if annotation.__module__ == "builtins" else f"{annotation.__module__}.{annotation.__name__}"
    return str(annotation).replace("torch.Tensor", _TENSOR)


_SCHEMA_TYPES = {"number": "Number", "List[int]": "_size", "List[Tensor]": "list[Tensor]", "Device": "_device"}
_SCHEMA_RESULTS = {"List[Tensor]": "tuple", "number": "number", "List[int]": "size"}


def schema_signatures(operator: str) -> tuple[Signature, ...]:
    """The overloads of an operator of ATen that return new values."""
    schemas = [schema for schema in torch._C._jit_get_schemas_for_operator(f"aten::{operator}") if _is_public(schema)]
    return tuple(Signature(tuple(_schema_parameters(schema)), _schema_result(schema)) for schema in schemas)


def _is_public(schema: torch._C.FunctionSchema) -> bool:
    return not any(argument.is_out for argument in schema.arguments) and "Dimname" not in str(schema)


def _schema_parameters(schema: torch._C.FunctionSchema) -> Iterator[Parameter]:
    for argument in schema.arguments:
        name = "input" if argument.name == "self" else argument.name
        type_ = _SCHEMA_TYPES.get(str(argument.type), str(argument.type))
        yield Parameter(name, type_, not argument.has_default_value(), argument.kwarg_only)


def _schema_result(schema: torch._C.FunctionSchema) -> str:
    if len(schema.returns) != 1:
        return "tuple" if schema.returns else "none"
    text = str(schema.returns[0].type)
    return _SCHEMA_RESULTS.get(text) or result_of(text)
