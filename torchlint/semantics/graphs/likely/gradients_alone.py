"""Values that are computed of gradients without a graph, and of nothing else that may have one: conjugate gradients."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeAlias

from torchlint.semantics import Grad, Semantics, Type, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import Function, given_to, is_false, walk_body

_GRADIENT = "torch.autograd.grad"
_DEEP = 4
"""So many calls are entered, one within the other."""
_MOST = 200
"""So many values are looked at."""
_OPEN = (ast.Yield, ast.YieldFrom, ast.Await)
_FIGURES = frozenset({Type.NUMBER, Type.STRING, Type.NONE, Type.ARRAY})
_WEIGHTS = frozenset({"weight", "bias", "grad"})
_GIVEN_ON = frozenset(f"builtins.{name}" for name in ("zip", "enumerate", "sum", "list", "tuple", "reversed", "range", "len"))


@dataclass(frozen=True, slots=True)
class _Entered:
    """A call that is entered, and the one that was before."""

    call: ast.Call
    function: Function
    outer: _Entered | None
    depth: int


_Value: TypeAlias = tuple[ast.expr, _Entered | None]


class GradientsAlone:
    """Tells of values whether all that goes into them are gradients that were asked for without ``create_graph``, numbers,
    and new tensors. A value of which nothing is known that is no result of a call counts as a number.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._bodies: dict[Function, list[ast.expr] | None] = {}
        self._given_graphs: dict[Binding, bool] = {}
        self._computed_attributes: frozenset[str] | None = None

    def are(self, node: ast.expr) -> bool:
        """Whether a value is made of such gradients alone."""
        if not self._semantics.words.speak_of("grad"):
            return False
        found, seen = False, set[_Value]()
        pending: list[_Value] = [(node, None)]
        while pending:
            value, entered = pending.pop()
            if (value, entered) in seen:
                continue
            seen.add((value, entered))
            if len(seen) > _MOST:
                return False
            if self._is_gradient(value):
                if not self._is_without_graph(value, entered):
                    return False
                found = True
                continue
            parts = self._parts(value, entered)
            if parts is None:
                return False
            pending += parts
        return found

    # --- gradients ---------------------------------------------------------------------------------------------------

    def _is_gradient(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) == _GRADIENT

    def _is_without_graph(self, value: ast.expr, entered: _Entered | None) -> bool:
        """Whether a call for gradients makes no graph of them: it is not asked to, or by a parameter that is false there."""
        assert isinstance(value, ast.Call)
        words = {word.arg: word.value for word in value.keywords}
        if None in words or len(value.args) > 4 or any(isinstance(each, ast.Starred) for each in value.args):
            return False
        flag = words.get("create_graph")
        return flag is None or self._is_false(flag, entered)

    def _is_false(self, flag: ast.expr | None, entered: _Entered | None) -> bool:
        while entered is not None and isinstance(flag, ast.Name):
            bindings = self._semantics.bindings.reaching(flag)
            parameter = bindings[0].node if len(bindings) == 1 and bindings[0].form is Form.PARAMETER else None
            if not isinstance(parameter, ast.arg) or bindings[0].scope.node is not entered.function:
                return False
            flag = self._semantics.facts.argument(entered.call, entered.function, parameter)
            entered = entered.outer
        return is_false(flag)

    # --- what goes into a value --------------------------------------------------------------------------------------

    def _parts(self, value: ast.expr, entered: _Entered | None) -> list[_Value] | None:
        """What a value is computed of; ``None`` where that may have a graph for another reason."""
        kind = self._semantics.kind(value)
        if kind.grad is Grad.LEAF:
            return None
        if kind.type in _FIGURES or (
            kind.is_tensor and kind.grad is Grad.NONE and not isinstance(value, (ast.Name, ast.Subscript))
        ):
            return []
        match value:
            case ast.Constant() | ast.Compare() | ast.JoinedStr():
                return []
            case ast.Name():
                return self._bound(value, entered)
            case ast.BinOp(left=left, right=right):
                return [(left, entered), (right, entered)]
            case ast.Attribute(value=owner, attr="T" | "mT" | "data"):
                return [(owner, entered)]
            case ast.Attribute():
                return [] if kind.type is Type.UNKNOWN and self._is_configured(value) else None
            case ast.UnaryOp(operand=inner) | ast.Starred(value=inner) | ast.Subscript(value=inner):
                return [(inner, entered)]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return [(part, entered) for part in parts]
            case ast.IfExp(body=body, orelse=orelse):
                return [(body, entered), (orelse, entered)]
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part):
                return [(part, entered)]
            case ast.Call():
                return self._computed(value, entered)
        return None

    def _is_configured(self, node: ast.Attribute) -> bool:
        """Whether an attribute is as likely a number: ``self.damping``, ``args.damping``, and none that is computed."""
        owner = node.value.value if isinstance(node.value, ast.Attribute) else node.value
        if not isinstance(owner, ast.Name) or node.attr in _WEIGHTS:
            return False
        if self._computed_attributes is None:
            stores = (each for each in self._semantics.tree.of_type(ast.Attribute) if isinstance(each.ctx, ast.Store))
            computed = (each for each in stores if not self._is_given_configured(self._semantics.tree.parent(each)))
            self._computed_attributes = frozenset(each.attr for each in computed)
        return node.attr not in self._computed_attributes

    def _is_given_configured(self, statement: ast.AST | None) -> bool:
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        return isinstance(value, (ast.Constant, ast.Name, ast.Attribute))

    def _bound(self, name: ast.Name, entered: _Entered | None) -> list[_Value] | None:
        bindings = self._semantics.bindings.reaching(name)
        found: list[_Value] = []
        pending, seen = list(bindings), set[Binding]()
        while pending:
            binding = pending.pop()
            if binding in seen:
                continue
            seen.add(binding)
            if len(seen) > _MOST or self._is_given_graph(binding):
                return None
            if binding.form is Form.PARAMETER:
                given = self._given(binding, entered)
                if given is None:
                    return None
                found += given
            elif binding.form in (Form.ASSIGNMENT, Form.AUGMENTED, Form.LOOP) and binding.value is not None:
                found.append((binding.value, entered))
                pending += binding.before
            else:
                return None
        return found if bindings else None

    def _given(self, binding: Binding, entered: _Entered | None) -> list[_Value] | None:
        """What a parameter is given: by the call that was entered, or by all of the file."""
        if entered is not None and entered.function is binding.scope.node and isinstance(binding.node, ast.arg):
            argument = self._semantics.facts.argument(entered.call, entered.function, binding.node)
            return [(argument, entered.outer)] if argument is not None else None
        arguments = self._semantics.inference.given(binding)
        given: list[_Value] = [(each, None) for each in arguments if each is not None]
        return given if given and len(given) == len(arguments) else None

    def _is_given_graph(self, binding: Binding) -> bool:
        """Whether a value is asked to require grad, or may be given a graph by an operation in place, or in an item."""
        if binding not in self._given_graphs:
            parents = [self._semantics.tree.parent(use) for use in binding.uses]
            names = (parent.attr for parent in parents if isinstance(parent, ast.Attribute))
            items = (parent for parent in parents if isinstance(parent, ast.Subscript))
            self._given_graphs[binding] = any(
                each.startswith("requires_grad") or (each.endswith("_") and not each.startswith("_")) for each in names
            ) or any(not isinstance(each.ctx, ast.Load) for each in items)
        return self._given_graphs[binding]

    def _computed(self, call: ast.Call, entered: _Entered | None) -> list[_Value] | None:
        """What the result of a call is computed of: its arguments, or what a function of the file returns."""
        function = self._semantics.facts.called(call)
        if function is not None:
            returned = self._returned(function)
            depth = entered.depth + 1 if entered is not None else 1
            if returned is None or depth > _DEEP:
                return None
            inner = _Entered(call, function, entered, depth)
            return [(value, inner) for value in returned]
        name = self._semantics.qualified_name(call.func) or ""
        if any(word.arg == "requires_grad" for word in call.keywords):
            return None
        given: list[_Value] = [(each, entered) for each in given_to(call) if not self._is_setting(each)]
        if (name.startswith("torch.") and self._semantics.kind(call).type is not Type.MODULE) or name in _GIVEN_ON:
            return given
        if isinstance(call.func, ast.Attribute) and not name and call.func.attr in torch_api.TENSOR_ATTRIBUTES:
            return [(call.func.value, entered), *given]
        return None

    def _is_setting(self, value: ast.expr) -> bool:
        """Whether an argument is a device or a dtype."""
        return (self._semantics.qualified_name(value) or "").startswith("torch.")

    def _returned(self, function: Function) -> list[ast.expr] | None:
        if function not in self._bodies:
            returned = self._semantics.facts.returned(function)
            is_plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
            is_plain = is_plain and not any(isinstance(part, _OPEN) for part in walk_body(function.body))
            values = [each for each in returned if each is not None]
            self._bodies[function] = values if is_plain and values else None
        return self._bodies[function]
