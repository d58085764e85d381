"""Graphs that are severed on the way to a backward pass, by new leaves that are made of what was computed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.semantics import Binding, Form, Grad, Semantics, Type, torch_api
from torchlint.semantics.autograd.leaves import Operations
from torchlint.semantics.autograd.loss_terms import LossTerms, Term
from torchlint.semantics.code.definitions import Slot
from torchlint.semantics.code.tree import FUNCTIONS, dotted, is_none, keyword, last_name
from torchlint.semantics.gradients.cuts import VARIABLE, Cuts
from torchlint.semantics.kinds.results import LOSS_MODULES

Node = TypeVar("Node")
_Variable: TypeAlias = Binding | Slot

_MODEL = re.compile(r"(^|_)(model|q?_?net|network|d?d?qn|critic|actor|policy|encoder|decoder|generator|discriminator)(_|$|\d)")
"""What models are called."""


@dataclass(frozen=True, eq=False, slots=True)
class MadeLeaf(Generic[Node]):
    """A flag that makes a leaf of ``loss``, a computed value that is back-propagated.

    ``node`` is the target of ``loss.requires_grad = True``, or the call ``loss.requires_grad_()``. What is not ``whole`` is a
    part of what is back-propagated. With ``raises``, an operation made the value, which has a graph: torch refuses the flag.
    """

    node: Node
    loss: Node
    whole: bool = True
    raises: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class NewLeaf(Generic[Node]):
    """A call that makes a new leaf of a computed value on the way to a backward pass, or cuts it off from its graph.

    ``asks_for_grad`` tells which of these. ``whole`` is the tensor with the graph that the value was made of, if that can take
    its place, and ``items`` are those taken of it, innermost first; with ``needless``, nothing is left of the statement then.
    """

    node: Node
    asks_for_grad: bool
    whole: Node | None = None
    items: tuple[Node, ...] = ()
    needless: bool = False


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A call that makes a leaf of a value."""

    node: ast.Call
    value: ast.expr
    asks_for_grad: bool


class SeveredGraphs:
    """Finds the new leaves at which the backward passes of a file end by mistake."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._terms = semantics.of(LossTerms)
        self._cuts = semantics.of(Cuts)
        self._wanted: dict[Binding, bool] = {}
        """Of each binding that was asked for, whether somebody may want a leaf of what is bound there."""
        self._of_models: dict[tuple[ast.expr, int], bool] = {}
        """Of each value that was asked for, with how many more names to follow, whether a model gave it."""

    @cached_property
    def made_leaves(self) -> dict[ast.expr, MadeLeaf[ast.expr]]:
        """The flags that are set on what is back-propagated."""
        return {made.node: made for made in (*self._set_flags(), *self._called_flags())}

    @cached_property
    def new_leaves(self) -> dict[ast.Call, NewLeaf[ast.expr]]:
        """The calls that make new leaves of what is back-propagated, of what modules return, and of losses."""
        if not self._may_make_leaves:
            return {}
        leaves = {leaf.node: leaf for leaf in self._severed()}
        return {leaf.node: self._new_leaf(leaf) for leaf in leaves.values()}

    # --- flags that are set on the loss ------------------------------------------------------------------------------

    def _set_flags(self) -> Iterator[MadeLeaf[ast.expr]]:
        """`loss.requires_grad = True` before `loss.backward()`."""
        for statement in self._tree.of_type(ast.Assign):
            match statement:
                case ast.Assign(
                    targets=[ast.Attribute(attr="requires_grad", value=(ast.Name() | ast.Attribute()) as loss) as target],
                    value=ast.Constant(value=True),
                ) if self._may_be_computed(loss) and ((whole := self._is_loss(loss)) or self._is_part_of_model(loss)):
                    yield MadeLeaf(target, loss, whole, raises=self._semantics.of(Operations).is_result(loss))

    def _called_flags(self) -> Iterator[MadeLeaf[ast.expr]]:
        """`loss.requires_grad_()` before `loss.backward()`, where the loss has no graph."""
        for call in self._facts.calls.get("requires_grad_", ()):
            match call, self._tree.parent(call):
                case (
                    ast.Call(
                        func=ast.Attribute(value=(ast.Name() | ast.Attribute()) as loss),
                        args=[] | [ast.Constant(value=True)],
                        keywords=[],
                    ),
                    ast.Expr(),
                ) if self._is_loss(loss) and self._has_lost_graph(loss):
                    yield MadeLeaf(call, loss)

    def _is_loss(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether what a name refers to is back-propagated as it is, behind ``node``."""
        variables = self._variables(node)
        return any(self._terms.variables.get(each, False) and not self._reads_gradient(each) for each in variables)

    def _is_part_of_model(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a value is what a model gave, or made of that, is only computed with, and nobody wants a leaf of it."""
        found = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        if not self._terms.terms or not found:
            return False
        return not any(map(self._may_be_leaf, found)) and self._is_of_model(node)

    def _may_be_leaf(self, binding: Binding) -> bool:
        """Whether somebody may want what a name is bound to for a leaf."""
        if binding not in self._wanted:
            self._wanted[binding] = self._is_used_as_leaf(binding) or any(map(self._is_sent, binding.uses))
        return self._wanted[binding]

    def _is_of_model(self, value: ast.expr, depth: int = 3) -> bool:
        """Whether a value is computed of what a call of a model gives."""
        if (value, depth) not in self._of_models:
            self._of_models[value, depth] = self._comes_of_model(value, depth)
        return self._of_models[value, depth]

    def _comes_of_model(self, value: ast.expr, depth: int) -> bool:
        match value:
            case ast.Name():
                return depth > 0 and any(self._is_of_model(each, depth - 1) for each in self._values(value))
            case ast.BinOp(left=left, right=right):
                return self._is_of_model(left, depth) or self._is_of_model(right, depth)
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
                return self._is_of_model(inner, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in torch_api.TENSOR_METHODS:
                return method != "detach" and self._is_of_model(inner, depth)
            case ast.Call(func=ast.Name() | ast.Attribute() as function):
                kind = self._semantics.kind(function)
                if kind.type is Type.MODULE:
                    return kind.name not in torch_api.LOSS_MODULES
                return not kind.known and _MODEL.search(last_name(function)) is not None
        return False

    def _is_sent(self, use: ast.Name) -> bool:
        """Whether a value is given to code that may want its gradient: a function that is neither torch's nor a loss."""
        match self._tree.parent(use):
            case ast.Call(func=function) as call if use in call.args:
                name = self._semantics.qualified_name(function) or ""
                if name.startswith(("torch.", "builtins.")):
                    return False
                kind = self._semantics.kind(function)
                return not (kind.type is Type.MODULE and kind.name in torch_api.LOSS_MODULES)
            case ast.Attribute(attr=name):
                return name.startswith("grad")
        return not isinstance(self._tree.parent(use), (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Assign))

    def _variables(self, node: ast.Name | ast.Attribute) -> list[_Variable]:
        if isinstance(node, ast.Name):
            return list(self._semantics.bindings.reaching(node))
        owner = self._facts.self_class(node.value)
        return list(self._facts.slots(owner, node.attr)) if owner is not None else []

    def _may_be_computed(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether the value is neither data nor a leaf of the author's own."""
        values = self._values(node)
        return bool(values) and all(not self._cuts.is_data(value) for value in values)

    def _has_lost_graph(self, node: ast.Name | ast.Attribute) -> bool:
        values = self._values(node)
        return bool(values) and all(
            self._semantics.kind(value).is_tensor
            and self._semantics.kind(value).grad is Grad.NONE
            and not self._cuts.is_data(value)
            and self._cuts.source(value) is not None
            for value in values
        )

    def _values(self, node: ast.Name | ast.Attribute) -> list[ast.expr]:
        """What a name or an attribute is assigned, but for None; empty where it may have its value from elsewhere."""
        values: list[ast.expr] = []
        for variable in self._variables(node):
            if isinstance(variable, Slot):
                parents = [self._tree.parent(store) for store in variable.stores]
                values += [parent.value for parent in parents if isinstance(parent, ast.Assign)]
            elif variable.path or variable.form not in (Form.ASSIGNMENT, Form.AUGMENTED) or variable.value is None:
                return []
            else:
                values.append(variable.value)
        return [value for value in values if not is_none(value)]

    # --- new leaves --------------------------------------------------------------------------------------------------

    @property
    def _may_make_leaves(self) -> bool:
        """Whether the file makes any leaf of something; cheap to tell."""
        calls = self._facts.calls
        return (
            "Variable" in calls
            or "requires_grad_" in calls
            or any(word.arg == "requires_grad" for word in self._tree.of_type(ast.keyword))
            or any(alias.name == "Variable" and alias.asname for alias in self._tree.of_type(ast.alias))
        )

    def _severed(self) -> Iterator[_Leaf]:
        for term, leaf in self._leaves(self._terms.terms):
            if self._is_severed(leaf, term):
                yield leaf
        for term, leaf in self._leaves(self._terms.outputs):
            if term.whole and self._is_severed_output(leaf):
                yield leaf
        for term, leaf in self._leaves(self._terms.losses):
            if term.whole and self._is_severed_loss(leaf):
                yield leaf

    def _leaves(self, terms: Iterable[Term]) -> Iterator[tuple[Term, _Leaf]]:
        """The new leaves among some terms, but for those that are made of data, or on purpose."""
        for term in terms:
            leaf = self._leaf(term.node)
            if leaf is not None and not self._cuts.is_data(leaf.value) and not self._is_wanted(leaf):
                yield term, leaf

    def _leaf(self, node: ast.expr) -> _Leaf | None:
        """The new leaf that a term is, if it is one."""
        if not isinstance(node, ast.Call):
            return None
        name = self._semantics.qualified_name(node.func)
        flag = _flag(node)
        if name == VARIABLE and node.args and len(node.args) + len(node.keywords) <= 2:
            return _Leaf(node, node.args[0], flag is True) if flag is not None else None
        if name == "torch.tensor" and node.args and flag is True:
            return _Leaf(node, node.args[0], True)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_" and flag is not None:
            made = node.func.value
            return _Leaf(node, made, True) if self._semantics.kind(made).grad is Grad.NONE else None
        return None

    def _is_severed(self, leaf: _Leaf, term: Term) -> bool:
        """Whether a term of a loss loses the graph that it had, or hides that it has none."""
        source = self._cuts.source(leaf.value)
        if not leaf.asks_for_grad:
            return source is leaf.value and (term.whole or term.judged)
        if term.whole:
            return True
        if source is None:
            return self._is_of_argument(leaf) and not self._is_trained_beside(leaf)
        return term.judged or not self._cuts.is_on_purpose(leaf.value)

    def _is_of_argument(self, leaf: _Leaf) -> bool:
        """Whether a leaf is made of the values of what the function was given, and no caller in the file gives it data."""
        parameter, function = self._cuts.argument(leaf.value), self._tree.function(leaf.node)
        if parameter is None or not isinstance(function, FUNCTIONS) or self._is_handed_on(leaf):
            return False
        calls = self._semantics.inference.call_sites(function)
        given = [self._facts.argument(call, function, parameter) for call in calls]
        return all(argument is not None and not self._cuts.is_data(argument) for argument in given)

    def _is_handed_on(self, leaf: _Leaf) -> bool:
        """Whether others get to see a leaf, and may read its gradient: it is returned, or kept."""
        statement = self._tree.statement(leaf.node)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        bound = [self._semantics.bindings.of(target) for target in targets]
        if None in bound or isinstance(statement, ast.Return):
            return True
        ends = (ast.Return, ast.Yield, ast.List, ast.Dict)
        uses = (use for binding in bound if binding is not None for use in binding.uses)
        return any(isinstance(parent, ends) for use in uses for parent in (self._tree.parent(use),))

    def _is_trained_beside(self, leaf: _Leaf) -> bool:
        """Whether a loss of the same function may have a graph all the same, of a model or an argument."""
        function = self._tree.function(leaf.node)
        for term in self._terms.terms:
            if self._tree.function(term.node) is function:
                kind = self._semantics.kind(term.node)
                if isinstance(term.node, ast.Name) and self._is_parameter(term.node) and kind.type is not Type.NUMBER:
                    return True
                if isinstance(term.node, ast.Call) and self._semantics.kind(term.node.func).type is Type.MODULE:
                    if self._semantics.kind(term.node.func).name not in LOSS_MODULES:
                        return True
        return False

    def _is_severed_output(self, leaf: _Leaf) -> bool:
        """Whether a module returns a leaf that it made of what it computed: nothing behind it can ever be trained."""
        if self._semantics.no_grad.covers(leaf.node):
            return False
        kind = self._semantics.kind(leaf.value)
        if not leaf.asks_for_grad:
            return kind.carries_graph
        computed = isinstance(leaf.value, (ast.BinOp, ast.Name, ast.Call)) and not self._cuts.is_on_purpose(leaf.value)
        return computed and kind.is_tensor and kind.grad is not Grad.NONE and not self._is_parameter(leaf.value)

    def _is_severed_loss(self, leaf: _Leaf) -> bool:
        """Whether a loss function returns a leaf that it made of what it computed."""
        if not leaf.asks_for_grad or self._is_parameter(leaf.value):
            return False
        if self._semantics.qualified_name(leaf.node.func) == VARIABLE:
            return not self._cuts.is_on_purpose(leaf.value)
        return self._semantics.kind(leaf.value).is_tensor or self._cuts.source(leaf.value) is not None

    def _is_parameter(self, node: ast.expr) -> bool:
        """Whether a name is just what the function was given."""
        if not isinstance(node, ast.Name):
            return False
        return any(binding.form is Form.PARAMETER for binding in self._semantics.bindings.reaching(node))

    def _new_leaf(self, leaf: _Leaf) -> NewLeaf[ast.expr]:
        uncut = self._cuts.uncut(leaf.value)
        if uncut is None:
            return NewLeaf(leaf.node, leaf.asks_for_grad)
        needless = False
        match self._tree.parent(leaf.node):
            case ast.Assign(targets=[target]) if not uncut.items:
                needless = dotted(target) is not None and dotted(target) == dotted(uncut.whole)
        return NewLeaf(leaf.node, leaf.asks_for_grad, uncut.whole, uncut.items, needless)

    # --- leaves on purpose -------------------------------------------------------------------------------------------

    def _is_wanted(self, leaf: _Leaf) -> bool:
        """Whether the leaf is there on purpose: its gradient is read, or it is given to an optimizer or a module."""
        statement = self._tree.statement(leaf.node)
        if not isinstance(statement, ast.Assign):
            return False
        for target in statement.targets:
            if isinstance(target, ast.Attribute):
                return any(self._reads_gradient(slot) for slot in self._variables(target))
            binding = self._semantics.bindings.of(target)
            if binding is not None and self._is_used_as_leaf(binding):
                return True
        return False

    def _is_used_as_leaf(self, binding: Binding, depth: int = 0) -> bool:
        if self._reads_gradient(binding) or any(self._is_given(use) for use in binding.uses):
            return True
        aliases = [self._alias(use) for use in binding.uses] if depth < 3 else []
        return any(alias is not None and self._is_used_as_leaf(alias, depth + 1) for alias in aliases)

    def _alias(self, use: ast.Name) -> Binding | None:
        """The binding of another name for the same value: ``first = x``."""
        match self._tree.parent(use):
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is use:
                return self._semantics.bindings.of(target)
        return None

    def _reads_gradient(self, variable: _Variable) -> bool:
        parents = (self._tree.parent(use) for use in variable.uses)
        return any(isinstance(parent, ast.Attribute) and parent.attr in ("grad", "register_hook") for parent in parents)

    def _is_given(self, use: ast.expr) -> bool:
        """Whether a leaf is handed to an optimizer, to `autograd.grad`, or to a module that is no criterion."""
        call = next((parent for parent in self._tree.ancestors(use) if isinstance(parent, (ast.Call, ast.stmt))), None)
        if not isinstance(call, ast.Call) or self._tree.inside(use, call.func):
            return False
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith(("torch.optim.", "torch.autograd.")):
            return True
        kind = self._semantics.kind(call.func)
        return kind.type is Type.MODULE and kind.name not in torch_api.LOSS_MODULES


def _flag(call: ast.Call) -> bool | None:
    """Whether a call asks for `requires_grad`; ``None`` where that is not written out."""
    flag = keyword(call, "requires_grad")
    if flag is None and len(call.args) == 2:
        flag = call.args[1]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
        flag = call.args[0] if call.args else ast.Constant(True)
    if flag is None:
        return False
    return flag.value if isinstance(flag, ast.Constant) and isinstance(flag.value, bool) else None
