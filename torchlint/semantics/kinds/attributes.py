"""The kinds that attributes evaluate to: of tensors, of modules, of what the file's classes store on ``self``."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import cached_property

from torchlint.semantics import torch_api
from torchlint.semantics.kinds.api import api_kind
from torchlint.semantics.kinds.evidence import Evidence
from torchlint.semantics.kinds.kind import (
    NUMBER,
    OPTIMIZED,
    UNKNOWN,
    Basis,
    Grad,
    Kind,
    Type,
    element_of,
    item_of,
    join,
    mapping,
    result_grad,
    sequence,
    tensor,
)
from torchlint.semantics.kinds.others.members import inherited_attribute, member_of
from torchlint.semantics.kinds.questions import Kinds

_VIEWS = frozenset({"T", "mT", "H", "mH", "real", "imag"})
_NUMBER_ATTRIBUTES = frozenset({"ndim", "itemsize", "nbytes", "is_cuda", "requires_grad", "is_leaf"})
_PARAMETER_NAME = re.compile(r"(weight|bias)(_(g|v|ih|hh|orig|ih_l\d|hh_l\d))?|(in_proj|out_proj|q|k|v|g)_(weight|bias)")
_REGISTERING = (("register_buffer", Grad.NONE, Basis.MADE), ("register_parameter", Grad.LEAF, Basis.PARAMETER))
_BUFFER_NAMES = frozenset({"running_mean", "running_var"})


class Attributes:
    """Infers what attributes are."""

    def __init__(self, kinds: Kinds, evidence: Evidence) -> None:
        self._kinds = kinds
        self._evidence = evidence
        self._tree = kinds.code.tree
        self._names = kinds.code.names
        self._definitions = kinds.code.definitions
        self._slot_kinds: dict[tuple[ast.ClassDef, str], Kind] = {}

    def kind(self, node: ast.Attribute) -> Kind:
        """What ``node`` evaluates to."""
        name = self._names.qualified(node)
        if name is not None and not name.startswith("builtins."):
            return api_kind(name)
        base = self._kinds.kind(node.value)
        match base.type:
            case Type.TENSOR:
                return self._tensor_attribute(node, base)
            case Type.MODULE | Type.INSTANCE | Type.OPTIMIZER | Type.LOADER:
                return self._object_attribute(node, base)
            case Type.CLASS if isinstance(base.definition, ast.ClassDef):
                return self._slot(base.definition, node.attr)
            case Type.UNKNOWN:
                found = member_of(base.elsewhere, node.attr, self._kinds) if base.elsewhere is not None else UNKNOWN
                return found if found.known else self._unknown_attribute(node)
            case Type.PACKED if node.attr in ("data", "batch_sizes"):
                return tensor(why="the data of a packed sequence")
        return UNKNOWN

    def _tensor_attribute(self, node: ast.Attribute, base: Kind) -> Kind:
        if node.attr == "data":
            return tensor(Grad.NONE, base.scalar, why="`.data`")
        if node.attr == "grad":
            return tensor(Grad.UNKNOWN if self._keeps_gradient_graph else Grad.NONE, why="a gradient")
        if node.attr in _VIEWS:
            return replace(base, grad=Grad.NONE if self._kinds.no_grad.covers(node) else result_grad([base.grad]))
        if node.attr in _NUMBER_ATTRIBUTES:
            return NUMBER
        if node.attr == "shape":
            return sequence(NUMBER)
        if base.loose and node.attr not in torch_api.TENSOR_ATTRIBUTES:
            if node.attr == "loss":
                return tensor(base.grad, True, why="the loss of a model's output")
            return replace(base, scalar=None) if base.grad is Grad.GRAPH else UNKNOWN
        return UNKNOWN

    @cached_property
    def _keeps_gradient_graph(self) -> bool:
        """Whether the file asks for gradients that carry graph themselves (``create_graph=True``)."""
        for name in ("backward", "grad"):
            for call in self._definitions.calls.get(name, ()):
                for keyword in call.keywords:
                    if keyword.arg == "create_graph" and not _is_false(keyword.value):
                        return True
        return False

    def _is_stored_here_alone(self, node: ast.Attribute, definition: ast.ClassDef) -> bool:
        """Whether an attribute is read for the value of the one statement that gives it one: it is something else before."""
        slots = self._definitions.slots(definition, node.attr)
        stores = [store for slot in slots for store in slot.stores]
        if not stores or any(slot.class_values for slot in slots) or not isinstance(node.ctx, ast.Load):
            return False
        statement = self._tree.statement(node)
        return all(self._tree.statement(store) is statement for store in stores)

    def _object_attribute(self, node: ast.Attribute, base: Kind) -> Kind:
        if isinstance(base.definition, ast.ClassDef):
            kind = self._slot(base.definition, node.attr)
            if kind.known:
                return UNKNOWN if self._is_stored_here_alone(node, base.definition) else kind
            if kind.elsewhere is not None:
                return kind
            if self._definitions.method(base.definition, node.attr) is not None:
                return self._method(base.definition, node.attr)
            if (found := inherited_attribute(base.definition, node.attr, self._kinds)).known:
                return found
            if base.type is Type.INSTANCE or any(slot.stores for slot in self._definitions.slots(base.definition, node.attr)):
                return UNKNOWN
        if base.elsewhere is not None and (kind := member_of(base.elsewhere, node.attr, self._kinds)).known:
            return kind
        if base.type is Type.MODULE:
            if node.attr == "module":
                return Kind(Type.MODULE, why="a wrapped module")
            if node.attr in torch_api.BUFFERS.get(base.name, ()):
                return tensor(Grad.NONE, why=f"a buffer of `{base.name}`")
            if _PARAMETER_NAME.fullmatch(node.attr) or node.attr in torch_api.PARAMETER_ATTRIBUTES.get(base.name, ()):
                return tensor(Grad.LEAF, why="a parameter of a module")
            if node.attr in _BUFFER_NAMES:
                return tensor(Grad.NONE, why="a buffer of a normalisation layer")
        if base.type is Type.OPTIMIZER and node.attr == "param_groups":
            return sequence(mapping(sequence(OPTIMIZED)))
        return UNKNOWN

    def _method(self, definition: ast.ClassDef, name: str) -> Kind:
        method = self._definitions.method(definition, name)
        assert method is not None
        if any(
            isinstance(decorator, ast.Name) and decorator.id in ("property", "cached_property")
            for decorator in method.decorator_list
        ):
            return self._kinds.returned(method)
        return Kind(Type.FUNCTION, name=name, definition=method)

    def _unknown_attribute(self, node: ast.Attribute) -> Kind:
        if node.attr == "grad":
            return tensor(Grad.UNKNOWN if self._keeps_gradient_graph else Grad.NONE, why="a gradient")
        if node.attr == "param_groups":
            return sequence(mapping(sequence(OPTIMIZED)))
        if _PARAMETER_NAME.fullmatch(node.attr) and self._used_as_parameter(node):
            return tensor(Grad.LEAF, why="the weight or bias of a layer")
        if node.attr in _BUFFER_NAMES and self._used_as_parameter(node):
            return tensor(Grad.NONE, why="a buffer of a normalisation layer")
        return UNKNOWN

    def _used_as_parameter(self, node: ast.Attribute) -> bool:
        """Whether ``m.weight`` is used as only a parameter can be: ``.data`` or ``.grad`` of it, or its initialisation."""
        parent = self._tree.parent(node)
        if isinstance(parent, ast.Attribute):
            return parent.attr == "data" or parent.attr in torch_api.TENSOR_ONLY or parent.attr in torch_api.INPLACE_METHODS
        return isinstance(parent, ast.Call) and (self._names.qualified(parent.func) or "").startswith("torch.")

    def _slot(self, definition: ast.ClassDef, name: str) -> Kind:
        """What an attribute of the instances of a class holds."""
        key = (definition, name)
        if key not in self._slot_kinds:
            self._slot_kinds[key] = UNKNOWN
            self._slot_kinds[key] = self._slot_kind(definition, name)
        return self._slot_kinds[key]

    def _slot_kind(self, definition: ast.ClassDef, name: str) -> Kind:
        slots = self._definitions.slots(definition, name)
        kinds = [self.stored(store) for slot in slots for store in slot.stores]
        for slot in slots:
            for value, annotation in slot.class_values:
                kinds.append(self._kinds.kind(value) if value is not None else self._kinds.annotated(annotation))
        kinds.extend(
            self._registered[base, name] for base in self._definitions.bases(definition) if (base, name) in self._registered
        )
        return self._evidence.refine_slot(join(kinds), slots)

    def registered(self, definition: ast.ClassDef, name: str) -> Kind | None:
        """The buffer or parameter that a class registers by that name itself."""
        return self._registered.get((definition, name))

    @cached_property
    def _registered(self) -> dict[tuple[ast.ClassDef, str], Kind]:
        """The buffers and parameters that classes register by name."""
        found = {}
        for method, grad, basis in _REGISTERING:
            for call in self._definitions.calls.get(method, ()):
                words = {word.arg: word.value for word in call.keywords}
                given = [*call.args, *(words[word] for word in ("name", "tensor", "parameter", "param") if word in words)]
                match call.func, given[:2]:
                    case _, [_, ast.Constant(value=None)]:
                        continue  # a name without a tensor
                    case ast.Attribute(value=receiver), [ast.Constant(value=str(name)), *_]:
                        if (owner := self._definitions.self_class(receiver)) is not None:
                            found[owner, name] = tensor(grad, why=f"given to `{method}`", basis=basis)
        return found

    def stored(self, store: ast.Attribute) -> Kind:
        """The kind of the value that an assignment gives an attribute."""
        child: ast.AST = store
        parent = self._tree.parent(store)
        path: list[int | None] = []
        while isinstance(parent, (ast.Tuple, ast.List, ast.Starred)):
            path.append(None if isinstance(parent, ast.Starred) else next(i for i, e in enumerate(parent.elts) if e is child))
            child, parent = parent, self._tree.parent(parent)
        match parent:
            case ast.Assign(value=value):
                kind = self._kinds.kind(value)
            case ast.AnnAssign(value=value, annotation=annotation):
                kind = self._kinds.annotated(annotation)
                if not kind.known and value is not None:
                    kind = self._kinds.kind(value)
            case ast.AugAssign(value=value):
                kind = self._kinds.kind(value) if self._kinds.kind(value).is_tensor else UNKNOWN
            case ast.For(iter=value):
                kind = element_of(self._kinds.kind(value))
            case _:
                return UNKNOWN
        for step in reversed(path):
            kind = item_of(kind, step)
        return kind


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value
