"""Workers of data loaders that are seeded with the same numbers in every epoch, and so draw the same ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, is_false, last_name, walk
from torchlint.semantics.provenance.loaders import LOADERS

Node = TypeVar("Node")
_Seeding: TypeAlias = Function | ast.Lambda

_SEEDING = {"random.seed": "random", "numpy.random.seed": "numpy", "torch.manual_seed": "torch"}
"""What seeds a global generator, by the library whose it is."""
_DRAWING = {
    "random": ("random.",),
    "numpy": ("numpy.random.",),
    "torch": ("torch.rand", "torch.bernoulli", "torch.normal", "torch.multinomial", "torchvision.transforms."),
}
"""How the full names begin of what draws from it."""
_OTHER_IN_EPOCHS = re.compile(r"epoch|step|iter|round|time|now|cycle|pass|count|state|entropy|urandom", re.IGNORECASE)
"""What is called so that is another number in the next epoch, or may be."""
_TRAINING = re.compile(r"train|(^|_)(tr|trn|db|labell?ed|unlabell?ed|source|target|support)(_|$)", re.IGNORECASE)
_OTHER_DATA = re.compile(r"test|val|eval|infer|predict|query", re.IGNORECASE)
_DEPTH = 4
"""Through so many names a seed is followed."""


@dataclass(frozen=True, eq=False, slots=True)
class WorkerSeed(Generic[Node]):
    """The ``seeds`` that a function of workers, or a lambda, gives to generators, each that of one of the ``libraries``.

    ``loader`` is the data loader whose workers run it; ``is_drawn`` whether it is known that its items are made of what the
    first of the generators draws.
    """

    seeds: tuple[Node, ...]
    libraries: tuple[str, ...]
    loader: Node
    is_drawn: bool


class WorkerSeeds:
    """Finds the seeds of workers in one file that do not change from epoch to epoch."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, WorkerSeed[ast.expr]]:
        """The calls that seed a generator, of each function of workers the first one."""
        found: dict[ast.Call, WorkerSeed[ast.expr]] = {}
        for loader in self._semantics.facts.calls.get("DataLoader", ()):
            if self._semantics.qualified_name(loader.func) not in LOADERS or not self._starts_workers(loader):
                continue
            seeding = self._seeding(loader)
            seeds = list(self._seeds(seeding)) if seeding is not None else []
            known = [each for each in seeds if self._is_drawn(each[1])]
            ordered = [*known, *(each for each in seeds if each not in known and self._may_be_drawn(each[1]))]
            if ordered and ordered[0][0] not in found:
                calls, libraries = zip(*ordered)
                found[ordered[0][0]] = WorkerSeed(tuple(each.args[0] for each in calls), libraries, loader, bool(known))
        return found

    # --- loaders -----------------------------------------------------------------------------------------------------

    def _starts_workers(self, loader: ast.Call) -> bool:
        """Whether a loader starts workers in each epoch anew, for a training."""
        named = {word.arg: word.value for word in loader.keywords}
        workers, persistent = named.get("num_workers"), named.get("persistent_workers")
        if None in named or workers is None or (isinstance(workers, ast.Constant) and not workers.value):
            return False
        if persistent is not None and not is_false(persistent):
            return False
        target = self._tree.parent(loader)
        names = [last_name(each) for each in (target.targets if isinstance(target, ast.Assign) else ())]
        names += [last_name(each) for each in [*loader.args[:1], named.get("dataset")] if each is not None]
        if any(map(_OTHER_DATA.search, names)):
            return False
        shuffle = named.get("shuffle")
        is_shuffled = isinstance(shuffle, ast.Constant) and shuffle.value is True
        return is_shuffled or "batch_sampler" in named or "sampler" in named or any(map(_TRAINING.search, names))

    def _seeding(self, loader: ast.Call) -> _Seeding | None:
        """The function of the file, or the lambda, that each worker runs first."""
        given = next((word.value for word in loader.keywords if word.arg == "worker_init_fn"), None)
        if isinstance(given, ast.Call) and self._semantics.qualified_name(given.func) == "functools.partial" and given.args:
            given = given.args[0]
        if given is None or isinstance(given, ast.Lambda):
            return given
        definition = self._semantics.kind(given).definition
        return definition if isinstance(definition, (*FUNCTIONS, ast.Lambda)) else None

    # --- seeds -------------------------------------------------------------------------------------------------------

    def _seeds(self, function: _Seeding) -> Iterator[tuple[ast.Call, str]]:
        """The calls in a function that seed a generator with what is the same in every epoch, with its library."""
        for part in walk(function):
            if isinstance(part, ast.Call) and len(part.args) == 1 and not part.keywords:
                library = _SEEDING.get(self._semantics.qualified_name(part.func) or "")
                if library is not None and self._is_constant(part.args[0], function):
                    yield part, library

    def _is_constant(self, seed: ast.expr, function: _Seeding, depth: int = _DEPTH) -> bool:
        """Whether a value is made of nothing but the number of the worker and what does not change between epochs."""
        match seed:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return _OTHER_IN_EPOCHS.search(name) is None and self._is_settled(seed, function, depth)
            case ast.Attribute(value=owner, attr=name):
                return _OTHER_IN_EPOCHS.search(name) is None and self._is_plain(owner)
            case ast.BinOp(left=left, right=right):
                return self._is_constant(left, function, depth) and self._is_constant(right, function, depth)
            case ast.Call(func=ast.Name(id="int" | "abs"), args=[inner], keywords=[]):
                return self._is_constant(inner, function, depth)
        return False

    def _is_plain(self, owner: ast.expr) -> bool:
        """Whether an object is called like options, or is a name or ``self``."""
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        return isinstance(owner, ast.Name) and _OTHER_IN_EPOCHS.search(owner.id) is None

    def _is_settled(self, name: ast.Name, function: _Seeding, depth: int) -> bool:
        """Whether a variable is bound once, to such a value, or is a parameter."""
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or not depth:
            return False
        [binding] = bindings
        if binding.form is Form.PARAMETER:
            return binding.scope.node is function or not self._is_called_in_loop(binding.scope.node)
        if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
            return binding.form is Form.IMPORT
        if any(self._tree.loops(binding.node)) or len(binding.scope.bindings.get(name.id, ())) != 1:
            return False
        if self._tree.function(binding.node) is function:
            return self._is_constant(binding.value, function, depth - 1)
        return not any(
            _OTHER_IN_EPOCHS.search(last_name(part.func)) for part in ast.walk(binding.value) if isinstance(part, ast.Call)
        )

    def _is_called_in_loop(self, scope: ast.AST) -> bool:
        """Whether a function that makes loaders is called in a loop, perhaps with another seed in each round."""
        sites = self._semantics.facts.call_sites(scope) if isinstance(scope, FUNCTIONS) else ()
        return any(any(self._tree.loops(site)) for site in sites)

    # --- draws -------------------------------------------------------------------------------------------------------

    def _is_drawn(self, library: str) -> bool:
        """Whether a class of the file, or of another one of the project, draws from a generator for the items that it gives."""
        return library in self._drawn_here or self._semantics.elsewhere.speaks_of(f"draws of {library}") is True

    def _may_be_drawn(self, library: str) -> bool:
        """Whether nothing shows that no file of the project does so."""
        return self._semantics.elsewhere.speaks_of(f"draws of {library}") is None

    @cached_property
    def _drawn_here(self) -> set[str]:
        return {library for library, begins in _DRAWING.items() if any(self._draws(call, begins) for call in self._calls)}

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return list(self._tree.of_type(ast.Call))

    def _draws(self, call: ast.Call, begins: tuple[str, ...]) -> bool:
        """Whether a call in a class, or of a transformation of torchvision, draws from a generator."""
        name = self._semantics.qualified_name(call.func) or ""
        if not name.startswith(begins) or name in _SEEDING:
            return False
        if name.startswith("torchvision."):
            return "Random" in name or "Jitter" in name or "Augment" in name
        return any(isinstance(each, ast.ClassDef) for each in self._tree.ancestors(call))
