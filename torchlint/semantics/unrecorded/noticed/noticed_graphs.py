"""What tells a value with a graph from one without, though it names nothing of graphs: a text, a warning, a cache, a string."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.fact import shortened
from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, given_to
from torchlint.semantics.graphs.kept_values import TELLING
from torchlint.semantics.observers.unseen_warnings import UnseenWarnings
from torchlint.semantics.unrecorded.graph_carriers import GraphCarriers
from torchlint.semantics.unrecorded.noticed.telling_texts import TellingTexts

_BY_NAME = frozenset({"operator.attrgetter", "operator.methodcaller"})
"""What reads an attribute that a string names; calls of ``getattr`` are looked at elsewhere."""
_READERS = frozenset({"builtins.getattr", "builtins.hasattr"})
_CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.cached_property"})
_NUMBERS = re.compile(
    r"builtins\.(float|complex|round|pow|divmod)|(math|statistics|array|fractions|decimal|logging)\.\w+"
    r"|torch\.(tensor|as_tensor|\w*Tensor)"
)
"""What makes numbers of tensors: torch warns where one requires grad (ran on torch 2.13), but for `item()`."""


class NoticedGraphs:
    """Tells of parts of code whether they may be different for a value without a graph."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._carriers = semantics.of(GraphCarriers)
        self._texts = semantics.of(TellingTexts)

    def doubt(self, part: ast.AST) -> str:
        """By what a part of code may notice that there is no graph; nothing where it does not."""
        match part:
            case ast.FunctionDef(decorator_list=decorators) if any(map(self._caches, decorators)):
                returned = [value for value in self._semantics.facts.returned(part) if value is not None]
                return f"`{part.name}` keeps what it gives, which may carry a graph" if self._may_carry(returned) else ""
            case ast.MatchClass(kwd_attrs=names) if not TELLING.isdisjoint(names):
                return f"`{shortened(part.cls)}(…)` asks for a graph"
        return self._texts.doubt(part) or (self._doubt_of_warning if self._makes_number(part) else "")

    @cached_property
    def by_name(self) -> str:
        """What in the file may read an attribute of a graph by its name, or cache a function that gives a graph."""
        for node in self._tree.of_type(ast.Name, ast.Attribute):
            name = self._semantics.qualified_name(node) or ""
            call = self._tree.parent(node)
            is_called = isinstance(call, ast.Call) and call.func is node
            if (name in _READERS and not is_called) or (name in _BY_NAME and not (is_called and _names_no_graph(call))):
                return f"`{shortened(node)}` may ask for a graph by its name"
            if name in _CACHES and not self._decorates(node):
                return f"`{shortened(node)}` may keep what carries a graph"
        return ""

    def _may_carry(self, values: list[ast.expr]) -> bool:
        return any(map(self._carriers.may_carry, values))

    def _caches(self, decorator: ast.expr) -> bool:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self._semantics.qualified_name(called) in _CACHES

    def _decorates(self, node: ast.AST) -> bool:
        """Whether something decorates a function, by itself or called."""
        parent = self._tree.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            node, parent = parent, self._tree.parent(parent)
        return isinstance(parent, FUNCTIONS) and node in parent.decorator_list

    # --- warnings ----------------------------------------------------------------------------------------------------

    def _makes_number(self, part: ast.AST) -> bool:
        """Whether a number is made of what may be a tensor with a graph."""
        match part:
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                return _NUMBERS.fullmatch(name) is not None and self._may_carry(given_to(part))
            case ast.BinOp(left=pattern, op=ast.Mod(), right=right):
                return self._semantics.kind(pattern).type is Type.STRING and self._may_carry([right])
        return False

    @cached_property
    def _doubt_of_warning(self) -> str:
        unseen = self._semantics.of(UnseenWarnings).fact
        return "" if unseen.is_certain else unseen.doubt


def _names_no_graph(call: ast.AST | None) -> bool:
    """Whether what is read by its name is written out, and nothing of a graph."""
    return isinstance(call, ast.Call) and all(
        isinstance(each, ast.Constant) and TELLING.isdisjoint(str(each.value).split(".")) for each in given_to(call)
    )
