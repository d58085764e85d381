"""The summary of a file, made from its syntax tree: nothing is looked up in another file, and nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlint.semantics.code.tree import FUNCTIONS, dotted, is_none, last_name, walk
from torchlint.semantics.summaries.functions import made, summed_up
from torchlint.semantics.summaries.local_names import LocalNames, imported_names
from torchlint.semantics.summaries.summary import IMPORTED, NOTHING_KNOWN, UNCLEAR, Bound, ClassSummary, Summary

_MOST_STAND_INS = 4
"""So many imports that stand in for one another are followed."""
_HOOKS = frozenset({"__new__", "__setattr__", "__init_subclass__", "__call__", "train", "eval", "parameters"})
"""Methods that make of a class something else than its bases do."""


def summary_of(module: ast.Module, *, is_stub: bool = False) -> Summary:
    """What a file says to those that import from it; a stub says what classes and functions there are, and not what they do."""
    found: dict[str, Bound] = {}
    stars: list[str] = []
    top = LocalNames()
    for statement in top_level(module.body):
        for name, bound in _bound(statement, top):
            bound = _of_stub(bound) if is_stub else bound
            known = found.get(name)
            found[name] = bound if known is None or _is_missing(known) else known if _is_missing(bound) else _both(known, bound)
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            stars.append("." * statement.level + (statement.module or ""))
    return Summary(tuple(sorted(found.items())), tuple(stars), _exported(module))


def top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a file is imported, but for those in loops."""
    for statement in body:
        match statement:
            case ast.If(test=test) if _is_main(test):
                continue
            case ast.If(body=inner, orelse=orelse):
                yield from top_level([*inner, *orelse])
            case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=last):
                yield from top_level([*inner, *orelse, *last])
                for handler in handlers:
                    yield from top_level(handler.body)
            case ast.With(body=inner):
                yield from top_level(inner)
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
    return bound


def _of_value(value: ast.expr, top: LocalNames) -> Bound:
    if is_none(value):
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


def _class_summary(node: ast.ClassDef) -> ClassSummary:
    names = tuple(each.name for each in node.body if isinstance(each, FUNCTIONS))
    decorators = (last_name(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list)
    unusual = bool(node.keywords or _HOOKS & set(names)) or not all(name.startswith("register") for name in decorators)
    bases = tuple(dotted(base.value if isinstance(base, ast.Subscript) else base) or "" for base in node.bases)
    return ClassSummary(bases, names, unusual)
