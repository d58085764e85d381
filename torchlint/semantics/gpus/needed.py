"""Functions and classes that put something on a GPU which is written out, whatever the flags of the program say."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics.code.tree import FUNCTIONS, Function, all_parts, is_self, last_name, push_children
from torchlint.semantics.gpus.flags import is_flag, is_named_for_gpu

_RUN = ("__init__", "forward", "__call__")
"""The methods that are run wherever a module is made and used."""


def needs_gpu(node: ast.ClassDef | Function) -> bool:
    """Whether a function, or what a class does when it is made and called, needs a GPU in any case.

    Code that asks anywhere whether there is one is meant to do without.
    """
    bodies = _run_in(node) if isinstance(node, ast.ClassDef) else [node.body]
    return any(map(_puts_on_gpu, bodies)) and not any(map(_asks, all_parts(node)))


def moves_in_any_case(module: ast.Module) -> bool:
    """Whether a function of a file, or its script, puts something on a GPU, whatever flags say."""
    functions = (node for node in ast.walk(module) if isinstance(node, FUNCTIONS) and not is_named_for_gpu(node))
    return _puts_on_gpu(module.body) or any(_puts_on_gpu(each.body) for each in functions)


def _run_in(node: ast.ClassDef) -> list[list[ast.stmt]]:
    """The bodies of the methods that are run wherever a module is made and used, and of those that they call."""
    methods = {each.name: each for each in node.body if isinstance(each, FUNCTIONS)}
    pending = [name for name in _RUN if name in methods]
    seen = dict.fromkeys(pending)
    while pending:
        called = _called_of_self(methods[pending.pop()].body) & (methods.keys() - seen.keys())
        seen |= dict.fromkeys(called)
        pending += called
    return [methods[name].body for name in seen]


def _called_of_self(body: list[ast.stmt]) -> set[str]:
    """The methods of the object itself that statements call."""
    functions = [call.func for call in _calls(body)]
    return {each.attr for each in functions if isinstance(each, ast.Attribute) and is_self(each.value)}


def _asks(node: ast.AST) -> bool:
    """Whether code decides by a flag."""
    return isinstance(node, (ast.If, ast.IfExp)) and is_flag(node.test)


def _puts_on_gpu(body: list[ast.stmt]) -> bool:
    """Whether statements move something to a GPU, or make it there, and no flag decides about that."""
    named = {target.id for node in _parts(body) for target in _names_of_gpu(node)}
    return any(_is_move(call, named) for call in _calls(body))


def _names_of_gpu(node: ast.AST) -> Iterator[ast.Name]:
    """What stands for a GPU: ``device`` of ``device = torch.device("cuda")``; a number may stand for anything."""
    match node:
        case ast.Assign(targets=[ast.Name() as name], value=value) if _is_gpu(value, set()) and not _is_number(value):
            yield name


def _calls(body: list[ast.stmt]) -> Iterator[ast.Call]:
    return (node for node in _parts(body) if isinstance(node, ast.Call))


def _parts(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The parts of statements that no flag decides about, up to one behind which a flag has decided.

    What is tried may fail, and what is nested is run by whoever calls it.
    """
    statements = body[::-1]
    while statements:
        statement = statements.pop()
        match statement:
            case ast.If(test=test, body=chosen, orelse=others) if is_flag(test):
                if any(isinstance(last, ast.Return) for last in (*chosen[-1:], *others[-1:])):
                    return
                continue
            case ast.Try(finalbody=others):
                statements += others[::-1]
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
        yield statement
        yield from _own_parts(statement)
        for field in ("orelse", "body"):
            statements += getattr(statement, field, [])[::-1]


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement without the statements in it, and what a flag decides about."""
    pending: list[ast.AST] = [each for each in ast.iter_child_nodes(statement) if isinstance(each, (ast.expr, ast.withitem))]
    while pending:
        node = pending.pop()
        match node:
            case ast.IfExp(test=test) if is_flag(test):
                continue
            case ast.BoolOp(values=values) if any(map(is_flag, values)):
                continue
            case ast.Lambda():
                continue
        yield node
        push_children(node, pending)


def _is_move(call: ast.Call, named: set[str]) -> bool:
    """Whether a call moves something to a GPU, or makes it there: one that is written out, or has one of some names."""
    match call:
        case ast.Call(func=ast.Attribute(attr="cuda"), args=[]):
            return all(word.arg == "non_blocking" or _is_gpu(word.value, named) for word in call.keywords)
        case ast.Call(func=ast.Attribute(attr="cuda" | "to"), args=[device, *_]):
            return _is_gpu(device, named)
        case ast.Call(func=ast.Attribute(value=owner, attr=made)) if made.endswith("Tensor"):
            return last_name(owner) == "cuda"
    return any(word.arg == "device" and _is_gpu(word.value, named) for word in call.keywords)


def _is_gpu(device: ast.expr, named: set[str]) -> bool:
    """Whether a device is a GPU: written out, or by one of some names."""
    match device:
        case ast.Constant(value=str(text)):
            return text.startswith("cuda")
        case ast.Constant():
            return _is_number(device)
        case ast.Call(func=function, args=[ast.Constant() as text]):
            return last_name(function) == "device" and _is_gpu(text, named)
        case ast.Name(id=name):
            return name in named
    return False


def _is_number(device: ast.expr) -> bool:
    """Whether a device is the number of a GPU."""
    return isinstance(device, ast.Constant) and type(device.value) is int
