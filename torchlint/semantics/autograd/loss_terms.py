"""What a back-propagated value is made of on the way to the loss: its terms, up to where a model comes in.

A term is an expression whose value goes into the loss by arithmetic, by functions and methods of torch, by criterions and by
functions of the file. What a model is given is no term: the path ends at its call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.definitions import Slot
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.kinds.kind import Kind, Type
from torchlint.semantics.kinds.results import LOSS_FUNCTIONS, LOSS_MODULES

_LOSS = re.compile(r"loss", re.IGNORECASE)
_CRITERION = re.compile(r"criterion|criteria|loss(_?(fn|func|function|fct|f))?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Term:
    """An expression that a loss is made of.

    ``whole`` says that the loss is this value, perhaps scaled or averaged, and nothing else has a part in it; ``judged`` that
    a criterion compares it with a target.
    """

    node: ast.expr
    whole: bool
    judged: bool = False


class LossTerms:
    """Finds the terms of the back-propagated values of a file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def terms(self) -> list[Term]:
        """The terms of all that is back-propagated, each once."""
        roots = self._semantics.of(Backpropagated).roots
        return list(self._followed([root for root in roots if not self._is_given_gradient(root)]))

    def _is_given_gradient(self, root: ast.expr) -> bool:
        """Whether the backward pass is handed a gradient from elsewhere: ``out.backward(gradient)`` is of no loss."""
        method = self._semantics.tree.parent(root)
        call = self._semantics.tree.parent(method) if isinstance(method, ast.Attribute) else None
        return isinstance(call, ast.Call) and call.func is method and bool(call.args)

    @cached_property
    def outputs(self) -> list[Term]:
        """The terms of what the modules of the file return from ``forward``."""
        facts = self._semantics.facts
        forwards = [
            found.methods["forward"]
            for definition, found in facts.classes.items()
            if "forward" in found.methods and facts.is_module(definition)
        ]
        returned: list[ast.expr] = []
        for forward in forwards:
            for value in facts.returned(forward):
                returned += value.elts if isinstance(value, ast.Tuple) else [value] if value is not None else []
        return list(self._followed(returned))

    @cached_property
    def losses(self) -> list[Term]:
        """The terms of what functions return that are called a loss and that the file does not call itself."""
        facts = self._semantics.facts
        functions = [
            node
            for node in self._semantics.tree.nodes
            if isinstance(node, FUNCTIONS) and _LOSS.search(node.name) and not self._semantics.inference.call_sites(node)
        ]
        returned = [value for function in functions for value in facts.returned(function) if value is not None]
        return list(self._followed(returned))

    @cached_property
    def variables(self) -> dict[Binding | Slot, bool]:
        """The variables and attributes that hold a term, and whether any of them is the whole loss."""
        found: dict[Binding | Slot, bool] = {}
        for term in self.terms:
            for variable in self._variables(term.node):
                found[variable] = found.get(variable, False) or term.whole
        return found

    def _variables(self, node: ast.expr) -> list[Binding | Slot]:
        if isinstance(node, ast.Name):
            return list(self._semantics.bindings.reaching(node))
        if isinstance(node, ast.Attribute):
            return list(self._slots(node))
        return []

    def _slots(self, node: ast.Attribute) -> list[Slot]:
        owner = self._semantics.facts.self_class(node.value)
        return self._semantics.facts.slots(owner, node.attr) if owner is not None else []

    def _followed(self, roots: list[ast.expr]) -> Iterator[Term]:
        seen: set[tuple[ast.expr, bool]] = set()
        pending = [Term(root, whole=True) for root in roots]
        while pending:
            term = pending.pop()
            if (term.node, term.whole) not in seen:
                seen.add((term.node, term.whole))
                yield term
                pending.extend(self._parts(term))

    def _parts(self, term: Term) -> Iterator[Term]:
        """The terms that a term is made of."""
        match term.node:
            case ast.Name() | ast.Attribute():
                for value in self._values(term.node):
                    yield Term(value, term.whole, term.judged)
            case ast.BinOp(left=left, right=right, op=operator):
                scales = isinstance(operator, (ast.Mult, ast.Div))
                for part, other in ((left, right), (right, left)):
                    kind = self._semantics.kind(other)
                    alone = kind.type is Type.NUMBER or (scales and not kind.is_tensor)
                    yield Term(part, term.whole and alone, term.judged)
            case ast.UnaryOp(operand=part):
                yield Term(part, term.whole, term.judged)
            case ast.IfExp(body=body, orelse=orelse):
                yield Term(body, term.whole, term.judged)
                yield Term(orelse, term.whole, term.judged)
            case ast.Call() as call:
                yield from self._parts_of_call(call, term)

    def _values(self, node: ast.Name | ast.Attribute) -> Iterator[ast.expr]:
        """What a variable, or an attribute of ``self``, is assigned."""
        if isinstance(node, ast.Name):
            for binding in self._semantics.bindings.reaching(node):
                yield from self._bound(binding)
            return
        for slot in self._slots(node):
            for store in slot.stores:
                statement = self._semantics.tree.parent(store)
                if isinstance(statement, (ast.Assign, ast.AugAssign)):
                    yield statement.value

    def _bound(self, binding: Binding) -> Iterator[ast.expr]:
        if binding.path or binding.value is None:
            return
        if binding.form in (Form.ASSIGNMENT, Form.AUGMENTED):
            yield binding.value
        for before in binding.before:
            if before.form is Form.ASSIGNMENT and before.value is not None and not before.path:
                yield before.value

    def _parts_of_call(self, call: ast.Call, term: Term) -> Iterator[Term]:
        name = self._semantics.qualified_name(call.func) or ""
        function = self._semantics.kind(call.func)
        if (
            name in LOSS_FUNCTIONS
            or (function.type is Type.MODULE and function.name in LOSS_MODULES)
            or _is_criterion(call, function)
        ):
            for judged in call.args[:1]:
                yield Term(judged, False, judged=True)
        elif name.startswith("torch.") and name in torch_api.FUNCTIONS and name not in torch_api.FACTORIES:
            whole = term.whole and sum(self._semantics.kind(part).type is not Type.NUMBER for part in call.args) == 1
            for part in call.args:
                yield Term(part, whole, term.judged)
        elif isinstance(function.definition, FUNCTIONS):
            for value in self._semantics.facts.returned(function.definition):
                if value is not None:
                    yield Term(value, term.whole, term.judged)
        elif (
            isinstance(call.func, ast.Attribute)
            and call.func.attr in torch_api.TENSOR_METHODS
            and not name.startswith("torch.")
        ):
            yield Term(call.func.value, term.whole and not call.args, term.judged)


def _is_criterion(call: ast.Call, function: Kind) -> bool:
    """Whether something unknown is a criterion: it is called one, and is given two values to make a loss of."""
    if function.known or len(call.args) != 2:
        return False
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _CRITERION.search(name) is not None
    return False
