"""What a function, a method or an attribute gives, by the file alone that it is in, whoever calls it with whatever."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.semantics import Basis, Grad, Kind, Semantics, Type
from torchlint.semantics.code.tree import Function, is_none, walk_body
from torchlint.semantics.kinds.annotations import annotated_kind
from torchlint.semantics.provenance.left_open import annotated, either, left_open
from torchlint.semantics.summaries.summary import Given, Open

_NOTHING = Given()
_NONE = Given(Type.NONE.value)
OTHER = Given("other")
"""Of an attribute that a class has, of which it does not tell more."""
_OPEN = frozenset(each.value for each in Open)
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
            is_run = is_called and found != _NOTHING
            return Given(Open.CALL.value, items=(Given(Open.ATTRIBUTE.value, name=name),)) if is_run else found
        if _only_raises(method):
            return Given(Open.NEVER.value)
        is_property = any(self._semantics.qualified_name(each) in _PROPERTIES for each in method.decorator_list)
        if (slot is not None and slot.stores) or _is_hidden(self._semantics, method) or is_property is is_called:
            return OTHER
        found = _returned(self._semantics, method)
        if found == _NOTHING:
            return OTHER
        return found if _is_open(found) else _resting_on(found, self._asked_for(method.body))

    def _held(self, name: str) -> Given:
        """What an attribute holds, where all that is assigned to it is understood."""
        attributes = self._semantics.inference.attributes
        slot = self._own.slots[name]
        kinds = [attributes.stored(store) for store in slot.stores]
        for value, annotation in slot.class_values:
            kinds.append(self._semantics.kind(value) if value is not None else annotated_kind(annotation, self._semantics))
        if (made := self._made(name)) is not None and _is_open(made):
            return made
        found = _joined([_converted(kind, self._semantics) for kind in kinds])
        if found in (_NOTHING, _NONE):
            found = made if made is not None else OTHER
        parents = [self._semantics.tree.parent(store) for store in slot.stores]
        return _resting_on(found, self._asked_for([each for each in parents if each is not None]))

    def _made(self, name: str) -> Given | None:
        """What has to be asked to know what an attribute holds; what it holds itself, wrapped, and nothing, do not count."""
        found: list[Given] = []
        for store in self._own.slots[name].stores:
            statement = self._semantics.tree.parent(store)
            match statement:
                case ast.AnnAssign(annotation=annotation, value=value):
                    told = annotated(annotation, self._semantics)
                case ast.Assign(targets=[_], value=value):
                    told = Given()
                case _:
                    return None
            if value is None or not (is_none(value) or any(_is_own(part, name) for part in ast.walk(value))):
                found.append(told if told != _NOTHING or value is None else _of(value, self._semantics))
        annotations = [each for value, each in self._own.slots[name].class_values if value is None or is_none(value)]
        found += [annotated(each, self._semantics) for each in annotations if each is not None]
        made = either(found)
        return made if made != _NOTHING else None

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


def _only_raises(method: Function) -> bool:
    """Whether a method is there to be overridden."""
    return isinstance(method.body[-1], ast.Raise) and all(isinstance(each, (ast.Expr, ast.Raise)) for each in method.body)


def _is_open(found: Given) -> bool:
    """Whether other files tell all that there is to be told, and not what the methods and attributes beside it are."""
    return found.type in _OPEN and (found.type != Open.ONE_OF.value or all(map(_is_open, found.items)))


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
    if (found in (_NOTHING, _NONE) or found.type in _OPEN) and function.returns is not None and values:
        told = _converted(annotated_kind(function.returns, semantics), semantics)
        told = annotated(function.returns, semantics) if told == _NOTHING else told
        found = told if told != _NOTHING or found.type not in _OPEN else found
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
                return left_open(value, semantics)
    found = _converted(semantics.kind(value), semantics)
    return found if found != _NOTHING else left_open(value, semantics)


def _converted(kind: Kind, semantics: Semantics) -> Given:
    if kind.is_tensor:
        is_sure = not kind.loose and kind.basis not in _GUESSED
        return Given(kind.type.value, kind.grad.value, kind.scalar) if is_sure else _NOTHING
    if kind.type is Type.MODULE:
        if isinstance(kind.definition, ast.ClassDef) and kind.definition in semantics.tree.module.body:
            return Given(kind.type.value, name=kind.definition.name)
        is_layer = kind.name.startswith("torch.nn.") and not kind.name.startswith("torch.nn.Parameter")
        is_declared = not kind.name and kind.basis is Basis.DECLARED
        return Given(kind.type.value, name=kind.name) if is_layer or is_declared else _NOTHING
    return Given(kind.type.value) if kind.type in _PLAIN else _NOTHING


def _joined(every: Iterable[Given]) -> Given:
    """What is true of one of several values: nothing where one of them is not understood."""
    found = list(dict.fromkeys(every)) or [_NOTHING]
    first = found[0]
    if len(found) == 1:
        return first
    if any(each.type in _OPEN for each in found):
        return either(found)
    if len({each.type for each in found}) > 1 or first.type not in (Type.TENSOR.value, Type.SEQUENCE.value):
        return _NOTHING
    if first.type == Type.TENSOR.value:
        grads = {each.grad for each in found}
        grad = first.grad if len(grads) == 1 else Grad.UNKNOWN.value
        return Given(first.type, grad, first.scalar if len({each.scalar for each in found}) == 1 else None)
    if len({len(each.items) for each in found}) == 1:
        return Given(first.type, items=tuple(_joined(parts) for parts in zip(*(each.items for each in found), strict=True)))
    return _NOTHING
