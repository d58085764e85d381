"""What the semantics know of the expression at a place, and why: for finding out where a false alarm comes from."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator

from torchlint.cli.exits import CLEAN, refuse
from torchlint.diagnostic import Location, printable
from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.kinds.kind import Kind, Type
from torchlint.text.source import Source, SourceError


def show(options: argparse.Namespace) -> int:
    """``torchlint explain-kind`` with these options: writes the lines and returns the exit code."""
    path, row, column = [*options.place.rsplit(":", 2), "", ""][:3]
    if not (row.isdecimal() and column.isdecimal()):
        return refuse(f"not of the form FILE:ROW:COLUMN: {options.place}")
    try:
        with open(path, "rb") as file:
            found = explain(Source.decode(file.read(), path), Location(int(row), int(column)))
    except OSError as error:
        return refuse(f"{path}: {error.strerror or error}")
    except (SourceError, LookupError) as error:
        return refuse(str(error.args[0]))
    print(*map(printable, found.split("\n")), sep="\n")
    return CLEAN


def explain(source: Source, place: Location) -> str:
    """A few lines on the innermost expression at ``place``: its kind and the reason, its name, its bindings, its grad mode.

    Raises `SourceError` where the text is not Python, `LookupError` where no expression is at the place.
    """
    semantics = Semantics(source.tree)
    if not (1 <= place.row <= source.line_count and place.column >= 1):
        raise LookupError(f"{source.filename} has no line {place.row}")
    offset = source.offset_of(place)
    around = [
        node for node in semantics.tree.nodes if isinstance(node, ast.expr) and source.start(node) <= offset < source.end(node)
    ]
    if not around:
        raise LookupError(f"{source.filename}:{place.row}:{place.column}: no expression is there")
    node = min(around, key=lambda found: source.end(found) - source.start(found))
    return "\n".join(_lines(source, semantics, node))


def _lines(source: Source, semantics: Semantics, node: ast.expr) -> Iterator[str]:
    kind = semantics.kind(node)
    yield f"{source.segment(node)}: {describe(kind)}"
    if kind.why:
        yield f"  because: {kind.why}"
    if (name := semantics.qualified_name(node)) is not None:
        yield f"  refers to: {name}"
    if isinstance(node, ast.Name):
        for binding in semantics.bindings.reaching(node):
            yield f"  bound on line {_line(binding)}: {describe(semantics.inference.binding_kind(binding))}"
    if semantics.no_grad.covers(node):
        yield "  autograd is off here"
    if semantics.of(Backpropagated).name(node):
        yield "  flows into what is back-propagated"


def _line(binding: Binding) -> int:
    return int(getattr(binding.node, "lineno", 0))


def describe(kind: Kind) -> str:
    """A kind in words."""
    words = [kind.type.value]
    if kind.type is Type.TENSOR:
        words.append(f"({kind.grad.value})")
        words += ["without dimensions"] * (kind.scalar is True) + ["or a nest of tensors"] * kind.loose
    if kind.name:
        words.append(kind.name)
    if kind.items is not None:
        words.append("of " + ", ".join(describe(item) for item in kind.items))
    elif kind.element is not None and kind.element.known:
        words.append(f"of {describe(kind.element)}")
    return " ".join(words)
