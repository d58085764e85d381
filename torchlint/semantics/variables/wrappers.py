"""Tensors wrapped in `Variable`: what is wrapped, and whether that cuts a graph."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Grad, Semantics
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.apis.variable_wrappers import VARIABLE
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.graphs.likely.graphless import LikelyGraphless

Node = TypeVar("Node")

_FROZEN = re.compile(r"(^|_)(static|frozen|freeze|fixed|fix)(_|$)", re.IGNORECASE)
"""What conditions speak of under which something is not trained."""
_DETACHES = re.compile(r"detach|repackage", re.IGNORECASE)


@dataclass(frozen=True, eq=False, slots=True)
class Wrapping(Generic[Node]):
    """What a call of Variable wraps, and ``requires_grad`` as it is given."""

    data: Node
    flag: Node | None


class Wrappers:
    """Finds the calls of Variable, and tells what each of them does."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._graphless = semantics.of(LikelyGraphless)

    @cached_property
    def calls(self) -> dict[ast.Call, Wrapping[ast.expr]]:
        """The calls of Variable that say what they wrap, and nothing but that and ``requires_grad``."""
        calls = self._semantics.of(Spellings).calls({"Variable"})
        found = ((call, _wrapping(call)) for call in calls if self._semantics.qualified_name(call.func) == VARIABLE)
        return {call: wrapping for call, wrapping in found if wrapping is not None}

    def cuts_graph(self, data: ast.expr) -> bool:
        """Whether wrapping a value cuts the graph behind it."""
        return self._semantics.kind(data).carries_graph and not self._semantics.no_grad.covers(data)

    def cuts_on_purpose(self, call: ast.Call) -> bool:
        """Whether the graph was cut because it had to be: ``requires_grad=False``, a state that is kept, `repackage_hidden`."""
        wrapping = self.calls.get(call)
        if wrapping is None:
            return False
        function = self._semantics.tree.function(call)
        if isinstance(function, FUNCTIONS) and _DETACHES.search(function.name):
            return not isinstance(wrapping.data, ast.Call)
        grad = self._semantics.kind(wrapping.data).grad
        if grad not in (Grad.GRAPH, Grad.LEAF):
            is_asked = wrapping.flag is not None and self._may_be_computed(wrapping.data)
            return grad is not Grad.NONE and (is_asked or self._is_state_of_step(call, wrapping.data))
        if wrapping.flag is not None or self._is_kept(call) or self._is_of_last_round(call, wrapping.data):
            return True
        return self.is_for_frozen(call)

    def is_for_frozen(self, call: ast.Call) -> bool:
        """Whether a value is cut where something is not to be trained: `if self.args.static: x = Variable(x)`."""
        for parent in self._semantics.tree.ancestors(call):
            match parent:
                case ast.If(test=ast.Name() | ast.Attribute() as test, body=body):
                    statement = self._semantics.tree.statement(call)
                    if _FROZEN.search(last_name(test)) and any(statement is each for each in body):
                        return True
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    return False
        return False

    def _may_be_computed(self, data: ast.expr) -> bool:
        """Whether a value is arithmetic of something that may have a graph, or a module of the class gave it."""
        if not isinstance(data, (ast.BinOp, ast.UnaryOp)):
            return self._is_given_by_own(data) and not self._graphless.is_graphless(data)
        names = [part for part in ast.walk(data) if isinstance(part, ast.Name)]
        return any(not self._graphless.is_graphless(name) for name in names)

    def _is_given_by_own(self, data: ast.expr, depth: int = 4) -> bool:
        """Whether a value is what an attribute of the class gave, or an entry of that: `self.elmo(ids)["mask"]`."""
        while isinstance(data, ast.Subscript):
            data = data.value
        match data:
            case ast.Call(func=ast.Attribute(value=owner) as function):
                definition = self._semantics.facts.self_class(owner)
                return definition is not None and self._semantics.facts.method(definition, function.attr) is None
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(data)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT and each.value is not None and self._is_given_by_own(each.value, depth - 1)
                    for each in bindings
                )
        return False

    def _is_of_last_round(self, call: ast.Call, data: ast.expr) -> bool:
        """Whether a value has come around a loop that back-propagates, so that its graph is gone: ``h = Variable(h)``."""
        loop = next(self._semantics.tree.loops(call), None)
        if loop is None or not isinstance(data, ast.Name) or not isinstance(self._semantics.tree.parent(call), ast.Assign):
            return False
        around = [each.node for each in self._semantics.bindings.reaching(data) if self._semantics.tree.inside(each.node, loop)]
        is_late = bool(around) and all(getattr(node, "lineno", 0) > call.lineno for node in around)
        backwards = self._semantics.facts.calls.get("backward", ())
        return is_late and any(self._semantics.tree.inside(each, loop) for each in backwards)

    def _is_state_of_step(self, call: ast.Call, data: ast.expr) -> bool:
        """Whether a function is given the state of the step before, and gives that of its own: ``y, h = self.rnn(x, h)``."""
        match self._semantics.tree.parent(call):
            case ast.Assign(targets=[ast.Name() as target]) if isinstance(data, ast.Name):
                before = self._semantics.bindings.of(target)
            case _:
                return False
        given = self._semantics.bindings.reaching(data)
        if before is None or not given or any(each.form is not Form.PARAMETER for each in given):
            return False
        afters = before.scope.bindings.get(target.id, ())
        return any(self._gives_state(after, before) and self._is_returned(after) for after in afters)

    def _is_returned(self, binding: Binding) -> bool:
        users = [self._semantics.tree.parent(use) for use in binding.uses]
        ends = [self._semantics.tree.parent(user) if isinstance(user, ast.Tuple) else user for user in users]
        return any(isinstance(end, ast.Return) for end in ends)

    def _gives_state(self, after: Binding, before: Binding) -> bool:
        """Whether a call that is given an input, and then a state, gives what takes the place of the state."""
        match after.value:
            case ast.Call(args=[_, *others], keywords=words) if after.form is Form.ASSIGNMENT:
                return any(use in others or use in [word.value for word in words] for use in before.uses)
        return False

    def _is_kept(self, call: ast.Call) -> bool:
        """Whether the value is stored as an attribute, right away or under a name first."""
        statement = self._semantics.tree.parent(call)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        if isinstance(statement.targets[0], ast.Attribute):
            return True
        binding = self._semantics.bindings.of(statement.targets[0])
        users = [self._semantics.tree.parent(use) for use in binding.uses] if binding is not None else []
        return any(isinstance(user, ast.Assign) and isinstance(user.targets[0], ast.Attribute) for user in users)


def makes_leaf(wrapping: Wrapping[ast.expr]) -> bool:
    """Whether ``requires_grad`` is, or may be, true."""
    return wrapping.flag is not None and not (isinstance(wrapping.flag, ast.Constant) and not wrapping.flag.value)


def _wrapping(call: ast.Call) -> Wrapping[ast.expr] | None:
    words = {word.arg: word.value for word in call.keywords}
    data = call.args[0] if call.args else words.pop("data", None)
    flag = call.args[1] if len(call.args) > 1 else words.pop("requires_grad", None)
    if data is None or words or len(call.args) > 2 or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return Wrapping(data, flag)
