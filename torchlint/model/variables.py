"""Questions about libcst nodes: what is left of torch 0.3's Variable."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import libcst as cst

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.model.joint import Joint
from torchlint.semantics.apis.unused_imports import UnusedImports
from torchlint.semantics.apis.variable_wrappers import OwnWrapper, OwnWrappers
from torchlint.semantics.variables.idle import Idle, IdleAssignments
from torchlint.semantics.variables.leaves import Leaves
from torchlint.semantics.variables.names import VariableNames
from torchlint.semantics.variables.readers import Readers
from torchlint.semantics.variables.unwrapped import Unwrapped
from torchlint.semantics.variables.volatile import VolatileMark, Volatiles
from torchlint.semantics.variables.wrappers import Wrappers, Wrapping
from torchlint.text.layout import can_be_indented, is_elif, stands_alone
from torchlint.text.notebook import NotebookSource

_FOR_OTHERS = re.compile(r"\A(?>.*?#\s*noqa:).*F401", re.IGNORECASE)
"""A line with an import that a module makes for those that import it."""


class VariablesQuestions:
    """What is left of torch 0.3's Variable. Made by the `Model`, as ``model.variables``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    # --- calls of Variable -------------------------------------------------------------------------------------------

    def wrapping(self, call: cst.Call) -> Wrapping[cst.BaseExpression] | None:
        """What a call of Variable wraps; ``None`` if it does not say, and for every other call."""
        return self._model.found(self._semantics.of(Wrappers).calls, call)

    def own_wrapper(self, call: cst.Call) -> OwnWrapper[cst.CSTNode] | None:
        """The function of the file that stands for Variable, of which a call of Variable is the body; ``None`` if none."""
        return self._model.found(self._semantics.of(OwnWrappers).by_inner_call, call)

    def is_uninitialised(self, definition: cst.ClassDef) -> bool:
        """Whether a class is derived from Variable and has an ``__init__``, which calling the class never calls."""
        return self._model.twin(definition) in self._semantics.of(OwnWrappers).uninitialised

    def cuts_graph(self, data: cst.BaseExpression) -> bool:
        """Whether to wrap a value is to cut the graph behind it."""
        return bool(self._model.answered(self._semantics.of(Wrappers).cuts_graph, data))

    def is_itself(self, call: cst.Call) -> Fact:
        """Whether what a call of Variable wraps can stand in its place: nothing can tell one from the other."""
        return self._known(self._semantics.of(Unwrapped).is_itself, call)

    def is_detached(self, data: cst.BaseExpression) -> Fact:
        """Whether to wrap a value is to detach it."""
        return self._known(self._semantics.of(Unwrapped).is_detached, data)

    def is_own(self, data: cst.BaseExpression) -> Fact:
        """Whether a value is a new tensor without a graph, which nobody else refers to."""
        return self._known(self._semantics.of(Unwrapped).is_own, data)

    def is_bare(self, data: cst.BaseExpression) -> Fact:
        """Whether ``data`` is a tensor without a graph, so that nothing is cut where it is wrapped."""
        return self._known(self._semantics.of(Unwrapped).is_bare, data)

    def are_detached(self, collection: cst.BaseExpression) -> Fact:
        """Whether to wrap each element of a collection is to detach it."""
        return self._known(self._semantics.of(Unwrapped).are_detached, collection)

    def can_be_leaf(self, data: cst.BaseExpression) -> Fact:
        """Whether `requires_grad_()` of a value does what Variable does."""
        return self._known(self._semantics.of(Leaves).can_be_asked, data)

    def is_boolean(self, flag: cst.BaseExpression) -> Fact:
        """Whether a flag is true or false, and nothing else."""
        return self._known(self._semantics.of(Unwrapped).is_boolean, flag)

    def cuts_where_frozen(self, call: cst.Call) -> bool:
        """Whether a graph is cut under a condition that says of something that it is not trained."""
        return bool(self._model.answered(self._semantics.of(Wrappers).is_for_frozen, call))

    def cuts_on_purpose(self, call: cst.Call) -> bool:
        """Whether a call of Variable cuts a graph that has to be cut."""
        return bool(self._model.answered(self._semantics.of(Wrappers).cuts_on_purpose, call))

    def _known(self, fact: Callable[[Any], Fact], node: cst.CSTNode) -> Fact:
        """The answer to a question about a node of the file; of other nodes nothing is known."""
        found = self._model.answered(fact, node)
        return found if found is not None else unknown("this code is new")

    def idle(self, statement: cst.CSTNode, *, unless_silenced: str) -> Idle[cst.CSTNode] | None:
        """What goes with a statement that does nothing but wrap a value under its own name; ``None`` for all others.

        Calls for which a noqa comment silences the rule ``unless_silenced`` are to stay.
        """
        twin, source = self._model.twin(statement), self._model.source

        def is_left(call: ast.Call) -> bool:
            return self._model.is_silenced(unless_silenced, self._model.concrete(call))

        def may_go(branch: ast.If) -> bool:
            return stands_alone(source, branch) and not is_elif(source, branch) and "#" not in source.segment(branch)

        if not isinstance(twin, ast.stmt):
            return None
        idle = self._semantics.of(IdleAssignments)
        return self._model.translated(idle.around(twin, is_left, may_go))

    def goes_with_another(self, call: cst.Call, *, unless_silenced: str) -> bool:
        """Whether a statement goes as a whole for another call of Variable, one that cuts a graph or else stands first."""
        if self.idle(self._model.statement(call), unless_silenced=unless_silenced) is None:
            return False
        return not self._model.answered(self._semantics.of(IdleAssignments).leads, call)

    def is_beside_volatile(self, call: cst.Call) -> bool:
        """Whether the statement of a call sets ``volatile`` for another value."""
        return bool(self._model.answered(self._semantics.of(Volatiles).is_marked_beside, call))

    # --- its name ----------------------------------------------------------------------------------------------------

    def is_class_wanted(self, node: cst.BaseExpression) -> bool:
        """Whether a class is wanted where a node is: in an annotation, ``isinstance``, a comparison with ``type(…)``."""
        return bool(self._model.answered(self._semantics.of(VariableNames).is_class_wanted, node))

    def is_sure_class(self, node: cst.BaseExpression) -> Fact:
        """Whether `torch.Tensor` does the same as Variable where a class is wanted."""
        return self._known(self._semantics.of(VariableNames).is_sure, node)

    def is_nobodys(self, name: cst.ImportAlias | cst.Name) -> Fact:
        """Whether no code but the file's uses a name that is imported, or assigned to; nobody imports from notebooks."""
        fact = self._known(self._semantics.of(Readers).is_nobodys, name)
        return CERTAIN if isinstance(self._model.source, NotebookSource) else fact

    def named_in(self, annotation: cst.SimpleString) -> list[tuple[int, int]]:
        """From where to where a quoted annotation names Variable, counted from behind its quote."""
        return self._model.found(self._semantics.of(VariableNames).quoted, annotation) or []

    def is_unused_import(self, alias: cst.ImportAlias) -> bool:
        """Whether nothing in the file uses an import of Variable, and it is there neither for others nor to see if it fails."""
        return self._model.twin(alias) in self._semantics.of(VariableNames).imports and not self._is_for_others(alias)

    def unused_deprecated(self, alias: cst.ImportAlias) -> str:
        """The full name of what is deprecated or removed, where nothing uses the import of it; empty for every other import."""
        found = self._model.found(self._semantics.of(UnusedImports).deprecated, alias)
        return "" if found is None or self._is_for_others(alias) else str(found)

    def is_unused_name(self, name: cst.Name) -> bool:
        """Whether nothing in the file uses a name that is assigned to."""
        is_unused = self._model.answered(self._semantics.of(UnusedImports).is_unused, name)
        return bool(is_unused) and not self._is_in_type_comment(name.value)

    def _is_for_others(self, alias: cst.ImportAlias) -> bool:
        """Whether an import that nothing uses may be there for another file, or for a comment that names a type."""
        twin = self._model.twin(alias)
        assert isinstance(twin, ast.alias)
        name, callers = twin.asname or twin.name, self._semantics.elsewhere.callers
        if self._model.source.filename.endswith("__init__.py") or self._is_in_type_comment(name):
            return True
        if callers is not None and callers.take_with_all(name):
            return True
        statement = self._semantics.tree.statement(twin)
        return any(_FOR_OTHERS.search(self._model.source.line(row)) for row in (statement.lineno, twin.lineno))

    def _is_in_type_comment(self, name: str) -> bool:
        types = (text for _, text in self._model.source.comments if re.match(r"#\s*type:", text))
        return any(re.search(rf"\b{name}\b", text) for text in types)

    # --- volatile ----------------------------------------------------------------------------------------------------

    def volatile(self, node: cst.Arg | cst.Assign) -> VolatileMark[cst.BaseExpression] | None:
        """What an argument or an assignment sets ``volatile`` to; ``None`` where it sets something else."""
        return self._model.found(self._semantics.of(Volatiles).marks, node)

    def is_never_volatile(self, node: cst.Arg | cst.Assign) -> bool:
        """Whether an argument passes on a flag ``volatile`` that nothing in the file sets."""
        return bool(self._model.answered(self._semantics.of(Volatiles).is_never_set, node))

    def meets_nothing(self, node: cst.Arg | cst.Assign) -> bool:
        """Whether what is marked ``volatile`` meets no parameter, and so makes no graph."""
        return bool(self._model.answered(self._semantics.of(Volatiles).meet_nothing, node))

    def volatile_beside(self, node: cst.Arg | cst.Assign, *, unless_silenced: str) -> list[cst.Arg | cst.Assign]:
        """The marks of one statement that set ``volatile`` to the same as ``node`` does, itself among them, in their order.

        Those for which a noqa comment silences the rule ``unless_silenced`` are left out.
        """
        found: list[cst.CSTNode] = self._model.answered(self._semantics.of(Volatiles).beside, node) or []
        marks = [each if isinstance(each, (cst.Arg, cst.Assign)) else self._argument(each) for each in found]
        return [each for each in marks if not self._model.is_silenced(unless_silenced, each)]

    def _argument(self, value: cst.CSTNode) -> cst.Arg:
        """The argument of a call that a value is, without a keyword."""
        call = self._model.parent(value)
        assert isinstance(call, cst.Call)
        return next(each for each in call.args if each.value is value)

    def is_ignored(self, node: cst.Arg | cst.Assign) -> Fact:
        """Whether nobody notices that an argument or an assignment goes which sets ``volatile``."""
        return self._known(self._semantics.of(Volatiles).is_ignored, node)

    def computing(self, statement: cst.CSTNode) -> list[list[cst.CSTNode]]:
        """The neighbouring statements that compute with what ``statement`` marks as volatile, and that autograd can be off for.

        Left out are those that train something, and those that share their lines with other code.
        """
        twin, source = self._model.twin(statement), self._model.source
        runs = self._semantics.of(Volatiles).computing(twin) if isinstance(twin, ast.stmt) else []
        roomy = [run for run in runs if all(stands_alone(source, each) and can_be_indented(source, each) for each in run)]
        return [self._model.concretes(run) for run in roomy]
