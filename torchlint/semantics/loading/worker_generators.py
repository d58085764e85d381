"""Random generators that a data set keeps: each worker of a loader gets a copy in the same state, in every epoch anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.provenance.loaders import LOADERS

Node = TypeVar("Node")

_MAKING = {
    "numpy.random.default_rng": "{maker}({torch.initial_seed}())",
    "numpy.random.RandomState": "{maker}({torch.initial_seed}() % 2**32)",
    "random.Random": "{maker}({torch.initial_seed}())",
    "torch.Generator": "{maker}().manual_seed({torch.initial_seed}())",
}
"""What makes a generator, and one of its own for each worker, whose initial seed is another in each epoch, too."""
_DATASETS = ("torch.utils.data.",)
_KNOWING = frozenset({"get_worker_info", "worker_init_fn", "manual_seed_all_workers", "set_epoch", "pl_worker_init_function"})
"""Words of code that sees to its workers."""


@dataclass(frozen=True, eq=False, slots=True)
class WorkerGenerator(Generic[Node]):
    """The generator that a data set keeps as ``name`` and draws from at ``drawn``, and the ``loader`` whose workers copy it.

    ``anew`` makes one for a worker, with ``maker``, the function that makes it.
    """

    maker: Node
    name: str
    drawn: Node
    loader: Node
    anew: str


class WorkerGenerators:
    """Finds the data sets of one file whose workers all draw the same numbers."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts

    @cached_property
    def found(self) -> dict[ast.Assign, WorkerGenerator[ast.expr]]:
        """The assignments in constructors of data sets that keep such a generator."""
        found: dict[ast.Assign, WorkerGenerator[ast.expr]] = {}
        if _KNOWING & self._semantics.words.all:
            return found
        for definition, loader in self._loaded.items():
            for name, slot in self._facts.classes[definition].slots.items():
                if len(slot.stores) != 1 or slot.class_values or len(self._facts.slots(definition, name)) != 1:
                    continue
                assignment, drawn = self._tree.parent(slot.stores[0]), self._drawn(definition, slot.uses)
                if drawn is None or not isinstance(assignment, ast.Assign) or not isinstance(assignment.value, ast.Call):
                    continue
                maker = self._maker(assignment.value).func
                made = self._semantics.qualified_name(maker) or ""
                constructor = self._facts.classes[definition].methods.get("__init__")
                if made in _MAKING and self._tree.function(assignment) is constructor is not None:
                    found[assignment] = WorkerGenerator(maker, name, drawn, loader, _MAKING[made])
        return found

    @staticmethod
    def _maker(call: ast.Call) -> ast.Call:
        """The call that makes the generator of ``torch.Generator().manual_seed(0)``."""
        inner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "manual_seed" else None
        return inner if isinstance(inner, ast.Call) else call

    # --- loaders -----------------------------------------------------------------------------------------------------

    @cached_property
    def _loaded(self) -> dict[ast.ClassDef, ast.Call]:
        """The file's classes of data sets that a loader with workers is given, each with the first such loader."""
        found: dict[ast.ClassDef, ast.Call] = {}
        for call in self._semantics.facts.calls.get("DataLoader", ()):
            if self._semantics.qualified_name(call.func) in LOADERS and self._has_workers(call):
                words = [word.value for word in call.keywords if word.arg == "dataset"]
                for data in [*call.args[:1], *words]:
                    definition = self._semantics.kind(data).definition
                    if isinstance(definition, ast.ClassDef) and self._facts.derives_from(definition, *_DATASETS):
                        found.setdefault(definition, call)
        return found

    def _has_workers(self, loader: ast.Call) -> bool:
        """Whether a loader is told to have workers, and nothing that may see to them."""
        named = {word.arg: word.value for word in loader.keywords}
        if None in named or any(isinstance(each, ast.Starred) for each in loader.args) or len(loader.args) > 5:
            return False
        workers = named.get("num_workers")
        if isinstance(workers, ast.Name):
            bindings = self._semantics.bindings.reaching(workers)
            if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT and not bindings[0].path:
                workers = bindings[0].value
        return workers is not None and not (isinstance(workers, ast.Constant) and not workers.value)

    # --- draws -------------------------------------------------------------------------------------------------------

    def _drawn(self, definition: ast.ClassDef, uses: list[ast.Attribute]) -> ast.expr | None:
        """The first use of the generator by what gives an item: ``__getitem__``, or a method that it calls."""
        giving = list(self._giving(definition))
        for use in uses:
            function = self._tree.function(use)
            while isinstance(function, ast.Lambda):
                function = self._tree.function(function)
            parent = self._tree.parent(use)
            is_drawn = isinstance(parent, (ast.keyword, ast.Call)) or (
                isinstance(parent, ast.Attribute) and parent.attr not in ("seed", "manual_seed", "bit_generator")
            )
            if function in giving and is_drawn:
                return use
            if isinstance(parent, ast.Attribute) and parent.attr in ("seed", "manual_seed"):
                return None  # it is given a seed where that is needed
        return None

    def _giving(self, definition: ast.ClassDef) -> Iterator[ast.AST]:
        pending = [self._facts.method(definition, name) for name in ("__getitem__", "__getitems__", "__iter__")]
        seen = set[ast.AST]()
        while pending:
            function = pending.pop()
            if function is None or function in seen:
                continue
            seen.add(function)
            yield function
            for part in ast.walk(function):
                if isinstance(part, ast.Attribute) and self._facts.self_class(part.value) is not None:
                    method = self._facts.method(definition, part.attr)
                    if isinstance(method, FUNCTIONS):
                        pending.append(method)
