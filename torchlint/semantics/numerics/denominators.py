"""Sums over the batches of a loader that are divided by another count than they were summed by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics, torch_api
from torchlint.semantics.code.tree import dotted, last_name
from torchlint.semantics.provenance.loaders import LOADERS
from torchlint.semantics.scores.activations import Activations

Node = TypeVar("Node")

_LOADER = re.compile(r"load|(^|_|\.)dl(_|$)|batches|_iter$", re.IGNORECASE)
"""What is called that gives batches."""
_AROUND = frozenset({"enumerate", "tqdm", "iter", "track", "trange"})
_VALUE = frozenset({"item", "float", "double", "detach", "cpu", "int", "long", "numpy", "tolist"})
"""Methods that give the same number."""
_REDUCING = frozenset({"reduction", "reduce", "size_average", None})
_MEAN = re.compile(r"reduction='mean'|size_average=True")


@dataclass(frozen=True, eq=False, slots=True)
class WrongDenominator(Generic[Node]):
    """The sum ``total`` is divided by the length of ``counted``: what is ``of_samples`` by batches, or means by samples.

    ``loader`` is what was gone through.
    """

    total: Node
    counted: Node
    loader: Node
    of_samples: bool


class Denominators:
    """Finds such divisions in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, WrongDenominator[ast.expr]]:
        """The lengths that a sum is divided by wrongly: ``len(loader)`` of ``correct / len(loader)``."""
        found: dict[ast.Call, WrongDenominator[ast.expr]] = {}
        for call in self._semantics.facts.calls.get("len", ()):
            total = self._divided(call)
            if total is None or len(call.args) != 1 or self._semantics.qualified_name(call.func) != "builtins.len":
                continue
            wrong = self._wrong(total, call.args[0])
            if wrong is not None:
                found[call] = wrong
        return found

    # --- the division --------------------------------------------------------------------------------------------------

    def _divided(self, length: ast.Call) -> ast.Name | None:
        """The variable that is divided by a length, and by nothing else."""
        match self._tree.parent(length):
            case ast.BinOp(op=ast.Div(), left=left, right=right) as division if right is length:
                total = _plain(left)
                is_final = isinstance(total, ast.Name) and self._is_last(division)
                return total if isinstance(total, ast.Name) and is_final else None
            case ast.AugAssign(op=ast.Div(), target=ast.Name() as target):
                return target
        return None

    def _is_last(self, division: ast.BinOp) -> bool:
        """Whether nothing but a percentage is made of a quotient: ``correct / len(loader) / batch_size`` is another figure."""
        match self._tree.parent(division):
            case ast.BinOp(op=ast.Div()) | ast.AugAssign(op=ast.Div()):
                return False
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                other = left if right is division else right
                return isinstance(other, ast.Constant) and other.value in (100, 100.0)
        return True

    # --- what was summed ------------------------------------------------------------------------------------------------

    def _wrong(self, total: ast.Name, counted: ast.expr) -> WrongDenominator[ast.expr] | None:
        sums = self._sums(total)
        if len(sums) != 1:
            return None
        sum_, loop = sums[0]
        loader = _gone_through(loop.iter)
        if loader is None or self._tree.inside(total, loop):
            return None
        if self._tree.function(total) is not self._tree.function(loop) or not self._is_whole(loop, sum_):
            return None
        if dotted(counted) == dotted(loader):
            of_samples = _is_hits(sum_.value) or self._is_weighted(sum_.value)
            if of_samples and _LOADER.search(dotted(loader) or "") and not self._is_of_single_samples(loader):
                return WrongDenominator(total, counted, loader, of_samples=True)
        elif self._is_data_of(counted, loader) and self._is_mean(sum_.value) and not self._is_of_single_samples(loader):
            return WrongDenominator(total, counted, loader, of_samples=False)
        return None

    def _sums(self, total: ast.Name) -> list[tuple[ast.AugAssign, ast.For]]:
        """What adds to a variable, each with the loop around it; empty where the variable gets its value in other ways, too."""
        found: list[tuple[ast.AugAssign, ast.For]] = []
        own = self._semantics.bindings.of(total)
        pending = list(
            own.before if own is not None and own.form is Form.AUGMENTED else self._semantics.bindings.reaching(total)
        )
        seen = set(pending)
        while pending:
            binding = pending.pop()
            statement = self._tree.statement(binding.node)
            if binding.form is Form.AUGMENTED and isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
                loop = next(self._tree.loops(statement), None)
                if not isinstance(loop, ast.For):
                    return []
                found.append((statement, loop))
                pending += [each for each in binding.before if each not in seen]
                seen.update(binding.before)
            elif not (binding.form is Form.ASSIGNMENT and _is_zero(binding.value, binding.path)):
                return []
        return found

    def _is_whole(self, loop: ast.For, sum_: ast.AugAssign) -> bool:
        """Whether each round of a loop adds, and none ends it."""
        if sum_ not in loop.body and not any(isinstance(part, ast.With) and sum_ in part.body for part in loop.body):
            return False
        return not any(isinstance(part, (ast.Break, ast.Continue)) for statement in loop.body for part in ast.walk(statement))

    def _is_weighted(self, value: ast.expr) -> bool:
        """Whether a value is that of a batch times the number of its samples: ``loss.item() * x.size(0)``."""
        match _plain(value):
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                return any(self._is_batch_size(each) for each in (left, right))
        return False

    def _is_batch_size(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(attr="size"), args=[ast.Constant(value=0)]):
                return True
            case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=0)):
                return True
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as batch]):
                return any(each.form is Form.LOOP for each in self._semantics.bindings.reaching(batch))
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                made = bindings[0].value if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT else None
                return made is not None and not isinstance(made, ast.Name) and self._is_batch_size(made)
        return False

    def _is_mean(self, value: ast.expr) -> bool:
        """Whether a value is the mean that a loss of torch gives for a batch."""
        value = _plain(value)
        if isinstance(value, ast.Name):
            bindings = self._semantics.bindings.reaching(value)
            return bool(bindings) and all(
                each.form is Form.ASSIGNMENT and not each.path and each.value is not None and self._is_mean_call(each.value)
                for each in bindings
            )
        return self._is_mean_call(value)

    def _is_mean_call(self, value: ast.expr) -> bool:
        value = _plain(value)
        if not isinstance(value, ast.Call) or len(value.args) != 2:
            return False
        if self._semantics.qualified_name(value.func) in torch_api.LOSS_FUNCTIONS:
            return _averages(value)
        made = list(self._semantics.of(Activations).constructions(value.func))
        return bool(made) and all(
            isinstance(each, ast.Call)
            and self._semantics.qualified_name(each.func) in torch_api.LOSS_MODULES
            and _averages(each)
            and not each.args
            for each in made
        )

    # --- what is gone through -------------------------------------------------------------------------------------------

    def _is_data_of(self, counted: ast.expr, loader: ast.expr) -> bool:
        """Whether a length is that of the loader's data set: ``loader.dataset``, or what the loader was made of."""
        if isinstance(counted, ast.Attribute) and counted.attr == "dataset":
            return dotted(counted.value) == dotted(loader)
        return isinstance(counted, ast.Name) and any(
            dotted(data) == counted.id for call in self._makers(loader) for data in _given(call, 0, "dataset")
        )

    def _is_of_single_samples(self, loader: ast.expr) -> bool:
        """Whether a loader made in sight has batches of one sample, or batches that nobody sees."""
        for call in self._makers(loader):
            sizes = list(_given(call, 1, "batch_size"))
            is_open = any(word.arg is None for word in call.keywords) or any(
                isinstance(each, ast.Starred) for each in call.args
            )
            if any(word.arg == "batch_sampler" for word in call.keywords) or is_open:
                return True
            if not sizes or (isinstance(sizes[0], ast.Constant) and sizes[0].value in (1, None)):
                return True
        return False

    def _makers(self, loader: ast.expr) -> Iterator[ast.Call]:
        for binding in self._semantics.bindings.reaching(loader) if isinstance(loader, ast.Name) else ():
            if isinstance(binding.value, ast.Call) and self._semantics.qualified_name(binding.value.func) in LOADERS:
                yield binding.value


def _plain(value: ast.expr) -> ast.expr:
    """What a number is of: ``total`` of ``100. * float(total.item())``."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _VALUE:
                value = inner
            case ast.Call(func=ast.Name(id="float" | "int"), args=[inner]):
                value = inner
            case ast.Attribute(value=inner, attr="data"):
                value = inner
            case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=100 | 100.0), right=inner):
                value = inner
            case ast.BinOp(op=ast.Mult(), left=inner, right=ast.Constant(value=100 | 100.0)):
                value = inner
            case _:
                return value


def _is_hits(value: ast.expr) -> bool:
    """Whether a value counts the samples of a batch for which something is equal: ``(output.argmax(1) == y).sum()``."""
    value = _plain(value)
    match value:
        case ast.Call(func=ast.Attribute(value=compared, attr="sum"), args=[]) if not value.keywords:
            pass
        case ast.Call(func=function, args=[compared]) if not value.keywords and last_name(function) == "sum":
            pass
        case _:
            return False
    compared = _plain(compared)
    match compared:
        case ast.Compare(ops=[ast.Eq()]):
            return True
        case ast.Call(func=ast.Attribute(attr="eq"), args=[_]):
            return True
    return False


def _averages(call: ast.Call) -> bool:
    """Whether a loss, or the making of it, says nothing but that it averages."""
    said = [word for word in call.keywords if word.arg in _REDUCING]
    return all(word.arg is not None and _MEAN.fullmatch(f"{word.arg}={ast.unparse(word.value)}") for word in said)


def _is_zero(value: ast.expr | None, path: tuple[int | None, ...]) -> bool:
    for index in path:
        if not isinstance(value, ast.Tuple) or index is None or index >= len(value.elts):
            return False
        value = value.elts[index]
    return isinstance(value, ast.Constant) and value.value == 0


def _gone_through(iterable: ast.expr) -> ast.expr | None:
    while isinstance(iterable, ast.Call) and last_name(iterable.func) in _AROUND and iterable.args:
        iterable = iterable.args[0]
    return iterable if dotted(iterable) is not None else None


def _given(call: ast.Call, place: int, name: str) -> Iterator[ast.expr]:
    """An argument of a call, by its place or by its name."""
    yield from call.args[place : place + 1]
    yield from (word.value for word in call.keywords if word.arg == name)
