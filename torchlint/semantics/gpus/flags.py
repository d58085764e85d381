"""Conditions that ask whether there is a GPU, and what a program does where there is none."""

from __future__ import annotations

import ast
import re

from torchlint.semantics.code.tree import Function, last_name

_FLAG = re.compile(r"(^|_)(cuda|n?gpus?|device)(_|$)|is_available|device_count", re.IGNORECASE)
"""What the flags are called that say whether there is a GPU, and how many."""
_EXITS = frozenset({"exit", "_exit", "quit"})


def is_flag(test: ast.expr) -> bool:
    """Whether a condition asks whether there is a GPU, or which device is meant: by a name, or an entry of the options."""
    return any(_FLAG.search(_said(part)) for part in ast.walk(test))


def is_named_for_gpu(function: Function) -> bool:
    """Whether a function is called only where there is a GPU, as its name says: ``to_gpu``, a module's own ``cuda``."""
    return _FLAG.search(function.name) is not None


def ends_program(statement: ast.stmt) -> bool:
    """Whether a statement ends the program: ``raise``, ``sys.exit()``."""
    match statement:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return last_name(function) in _EXITS
    return False


def _said(node: ast.AST) -> str:
    """What a name, an attribute or a text says; empty for anything else."""
    match node:
        case ast.Name(id=text) | ast.Attribute(attr=text) | ast.Constant(value=str(text)):
            return text
    return ""
