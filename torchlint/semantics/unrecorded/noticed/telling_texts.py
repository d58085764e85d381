"""Texts that tell whether a tensor has a graph, and whether they are more than shown.

On torch 2.13 (ran): `str` and `repr` of a tensor end in its `grad_fn`. A tensor of no dimension is the number in an f-string
and in `"{}".format(…)`, and with a format, as in `f"{x:.3f}"`, one that has dimensions is refused.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.fact import shortened
from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import given_to, keyword
from torchlint.semantics.observers.free_errors import FreeErrors
from torchlint.semantics.shapes.ranks import Ranks
from torchlint.semantics.unrecorded.graph_carriers import GraphCarriers

_MAKING = frozenset({"builtins.str", "builtins.repr", "builtins.ascii"})
_PLAIN = frozenset({Type.NUMBER, Type.STRING, Type.NONE})
_FORMATTING = frozenset({"format", "__format__", "__str__", "__repr__", "__mod__"})
_FIELD = re.compile(r"\{[^{}:!.]*((?:\.[^{}:!]*)?(?:![rsa])?)(:[^{}]*)?\}")
"""A place in ``"{:.3f}".format(…)``: with an attribute or a conversion, and with a format."""
_AS_IT_IS = re.compile(r"%(\([^)]{0,80}\))?[-#0 +\d.*]{0,20}[rsa]")
_TAKING = frozenset({"redirect_stdout", "redirect_stderr", "capsys", "capfd"})
"""Words of code that gets what is printed."""
_SHOWING = frozenset({"set_description", "set_description_str", "set_postfix", "set_postfix_str"})
"""Methods of progress bars, which show a text and keep it nowhere."""


class TellingTexts:
    """Tells of parts of code whether they make a text that may have a graph in it, and do more than show it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._carriers = semantics.of(GraphCarriers)

    def doubt(self, part: ast.AST) -> str:
        """The text that may tell of a graph, for a phrase; nothing where there is none."""
        match part:
            case ast.FormattedValue(value=value) if self._may_carry([value]):
                is_told = part.conversion != -1 or (part.format_spec is None and not self._is_number(value))
                return self._doubt_of(part, value) if is_told else ""
            case ast.BinOp(left=pattern, op=ast.Mod(), right=right) if self._is_text(pattern) and self._may_carry([right]):
                return self._doubt_of(part, part) if shows_as_it_is(pattern) else ""
            case ast.Call() if self._may_carry(given_to(part)):
                return self._doubt_of_call(part)
        return ""

    def _may_carry(self, values: list[ast.expr]) -> bool:
        return any(self._semantics.kind(each).type not in _PLAIN and self._carriers.may_carry(each) for each in values)

    def _doubt_of_call(self, call: ast.Call) -> str:
        name = self._semantics.qualified_name(call.func) or ""
        given = given_to(call)
        if name in _MAKING or self._hands_on(name, given):
            return self._doubt_of(call, call)
        if name == "builtins.format" and len(given) == 1:
            return "" if self._is_number(given[0]) else self._doubt_of(call, call)
        if name == "builtins.print":
            return "" if self._is_seen_only(call) else self._doubt_of(call, call)
        if name.startswith("logging.") and shows_as_it_is(given[0]):
            return self._doubt_of(call, call)
        match call.func:
            case ast.Attribute(value=pattern, attr="format") if self._is_text(pattern) and self._is_told(pattern, given):
                return self._doubt_of(call, call)
        return ""

    def _hands_on(self, name: str, given: list[ast.expr]) -> bool:
        """Whether a call is given a function that makes texts: ``map(str, scores)``, ``map("{}".format, scores)``."""
        return name != "builtins.isinstance" and any(
            self._semantics.qualified_name(each) in _MAKING or (isinstance(each, ast.Attribute) and each.attr in _FORMATTING)
            for each in given
        )

    def _is_told(self, pattern: ast.expr, given: list[ast.expr]) -> bool:
        """Whether ``"{}".format(…)`` shows values as they are: one that has a format is refused, or a number."""
        if not isinstance(pattern, ast.Constant):
            return True
        fields = _FIELD.findall(str(pattern.value))
        if any(of_object for of_object, _ in fields):
            return True
        return not all(form for _, form in fields) and not all(map(self._is_number, given))

    def _is_number(self, value: ast.expr) -> bool:
        """Whether a value has no dimensions, if it is a tensor."""
        if not self._carriers.may_carry(value):
            return True
        return self._semantics.kind(value).scalar is True or self._semantics.of(Ranks).of(value) == 0

    def _is_text(self, node: ast.expr) -> bool:
        return isinstance(node, ast.JoinedStr) or self._semantics.kind(node).type is Type.STRING

    # --- what becomes of a text --------------------------------------------------------------------------------------

    def _doubt_of(self, text: ast.expr, named: ast.expr) -> str:
        return "" if self._is_shown(text) else f"the text of `{shortened(named)}` may tell of the graph"

    def _is_shown(self, text: ast.expr) -> bool:
        """Whether a text is printed, and no more, or that of an error that ends the program.

        That it has no graph then is the hazard's own.
        """
        node: ast.AST = text
        while isinstance(parent := self._tree.parent(node), (ast.FormattedValue, ast.JoinedStr, ast.BinOp, ast.IfExp)):
            node = parent
        match parent:
            case ast.Assert(msg=message) if message is node:
                return self._semantics.of(FreeErrors).of(parent).is_certain
            case ast.Call(func=function) if function is not node:
                return self._is_seen_only(parent)
            case ast.keyword() if isinstance(call := self._tree.parent(parent), ast.Call):
                return self._is_seen_only(call)
        return False

    def _is_seen_only(self, call: ast.Call) -> bool:
        """Whether a call shows what it is given to whoever looks at the terminal."""
        if isinstance(statement := self._tree.parent(call), ast.Raise):
            return self._semantics.of(FreeErrors).of(statement).is_certain
        if isinstance(call.func, ast.Attribute) and call.func.attr in _SHOWING:
            return True
        is_print = self._semantics.qualified_name(call.func) == "builtins.print"
        return is_print and keyword(call, "file") is None and not self._is_output_taken

    @cached_property
    def _is_output_taken(self) -> bool:
        """Whether the program gets what it prints."""
        stores = (node for node in self._tree.of_type(ast.Attribute) if isinstance(node.ctx, ast.Store))
        taken = any(node.attr in ("stdout", "stderr") for node in stores)
        return taken or not self._semantics.words.all.isdisjoint(_TAKING)


def shows_as_it_is(pattern: ast.expr) -> bool:
    """Whether a pattern, ``"loss %s"``, may show a value as it is, and not as a number."""
    return not isinstance(pattern, ast.Constant) or _AS_IT_IS.search(str(pattern.value)) is not None
