"""The kinds that type annotations and classes of the file name."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import torch_api
from torchlint.semantics.code import Code
from torchlint.semantics.code.definitions import LIGHTNING
from torchlint.semantics.kinds.kind import (
    ARRAY,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Basis,
    Grad,
    Kind,
    Type,
    join,
    mapping,
    sequence,
    tensor,
)

_SEQUENCES = frozenset(
    {"list", "List", "tuple", "Tuple", "Sequence", "Iterable", "Iterator", "set", "Set", "Generator", "Collection"}
)
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict"})
_TENSORS = frozenset({"torch.Tensor", "torch.autograd.Variable", "torch.nn.Parameter", "builtins.Tensor", "builtins.Parameter"})
_ELEMENT_TYPES = ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "Bool", "BFloat16")
_MODEL_CLASSES = frozenset(
    {
        *("allennlp.models.Model", "allennlp.models.model.Model", "transformers.PreTrainedModel"),
        *("transformers.modeling_utils.PreTrainedModel", "fairseq.models.BaseFairseqModel", "fairseq.models.FairseqModel"),
        *LIGHTNING,
    }
)
"""The classes that all models of a library derive from, which are modules."""
_TRANSFORMERS = re.compile(r"transformers\.(models\.[\w.]+\.)?(?!TF|Flax)[A-Z]\w*(For[A-Z]\w+|Model)")
"""Models of transformers, by how all of them are called."""
_OTHER_FRAMEWORKS = frozenset(
    {"tensorflow", "tf", "keras", "paddle", "mindspore", "jax", "chainer", "mxnet", "onnx", "tinygrad", "oneflow"}
)


def annotated_kind(annotation: ast.expr | None, code: Code) -> Kind:
    """What a value with this annotation is; unknown where the annotation says nothing that matters here."""
    match annotation:
        case None:
            return UNKNOWN
        case ast.Constant(value=str(text)):
            return _quoted(text, code)
        case ast.Constant(value=None):
            return NONE
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return join([annotated_kind(left, code), annotated_kind(right, code)])
        case ast.Subscript(value=base, slice=parameters):
            return _generic(base, parameters, code)
        case ast.Name() | ast.Attribute():
            return _named(annotation, code)
    return UNKNOWN


def instance(definition: ast.ClassDef, code: Code) -> Kind:
    """What calling a class of the file gives."""
    if code.definitions.is_module(definition):
        return Kind(Type.MODULE, name=definition.name, definition=definition, why=f"`{definition.name}` is a module")
    if code.definitions.derives_from(definition, "torch.optim."):
        return Kind(Type.OPTIMIZER, definition=definition)
    if code.definitions.derives_from(definition, "torch.Tensor", "torch.nn.Parameter"):
        return tensor(why=f"`{definition.name}` is a tensor")
    if code.definitions.derives_from(definition, "torch.utils.data.DataLoader"):
        return Kind(Type.LOADER, definition=definition)
    return Kind(Type.INSTANCE, name=definition.name, definition=definition)


def _quoted(text: str, code: Code) -> Kind:
    """A string annotation; what its names refer to may be imported for type checkers only."""
    try:
        annotation = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return UNKNOWN
    code.bindings.adopt(annotation)
    return annotated_kind(annotation, code)


def _generic(base: ast.expr, parameters: ast.expr, code: Code) -> Kind:
    name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
    parts = parameters.elts if isinstance(parameters, ast.Tuple) else [parameters]
    if name in ("Optional", "Union"):
        return join([annotated_kind(part, code) for part in parts])
    if name in ("Annotated", "Final", "ClassVar"):
        return annotated_kind(parts[0], code)
    if name in ("tuple", "Tuple") and not any(isinstance(part, ast.Constant) and part.value is ... for part in parts):
        return sequence(items=tuple(annotated_kind(part, code) for part in parts))
    if name in _SEQUENCES:
        return sequence(annotated_kind(parts[0], code))
    if name in _MAPPINGS and len(parts) == 2:
        return mapping(annotated_kind(parts[1], code))
    return UNKNOWN


def _named(annotation: ast.Name | ast.Attribute, code: Code) -> Kind:
    definition = code.definitions.definition(annotation)
    if isinstance(definition, ast.ClassDef):
        return instance(definition, code)
    name = code.names.qualified(annotation) or ""
    if name in ("torch.nn.Parameter", "builtins.Parameter"):
        return tensor(Grad.LEAF, why="its annotation", basis=Basis.DECLARED)
    if _is_tensor_class(name):
        return tensor(why="its annotation", basis=Basis.DECLARED)
    if name in ("torch.nn.Module", "builtins.Module"):
        return Kind(Type.MODULE, why="its annotation", basis=Basis.DECLARED)
    if name in torch_api.MODULES:
        return Kind(Type.MODULE, name=name, why="its annotation", basis=Basis.DECLARED)
    if name in _MODEL_CLASSES or _TRANSFORMERS.fullmatch(name):
        return Kind(Type.MODULE, name=name, why="its annotation", basis=Basis.DECLARED)
    if name.startswith("torch.optim.lr_scheduler."):
        return Kind(Type.SCHEDULER, why="its annotation", basis=Basis.DECLARED)
    if name.startswith("torch.optim."):
        return Kind(Type.OPTIMIZER, why="its annotation", basis=Basis.DECLARED)
    if name == "torch.utils.data.DataLoader":
        return Kind(Type.LOADER, why="its annotation", basis=Basis.DECLARED)
    if name == "torch.nn.utils.rnn.PackedSequence":
        return Kind(Type.PACKED, why="its annotation", basis=Basis.DECLARED)
    if name in ("numpy.ndarray", "numpy.array"):
        return ARRAY
    last = name.rpartition(".")[2]
    if name.startswith("builtins.") or name.startswith("typing."):
        if last in ("int", "float", "bool", "complex"):
            return NUMBER
        if last in ("str", "bytes"):
            return STRING
        if last in _SEQUENCES:
            return sequence()
        if last in _MAPPINGS:
            return mapping()
        return UNKNOWN
    if name and not name.startswith(".") and last[:1].isupper():
        return Kind(Type.INSTANCE, name=name, why="its annotation", basis=Basis.DECLARED)
    return UNKNOWN


def _is_tensor_class(name: str) -> bool:
    """Whether a dotted name is of the class of tensors, also one that a project imports from a module of its own."""
    top, last = name.partition(".")[0], name.rpartition(".")[2]
    if name in _TENSORS:
        return True
    if top == "torch":
        return last.removesuffix("Tensor") in _ELEMENT_TYPES and last.endswith("Tensor")
    return last == "Tensor" and top not in _OTHER_FRAMEWORKS
