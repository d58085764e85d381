"""Where autograd is off, and what is back-propagated."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.definitions import Facts, Slot
from torchlint.semantics.code.names import Names
from torchlint.semantics.code.tree import FUNCTIONS, Function, Tree, walk_body

if TYPE_CHECKING:
    from torchlint.semantics import Semantics

NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode"})
_CUTTING_METHODS = frozenset({"item", "detach", "tolist", "numpy", "size", "dim", "argmax", "numel", "backward", "append"})
_CUTTING_CALLS = frozenset({"builtins.float", "builtins.int", "builtins.len", "builtins.str", "builtins.print"})
_CUTTING_ATTRIBUTES = frozenset({"data", "shape", "grad", "device", "dtype"})
_FILLING_METHODS = frozenset({"append", "extend", "insert", "add", "update", "put"})


class NoGrad:
    """Tells whether code runs with autograd off."""

    def __init__(self, tree: Tree, names: Names, facts: Facts) -> None:
        self._tree = tree
        self._names = names
        self._facts = facts
        self._functions: dict[Function, bool] = {}
        self._covered: dict[ast.AST, bool] = {}

    def covers(self, node: ast.AST) -> bool:
        """Whether ``node`` is evaluated with autograd off: in a ``no_grad`` block, a decorated function, one called there."""
        passed: list[ast.AST] = []
        covered = False
        child = node
        for parent in self._tree.ancestors(node):
            if child in self._covered:
                covered = self._covered[child]
                break
            passed.append(child)
            mode = self._mode_in(parent, child)
            if mode is not None:
                covered = not mode
                break
            child = parent
        for part in passed:
            self._covered[part] = covered
        return covered

    def _mode_in(self, parent: ast.AST, child: ast.AST) -> bool | None:
        """The grad mode that ``parent`` evaluates its part ``child`` in; ``None`` where that is the mode around it."""
        if isinstance(parent, (ast.With, ast.AsyncWith)) and isinstance(child, ast.stmt):
            return self._switch(parent)
        if isinstance(parent, FUNCTIONS) and isinstance(child, ast.stmt):
            return not (self._function(parent) or self._switched_off(child, parent.body))
        if isinstance(parent, ast.Lambda):
            return True
        if isinstance(parent, ast.Module) and isinstance(child, ast.stmt):
            return not self._switched_off(child, parent.body)
        return None

    def block(self, node: ast.AST) -> bool:
        """Whether ``node`` stands in a ``with`` block, or a decorated function, that turns autograd off."""
        child = node
        for parent in self._tree.ancestors(node):
            if isinstance(parent, (ast.With, ast.AsyncWith)) and child in parent.body and self._switch(parent) is False:
                return True
            if isinstance(parent, FUNCTIONS) and child in parent.body:
                return self.decorated(parent)
            child = parent
        return False

    def _switch(self, statement: ast.With | ast.AsyncWith) -> bool | None:
        """What a with statement makes of grad mode; ``None`` if it does not touch it."""
        states = [self.grad_mode(item.context_expr) for item in statement.items]
        return next((state for state in reversed(states) if state is not None), None)

    def grad_mode(self, node: ast.expr) -> bool | None:
        """What a context manager makes of grad mode: ``torch.no_grad()`` turns it off, ``enable_grad()`` on."""
        if not isinstance(node, ast.Call):
            return None
        name = self._names.qualified(node.func)
        if name in NO_GRAD:
            flag = node.args[0] if node.args else None
            return isinstance(flag, ast.Constant) and flag.value is False
        if name == "torch.enable_grad":
            return True
        if name == "torch.set_grad_enabled" and node.args and isinstance(node.args[0], ast.Constant):
            return bool(node.args[0].value)
        return None

    def decorated(self, function: Function) -> bool:
        """Whether a decorator runs the function with autograd off."""
        for decorator in function.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self._names.qualified(target) in NO_GRAD:
                return True
            if isinstance(decorator, ast.Call) and self.grad_mode(decorator) is False:
                return True
        return False

    def _function(self, function: Function) -> bool:
        """Whether a function is decorated, or all its calls in the file stand where autograd is off."""
        if function not in self._functions:
            self._functions[function] = False
            self._functions[function] = self.decorated(function) or self._only_called_without_grad(function)
        return self._functions[function]

    def _only_called_without_grad(self, function: Function) -> bool:
        calls = self._facts.call_sites(function)
        mentions = len(self._facts.calls.get(function.name, ()))
        return bool(calls) and len(calls) == mentions and all(self.covers(call) for call in calls)

    def _switched_off(self, statement: ast.AST, body: list[ast.stmt]) -> bool:
        """Whether ``torch.set_grad_enabled(False)`` was called as a statement before ``statement``, in the same body."""
        if not self._switches:
            return False
        off = False
        for earlier in body:
            if earlier is statement:
                return off
            if isinstance(earlier, ast.Expr) and (state := self._grad_statement(earlier.value)) is not None:
                off = not state
        return off

    def _grad_statement(self, node: ast.expr) -> bool | None:
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "torch.set_grad_enabled":
            return self.grad_mode(node)
        return None

    @cached_property
    def _switches(self) -> bool:
        return "set_grad_enabled" in self._facts.calls


class Backpropagated:
    """The bindings and attributes whose values flow into something that ``backward`` is called on."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._bindings = semantics.bindings
        self._names = semantics.names
        self._facts = semantics.facts
        self._call_sites = semantics.inference.call_sites
        self._calls: set[ast.Call] = set()

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

    def binding(self, binding: Binding) -> bool:
        """Whether a binding's value is back-propagated."""
        return binding in self._closure

    def call(self, node: ast.Call) -> bool:
        """Whether what a call returns is back-propagated, itself or as a part of what is."""
        return self._closure is not None and node in self._calls  # the closure is what fills `_calls`

    def expression(self, node: ast.expr) -> bool:
        """Whether any part of an expression is back-propagated, as far as it is still connected to the graph."""
        return any(self.name(part) for part in connected(node, self._names))

    @cached_property
    def roots(self) -> list[ast.expr]:
        """The expressions that are back-propagated: ``loss`` of ``loss.backward()``, of ``accelerator.backward(loss)``."""
        roots: list[ast.expr] = []
        for call in [*self._facts.calls.get("backward", ()), *self._facts.calls.get("manual_backward", ())]:
            roots.extend(self._roots(call))
        for call in self._facts.calls.get("grad", ()):
            if self._names.qualified(call.func) == "torch.autograd.grad":
                roots.extend(call.args[:1])
        roots.extend(self._training_steps())
        return roots

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

    @cached_property
    def _closure(self) -> set[Binding | Slot]:
        closure: set[Binding | Slot] = set()
        pending: list[ast.expr | None] = list(self.roots)
        functions: set[ast.AST] = set()
        while pending:
            expression = pending.pop()
            if expression is None:
                continue
            for part in connected(expression, self._names):
                if isinstance(part, ast.Name):
                    for binding in _with_summed(self._bindings.reaching(part), closure):
                        closure.add(binding)
                        pending.extend(self._origins(binding))
                elif isinstance(part, ast.Attribute):
                    for slot in self._slots(part):
                        if slot not in closure:
                            closure.add(slot)
                            pending.extend(self._slot_origins(slot))
                elif isinstance(part, ast.Call):
                    self._calls.add(part)
                    function = self._called(part)
                    if function is not None and function not in functions:
                        functions.add(function)
                        pending.extend(self._facts.returned(function))
        return closure

    def _called(self, call: ast.Call) -> Function | None:
        """The function or method of the file that is called, if it is certain."""
        found = self._facts.definition(call.func)
        if isinstance(found, FUNCTIONS):
            return found
        if isinstance(call.func, ast.Attribute):
            owner = self._facts.self_class(call.func.value)
            return self._facts.method(owner, call.func.attr) if owner is not None else None
        return None

    def _origins(self, binding: Binding) -> Iterator[ast.expr | None]:
        """The expressions that a binding's value is made from."""
        if binding.form is Form.PARAMETER:
            function = binding.scope.node
            if isinstance(function, FUNCTIONS) and isinstance(binding.node, ast.arg):
                for call in self._call_sites(function):
                    yield self._facts.argument(call, function, binding.node)
        elif binding.value is not None and binding.form is not Form.CONTEXT:
            yield binding.value
        for use in binding.uses:
            yield from self._fillings(use)

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


def is_engine_backward(call: ast.Call) -> bool:
    """Whether ``x.backward(y)`` is, by its shape, of an engine that back-propagates ``y``: accelerate, deepspeed, apex."""
    if not isinstance(call.func, ast.Attribute) or not call.args:
        return False
    if call.func.attr == "manual_backward":
        return True
    receiver = call.func.value
    name = receiver.attr if isinstance(receiver, ast.Attribute) else receiver.id if isinstance(receiver, ast.Name) else ""
    engines = ("accelerator", "fabric", "engine", "optimizer", "optim", "model", "trainer", "strategy", "scaler", "self", "amp")
    return any(name.lower().endswith(engine) for engine in engines)


def connected(root: ast.expr, names: Names) -> Iterator[ast.expr]:
    """The parts of an expression through which its value hangs on the graph: not below ``.item()`` and its like."""
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        match node:
            case ast.Attribute(attr=attr) if attr in _CUTTING_ATTRIBUTES:
                continue
            case ast.Call(func=ast.Attribute(attr=method)) if method in _CUTTING_METHODS:
                continue
            case ast.Call(func=function) if names.qualified(function) in _CUTTING_CALLS:
                continue
            case ast.Compare() | ast.Lambda():
                continue
            case ast.IfExp(body=body, orelse=orelse):
                stack.extend((orelse, body))
                yield node
                continue
            case ast.Subscript(value=value):
                stack.append(value)
                yield node
                continue
        if isinstance(node, ast.expr):
            yield node
        stack.extend(reversed(list(ast.iter_child_nodes(node))))


def evaluates(function: Function) -> bool:
    """Whether a function puts a module in evaluation mode and back-propagates nothing."""
    attributes = {
        part.func.attr
        for part in walk_body(function.body)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
    }
    return "eval" in attributes and not attributes & {"backward", "manual_backward"}
