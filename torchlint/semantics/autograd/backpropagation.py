"""What is back-propagated: the values that flow into something that ``backward`` is called on."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.paths import connected
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.definitions import Slot
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.kinds.evidence import is_engine_backward

_FILLING_METHODS = frozenset({"append", "extend", "insert", "add", "update", "put"})


class _Flows:
    """What flows into some roots.

    Of a value or a call of a function it tells whether it does so in whatever call of the function it is made: else only where
    the result of one of those calls does by which the function was ``entered``. These are told of in the same way.
    """

    def __init__(self) -> None:
        self.values: set[Binding | Slot] = set()
        self.free: set[Binding | Slot] = set()
        self.calls: dict[ast.Call, bool] = {}
        self.entered: dict[ast.AST | None, dict[ast.Call, bool]] = {}
        self.parameters: dict[Function, list[ast.arg]] = {}

    def add(self, value: Binding | Slot, free: bool) -> None:
        self.values.add(value)
        if free:
            self.free.add(value)


class Backpropagated:
    """The bindings and attributes whose values flow into something that ``backward`` is called on."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._bindings = semantics.bindings
        self._names = semantics.names
        self._facts = semantics.facts
        self._call_sites = semantics.inference.call_sites
        self._without: dict[frozenset[ast.expr], _Flows] = {}

    def name(self, node: ast.AST) -> bool:
        """Whether what the name or ``self`` attribute ``node`` refers to is back-propagated, itself or in a sum or product."""
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                return any(binding in self._closure for binding in self._bindings.reaching(node))
            binding = self._bindings.of(node)
            return binding is not None and binding in self._closure
        if isinstance(node, ast.Attribute):
            return any(slot in self._closure for slot in self._slots(node))
        return False

    def before_return(self, node: ast.expr) -> bool:
        """Whether a name is what a function of the file gives that has back-propagated it itself: ``loss = step(x)``."""
        found = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        if len(found) != 1 or not isinstance(found[0].value, ast.Call) or found[0].form is not Form.ASSIGNMENT:
            return False
        function = self._facts.called(found[0].value)
        returned = self._semantics.facts.returned(function) if function is not None and function.name != "__init__" else []
        for index in found[0].path:
            parts = [each.elts if isinstance(each, ast.Tuple) else [] for each in returned]
            returned = [each[index] if index is not None and index < len(each) else None for each in parts]
        return bool(returned) and all(isinstance(each, ast.Name) and self.name(each) for each in returned)

    def binding(self, binding: Binding) -> bool:
        """Whether a binding's value is back-propagated."""
        return binding in self._closure

    def call(self, node: ast.Call) -> bool:
        """Whether what a call returns is back-propagated, itself or as a part of what is."""
        return node in self._flows(frozenset()).calls

    @property
    def all_calls(self) -> list[ast.Call]:
        """The calls whose results are back-propagated."""
        return list(self._flows(frozenset()).calls)

    def call_within(self, node: ast.Call, site: ast.Call, without: Collection[ast.expr] = ()) -> bool:
        """Whether what a call returns is back-propagated where it is made on behalf of ``site``, which is the call itself or
        one of the function around it; by any of `roots` but for those ``without``.
        """
        flows = self._flows(frozenset(without))
        if site is node or flows.calls.get(node) is not False:
            return node in flows.calls
        pending: list[ast.Call] = [node]
        seen: set[ast.Call] = set()
        while pending:
            function = self._tree.function(pending.pop())
            for call, free in flows.entered.get(function, {}).items():
                if call is site or (free and self._facts.called(site) is self._tree.function(call)):
                    return True  # the function that the site calls back-propagates it, whoever called
                if not free and call not in seen:
                    seen.add(call)
                    pending.append(call)
        return False

    def expression(self, node: ast.expr) -> bool:
        """Whether any part of an expression is back-propagated, as far as it is still connected to the graph."""
        return any(self.name(part) for part in connected(node, self._names))

    @cached_property
    def roots(self) -> list[ast.expr]:
        """The expressions that are back-propagated: ``loss`` of ``loss.backward()``, of ``accelerator.backward(loss)``."""
        if self._semantics.inference.own_autograd.are_used:
            return []
        roots: list[ast.expr] = []
        for call in [*self._facts.calls.get("backward", ()), *self._facts.calls.get("manual_backward", ())]:
            roots.extend(self._roots(call))
        for call in self._facts.calls.get("grad", ()):
            if self._names.qualified(call.func) == "torch.autograd.grad":
                roots.extend(call.args[:1])
        roots.extend(self._training_steps())
        return roots

    @cached_property
    def of_inputs(self) -> list[ast.expr]:
        """Those of the `roots` of which gradients are asked that train nothing: with respect to what a model is given."""
        roots = []
        for call in self._facts.calls.get("grad", ()):
            words = {word.arg: word.value for word in call.keywords}
            given = [*call.args, words.get("inputs")] if len(call.args) < 2 else call.args
            inputs = given[1] if len(given) > 1 else None
            kept = words.get("create_graph")
            is_kept = kept is not None and not (isinstance(kept, ast.Constant) and not kept.value)
            if isinstance(inputs, ast.Name) and not is_kept and not self._is_of_model(inputs):
                roots.extend(call.args[:1])
        return roots

    def _is_of_model(self, name: ast.Name) -> bool:
        """Whether a variable may hold parameters, by its name or by what it was given."""
        values = [binding.value for binding in self._bindings.reaching(name) if binding.value is not None]
        return any("param" in word or "weight" in word for word in (name.id, *map(ast.unparse, values)))

    @cached_property
    def every_root(self) -> frozenset[ast.expr]:
        """The `roots`, to look them up."""
        return frozenset(self.roots)

    def _training_steps(self) -> Iterator[ast.expr]:
        """What Lightning back-propagates: the loss that a ``training_step`` returns, itself or in a dict."""
        for definition, facts in self._facts.classes.items():
            step = facts.methods.get("training_step")
            if step is None or not self._facts.is_module(definition):
                continue
            for value in self._facts.returned(step):
                match value:
                    case ast.Dict(keys=keys, values=values):
                        yield from [
                            part for key, part in zip(keys, values) if isinstance(key, ast.Constant) and key.value == "loss"
                        ]
                    case ast.Name() | ast.Attribute() | ast.BinOp():
                        yield value

    def _roots(self, call: ast.Call) -> Iterator[ast.expr]:
        by_function = self._names.qualified(call.func) == "torch.autograd.backward"
        if isinstance(call.func, ast.Attribute) and not by_function and not is_engine_backward(call):
            yield call.func.value
        else:
            yield from call.args[:1]

    @property
    def _closure(self) -> set[Binding | Slot]:
        return self._flows(frozenset()).values

    def _flows(self, without: frozenset[ast.expr]) -> _Flows:
        """What flows into the roots, but for those ``without``."""
        if without not in self._without:
            flows = self._without[without] = _Flows()
            self._follow(flows, [root for root in self.roots if root not in without])
        return self._without[without]

    def _follow(self, flows: _Flows, roots: list[ast.expr]) -> None:
        pending: list[tuple[ast.expr | None, bool]] = [(root, True) for root in roots]
        while pending:
            expression, free = pending.pop()
            for part in connected(expression, self._names) if expression is not None else ():
                if isinstance(part, ast.Name):
                    for binding in _with_summed(self._bindings.reaching(part), flows.free if free else flows.values):
                        is_free = free or self._function(binding.scope.node) is not self._tree.function(part)
                        flows.add(binding, is_free)
                        pending += self._origins(binding, is_free, flows)
                elif isinstance(part, ast.Attribute):
                    for slot in self._slots(part):
                        if slot not in flows.values:
                            flows.add(slot, True)
                            pending += [(origin, True) for origin in self._slot_origins(slot)]
                elif isinstance(part, ast.Call):
                    flows.calls[part] = free or flows.calls.get(part, False)
                    if (function := self._facts.called(part)) is not None:
                        pending += self._entered(function, part, free, flows)

    def _function(self, scope: ast.AST) -> ast.AST | None:
        """The function that a scope is, or that it is a comprehension of."""
        return scope if isinstance(scope, (*FUNCTIONS, ast.Lambda)) else self._tree.function(scope)

    def _entered(self, function: Function, call: ast.Call, free: bool, flows: _Flows) -> Iterator[tuple[ast.expr | None, bool]]:
        """What is to be followed where a call's result flows: what the function returns, and what it is given by the call."""
        calls = flows.entered.setdefault(function, {})
        if not calls:
            yield from ((value, False) for value in self._facts.returned(function))
        elif calls.get(call, False) or (call in calls and not free):
            return
        calls[call] = free
        for parameter in flows.parameters.get(function, ()):
            yield self._facts.argument(call, function, parameter), free

    def _origins(self, binding: Binding, free: bool, flows: _Flows) -> Iterator[tuple[ast.expr | None, bool]]:
        """The expressions that a binding's value is made from; of a parameter, what the calls give that it flows to."""
        function = binding.scope.node
        if binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS) and isinstance(binding.node, ast.arg):
            if free or not flows.entered.get(function):
                sites = dict.fromkeys(self._call_sites(function), True)
            else:
                flows.parameters.setdefault(function, []).append(binding.node)
                sites = flows.entered[function]
            for call, is_free in sites.items():
                yield self._facts.argument(call, function, binding.node), is_free
        elif binding.form is Form.CONTEXT:
            yield _scaled(binding.value), free
        elif binding.form is not Form.PARAMETER and binding.value is not None:
            yield binding.value, free
        for use in binding.uses:
            yield from ((filling, free) for filling in self._fillings(use))

    def _slot_origins(self, slot: Slot) -> Iterator[ast.expr | None]:
        for store in slot.stores:
            statement = self._tree.statement(store)
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                yield statement.value
        for use in slot.uses:
            yield from self._fillings(use)

    def _fillings(self, use: ast.expr) -> Iterator[ast.expr]:
        """What is put into a container where it is used: ``use.append(x)``, ``use[k] = x``, ``use += x``."""
        parent = self._tree.parent(use)
        if isinstance(parent, ast.Attribute) and parent.attr in _FILLING_METHODS:
            call = self._tree.parent(parent)
            if isinstance(call, ast.Call) and call.func is parent:
                yield from call.args
        while isinstance(parent, ast.Subscript) and use is parent.value:
            use, parent = parent, self._tree.parent(parent)
            if isinstance(parent, (ast.Assign, ast.AugAssign)) and parent.value is not use:
                yield parent.value
            elif isinstance(parent, ast.Attribute) and parent.attr in _FILLING_METHODS:
                call = self._tree.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    yield from call.args

    def _slots(self, node: ast.Attribute) -> list[Slot]:
        owner = self._facts.self_class(node.value)
        return self._facts.slots(owner, node.attr) if owner is not None else []


def _scaled(context: ast.expr | None) -> ast.expr | None:
    """The loss that a context of apex gives scaled, `amp.scale_loss(loss, optimizer)`; ``None`` for all other contexts."""
    match context:
        case ast.Call(func=ast.Attribute(attr="scale_loss"), args=[loss, *_]):
            return loss
    return None


def _with_summed(bindings: Iterable[Binding], known: set[Binding | Slot]) -> Iterator[Binding]:
    """Bindings, and those that their augmented assignments add to, but for the known ones."""
    seen: set[Binding] = set()
    pending = list(bindings)
    while pending:
        binding = pending.pop()
        if binding not in seen and binding not in known:
            seen.add(binding)
            pending.extend(binding.before)
            yield binding
