"""Loops of a function that only gather what is there already, in a container that is freed with what the function returns."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from torchlint.semantics import Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Loop, last_name
from torchlint.semantics.unrecorded.carried_states import CarriedStates

_WALKS = frozenset({"parameters", "named_parameters", "modules", "named_modules", "buffers", "named_buffers"})
_FILLS = frozenset({"append", "appendleft", "insert"})
_PARTS = frozenset({"keys", "values", "items"})
_SPLITS = frozenset({"split", "chunk", "unbind"})
"""Methods of tensors, and of texts, that give parts of what is there."""
_FEW = 8
"""So many values that a function keeps until it returns are no growth."""
_MANY = _FEW + 1
_PROPAGATE = frozenset({"backward", "register_hook", "apply_", "map_"})
_RUN_OTHERS = frozenset({"builtins.next", "builtins.map", "builtins.filter"})


class Gatherings:
    """Tells of what is added to a container whether anything is computed for it that would not be there otherwise."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._plain: dict[Loop, bool] = {}

    def is_one(self, statement: ast.stmt, container: ast.expr, values: Sequence[ast.expr]) -> bool:
        """Whether a function gathers in a container of its own: the parts of a model, or what it computes of what it is given.

        Its loop then calls no model, and no code but torch's functions; or it goes through the numbers of a tensor, or has so
        few rounds that nothing grows. Or what is added are steps of a sequence, whose graph their state holds.
        """
        if values and all(map(self._semantics.of(CarriedStates).hold, values)):
            return True
        loops, function = list(self._semantics.tree.loops(statement)), self._semantics.tree.function(statement)
        if not loops or not isinstance(container, ast.Name) or function is None:
            return False
        bindings = self._semantics.bindings.reaching(container)
        is_own = all(each.form is Form.ASSIGNMENT and each.scope.node is function for each in bindings)
        if not bindings or not is_own:
            return False
        return self._is_plain(loops[-1]) or _goes_through_numbers(loops[0]) or self._have_few_rounds(loops)

    def _have_few_rounds(self, loops: Sequence[Loop]) -> bool:
        """Whether loops go through what is written out, or count to a few, each time that their function is called."""
        rounds = 1
        for loop in loops:
            match loop:
                case ast.For(iter=ast.Tuple(elts=items) | ast.List(elts=items)):
                    rounds *= max(len(items), 1)
                case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[end])):
                    rounds *= self._most(end)
                case _:
                    return False
        return rounds <= _FEW

    def _most(self, end: ast.expr) -> int:
        """The greatest of the numbers that a value has as far as the file says, of a parameter by default; else a great one."""
        if isinstance(end, ast.Constant) and isinstance(end.value, int):
            return end.value
        bindings = self._semantics.bindings.reaching(end) if isinstance(end, ast.Name) else ()
        if len(bindings) != 1:
            return _MANY
        function, parameter = bindings[0].scope.node, bindings[0].node
        if bindings[0].form is not Form.PARAMETER or not isinstance(parameter, ast.arg) or not isinstance(function, FUNCTIONS):
            return _MANY
        default = self._semantics.facts.default(function, parameter)
        values = [default, *self._semantics.inference.given(bindings[0])]
        numbers = [each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, int)]
        return max(numbers) if len(numbers) == len(values) else _MANY

    def _is_plain(self, loop: Loop) -> bool:
        if loop not in self._plain:
            is_walk = isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) in _WALKS
            calls = (part for part in ast.walk(loop) if isinstance(part, ast.Call))
            self._plain[loop] = is_walk or all(map(self._is_plain_call, calls))
        return self._plain[loop]

    def _is_plain_call(self, call: ast.Call) -> bool:
        """Whether a call makes a number, a range or a tensor of what it is given, or fills a container."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("builtins."):
            return hasattr(builtins, name.removeprefix("builtins.")) and name not in _RUN_OTHERS
        if name.startswith("torch."):
            is_known = name in torch_api.FUNCTIONS or name in torch_api.FACTORIES
            return is_known and not name.startswith("torch.autograd.")
        if not isinstance(call.func, ast.Attribute):
            return False
        method = call.func.attr
        return method in _FILLS | _SPLITS or (method in _PARTS and not call.args) or self._is_of_values(call.func)

    def _is_of_values(self, method: ast.Attribute) -> bool:
        """Whether a method of a tensor or an array is called, which computes something of it."""
        kind = self._semantics.kind(method.value)
        is_one = kind.type is Type.ARRAY or (kind.is_tensor and not kind.loose and method.attr in torch_api.TENSOR_ATTRIBUTES)
        return is_one and method.attr not in _PROPAGATE


def _goes_through_numbers(loop: Loop) -> bool:
    """Whether a loop is over all numbers of one tensor, which share one graph if they have any: `for each in x.view(-1)`."""
    match loop:
        case ast.For(iter=ast.Call(func=ast.Attribute(attr="flatten"), args=[])):
            return True
        case ast.For(iter=ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[size])):
            return isinstance(size, ast.UnaryOp) and isinstance(size.op, ast.USub)
    return False
