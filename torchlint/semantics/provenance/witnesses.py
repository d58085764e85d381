"""What the code itself has made sure of before: it asked, or what ran before would have raised."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, in_body, position
from torchlint.semantics.provenance.modules import Made, Modules
from torchlint.semantics.provenance.passed import Passed

DEMANDING = torch_api.LOSS_FUNCTIONS | {
    *("torch.max", "torch.min", "torch.sum", "torch.mean", "torch.argmax", "torch.argmin"),
    *("torch.abs", "torch.exp", "torch.log", "torch.sqrt", "torch.sigmoid", "torch.tanh", "torch.relu", "torch.softmax"),
    *("torch.log_softmax", "torch.topk", "torch.sort", "torch.matmul", "torch.mm", "torch.bmm", "torch.dot", "torch.argsort"),
    *(f"torch.nn.functional.{name}" for name in ("relu", "softmax", "log_softmax", "sigmoid", "tanh", "dropout", "linear")),
    *(f"torch.nn.functional.{name}" for name in ("conv2d", "leaky_relu", "normalize", "interpolate", "pad")),
}
"""Functions of torch that raise where their first argument is no tensor (run on torch 2.13)."""
_TENSORS = frozenset({"torch.Tensor", "torch.nn.Parameter", "torch.FloatTensor", "torch.autograd.Variable"})
_OPAQUE = torch_api.CONTAINER_MODULES | torch_api.TUPLE_MODULES | {"torch.nn.Identity"}
_Test: TypeAlias = "ast.If | ast.IfExp | ast.Assert"


class Witnesses:
    """Tells what tests and calls in front of a place say about the values there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._modules = semantics.of(Modules)
        self._passed_uses = semantics.of(Passed)
        self._found: dict[tuple[Binding, bool], tuple[ast.Name, ...]] = {}
        self._asked: dict[Binding, list[_Test]] = {}

    def have_shown(self, name: ast.Name, *, exact: bool = False) -> bool:
        """Whether, whatever the way here, ``name`` was asked to be a tensor, or given to what raises for anything else."""
        binding = self._binding(name)
        return binding is not None and (self._has_passed(name, binding, exact) or self._is_guarded(name, binding))

    def _binding(self, name: ast.Name) -> Binding | None:
        found = self._semantics.bindings.reaching(name)
        return found[0] if len(found) == 1 else None

    # --- what has run ------------------------------------------------------------------------------------------------

    def _has_passed(self, name: ast.Name, binding: Binding, exact: bool) -> bool:
        """Whether code that has run before, whatever the way here, would have raised if ``name`` were no tensor."""
        return self._passed_uses.has_run(self._witnesses(binding, exact), name, binding)

    def _witnesses(self, binding: Binding, exact: bool) -> tuple[ast.Name, ...]:
        """The uses of what a binding binds that raise where it is no tensor."""
        key = (binding, exact)
        if key not in self._found:
            uses = (use for use in binding.uses if self._is_demanded(use, exact) and self._passed_uses.runs_with_statement(use))
            self._found[key] = tuple(uses)
        return self._found[key]

    def is_demanded_within(self, name: ast.Name, other: ast.expr, *, exact: bool = False) -> bool:
        """Whether working out ``other`` raises where ``name`` is no tensor: of ``x + conv(x)``."""
        binding = self._binding(name)
        if binding is None:
            return False
        tree = self._semantics.tree
        uses = [use for use in binding.uses if tree.inside(use, other) and self._is_demanded(use, exact)]
        return any(map(self._passed_uses.runs_with_statement, uses))

    def _is_demanded(self, use: ast.Name, exact: bool) -> bool:
        """Whether a use raises where the value is no tensor."""
        call = self._tree.parent(use)
        if not (isinstance(call, ast.Call) and call.args and call.args[0] is use):
            return False
        if (self._semantics.qualified_name(call.func) or "") in DEMANDING:
            return True
        made = self._modules.made(call.func, exact=exact)
        return bool(made) and all(map(self._demands, made))

    def _demands(self, made: Made) -> bool:
        """Whether a module raises for anything but a tensor."""
        if made.name == "torch.nn.Sequential":
            first = [self._modules.made(layer) for layer in self._modules.first_layers(made)]
            return bool(first) and all(bool(each) and all(map(self._demands, each)) for each in first)
        return made.definition is None and made.name not in _OPAQUE

    # --- what was asked ----------------------------------------------------------------------------------------------

    def _is_guarded(self, name: ast.Name, binding: Binding) -> bool:
        """Whether ``name`` stands where it was asked to be a tensor, with a yes for an answer."""
        return any(self._asks(test, binding, yes=yes) for test, yes in self._passed(name, binding))

    def _passed(self, name: ast.Name, binding: Binding) -> Iterator[tuple[ast.expr, bool]]:
        """The tests of ``name`` that came out so where it is read: it stands under them, or they would have left before."""
        for test in self._tests(binding):
            outcome = self._outcome(test, name)
            if outcome is not None:
                yield from _parts(test.test, outcome)

    def _tests(self, binding: Binding) -> list[_Test]:
        """What tests what a binding binds."""
        if binding not in self._asked:
            found = [test for use in binding.uses if (test := self._test_of(use)) is not None]
            self._asked[binding] = list(dict.fromkeys(found))
        return self._asked[binding]

    def _test_of(self, use: ast.Name) -> _Test | None:
        parent = self._tree.parent(use)
        is_asked = isinstance(parent, ast.Call) and parent.args[:1] == [use]
        if not is_asked and not (isinstance(parent, ast.Attribute) and parent.attr == "grad"):
            return None
        node: ast.AST = use
        while isinstance(parent, (ast.Call, ast.Attribute, ast.Compare, ast.UnaryOp, ast.BoolOp)):
            node, parent = parent, self._tree.parent(parent)
        return parent if isinstance(parent, (ast.If, ast.IfExp, ast.Assert)) and parent.test is node else None

    def _outcome(self, test: _Test, name: ast.Name) -> bool | None:
        """How a test must have come out where ``name`` is read; ``None`` where either is possible."""
        child: ast.AST = name
        around = self._tree.parent(test)
        for parent in self._tree.ancestors(name):
            if parent is test:
                if isinstance(parent, ast.If):
                    return in_body(child, parent) if isinstance(child, ast.stmt) else None
                return child is parent.body if isinstance(parent, ast.IfExp) and child is not parent.test else None
            if parent is around and isinstance(test, ast.stmt) and isinstance(child, ast.stmt):
                is_before = position(test) < position(child) and self._tree.block(test)[:1] == self._tree.block(child)[:1]
                return _left_with(test) if is_before else None
            if isinstance(parent, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
                return None
            child = parent
        return None

    def _asks(self, test: ast.expr, binding: Binding, *, yes: bool) -> bool:
        match test:
            case ast.Call(func=function, args=[ast.Name() as asked, *classes]) if yes and self._binding(asked) is binding:
                name = self._semantics.qualified_name(function)
                if name == "torch.is_tensor":
                    return True
                return name == "builtins.isinstance" and len(classes) == 1 and self._are_tensor_classes(classes[0])
        return False

    def _are_tensor_classes(self, classes: ast.expr) -> bool:
        named = classes.elts if isinstance(classes, ast.Tuple) else [classes]
        return all(self._semantics.qualified_name(each) in _TENSORS for each in named)

    def has_gradient(self, name: ast.Name) -> bool:
        """Whether ``name`` stands where its ``.grad`` was asked for, and there was one."""
        binding = self._binding(name)
        return binding is not None and any(self._asks_gradient(test, binding, yes) for test, yes in self._passed(name, binding))

    def _asks_gradient(self, test: ast.expr, binding: Binding, yes: bool) -> bool:
        match test:
            case ast.Compare(
                left=ast.Attribute(value=ast.Name() as asked, attr="grad"),
                ops=[operator],
                comparators=[ast.Constant(value=None)],
            ):
                wanted = ast.IsNot if yes else ast.Is
                return isinstance(operator, wanted) and self._binding(asked) is binding
        return False


def _left_with(test: ast.stmt) -> bool | None:
    """How a test came out behind it: an assertion with a yes, a guard that leaves with a no."""
    match test:
        case ast.Assert():
            return True
        case ast.If(body=[*_, ast.Return() | ast.Raise() | ast.Continue() | ast.Break()], orelse=[]):
            return False
    return None


def _parts(test: ast.expr, yes: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What a test that came out so says of its parts."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _parts(operand, not yes)
        case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) is yes:
            for value in values:
                yield from _parts(value, yes)
        case _:
            yield test, yes
