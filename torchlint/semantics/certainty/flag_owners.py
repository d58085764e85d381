"""What `requires_grad` can be set on, where something else was written, without anything else changing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, known, refuted, shortened, unknown
from torchlint.semantics import Grad, Kind, Semantics, Type, torch_api
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.certainty.unneeded_gradients import UnneededGradients
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import is_false, last_name
from torchlint.semantics.observers.other_code import OtherCode

_FLOATS = frozenset({"torch.ones", "torch.zeros", "torch.rand", "torch.randn", "torch.empty", "torch.eye"})

_COMPUTING = frozenset(
    {
        *("prune", "parametrize", "parametrizations", "weight_norm", "spectral_norm", "orthogonal", "register_parametrization"),
        *("functional_call", "remove_weight_norm", "_parameters", "quantization", "quantize_dynamic"),
    }
)
"""Words of code that computes the weights of a layer of other parameters, or makes them of whole numbers."""

_TRAINED = frozenset(torch_api.PARAMETER_ATTRIBUTES) | {"torch.nn.Parameter", "torch.nn.parameter.Parameter"}


class FlagOwners:
    """Tells of the owner of a misspelt flag whether the right name does what was meant, and nothing besides."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._elsewhere = semantics.of(OtherCode)
        self._first_uses: dict[Binding, float] = {}

    def parameter(self, owner: ast.expr, value: ast.expr | None, wrong: str) -> Fact:
        """Whether ``owner`` is a leaf that takes the flag ``value``, and nobody reads the attribute ``wrong`` of it."""
        kind = self._semantics.kind(owner)
        leaf = known(
            kind.grad is Grad.LEAF or self._is_new(owner), f"`{shortened(owner)}` may be no parameter, and refuse the flag"
        )
        is_tensor = self._semantics.of(Tensors).tensor_or_lazy(owner)
        fact = self._is_flag(value) & is_tensor & leaf & self._takes(value) & self._elsewhere.reads_nothing(wrong)
        return fact & self._does_without(owner, value) if fact.is_certain else fact

    def _does_without(self, owner: ast.expr, value: ast.expr | None) -> Fact:
        """Whether the program does without the gradients of what is frozen."""
        if isinstance(value, ast.Constant) and value.value is True:
            return CERTAIN
        gradients = self._semantics.of(UnneededGradients)
        return gradients.of(owner) & gradients.leaves_something(owner)

    def _takes(self, value: ast.expr | None) -> Fact:
        """Whether all parameters take a flag: those that are computed take none, those of whole numbers cannot be thawed."""
        words = sorted(self._semantics.words.all & _COMPUTING)
        if words:
            return unknown(f"`{words[0]}` may have put a computed tensor in a parameter's place, which refuses the flag")
        if is_false(value):
            return CERTAIN
        made = [*self._semantics.facts.calls.get("Parameter", ()), *self._semantics.facts.calls.get("register_parameter", ())]
        strange = next((call for call in made if not self._is_of_floats(call)), None)
        return CERTAIN if strange is None else unknown(f"`{shortened(strange)}` may refuse to require grad")

    def _is_of_floats(self, call: ast.Call) -> bool:
        """Whether a parameter is made of what a factory of floats gives."""
        match call:
            case ast.Call(args=[ast.Call(func=function, keywords=words)]) if not {word.arg for word in words} & {"dtype", None}:
                return self._semantics.qualified_name(function) in _FLOATS
        return False

    def _is_new(self, owner: ast.expr) -> bool:
        """Whether ``owner`` has just been made by a factory of floats, and nothing was done with it since."""
        found = self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
        if len(found) != 1 or found[0].form is not Form.ASSIGNMENT or found[0].path:
            return False
        match found[0].value:
            case ast.Call(func=function, keywords=[]) if self._semantics.qualified_name(function) in _FLOATS:
                return not any(self._semantics.tree.loops(owner)) and owner.lineno <= self._first_use(found[0])
        return False

    def _first_use(self, binding: Binding) -> float:
        """The line of the first use that does more than set an attribute."""
        if binding not in self._first_uses:
            lines = [use.lineno for use in binding.uses if not self._is_marked(use)]
            self._first_uses[binding] = min(lines, default=float("inf"))
        return self._first_uses[binding]

    def _is_marked(self, use: ast.Name) -> bool:
        """Whether a use sets an attribute and nothing else."""
        parent = self._semantics.tree.parent(use)
        return isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Store)

    def is_told_later(self, owner: ast.expr) -> bool:
        """Whether a name becomes a parameter that is told not to require grad: `nn.Parameter(w, requires_grad=False)`."""
        if not isinstance(owner, ast.Name):
            return False
        uses = (use for binding in self._semantics.bindings.reaching(owner) for use in binding.uses)
        return any(self._is_frozen(self._semantics.tree.parent(use), use) for use in uses)

    def _is_frozen(self, call: ast.AST | None, use: ast.AST) -> bool:
        match call:
            case ast.Call(func=function, args=[first, *others], keywords=words) if first is use:
                flags = [*others, *(word.value for word in words if word.arg == "requires_grad")]
                name = self._semantics.qualified_name(function)
                is_off = any(is_false(flag) for flag in flags)
                return is_off and name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
        return False

    def module(self, owner: ast.expr, value: ast.expr | None, wrong: str) -> Fact:
        """Whether ``owner`` is a module, of torch or of the file, whose parameters take the flag ``value``."""
        kind = self._semantics.kind(owner)
        shown = kind.type is Type.MODULE and (kind.name in torch_api.MODULES or self._is_of_torch(kind.definition))
        is_module = known(shown, f"`{shortened(owner)}` may be a module with a `{wrong}` of its own")
        fact = self._is_flag(value) & is_module & self._elsewhere.reads_nothing(wrong) & self._trains_on(owner, kind, value)
        return fact & self._does_without(owner, value) if fact.is_certain else fact

    def _trains_on(self, owner: ast.expr, kind: Kind, value: ast.expr | None) -> Fact:
        """Whether the program still runs once the parameters take the flag.

        A backward pass needs something that requires grad, and what a loop freezes may be trained in its next round; not
        everything can be thawed: weights of integers, tables that are parameters without being trained.
        """
        text = shortened(owner)
        if isinstance(value, ast.Constant) and value.value is True:
            is_layer = kind.name in torch_api.PARAMETER_ATTRIBUTES
            return known(is_layer, f"not all parameters of `{text}` may be meant to be trained")
        function = self._semantics.tree.function(owner)
        is_constructor = isinstance(function, ast.FunctionDef) and function.name == "__init__"
        if any(self._semantics.tree.loops(owner)) or (function is not None and not is_constructor):
            return unknown(f"`{text}` may be trained again, and nobody thaws it")
        return known(self._others_are_trained, "nothing may be left that requires grad, so that the backward pass raises")

    @cached_property
    def _others_are_trained(self) -> bool:
        """Whether the file makes a layer, under a name of its own, of which no flag is set."""
        tree, name = self._semantics.tree, self._semantics.qualified_name
        flags = [node for node in tree.of_type(ast.Attribute) if isinstance(node.ctx, ast.Store) and node.attr[:4] == "requ"]
        flagged = {last_name(node.value) for node in flags if not _gives_true(tree.parent(node))}
        tied = {last_name(node.value) for node in tree.of_type(ast.Attribute) if _is_tied(node, tree.parent(node))}
        return "self" not in flagged and any(
            isinstance(value, ast.Call) and name(value.func) in _TRAINED and last_name(target) not in flagged | tied
            for node in tree.of_type(ast.Assign)
            for target, value in _pairs(node)
        )

    @staticmethod
    def _is_flag(value: ast.expr | None) -> Fact:
        match value:
            case ast.Constant(value=bool()):
                return CERTAIN
            case ast.UnaryOp(op=ast.Not()):
                return CERTAIN
            case ast.Compare(ops=ops) if all(isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in ops):
                return CERTAIN
            case ast.Constant():
                return refuted(f"`{shortened(value)}` is no flag")
        return unknown(f"`{shortened(value)}` may be no flag" if value is not None else "what is assigned may be no flag")

    def _is_of_torch(self, definition: ast.AST | None) -> bool:
        """Whether a class derives from modules of torch alone, through classes of the file."""
        if not isinstance(definition, ast.ClassDef):
            return False
        facts = self._semantics.facts
        bases = [base for each in facts.bases(definition) for base in each.bases]
        own = {each.name for each in facts.bases(definition)}
        return all(
            (self._semantics.qualified_name(base) or "").startswith("torch.nn.")
            or (isinstance(base, ast.Name) and base.id in own)
            for base in bases
        )


def _is_tied(node: ast.Attribute, parent: ast.AST | None) -> bool:
    """Whether a layer gets the weight of another one: ``self.out.weight = self.embed.weight``."""
    return isinstance(node.ctx, ast.Store) and isinstance(parent, ast.Assign) and last_name(parent.value) == node.attr


def _gives_true(statement: ast.AST | None) -> bool:
    """Whether what is assigned is written out as true, so that nothing is frozen."""
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant) and statement.value.value is True


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, each with what it is given."""
    for target in node.targets:
        match target, node.value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                yield from zip(targets, values)
            case _:
                yield target, node.value
