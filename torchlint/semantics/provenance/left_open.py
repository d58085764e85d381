"""What a value is that other files tell of: which names of theirs it is made by, looked up by those who see them.

A file alone does not know what ``build(options)`` gives where ``build`` is imported, nor what ``self.make()`` does where a
class that derives from this one defines it. It can say what has to be asked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted
from torchlint.semantics.summaries.functions import SAME_METHODS
from torchlint.semantics.summaries.summary import IMPORTED, Given, Open

_NOTHING = Given()
_DEEPEST = 6
"""So many steps are taken from a value to what it is made of."""
_MOST = 16
"""A value that is one of more is not followed."""
_CLASSES = frozenset({"typing.Type", "builtins.type"})
_MAYBE = frozenset({"typing.Optional"})


def left_open(value: ast.expr, semantics: Semantics, depth: int = _DEEPEST) -> Given:
    """What has to be asked to know what a value is; nothing where no other file would tell."""
    if depth <= 0:
        return _NOTHING
    match value:
        case ast.Call(func=function):
            return _called(function, semantics, depth - 1)
        case ast.IfExp(body=body, orelse=orelse):
            return either([left_open(part, semantics, depth - 1) for part in (body, orelse)])
        case ast.Name():
            return _variable(value, semantics, depth)
        case ast.Attribute(value=owner, attr=name):
            if _is_self(owner, semantics):
                return Given(Open.ATTRIBUTE.value, name=name)
            return _named(value, semantics) or _of(Open.ATTRIBUTE, name, left_open(owner, semantics, depth - 1))
        case ast.Subscript(value=ast.Name() as table) if entries := _entries(table, semantics):
            return either([left_open(each, semantics, depth - 1) for each in entries])
        case ast.Subscript(value=owner, slice=ast.Constant(value=int() | str() as key)) if not isinstance(key, bool):
            return _of(Open.PART, repr(key), left_open(owner, semantics, depth - 1))
    return _NOTHING


def annotated(annotation: ast.expr | None, semantics: Semantics) -> Given:
    """What has to be asked to know what a value with that annotation is."""
    match annotation:
        case ast.Constant(value=str(text)):
            try:
                return annotated(ast.parse(text.strip(), mode="eval").body, semantics)
            except (SyntaxError, ValueError):
                return _NOTHING
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            return annotated(left, semantics)
        case ast.Subscript(value=generic, slice=inner):
            name = semantics.qualified_name(generic)
            if name in _MAYBE:
                return annotated(inner, semantics)
            return _class_named(inner, semantics) if name in _CLASSES else _NOTHING
        case ast.Name() | ast.Attribute():
            return _of(Open.CALL, "", _class_named(annotation, semantics))
    return _NOTHING


def either(every: Iterable[Given]) -> Given:
    """What has to be asked to know what one of several is."""
    parts: dict[Given, None] = {}
    for each in every:
        parts.update(dict.fromkeys(each.items if each.type == Open.ONE_OF.value else [each]))
    if len(parts) == 1:
        return next(iter(parts))
    return Given(Open.ONE_OF.value, items=tuple(parts)) if parts and _NOTHING not in parts and len(parts) <= _MOST else _NOTHING


def _of(what: Open, name: str, owner: Given) -> Given:
    return Given(what.value, name=name, items=(owner,)) if owner != _NOTHING else _NOTHING


def _class_named(node: ast.expr, semantics: Semantics) -> Given:
    name = dotted(node) or ""
    is_class = name.rpartition(".")[2][:1].isupper() and (semantics.qualified_name(node) or "").partition(".")[0] not in _OTHERS
    return (_named(node, semantics) if is_class else None) or _NOTHING


_OTHERS = frozenset({"torch", "builtins", "typing", "numpy", "collections"})


def _called(function: ast.expr, semantics: Semantics, depth: int) -> Given:
    match function:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
            owner = semantics.tree.enclosing_class(function)
            return Given(Open.INHERITED.value, name=f"{owner.name}.{name}") if owner is not None else _NOTHING
        case ast.Attribute(value=ast.Name() as table, attr="get") if entries := _entries(table, semantics):
            return either([left_open(each, semantics, depth) for each in entries])
        case ast.Attribute(value=owner, attr=name) if name in SAME_METHODS:
            return left_open(owner, semantics, depth)
        case ast.Attribute(value=owner, attr=name) if _is_self(owner, semantics):
            return Given(Open.METHOD.value, name=name)
        case ast.Attribute(value=owner, attr=name) if _named(function, semantics) is None:
            return _of(Open.METHOD, name, left_open(owner, semantics, depth))
    return _of(Open.CALL, "", left_open(function, semantics, depth))


def _is_self(node: ast.expr, semantics: Semantics) -> bool:
    return isinstance(node, ast.Name) and semantics.facts.self_class(node) is not None


def _variable(name: ast.Name, semantics: Semantics, depth: int) -> Given:
    bindings = semantics.bindings.reaching(name)
    return _named(name, semantics) or either([_bound(each, semantics, depth - 1) for each in bindings])


def _entries(table: ast.Name, semantics: Semantics) -> list[ast.expr]:
    """What a dict holds that is written out where a function chooses of it: ``{"a": A, "b": B}[name]``."""
    bindings = semantics.bindings.reaching(table)
    value = bindings[0].value if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT and not bindings[0].path else None
    is_plain = isinstance(value, ast.Dict) and all(isinstance(each, (ast.Name, ast.Attribute)) for each in value.values)
    return value.values if isinstance(value, ast.Dict) and is_plain and len(bindings[0].uses) <= _MOST else []


def _bound(binding: Binding, semantics: Semantics, depth: int) -> Given:
    if (found := annotated(binding.annotation, semantics)) != _NOTHING:
        return found
    if binding.form is Form.PARAMETER and isinstance(binding.scope.node, FUNCTIONS) and _is_given(binding, binding.scope.node):
        return Given(Open.ARGUMENT.value, name=binding.name)
    if binding.form is not Form.ASSIGNMENT or binding.value is None or len(binding.path) > 1 or None in binding.path:
        return _NOTHING
    found = left_open(binding.value, semantics, depth)
    for index in binding.path:
        found = _of(Open.PART, repr(index), found)
    return found


def _is_given(binding: Binding, function: Function) -> bool:
    """Whether a parameter is given what each call says, and none of `*args`."""
    arguments = function.args
    return binding.node in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)


def _named(node: ast.expr, semantics: Semantics) -> Given | None:
    """What a name, or a chain of attributes on one, refers to by what the file imports and defines at its top level."""
    root, text = node, dotted(node)
    while isinstance(root, ast.Attribute):
        root = root.value
    if text is None or not isinstance(root, ast.Name):
        return None
    bindings = semantics.bindings.reaching(root) or semantics.bindings.lookup(root.id, semantics.bindings.module)
    imports = {each.imported for each in bindings if each.form is Form.IMPORT}
    if len(imports) == 1 and all(each.form is Form.IMPORT for each in bindings):
        return Given(Open.NAME.value, name=IMPORTED + imports.pop() + text.removeprefix(root.id))
    is_local = any(each.scope is not semantics.bindings.module for each in bindings)
    return None if is_local else Given(Open.NAME.value, name=text)
