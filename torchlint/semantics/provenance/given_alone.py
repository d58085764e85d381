"""What a function, a method or an attribute gives, by the file alone that it is in, whoever calls it with whatever."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.semantics import Basis, Grad, Kind, Semantics, Type
from torchlint.semantics.code.tree import Function, walk_body
from torchlint.semantics.kinds.annotations import annotated_kind
from torchlint.semantics.summaries.summary import MADE_BY, Given

_NOTHING = Given()
_NONE = Given(Type.NONE.value)
OTHER = Given("other")
"""Of an attribute that a class has, of which it does not tell more."""
_PLAIN = {Type.NUMBER, Type.STRING, Type.ARRAY, Type.NONE}
_GUESSED = {Basis.CALLED, Basis.BATCH, Basis.OPTIMIZED}
"""What tensors are taken for here, and may be something else for other callers."""
_KNOWN_DECORATORS = frozenset({"torch.no_grad", "torch.enable_grad", "torch.inference_mode", "builtins.staticmethod"})
_MARKS = frozenset({"overrides", "override", "classmethod"})
"""The last names of decorators that leave a function what it is."""
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})


def given(semantics: Semantics, name: str) -> Given:
    """What calling the function, or the ``Class.method()``, of that name at the top level of a file gives.

    ``Class.name`` is what an attribute or a property of that name holds.
    """
    semantics.inference.asks_callers = False
    owner, _, last = name.rpartition(".")
    definitions = [each for each in _top_level(semantics.tree.module.body) if each.name == (owner or last)]
    if len(definitions) != 1:
        return _NOTHING
    found = definitions[0]
    if isinstance(found, ast.ClassDef):
        return _Members(semantics, found).given(last) if owner else _NOTHING
    return _returned(semantics, found) if not owner and not _is_hidden(semantics, found) else _NOTHING


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.ClassDef | Function]:
    for statement in body:
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield statement
            case ast.If(body=inner, orelse=orelse):
                yield from _top_level([*inner, *orelse])
            case ast.Try(body=inner, handlers=handlers, orelse=orelse):
                yield from _top_level([*inner, *orelse, *(part for each in handlers for part in each.body)])


class _Members:
    """The methods and attributes of a class."""

    def __init__(self, semantics: Semantics, node: ast.ClassDef) -> None:
        self._semantics = semantics
        self._node = node
        self._own = semantics.facts.classes[node]

    def given(self, name: str) -> Given:
        """What calling a method gives, or what an attribute or property holds."""
        is_called, name = name.endswith("()"), name.removesuffix("()")
        method = self._own.methods.get(name)
        slot = self._own.slots.get(name)
        if method is None:
            has_slot = slot is not None and bool(slot.stores or slot.class_values)
            found = self._held(name) if has_slot else self._registered(name)
            return OTHER if is_called and found != _NOTHING else found
        is_property = any(self._semantics.qualified_name(each) in _PROPERTIES for each in method.decorator_list)
        if (slot is not None and slot.stores) or _is_hidden(self._semantics, method) or is_property is is_called:
            return OTHER
        found = _returned(self._semantics, method)
        return _resting_on(found, self._asked_for(method.body)) if found != _NOTHING else OTHER

    def _held(self, name: str) -> Given:
        """What an attribute holds, where all that is assigned to it is understood."""
        attributes = self._semantics.inference.attributes
        slot = self._own.slots[name]
        kinds = [attributes.stored(store) for store in slot.stores]
        for value, annotation in slot.class_values:
            kinds.append(self._semantics.kind(value) if value is not None else annotated_kind(annotation, self._semantics))
        if (method := self._making(name)) != "":
            return Given(MADE_BY, name=method)
        found = _joined([_converted(kind, self._semantics) for kind in kinds])
        if found in (_NOTHING, _NONE):
            return OTHER
        parents = [self._semantics.tree.parent(store) for store in slot.stores]
        return _resting_on(found, self._asked_for([each for each in parents if each is not None]))

    def _making(self, name: str) -> str:
        """The method that makes what an attribute holds, where all else that is assigned to it is made of that."""
        found: set[str] = set()
        for store in self._own.slots[name].stores:
            statement = self._semantics.tree.parent(store)
            match statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=method), args=[], keywords=[]):
                    found.add(method)
                case ast.expr() as value if any(_is_own(part, name) for part in ast.walk(value)):
                    pass
                case _:
                    return ""
        return found.pop() if len(found) == 1 else ""

    def _registered(self, name: str) -> Given:
        kind = self._semantics.inference.attributes.registered(self._node, name)
        return _converted(kind, self._semantics) if kind is not None else _NOTHING

    def _asked_for(self, parts: Iterable[ast.AST]) -> tuple[str, ...]:
        """The attributes of ``self`` that code reads, and those that the methods among them read."""
        found: dict[str, None] = {}
        pending = list(parts)
        while pending:
            for part in ast.walk(pending.pop()):
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load) and part.attr not in found:
                    if isinstance(part.value, ast.Name) and part.value.id in ("self", "cls"):
                        found[part.attr] = None
                        method = self._semantics.facts.method(self._node, part.attr)
                        pending += method.body if method is not None else []
        return tuple(found)


def _is_own(node: ast.AST, name: str) -> bool:
    """Whether something is that attribute of ``self``."""
    return (
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.value, ast.Name) and node.value.id == "self"
    )


def _resting_on(found: Given, names: tuple[str, ...]) -> Given:
    return Given(found.type, found.grad, found.scalar, found.name, found.items, found.entries, names)


def _is_hidden(semantics: Semantics, function: Function) -> bool:
    """Whether calling a function, or reading a property, does something else than running its body."""
    decorators = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    names = {semantics.qualified_name(each) or "" for each in decorators}
    unknown = {name for name in names - _KNOWN_DECORATORS - _PROPERTIES if name.rpartition(".")[2] not in _MARKS}
    if unknown or isinstance(function, ast.AsyncFunctionDef):
        return True
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk_body(function.body))


def _returned(semantics: Semantics, function: Function) -> Given:
    """What a function returns, where that is told of each of its returns, or by its annotation."""
    values = semantics.facts.returned(function)
    found = _joined([_of(value, semantics) if value is not None else _NONE for value in values])
    if found in (_NOTHING, _NONE) and function.returns is not None and values:
        found = _converted(annotated_kind(function.returns, semantics), semantics)
    if found.type == Type.TENSOR.value and semantics.no_grad.decorated(function):
        return Given(found.type, Grad.NONE.value, found.scalar)
    return found if found != _NONE else _NOTHING


def _of(value: ast.expr, semantics: Semantics) -> Given:
    """What an expression gives, and surely so."""
    match value:
        case ast.Tuple(elts=parts) if not any(isinstance(part, ast.Starred) for part in parts):
            return Given(Type.SEQUENCE.value, items=tuple(_of(part, semantics) for part in parts))
        case ast.Dict(keys=keys, values=values) if keys:
            names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
            if len(names) == len(keys):
                entries = dict(zip(names, (_of(each, semantics) for each in values)))
                return Given(Type.MAPPING.value, entries=tuple(entries.items()))
            return _NOTHING
        case ast.IfExp(body=body, orelse=orelse):
            return _joined([_of(body, semantics), _of(orelse, semantics)])
        case ast.Name():
            bindings = semantics.bindings.reaching(value)
            if not all(semantics.inference.binding_kind(binding).known for binding in bindings):
                return _NOTHING
    return _converted(semantics.kind(value), semantics)


def _converted(kind: Kind, semantics: Semantics) -> Given:
    if kind.is_tensor:
        is_sure = not kind.loose and kind.basis not in _GUESSED
        return Given(kind.type.value, kind.grad.value, kind.scalar) if is_sure else _NOTHING
    if kind.type is Type.MODULE:
        if isinstance(kind.definition, ast.ClassDef) and kind.definition in semantics.tree.module.body:
            return Given(kind.type.value, name=kind.definition.name)
        is_layer = kind.name.startswith("torch.nn.") and not kind.name.startswith("torch.nn.Parameter")
        return Given(kind.type.value, name=kind.name) if is_layer else _NOTHING
    return Given(kind.type.value) if kind.type in _PLAIN else _NOTHING


def _joined(every: Iterable[Given]) -> Given:
    """What is true of one of several values: nothing where one of them is not understood."""
    found = list(dict.fromkeys(every)) or [_NOTHING]
    first = found[0]
    if len(found) == 1:
        return first
    if len({each.type for each in found}) > 1 or first.type not in (Type.TENSOR.value, Type.SEQUENCE.value):
        return _NOTHING
    if first.type == Type.TENSOR.value:
        grads = {each.grad for each in found}
        grad = first.grad if len(grads) == 1 else Grad.UNKNOWN.value
        return Given(first.type, grad, first.scalar if len({each.scalar for each in found}) == 1 else None)
    if len({len(each.items) for each in found}) == 1:
        return Given(first.type, items=tuple(_joined(parts) for parts in zip(*(each.items for each in found), strict=True)))
    return _NOTHING
