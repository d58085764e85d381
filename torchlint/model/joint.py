"""The joint: libcst nodes and their twins in the `ast`, and what can be asked of every node."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Generic, overload

import libcst as cst

from torchlint.model.join import Join
from torchlint.model.parsing import parsed_module
from torchlint.model.statements import Parsed, Statements
from torchlint.semantics import Kind, Semantics
from torchlint.semantics.code.units import unit_of
from torchlint.semantics.kinds.kind import UNKNOWN
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source, tree_of


class Joint:
    """A file as it is written and as it is understood; for rules it is a `torchlint.model.Model`."""

    def __init__(self, source: Source, semantics: Semantics, suppressions: Suppressions) -> None:
        self.source = source
        self.semantics = semantics
        """What the file means, in terms of the `ast`: for the groups of questions below, not for rules."""
        self._suppressions = suppressions
        self._statements = Statements(source)
        self._whole: Parsed | None = None
        self._parsed: dict[ast.AST, Parsed] = {}
        self._twins: dict[cst.CSTNode, ast.AST] = {}

    def let_go(self) -> None:
        """Forgets the file; for when rules are done with it."""
        vars(self).clear()

    # --- what every rule asks ----------------------------------------------------------------------------------------

    def kind(self, node: cst.CSTNode) -> Kind:
        """What an expression evaluates to, as far as the file tells; `UNKNOWN` where it does not."""
        twin = self.twin(node)
        return self.semantics.kind(twin) if isinstance(twin, ast.expr) else UNKNOWN

    def name(self, node: cst.CSTNode) -> str:
        """The full name of the API that an expression refers to, such as ``torch.nn.functional.relu``; empty if none."""
        twin = self.twin(node)
        return (self.semantics.qualified_name(twin) or "") if twin is not None else ""

    def shown(self, node: cst.CSTNode, longest: int | None = None) -> str:
        """An expression or statement on one line and without needless parentheses, for a message; it may be a new one.

        What is longer than ``longest`` becomes ``…``.
        """
        twin = self.twin(node)
        if twin is None:
            code = cst.Module([]).code_for_node(node)
            twin = tree_of(f"({code})" if isinstance(node, cst.BaseExpression) else code)
        text = ast.unparse(twin)
        return text if longest is None or len(text) <= longest else "…"

    def shown_call(self, call: cst.BaseExpression, longest: int = 60) -> str:
        """A call for a message, as `shown` gives it; what is longer is shown without its arguments: ``f(…)``."""
        text = self.shown(call)
        return text if len(text) <= longest or not isinstance(call, cst.Call) else f"{self.shown(call.func)}(…)"

    def shown_start(self, node: cst.CSTNode, longest: int = 40) -> str:
        """The start of an expression or statement for a message, with ``...`` behind it where that is not the whole."""
        text = self.shown(node)
        return text if len(text) <= longest else f"{text[: longest - 3]}..."

    def text(self, node: cst.CSTNode) -> str:
        """A node as it is written, over as many lines as that takes, less the parentheses around it."""
        start, end = self.span(node)
        return self.source.text[start:end]

    def is_on_one_line(self, node: cst.CSTNode) -> bool:
        """Whether a node starts and ends on the same line."""
        start, end = self.span(node)
        return self.source.location(start).row == self.source.location(end).row

    def line(self, node: cst.CSTNode) -> int:
        """The number of the line that a node starts on, from 1."""
        return self.source.location(self.span(node)[0]).row

    def is_stored(self, node: cst.CSTNode) -> bool:
        """Whether an expression is assigned to."""
        return isinstance(getattr(self.twin(node), "ctx", None), ast.Store)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The expression, statement or clause that a node is a part of; ``None`` for what stands in no other.

        Of an argument's value it is the call, of a keyword's value the `libcst.Arg`: what libcst alone has between is left out.
        """
        twin = self.twin(node)
        parent = self.semantics.tree.parent(twin) if twin is not None else None
        while parent is not None and not isinstance(parent, ast.Module):
            found = self.parsed(self._unit(parent)).join.concrete.get(parent)
            if found is not None:
                return found
            parent = self.semantics.tree.parent(parent)  # what `ast` alone has: the tuple of `x[1, 2]`, the arguments
        return None

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The innermost statement that a node is, or is a part of."""
        twin = self.twin(node)
        assert twin is not None, "a node of no file stands in no statement"
        return self.concrete(self.semantics.tree.statement(twin))

    def is_silenced(self, code: str, node: cst.CSTNode) -> bool:
        """Whether a noqa comment silences the rule ``code`` on the line that a node starts on."""
        return self._suppressions.covers(code, self.line(node))

    # --- the joint ---------------------------------------------------------------------------------------------------

    def twin(self, node: cst.CSTNode) -> ast.AST | None:
        """The node of the `ast` that ``node`` is; ``None`` where there is none."""
        return self._twins.get(node)

    def is_placed(self, node: cst.CSTNode) -> bool:
        """Whether ``node`` has a twin whose place in the text is known: before Python 3.12, not all of an f-string have."""
        twin = self._twins.get(node)
        return twin is not None and getattr(twin, "end_lineno", 0) is not None

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """The offsets in the text at which a node starts and ends, without the parentheses around it."""
        twin = self.twin(node)
        if isinstance(twin, (ast.expr, ast.stmt, ast.keyword, ast.alias, ast.arg)):
            return self.source.start(twin), self.source.end(twin)
        return next(parsed.spans[node] for parsed in [*self._parsed.values(), self._whole] if parsed and node in parsed.spans)

    @overload
    def concrete(self, node: ast.expr) -> cst.BaseExpression: ...
    @overload
    def concrete(self, node: ast.AST) -> cst.CSTNode: ...
    def concrete(self, node: ast.AST) -> cst.CSTNode:
        """The libcst node that ``node`` is, be it in a statement that was not parsed before."""
        return self.parsed(self._unit(node)).join.concrete[node]

    def translated(self, result: Any) -> Any:
        """What an analysis found, in terms of libcst nodes.

        Nodes become libcst nodes, in tuples, lists, sets and mappings as well, and in dataclasses that are generic in the type
        of their nodes; everything else (a `Kind`, say) stays as it is.
        """
        match result:
            case ast.AST():
                return self.concrete(result)
            case tuple() | list() | set() | frozenset():
                return type(result)(map(self.translated, result))
            case dict():
                return {self.translated(key): self.translated(value) for key, value in result.items()}
        if _is_generic(result):
            return replace(result, **{each.name: self.translated(getattr(result, each.name)) for each in fields(result)})
        return result

    def found(self, table: Mapping[Any, Any], node: cst.CSTNode) -> Any:
        """What an analysis found at ``node``, in terms of libcst nodes; ``None`` if nothing."""
        twin = self.twin(node)
        result = table.get(twin) if twin is not None else None
        return self.translated(result) if result is not None else None

    def answered(self, question: Callable[[Any], Any], node: cst.CSTNode) -> Any:
        """What an analysis answers about ``node``, in terms of libcst nodes; ``None`` for a node that is in no file."""
        twin = self.twin(node)
        return self.translated(question(twin)) if twin is not None else None

    def parsed(self, unit: ast.AST) -> Parsed:
        """The libcst tree of a statement or clause; raises `RecursionError` where that is nested too deeply."""
        if self._whole is not None:
            return self._whole
        found = self._parsed.get(unit)
        if found is None:
            found = self._parsed[unit] = self._statements.parse(unit)
            self._twins.update(found.join.twins)
        return found

    def parsed_with(self, node: cst.CSTNode) -> Parsed:
        """The tree that ``node`` is in."""
        twin = self.twin(node)
        assert twin is not None
        return self.parsed(self._unit(twin))

    @cached_property
    def whole(self) -> cst.Module:
        """The libcst tree of the whole file; all nodes that are asked for from now on are of it."""
        join = Join(bodies=True)
        module = parsed_module(self.source.parsable, self.source.stand_ins)
        join.module(module, self.semantics.tree.module)
        self._whole = Parsed(self.source.text, module, 0, join)
        self._twins.update(join.twins)
        return module

    def _unit(self, node: ast.AST) -> ast.AST:
        return unit_of(self.semantics.tree, node)

    def concretes(self, nodes: Iterable[ast.AST]) -> list[cst.CSTNode]:
        """The libcst nodes of several."""
        return [self.concrete(node) for node in nodes]


def _is_generic(result: Any) -> bool:
    """Whether a value is a dataclass that is generic, which in the results of analyses is in the type of their nodes."""
    return is_dataclass(result) and Generic in type(result).__bases__
