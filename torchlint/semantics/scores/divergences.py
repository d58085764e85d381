"""Calls of the Kullback-Leibler divergence that compute another number: its mean, and arguments that it does not expect."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import is_none
from torchlint.semantics.memory.changes import Changes
from torchlint.semantics.memory.links import Links
from torchlint.semantics.scores.activations import Activations, Origin
from torchlint.semantics.scores.outputs import Output
from torchlint.semantics.shapes.ranks import Ranks

Node = TypeVar("Node")

FUNCTION = "torch.nn.functional.kl_div"
LAYER = "torch.nn.KLDivLoss"
_CLASSES = re.compile(r"^(size|shape|numel)$|class|vocab|label|categor|^(c|k|v|n_?c|nc)$|dim", re.IGNORECASE)
"""What numbers of classes are called, and what gives the sizes of a tensor."""
_OF_PIXELS = ("ignore_index", "segmentation", "miou", "mIoU", "pixel")
"""Words of files in which each pixel has its classes."""
_REDUCING = frozenset({"size_average", "reduce"})
_OLD_PLACES = {FUNCTION: 2, LAYER: 0}
"""Where the two older arguments stand that say how a loss is reduced; the reduction is right behind them."""
_MOST_TERMS = 100
"""So many terms are looked at that one divergence is part of."""
_PRODUCTS = ("mul", "mul_", "multiply", "multiply_")


@dataclass(frozen=True, eq=False, slots=True)
class Misgiven(Generic[Node]):
    """What a divergence is given as ``value`` that is of the sort ``output``, made by the call ``made``.

    ``is_target`` is whether it is the distribution that the other one is compared with, and ``in_logarithms`` whether the
    divergence expects logarithms of it. ``swapped`` is the other argument, where each of the two is what the other should be;
    ``is_sole`` whether nothing but the divergence needs what was made.
    """

    call: Node
    value: Node
    output: Output
    made: Node
    is_target: bool
    in_logarithms: bool
    swapped: Node | None
    is_sole: bool
    there: str = ""
    """In which other file it is made, if it is ``made`` by calling a model of another file."""


@dataclass(frozen=True, slots=True)
class _Divergence:
    """A call that computes a divergence: its input, its target, and whether the target is one of logarithms."""

    call: ast.Call
    value: ast.expr
    target: ast.expr | None
    log_target: bool | None


class Divergences:
    """Finds the divergences of a file that are none."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._activations = semantics.of(Activations)

    @cached_property
    def means(self) -> set[ast.Call]:
        """The calls of ``kl_div``, and those that make a ``KLDivLoss``, that take the mean over everything.

        One that is multiplied with the number of classes afterwards, as far as names tell, is the divergence.
        """
        means = {call for call in self._named if self._takes_mean(call)}
        for call, made in self._computed if means else ():
            if self._is_multiplied(call):
                means.difference_update(made)
        return means

    def has_rows_of_rows(self, call: ast.Call) -> bool:
        """Whether what is compared has more than two dimensions, so that a batch is not what it has rows of: pixels, by the
        words of the file, or as the shapes say that ``kl_div`` is given, or a layer that ``call`` makes.
        """
        return any(map(self._semantics.words.speak_of, _OF_PIXELS)) or any(rank > 2 for rank in self._ranks(call))

    def is_of_one_row(self, call: ast.Call) -> bool:
        """Whether all that is compared is known to have one dimension, that of the classes."""
        ranks = self._ranks(call)
        return bool(ranks) and set(ranks) == {1}

    def _ranks(self, call: ast.Call) -> list[int]:
        """The numbers of dimensions that are known of what ``kl_div`` is given, or a layer that ``call`` makes."""
        given = [value for each in self._computing.get(call, ()) for value in _inputs(each)]
        ranks = map(self._semantics.of(Ranks).of, given)
        return [rank for rank in ranks if rank is not None]

    @cached_property
    def _computing(self) -> dict[ast.Call, list[ast.Call]]:
        """For each call of ``kl_div`` the call itself, and for each that makes a layer those of the layer."""
        found: dict[ast.Call, list[ast.Call]] = defaultdict(list)
        for call, made in self._computed:
            for each in made:
                found[each].append(call)
        return found

    def positional_reduction(self, call: ast.Call) -> ast.expr | None:
        """The reduction of a call where that is given by its place."""
        place = _OLD_PLACES.get(self._semantics.qualified_name(call.func) or "", 0) + 2
        return call.args[place] if len(call.args) > place else None

    def classes(self, call: ast.Call) -> ast.expr | None:
        """The dimension of the classes of what ``kl_div`` is given, as a log-softmax says."""
        given = _inputs(call)[:1]
        origin = self._activations.origin(given[0]) if given else None
        if origin is None or origin.output is not Output.LOG_SOFTMAX:
            return None
        place = 1 if (self._semantics.qualified_name(origin.node.func) or "").startswith("torch.") else 0
        dims = [word.value for word in origin.node.keywords if word.arg == "dim"] or origin.node.args[place : place + 1]
        is_number = dims and isinstance(dims[0], (ast.Constant, ast.UnaryOp))
        return dims[0] if is_number else None

    @cached_property
    def misgiven(self) -> dict[ast.expr, Misgiven[ast.expr]]:
        """The arguments that are not what the divergence expects, the first one alone of two that are swapped."""
        found: dict[ast.expr, Misgiven[ast.expr]] = {}
        for divergence in self._divergences:
            value, target = self._wrong_input(divergence), self._wrong_target(divergence)
            if value is not None and target is not None and self._are_swapped(value, target):
                found[divergence.value] = self._described(divergence, divergence.value, value, swapped=divergence.target)
                continue
            if value is not None:
                found[divergence.value] = self._described(divergence, divergence.value, value)
            if target is not None and divergence.target is not None:
                found[divergence.target] = self._described(divergence, divergence.target, target)
        return found

    @cached_property
    def _named(self) -> list[ast.Call]:
        """The calls of ``kl_div``, and those that make a ``KLDivLoss``."""
        names = (FUNCTION, LAYER)
        return [call for call in self._semantics.tree.of_type(ast.Call) if self._semantics.qualified_name(call.func) in names]

    def _takes_mean(self, call: ast.Call) -> bool:
        """Whether nothing says otherwise than ``reduction="mean"``, and no older argument says anything of it."""
        given = {word.arg: word.value for word in call.keywords}
        name = self._semantics.qualified_name(call.func) or ""
        if None in given or any(isinstance(value, ast.Starred) for value in call.args) or self._is_set_later(name, "reduction"):
            return False
        older = [*call.args[_OLD_PLACES[name] :][:2], *(given[word] for word in _REDUCING & given.keys())]
        if not all(map(is_none, older)):
            return False
        reduction = self.positional_reduction(call) or given.get("reduction")
        return reduction is None or (isinstance(reduction, ast.Constant) and reduction.value == "mean")

    def _is_set_later(self, name: str, attribute: str) -> bool:
        """Whether layers may be told something when they are made already: ``criterion.reduction = "batchmean"``."""
        return name == LAYER and attribute in self._semantics.facts.stored_attributes

    def _is_multiplied(self, term: ast.expr) -> bool:
        """Whether a divergence is multiplied with what may be the number of classes: a size, or a number by its name."""
        pending, seen = [term], set[ast.AST]()
        while pending:
            node = pending.pop()
            if node in seen or len(seen) == _MOST_TERMS:
                continue
            seen.add(node)
            factor, product = self._product(node)
            if factor is not None and any(map(_may_be_classes, ast.walk(factor))):
                return True
            if product is not None:
                pending.append(product)
            pending.extend(self._uses_of(node))
        return False

    def _product(self, term: ast.expr) -> tuple[ast.expr | None, ast.expr | None]:
        """What a term is multiplied with right where it stands, and what the product, or quotient, is."""
        tree = self._semantics.tree
        parent = tree.parent(term)
        match parent:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return right if left is term else left, parent
            case ast.BinOp(left=left, op=ast.Div()) if left is term:
                return None, parent
            case ast.Attribute(attr=method) if isinstance(call := tree.parent(parent), ast.Call) and call.func is parent:
                if method in _PRODUCTS and call.args:
                    return call.args[0], call
                return None, call if method in ("div", "div_", "detach", "to", "float", "double") else None
            case ast.Call(args=[first, second]) if term in (first, second):
                name = self._semantics.qualified_name(parent.func) or ""
                if name in ("torch.mul", "torch.multiply"):
                    return second if term is first else first, parent
            case ast.AugAssign(op=ast.Mult(), value=factor, target=target):
                return (target if term is factor else factor), None
        return None, None

    def _uses_of(self, value: ast.expr) -> Iterator[ast.expr]:
        """Where a name is used, or multiplied, that a value is assigned to."""
        binding = self._semantics.of(Links).bound_to(value)
        if binding is None:
            return
        pending, seen = [binding], {binding}
        while pending:
            each = pending.pop()
            yield from each.uses
            for other in self._semantics.of(Changes).augmented(each):
                if isinstance(other.node, ast.Name) and isinstance(self._semantics.tree.parent(other.node), ast.AugAssign):
                    yield other.node
                    if other not in seen:
                        seen.add(other)
                        pending.append(other)

    # --- what is given -----------------------------------------------------------------------------------------------

    @cached_property
    def _divergences(self) -> list[_Divergence]:
        found = [self._divergence(call, made) for call, made in self._computed]
        return [divergence for divergence in found if divergence is not None]

    @cached_property
    def _computed(self) -> list[tuple[ast.Call, list[ast.Call]]]:
        """The calls that compute a divergence, with what may tell how: themselves, or those that make a layer."""
        functions = [call for call in self._named if self._semantics.qualified_name(call.func) == FUNCTION]
        return [*((call, [call]) for call in functions), *self._of_layers()]

    def _of_layers(self) -> Iterator[tuple[ast.Call, list[ast.Call]]]:
        """The calls of instances of ``KLDivLoss``, with those that make these."""
        for call in self._semantics.tree.of_type(ast.Call) if self._may_have_layers else ():
            kind = self._semantics.kind(call.func)
            if kind.type is Type.MODULE and kind.name == LAYER:
                made = list(self._activations.constructions(call.func))
                calls = [each for each in made if isinstance(each, ast.Call)]
                yield call, calls if len(calls) == len(made) else []

    @cached_property
    def _may_have_layers(self) -> bool:
        return any(self._semantics.qualified_name(call.func) == LAYER for call in self._named)

    def _divergence(self, call: ast.Call, made: list[ast.Call]) -> _Divergence | None:
        values = _inputs(call)
        if not values:
            return None
        flags = {None if self._may_be_told(each) else _log_target(each) for each in made}
        is_log = flags.pop() if len(flags) == 1 else None
        return _Divergence(call, values[0], values[1] if len(values) == 2 else None, is_log)

    def _may_be_told(self, made: ast.Call) -> bool:
        return self._is_set_later(self._semantics.qualified_name(made.func) or "", "log_target")

    def _wrong_input(self, divergence: _Divergence) -> Origin | None:
        """What the input is, where that is no logarithms of probabilities."""
        origin = self._activations.origin(divergence.value)
        return origin if origin is not None and origin.output is not Output.LOG_SOFTMAX else None

    def _wrong_target(self, divergence: _Divergence) -> Origin | None:
        """What the target is, where that is not what the divergence expects of it."""
        if divergence.target is None or divergence.log_target is None:
            return None
        origin = self._activations.origin(divergence.target)
        if origin is None:
            return None
        expected = (Output.LOG_SOFTMAX,) if divergence.log_target else (Output.SOFTMAX, Output.SIGMOID)
        return origin if origin.output not in expected else None

    def _are_swapped(self, value: Origin, target: Origin) -> bool:
        return value.output in (Output.SOFTMAX, Output.SIGMOID) and target.output is Output.LOG_SOFTMAX

    def _described(
        self, divergence: _Divergence, value: ast.expr, origin: Origin, *, swapped: ast.expr | None = None
    ) -> Misgiven[ast.expr]:
        is_target = value is divergence.target
        return Misgiven(
            divergence.call,
            value,
            origin.output,
            origin.node,
            is_target,
            not is_target or bool(divergence.log_target),
            swapped,
            self._is_sole(value, origin),
            origin.there,
        )

    def _is_sole(self, value: ast.expr, origin: Origin) -> bool:
        """Whether what was made is given to the divergence on the spot, or by a name that nothing else reads."""
        if origin.node is value:
            return True
        return origin.unique and not origin.functions and len(origin.names) == 1 and len(origin.names[0].uses) == 1


def _inputs(call: ast.Call) -> list[ast.expr]:
    """The input and the target that a divergence is computed of, in this order; less where the call does not say them."""
    words = {word.arg: word.value for word in call.keywords}
    values = [*call.args[:2], *(words[name] for name in ("input", "target") if name in words)]
    if not 1 <= len(values) <= 2 or any(isinstance(value, ast.Starred) for value in values) or None in words:
        return []
    if "input" in words and (call.args or len(values) == 1):
        return []
    return values


def _may_be_classes(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _CLASSES.search(name) is not None
    return False


def _log_target(call: ast.Call) -> bool | None:
    """Whether the target is to be one of logarithms; ``None`` where the call does not tell."""
    for word in call.keywords:
        if word.arg is None:
            return None
        if word.arg == "log_target":
            return word.value.value if isinstance(word.value, ast.Constant) and isinstance(word.value.value, bool) else None
    return False if len(call.args) < 4 else None
