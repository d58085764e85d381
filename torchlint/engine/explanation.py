"""What the semantics know of the expression at a place, and why: for finding out where a false alarm comes from."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.diagnostic import Location
from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.kinds.kind import UNKNOWN, Kind, Type
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Outside
from torchlint.text.source import Source

if TYPE_CHECKING:
    from torchlint.project.reading import Reading


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of an expression: the place of it, its kind in words, and one line for each thing more."""

    text: str
    start: Location
    end: Location
    kind: str
    details: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """All of it, as the command writes it."""
        return [f"{self.text}: {self.kind}", *(f"  {detail}" for detail in self.details)]


def explain(source: Source, place: Location, reading: Reading | None = None) -> Explanation:
    """What is known of the innermost expression at ``place``: kind and reason, name, bindings, grad mode, where it joined.

    With a ``reading``, names that the file imports are followed into the other files of its project. Raises `SourceError` where
    the text is not Python, `LookupError` where no expression is at the place.
    """
    semantics = Semantics(source.tree) if reading is None else Semantics(source.tree, reading, reading.file)
    if not (1 <= place.row <= source.line_count and place.column >= 1):
        raise LookupError(f"{source.filename} has no line {place.row}")
    offset = source.offset_of(place)
    around = [
        node
        for node in semantics.tree.nodes
        if isinstance(node, (ast.expr, ast.arg)) and source.start(node) <= offset < source.end(node)
    ]
    if not around:
        raise LookupError(f"{source.filename}:{place.row}:{place.column}: no expression is there")
    node = min(around, key=lambda found: source.end(found) - source.start(found))
    start, end = source.start(node), source.end(node)
    return Explanation(
        source.text[start:end],
        source.location(start),
        source.location(end),
        describe(_kind(semantics, node)),
        (*_details(source, semantics, node), *_defined(semantics, node, reading)),
    )


def _defined(semantics: Semantics, node: ast.expr | ast.arg, reading: Reading | None) -> Iterator[str]:
    """Where in the project something imported is defined, or what it is called outside."""
    target = semantics.elsewhere.target(node)
    if reading is not None and isinstance(target, (ClassElsewhere, FunctionElsewhere)):
        kind = "class" if isinstance(target, ClassElsewhere) else "function"
        yield f"defined in {os.path.relpath(target.file, reading.root)}: the {kind} `{target.name}`"
    elif isinstance(target, Outside):
        yield f"stands for: {target.name}"


def _kind(semantics: Semantics, node: ast.expr | ast.arg) -> Kind:
    """What an expression evaluates to, or what a name is given that is bound there."""
    binding = semantics.bindings.of(node)
    if binding is not None:
        return semantics.inference.binding_kind(binding)
    return UNKNOWN if isinstance(node, ast.arg) else semantics.kind(node)


def _details(source: Source, semantics: Semantics, node: ast.expr | ast.arg) -> Iterator[str]:
    kind = _kind(semantics, node)
    if kind.why:
        yield f"because: {kind.why}"
    if semantics.bindings.of(node) is None and (name := semantics.qualified_name(node)) is not None:
        yield f"refers to: {name}"
    if isinstance(node, ast.Name):
        for binding in semantics.bindings.reaching(node):
            yield f"bound on {source.named_line(_line(binding.node))}: {describe(semantics.inference.binding_kind(binding))}"
    for joined in sorted(joins(semantics, node), key=lambda found: (found.lineno, found.col_offset)):
        yield f"joined the graph on {source.named_line(joined.lineno)}: {_first_line(ast.unparse(joined))}"
    if semantics.no_grad.covers(node):
        yield "autograd is off here"
    if isinstance(node, ast.expr) and semantics.of(Backpropagated).name(node):
        yield "flows into what is back-propagated"


def joins(semantics: Semantics, node: ast.expr | ast.arg) -> list[ast.expr]:
    """The expressions from which the graph that ``node`` carries is known to start.

    Such an expression carries graph, and no value in it that has a name does: what it calls, or a parameter in it, brought the
    graph in. Names are followed to what they are bound to; empty where that leads out of what the file tells.
    """
    found: list[ast.expr] = []
    seen: set[ast.expr] = set()
    binding = semantics.bindings.of(node)
    pending = [] if binding is None else [*_values(binding, semantics)]
    if binding is None and isinstance(node, ast.expr) and semantics.kind(node).carries_graph:
        pending.append(node)
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        carriers = [each for each in ast.walk(current) if isinstance(each, ast.Name) and semantics.kind(each).carries_graph]
        for name in carriers:
            for binding in semantics.bindings.reaching(name):
                pending += _values(binding, semantics)
        if not carriers:
            found.append(current)
    return found


def _values(binding: Binding, semantics: Semantics) -> Iterator[ast.expr]:
    """The expressions that a name has its value from, where that carries graph."""
    if binding.form is Form.AUGMENTED:
        if binding.value is not None and semantics.kind(binding.value).carries_graph:
            yield binding.value
        for before in binding.before:
            yield from _values(before, semantics)
    elif binding.value is not None and not binding.path and semantics.inference.binding_kind(binding).carries_graph:
        yield binding.value


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _first_line(text: str, longest: int = 60) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= longest else line[: longest - 1] + "…"


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
