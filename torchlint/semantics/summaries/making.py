"""The summary of a file, made from its syntax tree: nothing is looked up in another file, and nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import all_parts, dotted, last_name, walk
from torchlint.semantics.summaries.functions import joined, made, summed_up
from torchlint.semantics.summaries.given_parts import runs_given_parts
from torchlint.semantics.summaries.local_names import LocalNames, imported_names
from torchlint.semantics.summaries.members import Member, members_of
from torchlint.semantics.summaries.running_methods import running_methods
from torchlint.semantics.summaries.summary import IMPORTED, NOTHING_KNOWN, UNCLEAR, Bound, ClassSummary, Made, Summary

_DEPENDS = re.compile(r"(Lazy|Sync)?BatchNorm\w*|(Feature)?(Alpha)?Dropout\w*|DropPath|RReLU|Transformer\w*")
_DROPS = re.compile(r"drop(out|_rate|_prob|path)")
_REGISTERING = frozenset({"register_buffer", "register_parameter", "Parameter"})
_TENSORS_ARE_MADE_BY = frozenset(name.rpartition(".")[2] for name, gives in torch_api.FUNCTIONS.items() if gives == "tensor")
_MOST_STAND_INS = 4
"""So many imports that stand in for one another are followed."""
_HOOKS = frozenset({"__new__", "__setattr__", "__init_subclass__", "__call__", "train", "eval", "parameters"})
"""Methods that make of a class something else than its bases do."""


def summary_of(module: ast.Module, *, is_stub: bool = False) -> Summary:
    """What a file says to those that import from it; a stub says what classes and functions there are, and not what they do."""
    found: dict[str, Bound] = {}
    stars: list[str] = []
    top = LocalNames()
    for statement in _top_level(module.body):
        for name, bound in _bound(statement, top):
            bound = _of_stub(bound) if is_stub else bound
            known = found.get(name)
            found[name] = bound if known is None or _is_missing(known) else known if _is_missing(bound) else _both(known, bound)
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            stars.append("." * statement.level + (statement.module or ""))
    return Summary(tuple(sorted(found.items())), tuple(stars), _exported(module))


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a file is imported, but for those in loops."""
    for statement in body:
        match statement:
            case ast.If(test=test) if _is_main(test):
                continue
            case ast.If(body=inner, orelse=orelse):
                yield from _top_level([*inner, *orelse])
            case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=last):
                yield from _top_level([*inner, *orelse, *last])
                for handler in handlers:
                    yield from _top_level(handler.body)
            case ast.With(body=inner):
                yield from _top_level(inner)
            case _:
                yield statement


def _is_main(test: ast.expr) -> bool:
    """Whether a test asks whether the file is run as a program."""
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))


def _bound(statement: ast.stmt, top: LocalNames) -> Iterator[tuple[str, Bound]]:
    """The names that a statement of the top level binds."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            for name, imported in imported_names(statement):
                yield name, Bound(reference=IMPORTED + imported)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield statement.name, Bound(function=summed_up(statement))
        case ast.ClassDef():
            yield statement.name, Bound(defined=_class_summary(statement))
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, _of_value(value, top)
                else:
                    yield from ((part.id, UNCLEAR) for part in ast.walk(target) if isinstance(part, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            yield name, _of_value(value, top)
        case ast.AugAssign(target=ast.Name(id=name)) if name != "__all__":
            yield name, UNCLEAR
        case ast.For() | ast.While() | ast.Delete():
            stored = (part for part in walk(statement) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load))
            yield from ((part.id, UNCLEAR) for part in stored)


def _of_stub(bound: Bound) -> Bound:
    """What a stub tells of a definition: its bodies are left out."""
    if bound.function is not None:
        return replace(bound, function=replace(bound.function, hidden=True))
    if bound.defined is not None:
        return replace(bound, defined=replace(bound.defined, stored=("",)))
    return bound


def _of_value(value: ast.expr, top: LocalNames) -> Bound:
    if isinstance(value, ast.Constant) and value.value is None:
        return Bound(reference="None")
    if isinstance(value, (ast.Name, ast.Attribute)):
        return Bound(reference=top.reference(value))
    if isinstance(value, ast.Dict):
        entries = tuple(dict.fromkeys(top.reference(each) for each in value.values))
        return Bound(entries=entries) if entries and all(entries) else UNCLEAR
    given = made(value, top)
    return UNCLEAR if given == NOTHING_KNOWN else Bound(made=given)


def _is_missing(bound: Bound) -> bool:
    """Whether a name stands for something that could not be imported."""
    return bound.reference == "None"


def _both(one: Bound, other: Bound) -> Bound:
    """What is known of a name that is bound twice: that of an import which another one may stand in for, or of both."""
    if one == other:
        return one
    if not (one.reference and other.reference):
        return UNCLEAR
    torch = [each for each in (one, other) if each.reference.startswith(f"{IMPORTED}torch")]
    if len(torch) == 1:
        return torch[0]
    every = tuple(dict.fromkeys((one.reference, *one.others, other.reference, *other.others)))
    return Bound(reference=every[0], others=every[1:]) if len(every) <= _MOST_STAND_INS else UNCLEAR


def _exported(module: ast.Module) -> tuple[str, ...] | None:
    """The names in ``__all__`` where that is written out once."""
    found: list[tuple[str, ...]] = []
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=parts) | ast.Tuple(elts=parts)):
                texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
                found.append(tuple(texts))
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AugAssign(target=ast.Name(id="__all__")):
                return None
    return found[0] if len(found) == 1 else None


# --- classes ---------------------------------------------------------------------------------------------------------


def _class_summary(node: ast.ClassDef) -> ClassSummary:
    members = members_of(node)
    called: dict[str, None] = {}
    stored: dict[str, None] = {}
    matters = registers = False
    tensors: list[tuple[str, Made]] = []
    top = LocalNames()
    for member in members:
        scope = top if member.method is None else LocalNames(member.method, parts=member.body)
        if member.method is not None and (given := _tensors(member, scope)) != NOTHING_KNOWN:
            tensors.append((member.method.name, given))
        for call in member.every(ast.Call):
            name = last_name(call.func)
            matters = matters or _DEPENDS.fullmatch(name) is not None
            registers = registers or name in _REGISTERING
            if reference := scope.reference(call.func):
                called[reference] = None
        for part in member.every(ast.Assign):
            if any(isinstance(each, ast.Attribute) for each in part.targets):
                stored.update((reference, None) for reference in _stored(part.value, scope))
        matters = matters or _asks_for_mode(member)
    if runs_given_parts(members):
        stored[""] = None
    names = tuple(member.method.name for member in members if member.method is not None)
    decorators = (last_name(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list)
    unusual = bool(node.keywords or _HOOKS & set(names)) or not all(name.startswith("register") for name in decorators)
    bases = tuple(dotted(base.value if isinstance(base, ast.Subscript) else base) or "" for base in node.bases)
    running = running_methods(members)
    return ClassSummary(bases, names, tuple(called), tuple(stored), matters, registers, unusual, running, tuple(tensors))


def _tensors(member: Member, scope: LocalNames) -> Made:
    """What calling a method gives, where that, or a part of it, may be what functions of torch make."""
    method, values = member.method, [part.value for part in member.own(ast.Return)]
    if not values or None in values or method is None or method.decorator_list or isinstance(method, ast.AsyncFunctionDef):
        return NOTHING_KNOWN
    given = joined(made(value, scope) for value in values if value is not None)
    if not any(_is_called_as_torch(each) for each in (given, *given.items)):
        return NOTHING_KNOWN
    if member.own(ast.Yield):
        return NOTHING_KNOWN
    return NOTHING_KNOWN if member.own(ast.YieldFrom) else given


def _is_called_as_torch(given: Made) -> bool:
    return bool(given.by) and all(by.rpartition(".")[2] in _TENSORS_ARE_MADE_BY for by in given.by)


def _stored(value: ast.expr, scope: LocalNames) -> Iterator[str]:
    """What is called in a value that an attribute is given; an empty string where it is made by a call of no name."""
    for call in all_parts(value):
        if isinstance(call, ast.Call) and ((reference := scope.reference(call.func)) or call is value):
            yield reference


def _asks_for_mode(member: Member) -> bool:
    """Whether code asks in which mode it is, or is given something to drop."""
    if any(part.attr == "training" and isinstance(part.ctx, ast.Load) for part in member.every(ast.Attribute)):
        return True
    words = (part for part in member.every(ast.keyword) if part.arg is not None and _DROPS.search(part.arg))
    return any(not (isinstance(part.value, ast.Constant) and not part.value.value) for part in words)
