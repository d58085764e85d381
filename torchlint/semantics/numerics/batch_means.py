"""What is the mean of a batch: losses of torch that average, and sums of them."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Binding, Form, Semantics, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.scores.activations import Activations

_VALUE = frozenset({"item", "float", "double", "detach", "cpu", "int", "long", "numpy", "tolist"})
"""Methods that give the same number."""
_REDUCING = frozenset({"reduction", "reduce", "size_average", None})
_MEAN = re.compile(r"reduction='(mean|batchmean|elementwise_mean)'|size_average=True")
_GIVEN = {"ctc": 4, "triplet_margin": 3, "cosine_embedding": 3, "margin_ranking": 3, "gaussian_nll": 3}
"""How many values a loss is given that is given more than two."""
_WEIGHTED = frozenset({"torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss", "torch.nn.BCELoss", "torch.nn.BCEWithLogitsLoss"})
"""Losses whose first option is the weights of classes."""
_FACTOR = re.compile(
    r"^_*(alpha|beta|gamma|delta|eta|mu|lambda|lambd|lam|lmbda|lamda|coeff?|weight|w|temp|temperature|t)s?_?\d*$"
    r"|_(weight|coeff?|lambda|alpha|beta)$|^(lambda|weight|coeff?|w|alpha|lam)_",
    re.IGNORECASE,
)
"""What a term of a loss is weighted with is called; what is called otherwise may be the size of a batch."""
_SUMMING = frozenset({"sum", "nansum", "size", "shape", "len", "numel", "logsumexp"})
_DEEP = 6


class BatchMeans:
    """Tells of numbers in one file whether they are means of a batch."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_mean(self, value: ast.expr, depth: int = 0) -> bool:
        """Whether a value is the mean that a loss of torch gives for a batch, the share of hits, or a sum with such a term."""
        value = plain(value)
        if depth > _DEEP:
            return False
        match value:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(self._is_bound_to_mean(each, depth) for each in bindings)
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
                means = [self.is_mean(each, depth + 1) for each in (left, right)]
                return any(means) and all(
                    known or not self._may_be_sum(each, depth) for known, each in zip(means, (left, right))
                )
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                for factor, other in ((left, right), (right, left)):
                    if _is_factor(factor):
                        return self.is_mean(other, depth + 1)
                return False
            case ast.Call():
                return _is_share_of_hits(value) or self._is_mean_call(value)
        return False

    def _is_bound_to_mean(self, binding: Binding, depth: int) -> bool:
        if binding.path or binding.value is None:
            return False
        if binding.form is Form.AUGMENTED:
            statement = self._semantics.tree.parent(binding.node)
            adds = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add)
            return adds and not self._may_be_sum(binding.value, depth) and self._is_each_mean(binding.before, depth)
        return binding.form is Form.ASSIGNMENT and self.is_mean(binding.value, depth + 1)

    def _is_each_mean(self, bindings: tuple[Binding, ...], depth: int) -> bool:
        if not bindings or depth > _DEEP or any(each.form is not Form.ASSIGNMENT for each in bindings):
            return False
        return all(self._is_bound_to_mean(each, depth + 1) for each in bindings)

    def _may_be_sum(self, term: ast.expr, depth: int) -> bool:
        """Whether a term of a loss may itself be a sum over samples: then the whole has no right count."""
        for part in ast.walk(term):
            if isinstance(part, (ast.Name, ast.Attribute)) and last_name(part) in _SUMMING:
                return True
            if isinstance(part, ast.keyword) and part.arg in _REDUCING and not _says_mean(part):
                return True
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and depth < _DEEP:
                bindings = self._semantics.bindings.reaching(part)
                values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and each.value is not None]
                if any(isinstance(each, (ast.Call, ast.BinOp)) and self._may_be_sum(each, depth + 3) for each in values):
                    return True
        return False

    def _is_mean_call(self, call: ast.Call) -> bool:
        """Whether a call is that of a loss of torch which averages."""
        if any(isinstance(each, ast.Starred) for each in call.args):
            return False
        name = self._semantics.qualified_name(call.func) or ""
        if name in torch_api.LOSS_FUNCTIONS:
            return _averages(call) and len(call.args) == _given_to(name.rpartition(".")[2])
        made = [each for found in self._made(call.func) for each in self._followed(found)]
        return bool(made) and all(self._is_averaging_module(each, len(call.args)) for each in made)

    def _is_averaging_module(self, made: ast.expr, given: int) -> bool:
        if not isinstance(made, ast.Call):
            return False
        name = self._semantics.qualified_name(made.func) or ""
        if name not in torch_api.LOSS_MODULES or not _averages(made) or len(made.args) > (name in _WEIGHTED):
            return False
        return given == _given_to(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.rpartition(".")[2]).lower())

    def _made(self, function: ast.expr) -> list[ast.expr]:
        """The expressions that make a criterion; of an attribute that the class has in common, the one assigned there."""
        made = list(self._semantics.of(Activations).constructions(function))
        if made or not isinstance(function, ast.Attribute):
            return made
        owner = self._semantics.facts.self_class(function.value)
        if owner is None:
            return []
        facts = self._semantics.facts
        found = [_in_common(each, function.attr) for each in facts.bases(owner)]
        found += [_in_common(each, function.attr) for each in facts.derived(owner)]
        return [value for values in found for value in values]

    def _followed(self, made: ast.expr, depth: int = 0) -> list[ast.expr]:
        """What a function of the file returns in which a criterion is chosen, or what was given."""
        function = self._semantics.facts.definition(made.func) if isinstance(made, ast.Call) else None
        if not isinstance(function, FUNCTIONS) or function.decorator_list or depth > 1:
            return [made]
        found: list[ast.expr] = []
        for value in self._semantics.facts.returned(function):
            if value is None:
                return [made]
            for each in self._semantics.of(Activations).constructions(value):
                found += self._followed(each, depth + 1)
        return found or [made]


def plain(value: ast.expr) -> ast.expr:
    """What a number is of: ``total`` of ``100. * float(total.item())``."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _VALUE:
                value = inner
            case ast.Call(func=ast.Name(id="float" | "int"), args=[inner]):
                value = inner
            case ast.Attribute(value=inner, attr="data"):
                value = inner
            case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=1 | 100), right=inner):
                value = inner
            case ast.BinOp(op=ast.Mult(), left=inner, right=ast.Constant(value=1 | 100)):
                value = inner
            case _:
                return value


def is_hits(value: ast.expr) -> bool:
    """Whether a value counts the samples of a batch for which something is equal: ``(output.argmax(1) == y).sum()``."""
    return _is_of_comparison(plain(value), "sum")


def _is_share_of_hits(value: ast.expr) -> bool:
    """Whether a value is the share of the samples of a batch for which something is equal: ``(p == y).float().mean()``."""
    return _is_of_comparison(value, "mean")


def _is_of_comparison(value: ast.expr, reduction: str) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=compared, attr=name), args=[], keywords=[]) if name == reduction:
            pass
        case ast.Call(func=function, args=[compared], keywords=[]) if last_name(function) == reduction:
            pass
        case _:
            return False
    match plain(compared):
        case ast.Compare(ops=[ast.Eq()]):
            return True
        case ast.Call(func=ast.Attribute(attr="eq"), args=[_]):
            return True
    return False


def _in_common(definition: ast.ClassDef, name: str) -> list[ast.expr]:
    """What all instances of a class have under a name, as its body assigns it."""
    return [
        each.value
        for each in definition.body
        if isinstance(each, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in each.targets)
    ]


def _is_factor(value: ast.expr) -> bool:
    """Whether a value weights a term: a number, something called so, or what is computed of such."""
    match value:
        case ast.Constant(value=int() | float()):
            return True
        case ast.Name() | ast.Attribute():
            return _FACTOR.search(last_name(value)) is not None
        case ast.BinOp(left=left, right=right):
            return _is_factor(left) and _is_factor(right)
        case ast.UnaryOp(operand=operand):
            return _is_factor(operand)
    return False


def _given_to(loss: str) -> int:
    return next((count for name, count in _GIVEN.items() if loss.startswith(name)), 2)


def _says_mean(word: ast.keyword) -> bool:
    return word.arg is not None and _MEAN.fullmatch(f"{word.arg}={ast.unparse(word.value)}") is not None


def _averages(call: ast.Call) -> bool:
    """Whether a loss, or the making of it, says nothing but that it averages."""
    return all(_says_mean(word) for word in call.keywords if word.arg in _REDUCING)
