"""Whether a program does without the gradients of what is frozen: nothing asks for them, and something is left to train."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, known, shortened, unknown
from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import argument, last_name

_HOOKS = ("register_hook", "register_post_accumulate_grad_hook")
"""Methods that refuse a tensor that does not require grad (ran)."""
_GIVING = frozenset({"parameters", "named_parameters", "children", "modules", "named_modules", "named_children"})
_LOOPS = (ast.For, ast.comprehension)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class UnneededGradients:
    """Tells of what is frozen whether the program still does what it did, but for what that is trained by."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts: dict[str, Fact] = {}

    def of(self, owner: ast.expr) -> Fact:
        """Whether nothing needs the gradients of ``owner``, a module, or a parameter of one: the variable of a loop, too."""
        module = self._module(owner)
        text = ast.unparse(module)
        if text not in self._facts:
            self._facts[text] = self._hooks & self._differentiated(module) & self._read(module)
        return self._facts[text] & (CERTAIN if self._is_picked(owner) else self._given(text))

    def _module(self, owner: ast.expr) -> ast.expr:
        """The module that parameters are of: ``net`` of ``net.fc.weight``'s and ``for p in net.parameters()``."""
        if isinstance(owner, ast.Name) and (values := self._looped(owner)) is not None:
            return self._source(values)
        if isinstance(owner, ast.Attribute) and self._semantics.kind(owner).is_tensor:
            return owner.value
        return owner

    def _looped(self, name: ast.Name) -> ast.expr | None:
        """What a loop goes over whose variable a name is."""
        found = self._semantics.bindings.reaching(name)
        return found[0].value if len(found) == 1 and found[0].form is Form.LOOP else None

    @staticmethod
    def _source(values: ast.expr) -> ast.expr:
        """What the values of a loop are taken from: ``net`` for ``list(net.parameters())``."""
        while isinstance(values, ast.Call):
            match values:
                case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _GIVING:
                    values = inner
                case ast.Call(args=[first, *_]):
                    values = first
                case _:
                    break
        return values

    # --- who asks for gradients --------------------------------------------------------------------------------------

    @cached_property
    def _hooks(self) -> Fact:
        name = next((name for name in _HOOKS if name in self._semantics.facts.calls), "")
        return known(not name, f"`{name}` refuses what does not require grad")

    def _differentiated(self, module: ast.expr) -> Fact:
        """Whether no gradient is asked for with respect to parameters, among which what is frozen may be."""
        for call in self._semantics.facts.calls.get("grad", ()):
            if self._semantics.qualified_name(call.func) == "torch.autograd.grad":
                inputs = argument(call, 1, "inputs")
                if inputs is None or any(self._may_be_part(each, module) for each in self._parameters_in(inputs)):
                    return unknown(f"`{shortened(call)}` refuses what does not require grad")
        return CERTAIN

    def _parameters_in(self, inputs: ast.expr) -> Iterator[ast.expr]:
        """The modules whose parameters an expression has, directly or by the variables in it."""
        for node in ast.walk(inputs):
            match node:
                case ast.Name(ctx=ast.Load()):
                    for binding in self._semantics.bindings.reaching(node):
                        if binding.form is Form.ASSIGNMENT and binding.value is not None and binding.value is not inputs:
                            yield from (each for each in _modules_of_parameters(binding.value))
            yield from _modules_of_parameters(node, deep=False)

    def _read(self, module: ast.expr) -> Fact:
        """Whether nothing computes with the ``.grad`` of a parameter that may be frozen, and expects it to be there."""
        for node in self._tree.of_type(ast.Attribute):
            if node.attr == "grad" and isinstance(node.ctx, ast.Load):
                if self._is_computed_with(node):
                    if self._may_be_part(self._module(node.value), module) and not self._is_awaited(node):
                        return unknown(f"`{shortened(node)}` is None of what is frozen")
        return CERTAIN

    def _is_computed_with(self, read: ast.Attribute) -> bool:
        match self._tree.parent(read):
            case ast.Call(func=function) if function is not read:
                return (self._semantics.qualified_name(function) or "").startswith("torch.")
            case ast.Attribute() | ast.BinOp() | ast.AugAssign():
                return True
        return False

    def _is_awaited(self, read: ast.Attribute) -> bool:
        """Whether code reckons with parameters that have no gradient, in the loop around a read or in a test."""
        around: ast.AST = read
        for parent in self._tree.ancestors(read):
            if isinstance(parent, (ast.For, ast.If, ast.IfExp, *_COMPREHENSIONS)):
                around = parent
        return any(self._reckons(node) for node in ast.walk(around))

    def _reckons(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr="requires_grad", ctx=ast.Load()):
                return True
            case ast.Attribute(attr="grad"):
                return not isinstance(self._tree.parent(node), (ast.Attribute, ast.BinOp, ast.AugAssign, ast.Call))
        return False

    def _given(self, text: str) -> Fact:
        """Whether no list that is left without what is frozen is empty, if an optimizer gets it, which refuses that (ran)."""
        if self._gets_part(text) or self._is_thawed:
            return CERTAIN
        for node in self._tree.of_type(ast.Attribute):
            if node.attr == "requires_grad" and isinstance(node.ctx, ast.Load):
                if any(ast.unparse(each) == text for each in self._filtered(node)):
                    return unknown(f"of `{text}` nothing is left to hand to an optimizer")
        return CERTAIN

    def _filtered(self, flag: ast.Attribute) -> Iterator[ast.expr]:
        """The modules whose parameters are picked by a flag: ``[p for p in net.parameters() if p.requires_grad]``."""
        for parent in self._tree.ancestors(flag):
            match parent:
                case ast.comprehension(iter=values):
                    yield self._source(values)
                case ast.Call(func=ast.Name(id="filter"), args=[_, values]):
                    yield self._source(values)
                case ast.stmt():
                    return

    def _gets_part(self, text: str) -> bool:
        """Whether a module gets a new part, as a new head, which is left to train."""
        for node in self._tree.of_type(ast.Attribute, ast.Subscript):
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                is_flag = isinstance(node, ast.Attribute) and node.attr[:4] == "requ"
                owner = ast.unparse(node.value)
                if not is_flag and (owner == text or owner.startswith((f"{text}.", f"{text}["))):
                    return True
        return False

    # --- what is a part of what --------------------------------------------------------------------------------------

    def _may_be_part(self, whole: ast.expr, frozen: ast.expr) -> bool:
        """Whether parameters of ``frozen`` may be among those of ``whole``: not where two modules are made apart."""
        first, second = _root(whole), _root(frozen)
        if first is None or second is None or first.id == second.id:
            return not _are_apart(whole, frozen)
        return not (self._is_made_without(first, second.id) and self._is_made_without(second, first.id))

    def _is_made_without(self, name: ast.Name, other: str) -> bool:
        """Whether a variable is a module that was made by a call which has nothing of another one in it."""
        found = self._semantics.bindings.reaching(name) or self._semantics.bindings.lookup(
            name.id, self._semantics.bindings.scope_of(name)
        )
        return bool(found) and all(
            each.form is Form.ASSIGNMENT
            and isinstance(each.value, (ast.Call, ast.Tuple))
            and not any(isinstance(part, ast.Name) and part.id == other for part in ast.walk(each.value))
            for each in found
        )

    # --- what is left to train ---------------------------------------------------------------------------------------

    def leaves_something(self, owner: ast.expr) -> Fact:
        """Whether something is left that requires grad, if ``owner`` is the variable of a loop over all of a model."""
        values = self._looped(owner) if isinstance(owner, ast.Name) else None
        module = self._source(values) if values is not None else None
        if not isinstance(module, ast.Name) or "backward" not in self._semantics.facts.calls:
            return CERTAIN
        if self._is_picked(owner) or self._gets_part(module.id) or self._is_thawed:
            return CERTAIN
        made = self._semantics.bindings.assigned(module)
        if not isinstance(made, ast.Call):
            return CERTAIN
        inside = {node.id for node in ast.walk(made) if isinstance(node, ast.Name)} | {module.id}
        definition = self._semantics.kind(module).definition
        is_left = any(self._is_trained(node, inside, definition) for node in self._tree.of_type(ast.Call))
        return known(is_left, "nothing may be left that requires grad, so that the backward pass raises")

    def _is_picked(self, owner: ast.expr) -> bool:
        """Whether a condition in the loop picks what is frozen."""
        loop = next((each for each in self._tree.ancestors(owner) if isinstance(each, _LOOPS)), None)
        if loop is None or not isinstance(owner, ast.Name) or self._looped(owner) is None:
            return False
        return any(isinstance(node, (ast.If, ast.Continue, ast.Break)) for node in ast.walk(loop))

    @cached_property
    def _is_thawed(self) -> bool:
        """Whether the file makes something require grad, perhaps the part of a model that is to be trained."""
        flags = self._tree.of_type(ast.Attribute)
        return any(_thaws(self._tree.parent(node)) for node in flags if node.attr[:4] == "requ") or (
            "requires_grad_" in self._semantics.facts.calls
        )

    def _is_trained(self, call: ast.Call, inside: set[str], definition: ast.AST | None) -> bool:
        """Whether a call makes something with parameters that is no part of a model, by the names in it and its class."""
        if definition is not None and self._tree.inside(call, definition):
            return False
        statement = self._tree.statement(call)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if not targets or any(isinstance(each, ast.Name) and each.id in inside for each in _parts(targets)):
            return False
        name = self._semantics.qualified_name(call.func) or ""
        flag = argument(call, 9, "requires_grad")
        return (
            name in torch_api.PARAMETER_ATTRIBUTES
            or (name.startswith("torch.") and isinstance(flag, ast.Constant) and flag.value is True)
            or (last_name(call.func) == "Parameter" and flag is None)
            or (self._semantics.kind(call).type is Type.MODULE and not name.startswith("torch."))
        )


def _modules_of_parameters(node: ast.AST, *, deep: bool = True) -> Iterator[ast.expr]:
    """The modules whose parameters an expression reads."""
    for part in ast.walk(node) if deep else (node,):
        match part:
            case ast.Attribute(value=module, attr="parameters" | "named_parameters" | "weight" | "bias"):
                yield module


def _root(node: ast.expr) -> ast.Name | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _are_apart(whole: ast.expr, frozen: ast.expr) -> bool:
    """Whether two parts of one module are different ones: ``net.head`` and ``net.features``."""
    match whole, frozen:
        case ast.Attribute(value=ast.Name(id=first), attr=one), ast.Attribute(value=ast.Name(id=second), attr=other):
            return first == second and one != other
    return False


def _parts(targets: list[ast.expr]) -> Iterator[ast.expr]:
    for target in targets:
        yield from target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,)


def _thaws(parent: ast.AST | None) -> bool:
    match parent:
        case ast.Assign(value=ast.Constant(value=False)):
            return False
    return isinstance(parent, ast.Assign)
