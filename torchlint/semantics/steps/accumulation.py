"""Accumulation over several rounds whose sum of gradients is used as if it were their mean."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import LOOPS, Loop, dotted, last_name, walk
from torchlint.semantics.kinds.results import LOSS_FUNCTIONS, LOSS_MODULES
from torchlint.semantics.steps.acts import Act, Acts, Deed
from torchlint.semantics.steps.lost_rounds import LostAccumulation, RareStep
from torchlint.semantics.training.optimizers import Optimizers

Node = TypeVar("Node")

_DEEP = 4
"""So many variables may lie between a loss and what is back-propagated."""
_NO_MEAN = frozenset({"reduction", "size_average", "reduce"})
_OTHER_MEANS = frozenset({"torch.nn.KLDivLoss", "torch.nn.functional.kl_div"})
_ACCUMULATION = re.compile(r"accum|acc_?steps|grad_?acc|update_?freq|iter_?size|virtual", re.IGNORECASE)
"""What numbers of rounds are called that gradients are gathered in."""
_CRITERION = re.compile(
    r"^_?(criterion|crit|loss_?(fn|func|function|f)|(ce|bce|mse|l1)_?loss|cost_?(fn|func)?)$", re.IGNORECASE
)
_EVEN = frozenset(
    f"torch.optim.{name}" for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "RMSprop", "Rprop", "Adadelta")
)
"""Optimizers whose steps are as long whatever the gradients are multiplied with, but for what they add to avoid a zero."""
_ENGINES = ("accelerate", "lightning", "pytorch_lightning", "fabric", "transformers.Trainer")


@dataclass(frozen=True, eq=False, slots=True)
class Unscaled(Generic[Node]):
    """The ``loss`` of a backward in each of ``rounds`` rounds, which is not divided by them, and the ``step`` behind.

    ``is_even`` tells whether the optimizer makes steps of the same length for larger gradients.
    """

    loss: Node
    rounds: Node
    step: Node
    is_even: bool


class UnscaledAccumulation:
    """Finds the backward passes of a file that add up means and never divide the sum."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._rare = semantics.of(LostAccumulation)

    @cached_property
    def found(self) -> dict[ast.Call, Unscaled[ast.expr]]:
        """The calls that back-propagate a mean in each of several rounds."""
        found: dict[ast.Call, Unscaled[ast.expr]] = {}
        acts = self._semantics.of(Acts).all
        backwards = [act for act in acts if act.deed is Deed.BACKWARD and act.certain]
        libraries = self._semantics.words.all
        if not backwards or any(engine in libraries for engine in _ENGINES):
            return found
        for act in backwards:
            loop = next(self._semantics.tree.loops(act.call), None)
            unscaled = self._unscaled(act, loop) if loop is not None else None
            if unscaled is not None:
                found[act.call] = unscaled
        return found

    def _unscaled(self, backward: Act, loop: Loop) -> Unscaled[ast.expr] | None:
        rare = self._rare_steps.get(loop)
        if rare is None or backward.of is None or not self._rare.gathers(loop, rare):
            return None
        rounds = _rounds(rare.condition.test)
        if rounds is None or self._is_reckoned_with(rounds) or self._is_wiped_each_round(loop, rare):
            return None
        told = _ACCUMULATION.search(last_name(rounds)) is not None and not self._is_summed_somewhere
        if not self._is_mean(backward.of, loop, _DEEP, told):
            return None
        makings = self._semantics.of(Optimizers).makings(rare.step.optimizer) or ()
        names = {self._semantics.qualified_name(each.func) for each in makings if isinstance(each, ast.Call)}
        return Unscaled(backward.of, rounds, rare.step.call, bool(names) and names <= _EVEN)

    @cached_property
    def _rare_steps(self) -> dict[Loop, RareStep]:
        """The loops that make their only step every few rounds."""
        loops = [loop for loop in self._semantics.tree.of_type(*LOOPS) if isinstance(loop, LOOPS)]
        rare = ((loop, self._rare.rare_step(loop)) for loop in loops)
        return {loop: step for loop, step in rare if step is not None}

    def _is_reckoned_with(self, rounds: ast.expr) -> bool:
        """Whether anything in the file is divided by or multiplied with the number of rounds."""
        text = last_name(rounds)
        for node in self._semantics.tree.of_type(ast.BinOp, ast.AugAssign, ast.Call):
            match node:
                case ast.BinOp(op=ast.Div() | ast.Mult() | ast.FloorDiv() | ast.Pow()):
                    parts: list[ast.expr] = [node.left, node.right]
                case ast.AugAssign(op=ast.Div() | ast.Mult()):
                    parts = [node.value]
                case ast.Call(func=ast.Attribute(attr="div" | "div_" | "mul" | "mul_" | "true_divide"), args=parts):
                    pass
                case _:
                    continue
            if any(self._is_same_number(part, text, rounds) for each in parts for part in walk(each)):
                return True
        return False

    def _is_same_number(self, part: ast.AST, text: str, rounds: ast.expr) -> bool:
        if isinstance(rounds, ast.Subscript):
            return isinstance(part, ast.Constant) and ast.dump(part) == ast.dump(rounds.slice)
        if isinstance(rounds, ast.Constant):
            return isinstance(part, ast.Constant) and part.value == rounds.value
        return isinstance(part, (ast.Name, ast.Attribute)) and last_name(part) == text

    def _is_wiped_each_round(self, loop: Loop, rare: RareStep) -> bool:
        """Whether gradients are wiped in other rounds than those of the step."""
        tree = self._semantics.tree
        zeros = [act.call for act in self._semantics.of(Acts).all if act.deed is Deed.ZERO]
        inside = [call for call in zeros if next(tree.loops(call), None) is loop]
        return not inside or any(not rare.is_of_its_rounds(call, tree) for call in inside)

    # --- what is a mean ----------------------------------------------------------------------------------------------

    def _is_mean(self, loss: ast.expr, loop: Loop, depth: int, told: bool) -> bool:
        """Whether a loss is surely a mean over a batch, or a sum of such, that nothing divides.

        With ``told``, the number of rounds says what it is for: then what is called a criterion is taken to give a mean.
        """
        match loss:
            case ast.Call():
                return self._gives_mean(loss) or (told and self._is_called_criterion(loss))
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._is_mean(left, loop, depth, told) and self._is_mean(right, loop, depth, told)
            case (
                ast.BinOp(op=ast.Mult(), left=ast.Constant(), right=value)
                | ast.BinOp(op=ast.Mult(), left=value, right=ast.Constant())
            ):
                return self._is_mean(value, loop, depth, told)
            case ast.Attribute(value=ast.Name() as output, attr="loss"):
                return self._is_told_labels(output, told)
            case ast.Subscript(value=ast.Name() as output, slice=ast.Constant(value=0)):
                return told and self._is_told_labels(output, told)
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(loss)
                values = [binding.value for binding in bindings if not binding.path]
                if not bindings or len(values) < len(bindings) or any(binding.before for binding in bindings):
                    return False
                if not all(self._semantics.tree.inside(binding.node, loop) for binding in bindings):
                    return False
                return all(value is not None and self._is_mean(value, loop, depth - 1, told) for value in values)
        return False

    def _is_called_criterion(self, call: ast.Call) -> bool:
        """Whether a call is of a criterion that the file does not make, with a result and what it should have been."""
        is_given = len(call.args) == 2 and not call.keywords and not self._semantics.kind(call.func).known
        return is_given and _CRITERION.search(last_name(call.func)) is not None

    @cached_property
    def _is_summed_somewhere(self) -> bool:
        """Whether the file asks for another reduction anywhere."""
        return any(word.arg in _NO_MEAN for word in self._semantics.tree.of_type(ast.keyword))

    def _is_told_labels(self, output: ast.Name, told: bool) -> bool:
        """Whether a value is what a model of transformers gives that is told the labels: its ``loss`` is a mean."""
        values = [binding.value for binding in self._semantics.bindings.reaching(output)]
        return bool(values) and all(
            isinstance(value, ast.Call) and any(word.arg == "labels" or (told and word.arg is None) for word in value.keywords)
            for value in values
        )

    def _gives_mean(self, call: ast.Call) -> bool:
        """Whether a call computes a loss of torch with its usual reduction, or a mean."""
        name = self._semantics.qualified_name(call.func) or ""
        if name == "torch.mean" or (isinstance(call.func, ast.Attribute) and call.func.attr == "mean" and not name):
            return len(call.args) <= (1 if name else 0) and not call.keywords
        if name in LOSS_FUNCTIONS:
            return name not in _OTHER_MEANS and not _is_told(call)
        kind = self._semantics.kind(call.func)
        if kind.type is not Type.MODULE or kind.name not in LOSS_MODULES or kind.name in _OTHER_MEANS:
            return False
        makings = list(self._makings(call.func))
        return bool(makings) and not any(_is_told(making) for making in makings)

    def _makings(self, criterion: ast.expr) -> Iterator[ast.Call]:
        """The calls in the file that may make a criterion: all of its class."""
        name = self._semantics.kind(criterion).name
        for call in self._semantics.facts.calls.get((name or "").rpartition(".")[2], ()):
            if self._semantics.qualified_name(call.func) == name:
                yield call


def _rounds(test: ast.expr) -> ast.expr | None:
    """The number of rounds that a test counts to: ``n`` of ``(i + 1) % n == 0``."""
    found = [part.right for part in walk(test) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod)]
    if len(found) != 1:
        return None
    rounds = found[0]
    if isinstance(rounds, ast.Constant):
        return rounds if isinstance(rounds.value, int) and rounds.value > 1 else None
    if isinstance(rounds, ast.Subscript):
        return rounds if dotted(rounds.value) and isinstance(rounds.slice, ast.Constant) else None
    return rounds if dotted(rounds) else None


def _is_told(call: ast.Call) -> bool:
    """Whether a loss is told how to reduce, or may be."""
    return any(word.arg in _NO_MEAN or word.arg is None for word in call.keywords) or len(call.args) > 3
