"""Sums over the batches of a loader that are divided by another count than they were summed by."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, dotted, given_to, last_name
from torchlint.semantics.memory.references import References
from torchlint.semantics.numerics.batch_means import BatchMeans, is_hits, plain
from torchlint.semantics.numerics.sums import Sums, is_zero
from torchlint.semantics.provenance.loaders import LOADERS
from torchlint.semantics.scores.activations import Activations

Node = TypeVar("Node")

_LOADER = re.compile(r"load|(^|_|\.)dl(_|$)|batches|_iter$", re.IGNORECASE)
"""What is called that gives batches."""
_AROUND = frozenset({"enumerate", "tqdm", "iter", "track", "trange"})
_BATCH_SIZE = re.compile(r"^((train|tr|val|valid|validation|test|eval|mini)_?)?(batch_?size|bs|bsz)$", re.IGNORECASE)
"""What the number of samples in a batch is called."""
_SIZES = re.compile(r"^(data|dataset|data_set|image_dataset|ds)_?(sizes?|lens?|lengths?)$", re.IGNORECASE)
"""What a table is called of the numbers of samples."""
_TOTALS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
_COUNTS = (ast.Call, ast.Name, ast.Attribute, ast.BinOp, ast.Subscript)
_SETS = re.compile(r"data_?sets?$", re.IGNORECASE)


@dataclass(frozen=True, eq=False, slots=True)
class WrongDenominator(Generic[Node]):
    """The sum ``total`` is divided by the wrong count: what is ``of_samples`` by batches, or means by samples.

    ``loader`` is what was gone through, and ``counted`` what the length was taken of, at the place itself. What is ``running``
    is divided in the loop that sums it, by what has been gone through so far.
    """

    total: Node
    counted: Node
    loader: Node
    of_samples: bool
    running: bool = False


class Denominators:
    """Finds such divisions in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.expr, WrongDenominator[ast.expr]]:
        """What a sum is divided by wrongly: ``len(loader)`` of ``correct / len(loader)``."""
        found: dict[ast.expr, WrongDenominator[ast.expr]] = {}
        for total, divisor in self._divisions():
            wrong = self._wrong(total, divisor)
            if wrong is not None:
                found[divisor] = wrong
        return found

    # --- the division --------------------------------------------------------------------------------------------------

    def _divisions(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """The sums that are divided by something that may be a count, and by nothing else."""
        for division in self._semantics.tree.of_type(ast.BinOp):
            if isinstance(division.op, ast.Div) and isinstance(division.right, _COUNTS):
                total = plain(division.left)
                if isinstance(total, _TOTALS) and self._is_last(division):
                    yield total, _bare(division.right)
                elif isinstance(total, ast.BinOp) and isinstance(total.op, ast.Div) and self._is_last(division):
                    sum_ = plain(total.left)
                    if isinstance(sum_, _TOTALS):
                        yield sum_, division
        for statement in self._semantics.tree.of_type(ast.AugAssign):
            if isinstance(statement.op, ast.Div) and isinstance(statement.target, _TOTALS):
                yield statement.target, _bare(statement.value)

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

    def _wrong(self, total: ast.expr, divisor: ast.expr) -> WrongDenominator[ast.expr] | None:
        sums = self._semantics.of(Sums).additions(total)
        if len(sums) != 1:
            return None
        sum_ = sums[0]
        loader = self._gone_through(sum_.loop.iter)
        if loader is None or self._is_of_single_samples(loader) or self._is_given_single_samples(loader):
            return None
        if self._tree.function(total) is not self._tree.function(sum_.loop) or not sum_.is_whole:
            return None
        count = self._followed(divisor)
        running = self._tree.inside(total, sum_.loop)
        if running and not self._counts_so_far(count):
            return None
        counted = self._length(divisor) or loader
        if self._counts_batches(count, loader, sum_.loop):
            of_samples = is_hits(self._followed(plain(sum_.value))) or self._is_weighted(sum_.value)
            if of_samples and _LOADER.search(ast.unparse(loader)):
                return WrongDenominator(total, counted, loader, of_samples=True, running=running)
        elif self._counts_samples(count, loader, sum_.loop) and self._semantics.of(BatchMeans).is_mean(sum_.value):
            return WrongDenominator(total, counted, loader, of_samples=False, running=running)
        return None

    def _counts_so_far(self, count: ast.expr) -> bool:
        """Whether a number grows with each round, as a figure needs that is made in the loop: ``i + 1``, ``seen``."""
        return isinstance(count, ast.Name) or (
            isinstance(count, ast.BinOp) and not any(self._length(each) is not None for each in _factors(count))
        )

    def _is_weighted(self, value: ast.expr) -> bool:
        """Whether a value is that of a batch times the number of its samples: ``loss.item() * x.size(0)``."""
        match plain(value):
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

    # --- what is gone through -------------------------------------------------------------------------------------------

    def _gone_through(self, iterable: ast.expr) -> ast.expr | None:
        """The loader that is gone through: ``loader`` of ``enumerate(bar)`` where ``bar`` is ``tqdm(loader)``."""
        for _ in range(4):
            if isinstance(iterable, ast.Call) and last_name(iterable.func) in _AROUND and iterable.args:
                iterable = iterable.args[0]
            elif isinstance(iterable, ast.Name) and isinstance(bar := self._followed(iterable), ast.Call):
                if last_name(bar.func) not in _AROUND or not bar.args:
                    break
                iterable = bar.args[0]
        base = iterable.value if isinstance(iterable, ast.Subscript) else iterable
        return iterable if dotted(base) is not None else None

    def _followed(self, value: ast.expr) -> ast.expr:
        """What a name stands for that is assigned once; the expression itself in all other cases."""
        if isinstance(value, ast.Name):
            bindings = self._semantics.bindings.reaching(value)
            if len(bindings) == 1 and bindings[0].form in (Form.ASSIGNMENT, Form.CONTEXT) and not bindings[0].path:
                return bindings[0].value or value
        return value

    def _length(self, count: ast.expr) -> ast.expr | None:
        """What a count is the length of."""
        match count:
            case ast.Call(func=ast.Attribute(value=counted, attr="__len__"), args=[], keywords=[]):
                return counted
            case ast.Call(func=function, args=[counted], keywords=[]):
                return counted if self._semantics.qualified_name(function) == "builtins.len" else None
        return None

    def _counts_batches(self, count: ast.expr, loader: ast.expr, loop: ast.For) -> bool:
        """Whether a number is that of a loader's batches: its length, or one more than the number of the last."""
        counted = self._length(count)
        if counted is not None:
            return self._is_same(counted, loader)
        if isinstance(count, ast.Name) and self._adds_up(count, loop, _is_one):
            return True
        match count, loop.target, loop.iter:
            case (
                ast.BinOp(op=ast.Add(), left=ast.Name() as last, right=ast.Constant(value=1)),
                ast.Tuple(elts=[ast.Name(id=name), _]),
                ast.Call(func=ast.Name("enumerate"), args=[_] | [_, ast.Constant(value=0)], keywords=[]),
            ) if last.id == name:
                return all(
                    self._tree.inside(each.node, loop.target)
                    or (each.form is Form.ASSIGNMENT and is_zero(each.value, each.path))
                    for each in self._semantics.bindings.reaching(last)
                )
        return False

    def _counts_samples(self, count: ast.expr, loader: ast.expr, loop: ast.For) -> bool:
        """Whether a number is that of the samples behind a loader, or of its batches times their size."""
        counted = self._length(count)
        if counted is not None:
            return self._is_data_of(counted, loader)
        match count:
            case ast.Name() | ast.Attribute():
                return self._adds_up(count, loop, lambda each: self._is_size_of_round(each, loop))
            case ast.BinOp(op=ast.Mult() | ast.Div()):
                left, right = _factors(count)
                pairs = ((left, right), (right, left))
                return any(_is_size(size) and self._counts_batches(number, loader, loop) for number, size in pairs)
            case ast.Subscript(value=sizes, slice=key) if isinstance(loader, ast.Subscript):
                return _SIZES.search(last_name(sizes)) is not None and ast.unparse(key) == ast.unparse(loader.slice)
        return False

    def _adds_up(self, count: ast.expr, loop: ast.For, is_each: Callable[[ast.expr], bool]) -> bool:
        """Whether a sum adds up something in each round of a loop: ``seen += len(y)``, ``batches += 1``."""
        sums = self._semantics.of(Sums).additions(count)
        return len(sums) == 1 and sums[0].loop is loop and sums[0].is_whole and is_each(sums[0].value)

    def _is_size_of_round(self, value: ast.expr, loop: ast.For) -> bool:
        match value:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as batch]):
                bindings = self._semantics.bindings.reaching(batch)
                return bool(bindings) and all(self._tree.inside(each.node, loop) for each in bindings)
        return self._is_batch_size(value)

    def _is_same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions are spelled alike, and a name has the same value at both places."""
        if ast.unparse(one) != ast.unparse(other):
            return False
        reaching = self._semantics.bindings.reaching
        return not (isinstance(one, ast.Name) and isinstance(other, ast.Name)) or set(reaching(one)) == set(reaching(other))

    def _is_data_of(self, counted: ast.expr, loader: ast.expr) -> bool:
        """Whether a length is that of the loader's data set: ``loader.dataset``, or what the loader was made of."""
        match counted:
            case ast.Attribute(value=owner, attr="dataset" | "sampler"):
                return self._is_same(owner, loader)
            case ast.Subscript(value=sets, slice=key) if isinstance(loader, ast.Subscript):
                return _SETS.search(last_name(sets)) is not None and ast.unparse(key) == ast.unparse(loader.slice)
        return isinstance(counted, (ast.Name, ast.Attribute)) and any(
            dotted(data) == dotted(counted) or self._is_kept(counted, data)
            for call in self._makers(loader)
            for data in _given(call, 0, "dataset")
        )

    def _is_kept(self, counted: ast.expr, data: ast.expr) -> bool:
        """Whether an attribute holds nothing but what a name has where the loader is made: ``self.data = data``."""
        facts = self._semantics.facts
        if not isinstance(counted, ast.Attribute) or not isinstance(data, ast.Name):
            return False
        owner = facts.self_class(counted.value)
        stores = [store for slot in facts.slots(owner, counted.attr) for store in slot.stores] if owner is not None else []
        match [self._tree.parent(each) for each in stores]:
            case [ast.Assign(value=ast.Name() as kept)]:
                return kept.id == data.id and set(self._semantics.bindings.reaching(kept)) == set(
                    self._semantics.bindings.reaching(data)
                )
        return False

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
            if self._is_one_by_default(sizes[0]):
                return True
        return False

    def _is_one_by_default(self, size: ast.expr) -> bool:
        """Whether a size is an option of the command line that is one where nobody says otherwise."""
        if not isinstance(size, ast.Attribute):
            return False
        for call in self._semantics.facts.calls.get("add_argument", ()):
            names = (each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str))
            if any(name.lstrip("-").replace("-", "_") == size.attr for name in names):
                return any(
                    word.arg == "default" and isinstance(word.value, ast.Constant) and word.value.value == 1
                    for word in call.keywords
                )
        return False

    def _is_given_single_samples(self, loader: ast.expr) -> bool:
        """Whether a caller gives a loader of single samples, and none gives one of larger batches, as far as they say so."""
        bindings = self._semantics.bindings.reaching(loader) if isinstance(loader, ast.Name) else ()
        if len(bindings) != 1 or bindings[0].form is not Form.PARAMETER:
            return False
        function = bindings[0].scope.node
        if not isinstance(function, FUNCTIONS):
            return False
        references, sizes = self._semantics.of(References), list[object]()
        for site in self._semantics.facts.call_sites(function):
            for each in given_to(site):
                if references.parameter(site, function, each) is bindings[0].node:
                    is_made = isinstance(each, ast.Call) and self._semantics.qualified_name(each.func) in LOADERS
                    sizes += [_batch_size(call) for call in ([each] if is_made else self._makers(each))]
        if not sizes and self._semantics.elsewhere.speaks_of("single samples") is True:
            return not self._semantics.facts.call_sites(function)
        return 1 in sizes and not any(isinstance(size, int) and size > 1 for size in sizes)

    def _makers(self, loader: ast.expr) -> Iterator[ast.Call]:
        held = loader.value if isinstance(loader, ast.Subscript) else loader
        if isinstance(held, ast.Attribute):
            for maker in self._semantics.of(Activations).constructions(held):
                if isinstance(maker, ast.Call) and self._semantics.qualified_name(maker.func) in LOADERS:
                    yield maker
        for binding in self._semantics.bindings.reaching(held) if isinstance(held, ast.Name) else ():
            pending = [binding.value]
            if isinstance(binding.value, (ast.Dict, ast.DictComp)):
                pending = list(binding.value.values) if isinstance(binding.value, ast.Dict) else [binding.value.value]
            for made in pending:
                if isinstance(made, ast.Call) and self._semantics.qualified_name(made.func) in LOADERS:
                    yield made


def _factors(count: ast.BinOp) -> tuple[ast.expr, ast.expr]:
    """The two sides of an operation; of a quotient that is divided again, the two divisors."""
    left = plain(count.left)
    if isinstance(count.op, ast.Div) and isinstance(left, ast.BinOp):
        left = left.right
    return _bare(left), _bare(count.right)


def _bare(count: ast.expr) -> ast.expr:
    """A count without the ``float(…)`` or ``max(…, 1)`` around it."""
    match count:
        case ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]):
            return inner
        case ast.Call(func=ast.Name(id="max"), args=[inner, ast.Constant()] | [ast.Constant(), inner], keywords=[]):
            return inner
    return count


def _is_one(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == 1


def _is_size(value: ast.expr) -> bool:
    return isinstance(value, (ast.Name, ast.Attribute)) and _BATCH_SIZE.search(last_name(value)) is not None


def _batch_size(call: ast.expr) -> object:
    """What the call of a loader says of the size of its batches, 1 where it says nothing; ``None`` where that is not known."""
    if not isinstance(call, ast.Call) or any(word.arg in (None, "batch_sampler") for word in call.keywords):
        return None
    for size in _given(call, 1, "batch_size"):
        return size.value if isinstance(size, ast.Constant) else None
    return 1


def _given(call: ast.Call, place: int, name: str) -> Iterator[ast.expr]:
    """An argument of a call, by its place or by its name."""
    yield from call.args[place : place + 1]
    yield from (word.value for word in call.keywords if word.arg == name)
