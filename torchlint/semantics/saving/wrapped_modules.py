"""Modules that are wrapped, by ``DataParallel`` and its like or by ``torch.compile``: which name may stand for one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk_body
from torchlint.semantics.conditions.constants import ConstantConditions
from torchlint.semantics.conditions.exclusive import Conditions
from torchlint.semantics.provenance.modules import PARALLEL
from torchlint.semantics.provenance.values import Part, Values

_COMPILING = "torch.compile"
_SAME = frozenset(
    {"to", "cuda", "cpu", "train", "eval", "float", "half", "double", "bfloat16", "requires_grad_", "share_memory"}
)
_DEPTH = 5


class WrappedModules:
    """Tells by which call of the file a module is wrapped, through names, attributes of ``self``, arguments and results."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._values = semantics.of(Values)

    @cached_property
    def wrappings(self) -> dict[ast.Call, str]:
        """The calls that wrap a module, each with the attribute that holds it."""
        found: dict[ast.Call, str] = {}
        for calls in self._semantics.facts.calls.values():
            for call in calls:
                name = self._semantics.qualified_name(call.func) or ""
                if call.args and (name in PARALLEL or name == _COMPILING):
                    found[call] = "_orig_mod" if name == _COMPILING else "module"
        return found

    def wrapping(self, module: ast.expr) -> tuple[ast.Call, str, bool] | None:
        """What wraps a module, the attribute within, and whether it always is; ``None`` where nothing is known to."""
        values = list(self._made_by(Part(module), 0))
        if any(isinstance(value, ast.Attribute) and value.attr in self.wrappings.values() for value in values):
            return None  # where it is wrapped, the name stands for the module within
        wrappers = [value for value in values if isinstance(value, ast.Call) and value in self.wrappings]
        wrappers = [wrapper for wrapper in wrappers if not self._semantics.of(Conditions).exclude([wrapper], [module])]
        if not wrappers or len({self.wrappings[wrapper] for wrapper in wrappers}) > 1:
            return None
        wrappers.sort(key=self.is_ruled_out)
        return wrappers[0], self.wrappings[wrappers[0]], len(wrappers) == len(values)

    def is_ruled_out(self, wrapper: ast.Call) -> bool:
        """Whether the constants of the file say that a wrapper is never made: ``gpus = 1``, and then ``if gpus > 1``."""
        return self._semantics.of(ConstantConditions).rule_out(wrapper)

    def _made_by(self, part: Part, depth: int) -> Iterator[ast.expr | None]:
        """The expressions that a module may come from; ``None`` stands for what is not seen."""
        node = moved(part.node)
        taken = self._values.taken(Part(node, part.path))
        if taken is None or depth >= _DEPTH:
            yield None
        elif taken.node is not node:
            yield from self._made_by(taken, depth)
        elif isinstance(node, ast.IfExp):
            yield from self._made_by(Part(node.body, part.path), depth)
            yield from self._made_by(Part(node.orelse, part.path), depth)
        elif isinstance(node, ast.Call) and (results := self._results(node)):
            for result in results:
                yield from self._made_by(Part(result, part.path), depth + 1)
        elif part.path:
            yield None
        elif isinstance(node, ast.Name):
            for binding in self._semantics.bindings.reaching(node) or (None,):
                yield from self._bound(binding, depth + 1)
        elif isinstance(node, ast.Attribute) and (owner := self._semantics.facts.self_class(node.value)) is not None:
            for store in (store for slot in self._semantics.facts.slots(owner, node.attr) for store in slot.stores):
                parent = self._semantics.tree.parent(store)
                if isinstance(parent, ast.Assign):
                    yield from self._made_by(Part(parent.value), depth + 1)
                else:
                    yield None
        else:
            yield node

    def _results(self, call: ast.Call) -> list[ast.expr] | None:
        """What the function of the file that is called returns; ``None`` where that is not known, or up to what it is given."""
        function = self._values.called(call)
        if function is None or any(self._is_settled(test, call, function) for test in _tests(function)):
            return None
        return self._values.returned(function)

    def _is_settled(self, test: ast.expr, call: ast.Call, function: Function) -> bool:
        """Whether a call settles a condition of what it calls, by a number or word that it gives, or leaves at its default."""
        named = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        owners = {
            node.value.id for node in ast.walk(test) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        parameters = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        given = [self._semantics.facts.argument(call, function, each) for each in parameters if each.arg in named - owners]
        return any(value is None or isinstance(value, ast.Constant) for value in given)

    def _bound(self, binding: Binding | None, depth: int) -> Iterator[ast.expr | None]:
        function = binding.scope.node if binding is not None else None
        if binding is not None and (part := self._values.assigned(binding)) is not None:
            yield from self._made_by(part, depth)
        elif (
            binding is not None
            and binding.form is Form.PARAMETER
            and isinstance(function, FUNCTIONS)
            and isinstance(binding.node, ast.arg)
        ):
            for call in self._semantics.inference.call_sites(function) or (None,):
                given = self._semantics.facts.argument(call, function, binding.node) if call is not None else None
                if given is None:
                    yield None
                else:
                    yield from self._made_by(Part(given), depth)
        else:
            yield None


def moved(module: ast.expr) -> ast.expr:
    """The module whose methods that give it back are called: of ``net.cpu().eval()`` it is ``net``."""
    while isinstance(module, ast.Call) and isinstance(module.func, ast.Attribute) and module.func.attr in _SAME:
        module = module.func.value
    return module


def _tests(function: Function) -> list[ast.expr]:
    return [part.test for part in walk_body(function.body) if isinstance(part, (ast.If, ast.IfExp))]
