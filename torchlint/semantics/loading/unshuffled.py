"""Loaders that a model is trained from in the order in which the data set is stored, in every epoch."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import LOOPS, Function, last_name, walk_body
from torchlint.semantics.provenance.loaders import IMAGE_SETS, LOADERS, TENSOR_SETS

Node = TypeVar("Node")

_ORDERING = frozenset({"shuffle", "sampler", "batch_sampler"})
_TRAINING = re.compile(r"(^|_)(train|trn|tr)|[a-z]Train", re.IGNORECASE)
_OTHERS = re.compile(r"(^|_)(te?st|val|valid|validation|eval|dev|vld)(_|$|[a-z]*load|dl)|(Test|Val|Eval)[A-Z]", re.IGNORECASE)
_NO_PURPOSE = re.compile(r"(data|image|img)?_?(loader|dl|gen|generator|batches)_?\d?")
"""Names of loaders that say nothing of what the data are for."""
_SEQUENTIAL = re.compile(
    r"LSTM|GRU|RNN|bptt|repackage_hidden|init_?hidden|hidden_?state|stateful|series|curriculum|Streaming|IterableDataset",
    re.IGNORECASE,
)
"""Words of code whose data may have an order that means something."""
_DRAWING = frozenset(
    {"randint", "randrange", "choice", "choices", "sample", "integers", "rand", "randn", "random", "uniform", "normal"}
)
"""What draws an item, or which it is, at random."""
_DEPTH = 4
_Named: TypeAlias = ast.Name | ast.Attribute
"""What a loader is called: a name, or an attribute of ``self``."""


@dataclass(frozen=True, eq=False, slots=True)
class Unshuffled(Generic[Node]):
    """The ``name`` of a loader for training that is told no order, and the ``other`` one that stands beside it.

    ``is_split_at_random`` where the data were, once, so that no batch is of one class.
    """

    name: Node
    other: Node
    is_split_at_random: bool


class UnshuffledLoaders:
    """Finds such loaders in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, Unshuffled[ast.expr]]:
        """The calls that make such a loader, of data in sight that have no order of their own."""
        found: dict[ast.Call, Unshuffled[ast.expr]] = {}
        if any(_SEQUENTIAL.search(word) for word in self._semantics.words.all):
            return found
        beside: dict[ast.AST, list[_Named]] = {}
        for name, call in self._named_loaders:
            if self._is_called(_OTHERS, name, call):
                beside.setdefault(self._semantics.control_flow.scope(call), []).append(name)
        for name, call in self._named_loaders:
            is_other = self._is_called(_OTHERS, name, call)
            if is_other or not self._is_called(_TRAINING, name, call) or not self._is_told_nothing(call):
                continue
            scope = self._semantics.control_flow.scope(call)
            others = beside.get(scope, ())
            data = self._data(call)
            if not others or data is None or not self._is_trained_from(name):
                continue
            split = self._split(data, 0)
            if split is None and self._is_counted(name, data):
                split = False
            if split is not None:
                found[call] = Unshuffled(name, others[0], split)
        return found

    @cached_property
    def _named_loaders(self) -> list[tuple[_Named, ast.Call]]:
        found: list[tuple[_Named, ast.Call]] = []
        for call in self._semantics.facts.calls.get("DataLoader", ()):
            parent = self._tree.parent(call)
            if self._semantics.qualified_name(call.func) in LOADERS and isinstance(parent, ast.Assign):
                target = parent.targets[0]
                is_own = isinstance(target, ast.Attribute) and self._semantics.facts.self_class(target.value) is not None
                if len(parent.targets) == 1 and isinstance(target, (ast.Name, ast.Attribute)):
                    if is_own or isinstance(target, ast.Name):
                        found.append((target, call))
        return found

    def _is_called(self, purpose: re.Pattern[str], loader: _Named, call: ast.Call) -> bool:
        """Whether a loader is for a purpose by its name, or by that of its data where its own says nothing."""
        name, data = last_name(loader), self._data(call)
        if _NO_PURPOSE.fullmatch(name.lower()) and isinstance(data, (ast.Name, ast.Attribute)):
            name = last_name(data)
        return purpose.search(name) is not None

    @staticmethod
    def _is_told_nothing(call: ast.Call) -> bool:
        words = {word.arg for word in call.keywords}
        is_open = None in words or any(isinstance(each, ast.Starred) for each in call.args)
        return not words & _ORDERING and not is_open and len(call.args) < 3

    @staticmethod
    def _data(call: ast.Call) -> ast.expr | None:
        words = [word.value for word in call.keywords if word.arg == "dataset"]
        return next(iter([*call.args[:1], *words]), None)

    def _split(self, data: ast.expr, depth: int) -> bool | None:
        """Whether data of a map-style data set in sight were split at random; ``None`` for what is another data set."""
        if depth > _DEPTH:
            return None
        match data:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(data)
                if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].value is None:
                    return None
                value = bindings[0].value
                if bindings[0].path:
                    is_split = isinstance(value, ast.Call) and self._is_random_split(value)
                    return True if is_split else None
                return self._split(value, depth + 1)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                if name in TENSOR_SETS and any(self._is_permuted(each) for each in data.args):
                    return True
                if name in IMAGE_SETS | TENSOR_SETS:
                    return False
                definition = self._semantics.kind(data).definition
                is_own = isinstance(definition, ast.ClassDef) and self._semantics.facts.derives_from(
                    definition, "torch.utils.data.Dataset", "torch.utils.data.dataset.Dataset"
                )
                if is_own and isinstance(definition, ast.ClassDef):
                    item = self._semantics.facts.method(definition, "__getitem__")
                    is_map = item is not None and self._goes_by_index(item)
                    return any(map(self._is_permuted, data.args)) if is_map else None
        return None

    def _goes_by_index(self, item: Function) -> bool:
        """Whether the items of a data set depend on the index at all, and are not drawn at random."""
        indices = [self._semantics.bindings.of(each) for each in item.args.args[1:2]]
        if not indices or any(each is None or bool(each.uses) for each in indices):
            return True
        return not any(isinstance(part, ast.Call) and last_name(part.func) in _DRAWING for part in walk_body(item.body))

    def _is_counted(self, loader: _Named, data: ast.expr) -> bool:
        """Whether the file asks for the length of a loader, or of its data, which are not the parts of something split.

        What has a length is map-style, as a rule: iterable data have none, and a loader of theirs has none either.
        """
        if isinstance(data, ast.Name) and any(each.path for each in self._semantics.bindings.reaching(data)):
            return False
        counted = {ast.unparse(loader), f"{ast.unparse(loader)}.dataset", ast.unparse(data)}
        return any(call.args and ast.unparse(call.args[0]) in counted for call in self._semantics.facts.calls.get("len", ()))

    def _is_random_split(self, call: ast.Call) -> bool:
        return (self._semantics.qualified_name(call.func) or "").rpartition(".")[2] in ("random_split", "train_test_split")

    def _is_permuted(self, tensor: ast.expr) -> bool:
        """Whether the tensors of a data set come from a split, or a permutation, that the file makes at random."""
        return bool({"train_test_split", "randperm", "permutation", "shuffle"} & self._semantics.facts.calls.keys()) or any(
            isinstance(part, ast.Attribute) and part.attr in ("randn", "rand", "randint") for part in ast.walk(tensor)
        )

    # --- the training ------------------------------------------------------------------------------------------------

    def _is_trained_from(self, loader: _Named) -> bool:
        """Whether a loop over the loader, here or in a function that it is given to, calls ``backward``."""
        if isinstance(loader, ast.Attribute):
            owner = self._semantics.facts.self_class(loader.value)
            slots = self._semantics.facts.slots(owner, loader.attr) if owner is not None else []
            return any(self._trains(use, 0) for slot in slots for use in slot.uses)
        binding = self._semantics.bindings.of(loader)
        return binding is not None and any(self._trains(use, 0) for use in binding.uses)

    def _trains(self, use: ast.expr, depth: int) -> bool:
        current: ast.AST = use
        while isinstance(parent := self._tree.parent(current), (ast.Call, ast.keyword)) and depth < _DEPTH:
            function = self._semantics.facts.definition(parent.func) if isinstance(parent, ast.Call) else None
            if function is not None and not isinstance(function, ast.ClassDef) and isinstance(parent, ast.Call):
                return any(
                    self._semantics.facts.argument(parent, function, parameter) is use
                    and (binding := self._semantics.bindings.of(parameter)) is not None
                    and any(self._trains(inner, depth + 1) for inner in binding.uses)
                    for parameter in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
                )
            current = parent
        if not isinstance(parent, LOOPS) or isinstance(parent, ast.While) or parent.iter is not current:
            return False
        return any(
            isinstance(part, ast.Attribute) and part.attr in ("backward", "manual_backward") for part in walk_body(parent.body)
        )
