"""The summary of a file, made from its syntax tree: nothing is looked up in another file, and nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Function, all_parts, dotted, last_name, parts_apart, walk
from torchlint.semantics.summaries.functions import joined, made, summed_up
from torchlint.semantics.summaries.given_parts import runs_given_parts
from torchlint.semantics.summaries.local_names import LocalNames, imported_names
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
    methods = [part for part in node.body if isinstance(part, FUNCTIONS)]
    called: dict[str, None] = {}
    stored: dict[str, None] = {}
    matters = registers = False
    tensors: list[tuple[str, Made]] = []
    for method, scope, parts in _parts(node):
        if method is not None and (given := _tensors(method, scope, parts)) != NOTHING_KNOWN:
            tensors.append((method.name, given))
        for part in parts:
            kind = type(part)
            if kind is ast.Call:
                assert isinstance(part, ast.Call)
                name = last_name(part.func)
                matters = matters or _DEPENDS.fullmatch(name) is not None
                registers = registers or name in _REGISTERING
                if reference := scope.reference(part.func):
                    called[reference] = None
            elif kind is ast.Assign:
                assert isinstance(part, ast.Assign)
                if any(isinstance(each, ast.Attribute) for each in part.targets):
                    stored.update((reference, None) for reference in _stored(part.value, scope))
            elif not matters:
                matters = _asks_for_mode(part)
    if runs_given_parts(node):
        stored[""] = None
    names = tuple(method.name for method in methods)
    decorators = (last_name(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list)
    unusual = bool(node.keywords or _HOOKS & set(names)) or not all(name.startswith("register") for name in decorators)
    bases = tuple(dotted(base.value if isinstance(base, ast.Subscript) else base) or "" for base in node.bases)
    running = running_methods(node)
    return ClassSummary(bases, names, tuple(called), tuple(stored), matters, registers, unusual, running, tuple(tensors))


def _parts(node: ast.ClassDef) -> Iterator[tuple[Function | None, LocalNames, list[ast.AST]]]:
    """The parts of a class, each with the names of the method that it is in, and that, but for what is nested in it."""
    top = LocalNames()
    for statement in node.body:
        if isinstance(statement, FUNCTIONS):
            own, nested = parts_apart(statement.body)
            scope = LocalNames(statement, parts=own)
            around = [*statement.decorator_list, statement.args, *filter(None, [statement.returns])]
            yield statement, scope, own
            yield None, scope, [*nested, *all_parts(*around)]
        else:
            yield None, top, all_parts(statement)


def _tensors(method: Function, scope: LocalNames, parts: list[ast.AST]) -> Made:
    """What calling a method gives, where that, or a part of it, may be what functions of torch make."""
    values = [part.value for part in parts if type(part) is ast.Return]
    if not values or None in values or method.decorator_list or isinstance(method, ast.AsyncFunctionDef):
        return NOTHING_KNOWN
    given = joined(made(value, scope) for value in values if value is not None)
    if not any(_is_called_as_torch(each) for each in (given, *given.items)):
        return NOTHING_KNOWN
    return NOTHING_KNOWN if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts) else given


def _is_called_as_torch(given: Made) -> bool:
    return bool(given.by) and all(by.rpartition(".")[2] in _TENSORS_ARE_MADE_BY for by in given.by)


def _stored(value: ast.expr, scope: LocalNames) -> Iterator[str]:
    """What is called in a value that an attribute is given; an empty string where it is made by a call of no name."""
    for call in all_parts(value):
        if isinstance(call, ast.Call) and ((reference := scope.reference(call.func)) or call is value):
            yield reference


def _asks_for_mode(part: ast.AST) -> bool:
    """Whether code asks in which mode it is, or is given something to drop."""
    match part:
        case ast.Attribute(attr="training", ctx=ast.Load()):
            return True
        case ast.keyword(arg=str(name), value=value) if _DROPS.search(name):
            return not (isinstance(value, ast.Constant) and not value.value)
    return False
