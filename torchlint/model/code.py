"""Questions about libcst nodes: what is written where, and what names mean."""

from __future__ import annotations

import ast
from functools import cached_property

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.model.joint import Joint
from torchlint.model.parsing import parsed_expression
from torchlint.semantics.kinds.own_attributes import OwnAttributes
from torchlint.semantics.observers.free_errors import FreeErrors
from torchlint.semantics.observers.own_torch import OwnTorch
from torchlint.semantics.observers.reflection import Reflection
from torchlint.semantics.observers.unseen_warnings import UnseenWarnings
from torchlint.semantics.purpose import Purpose
from torchlint.text.cells import ends_cell, has_cells
from torchlint.text.quotes import usual_quote


class CodeQuestions:
    """What is written where, and what names mean. Made by the `Model`, as ``model.code``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def gives_meaning(self, owner: cst.BaseExpression, name: str) -> bool:
        """Whether the file gives the attribute ``owner.name`` a meaning of its own; also where nothing is known of it."""
        twin = self._model.twin(owner)
        return not isinstance(twin, ast.expr) or self._semantics.of(OwnAttributes).gives_meaning(twin, name)

    def is_in_tests(self, node: cst.BaseExpression) -> bool:
        """Whether a node stands in a test of the code itself, or in a file of such tests."""
        return bool(self._model.answered(self._semantics.of(Purpose).is_in_tests, node))

    def ends_with_its_error(self, node: cst.CSTNode, instead: cst.BaseExpression | None = None, *, error: str = "") -> Fact:
        """Whether an error that a node raises ends the program: neither the file nor Python awaits it, if it is an ``error``.

        Or what awaits it does the same with ``instead``, an expression that is in no file yet, in the place of the node.
        """
        twin = self._model.twin(node)
        if twin is None:
            return unknown("the code may await the error")
        shown = self._model.shown(instead) if instead is not None else ""
        return self._semantics.of(FreeErrors).of(twin, shown, error)

    @property
    def warns_unseen(self) -> Fact:
        """Whether nothing in the file takes notice of the warnings that torch gives."""
        return self._semantics.of(UnseenWarnings).fact

    @property
    def hides_warnings(self) -> bool:
        """Whether the file hides the warnings that torch gives, for the whole run."""
        return self._semantics.of(UnseenWarnings).are_hidden

    @property
    def has_own_torch(self) -> Fact:
        """Whether the file puts nothing else in the place of what is torch's."""
        return self._semantics.of(OwnTorch).fact

    @property
    def sees_no_frames(self) -> Fact:
        """Whether nobody notices that a function is called through another one."""
        return self._semantics.of(Reflection).sees_no_frames

    def comments_about(self, node: cst.CSTNode) -> list[str]:
        """What people say of a node: the comments on its lines, in front of it in its statement, and above that.

        Those are on lines of their own; one behind the last line of code above them is taken to be about this code, too.
        """
        first = min(self._model.line(node), self._model.line(self._model.statement(node))) - 1
        while self._is_comment(first):
            first -= 1
        last = self._model.source.location(self._model.span(node)[1]).row
        return [self._comments[row][1] for row in range(first, last + 1) if row in self._comments]

    def _is_comment(self, row: int) -> bool:
        """Whether there is nothing but a comment on a line."""
        source = self._model.source
        return row in self._comments and not source.text[source.line_start(row) : self._comments[row][0]].strip()

    @cached_property
    def _comments(self) -> dict[int, tuple[int, str]]:
        """The comments, and where they start, by their lines."""
        source = self._model.source
        return {source.location(start).row: (start, text) for start, text in source.comments}

    def comment_on_line(self, node: cst.CSTNode) -> str:
        """The comment on the line that a node starts on; empty where there is none."""
        return self._comments.get(self._model.line(node), (0, ""))[1]

    def is_commented_out(self, code: str, node: cst.CSTNode, *, anywhere: bool = False) -> bool:
        """Whether a comment behind a node, in its function or outside of all, starts with some code; or one ``anywhere``."""
        if anywhere:
            return any(comment.lstrip("# ").startswith(code) for _, comment in self._comments.values())
        twin = self._model.twin(node)
        around = self._semantics.tree.function(twin) if twin is not None else None
        last = getattr(around, "end_lineno", None) or len(self._model.source.text)
        found = (comment for row, (_, comment) in self._comments.items() if self._model.line(node) < row <= last)
        return any(comment.lstrip("# ").startswith(code) for comment in found)

    def is_given_name(self, node: cst.CSTNode) -> bool:
        """Whether a node is a name that has its value from an assignment, and not from an import or a definition."""
        twin = self._model.twin(node)
        return isinstance(twin, ast.Name) and any(found.value for found in self._semantics.bindings.reaching(twin))

    def keyword(self, given: cst.Arg) -> str:
        """The keyword of an argument, as it is read: torch 0.3's ``async`` is ``non_blocking``; empty where it has none."""
        twin = self._model.twin(given)
        return twin.arg or "" if isinstance(twin, ast.keyword) else ""

    def truth(self, node: cst.CSTNode) -> bool | None:
        """Whether a number, a string, True, False or None that is written out counts as true; ``None`` for all else."""
        twin = self._model.twin(node)
        return bool(twin.value) if isinstance(twin, ast.Constant) else None

    def string(self, text: str) -> cst.SimpleString:
        """A new string, in the quotes that most strings of the file have."""
        return cst.SimpleString(f"{self._quote}{text}{self._quote}")

    @cached_property
    def _quote(self) -> str:
        return usual_quote(self._model.source)

    def plain(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """An expression as it is written, for use in a message: on one line, and without the parentheses around it."""
        if self._model.is_on_one_line(node):
            return node.with_changes(lpar=(), rpar=())
        return parsed_expression(self._model.shown(node))

    def written(self, node: cst.BaseExpression) -> str:
        """New code as it comes to stand in the file."""
        return cst.Module([]).code_for_node(node)

    def is_bound(self, name: str, place: cst.CSTNode) -> bool:
        """Whether a name stands for something where ``place`` is; ``True`` where that is not known."""
        twin = self._model.twin(place)
        bindings = self._semantics.bindings
        return twin is None or bool(bindings.lookup(name, bindings.scope_of(twin)))

    def free_name(self, *names: str) -> str:
        """The first of ``names`` that the file does not use, or the last."""
        used = {node.id for node in self._semantics.tree.of_type(ast.Name)}
        return next((name for name in names if name not in used), names[-1])

    def is_displayed(self, statement: cst.CSTNode) -> bool:
        """Whether a notebook shows the value of a statement: that of the last one of a cell."""
        twin = self._model.twin(statement)
        if twin is None or not self.has_cells or not isinstance(self._semantics.tree.parent(twin), ast.Module):
            return False
        return ends_cell(self._model.source.text, self._model.span(statement)[1])

    @cached_property
    def has_cells(self) -> bool:
        """Whether the file is a notebook, or a script that is divided into cells as one is."""
        return has_cells(self._model.source.text)
