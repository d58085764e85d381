"""Workers of data loaders that are seeded with the same numbers in every epoch, and so draw the same ones."""

from __future__ import annotations

import ast
import re
from collections import Counter
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
    "random": "random randint randrange choice choices uniform sample shuffle gauss normalvariate betavariate",
    "numpy.random": "rand randn randint random choice uniform normal shuffle permutation beta binomial random_sample"
    " standard_normal poisson triangular gamma exponential multivariate_normal",
    "torch": "rand randn randint randperm rand_like randn_like randint_like bernoulli normal multinomial",
}
_DRAWS = {f"{module}.{name}": module.split(".")[0] for module, names in _DRAWING.items() for name in names.split()}
"""What draws from a global generator, by the library whose it is."""
_TRANSFORMATIONS = re.compile(r"torchvision\.transforms\.(?:\w+\.)*(?:Random\w+|ColorJitter|\w+Augment(?:Wide)?|AugMix)")
"""The transformations that draw from torch's."""
_OF_ITEMS = frozenset({"__getitem__", "__call__"})
_OF_NO_ITEM = frozenset({"__init__", "__len__"})
_RESTORING = frozenset({"setstate", "set_state", "set_rng_state"})
_OWN = _RESTORING | {"initial_seed", "get_worker_info", "default_rng", "SeedSequence"}
"""What a function asks that gives its worker other numbers, or the state that it had."""
_OPTIONS = frozenset({"args", "opt", "opts", "cfg", "config", "conf", "hparams", "FLAGS", "params"})
_OTHER_IN_EPOCHS = re.compile(r"epoch|step|iter|round|time|now|cycle|pass|count|state|entropy|urandom", re.IGNORECASE)
"""What is called so that is another number in the next epoch, or may be."""
_TRAINING = re.compile(r"train|(^|_)(tr|trn|db|labell?ed|unlabell?ed|source|target|support)(_|$)", re.IGNORECASE)
_OTHER_DATA = re.compile(r"test|val|eval|infer|predict|query|dev(?!ice)", re.IGNORECASE)
_DEPTH = 4
"""Through so many names a seed is followed."""


@dataclass(frozen=True, eq=False, slots=True)
class WorkerSeed(Generic[Node]):
    """The ``seeds`` that a function of workers, or a lambda, gives to generators, each that of one of the ``libraries``.

    ``loader`` is the data loader whose workers run it; ``library`` has the generator that the call seeds which is found, and
    ``is_drawn`` tells whether it is known that items are made of what that draws; ``is_all`` whether these are all seeds that
    the function gives, and nothing but the workers runs it.
    """

    seeds: tuple[Node, ...]
    libraries: tuple[str, ...]
    loader: Node
    library: str
    is_drawn: bool
    is_all: bool


class WorkerSeeds:
    """Finds the seeds of workers in one file that do not change from epoch to epoch."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, WorkerSeed[ast.expr]]:
        """The calls that seed a generator, of each function of workers the first one."""
        found: dict[ast.Call, WorkerSeed[ast.expr]] = {}
        told: set[_Seeding] = set()
        for loader in self._semantics.facts.calls.get("DataLoader", ()):
            if self._semantics.qualified_name(loader.func) not in LOADERS or not self._starts_workers(loader):
                continue
            function, given = self._seeding(loader)
            if function is None or function in told:
                continue
            told.add(function)
            seeds = _Seeds(self._semantics, function, given).constant
            first = next((each for each in seeds if self._is_drawn(each[1])), None)
            is_drawn = first is not None
            first = first or next((each for each in seeds if self._may_be_drawn(each[1])), None)
            if first is not None:
                calls, libraries = zip(*seeds)
                is_all = self._is_run_once(function) and _seeds_nothing_else(function, calls)
                values = tuple(each.args[0] for each in calls)
                found[first[0]] = WorkerSeed(values, libraries, loader, first[1], is_drawn, is_all)
        return found

    # --- loaders -----------------------------------------------------------------------------------------------------

    def _starts_workers(self, loader: ast.Call) -> bool:
        """Whether a loader starts workers in each epoch anew, for a training."""
        named = {word.arg: word.value for word in loader.keywords}
        workers, persistent = named.get("num_workers"), named.get("persistent_workers")
        if None in named or workers is None or self._is_none(workers):
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

    def _is_none(self, workers: ast.expr) -> bool:
        """Whether a number of workers is 0."""
        value = self._semantics.bindings.assigned(workers) or workers
        return isinstance(value, ast.Constant) and not value.value

    def _seeding(self, loader: ast.Call) -> tuple[_Seeding | None, list[ast.keyword]]:
        """The function of the file, or the lambda, that each worker runs first, and what it is given beside its number."""
        given = next((word.value for word in loader.keywords if word.arg == "worker_init_fn"), None)
        bound: list[ast.keyword] = []
        if isinstance(given, ast.Call) and self._semantics.qualified_name(given.func) == "functools.partial":
            if len(given.args) != 1:
                return None, bound
            bound, given = given.keywords, given.args[0]
        if given is None or isinstance(given, ast.Lambda):
            return given, bound
        definition = self._semantics.kind(given).definition
        return (definition if isinstance(definition, (ast.FunctionDef, ast.Lambda)) else None), bound

    def _is_run_once(self, function: _Seeding) -> bool:
        """Whether nothing but the workers of one loader runs a function."""
        name = ""
        if isinstance(function, FUNCTIONS):
            if self._semantics.facts.call_sites(function):
                return False
            name = function.name
        else:
            match self._tree.parent(function):
                case ast.Assign(targets=[ast.Name(id=name)]):
                    pass
                case ast.keyword() | ast.Call():
                    return True
                case _:
                    return False
        is_method = isinstance(self._tree.parent(function), ast.ClassDef)
        return self._read[name] + (self._taken[name] if is_method else 0) == 1

    @cached_property
    def _read(self) -> Counter[str]:
        """How often each name is read."""
        return Counter(each.id for each in self._tree.of_type(ast.Name) if isinstance(each.ctx, ast.Load))

    @cached_property
    def _taken(self) -> Counter[str]:
        """How often an attribute of each name is asked for."""
        return Counter(each.attr for each in self._tree.of_type(ast.Attribute))

    # --- draws -------------------------------------------------------------------------------------------------------

    def _is_drawn(self, library: str) -> bool:
        """Whether a class of the file, or of another one of the project, draws from a generator for the items that it gives."""
        return library in self._drawn_here or self._semantics.elsewhere.speaks_of(f"draws of {library}") is True

    def _may_be_drawn(self, library: str) -> bool:
        """Whether nothing shows that no file of the project does so."""
        return self._semantics.elsewhere.speaks_of(f"draws of {library}") is None

    @cached_property
    def _drawn_here(self) -> set[str]:
        found = {library for owner in self._tree.of_type(ast.ClassDef) for library in self._drawn_by(owner)}
        if any(_TRANSFORMATIONS.fullmatch(self._name(call)) for call in self._tree.of_type(ast.Call)):
            found.add("torch")
        return found

    def _drawn_by(self, owner: ast.ClassDef) -> set[str]:
        """The libraries whose generators a data set or a transformation draws from, where it does not seed them itself."""
        methods = [each for each in owner.body if isinstance(each, FUNCTIONS)]
        if _OF_ITEMS.isdisjoint(each.name for each in methods) or self._semantics.facts.is_module(owner):
            return set()
        found: set[str] = set()
        for method in methods:
            if method.name in _OF_NO_ITEM:
                continue
            for part in walk(method):
                if not isinstance(part, ast.Call):
                    continue
                called = last_name(part.func)
                if "seed" in called.lower() or called in _RESTORING:
                    return set()
                library = _DRAWS.get(self._name(part))
                if library is not None and all(word.arg not in {"generator", None} for word in part.keywords):
                    found.add(library)
        return found

    def _name(self, call: ast.Call) -> str:
        return self._semantics.qualified_name(call.func) or ""


class _Seeds:
    """The seeds that one function of workers gives to generators; ``given`` are its parameters that are bound before."""

    def __init__(self, semantics: Semantics, function: _Seeding, given: list[ast.keyword]) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._function = function
        parameters = [*function.args.posonlyargs, *function.args.args]
        self._number = parameters[0] if parameters else None
        self._given = {word.arg: word.value for word in given}
        self._known: dict[ast.AST, bool] = {}

    @cached_property
    def constant(self) -> list[tuple[ast.Call, str]]:
        """The calls that seed a generator with what is the same in every epoch, with its library; none where any is unsure."""
        if self._number is None or None in self._given or not self._is_plain:
            return []
        seeds, others = list[tuple[ast.Call, str]](), set[str]()
        for part in walk(self._function):
            if not isinstance(part, ast.Call):
                continue
            name = self._semantics.qualified_name(part.func) or ""
            library = _SEEDING.get("torch.manual_seed" if name in {"torch.seed", "torch.random.manual_seed"} else name)
            if library is None:
                continue
            if name not in _SEEDING or len(part.args) != 1 or part.keywords or not self._is_constant(part.args[0]):
                others.add(library)
            elif not self._is_always_run(part):
                return []
            else:
                seeds.append((part, library))
        return [each for each in seeds if each[1] not in others]

    @property
    def _is_plain(self) -> bool:
        """Whether a function does all that it says, once, and asks for no number of torch's."""
        body = [] if isinstance(self._function, ast.Lambda) else self._function.body
        if not isinstance(self._function, ast.Lambda):
            if any(last_name(each) != "staticmethod" for each in self._function.decorator_list):
                return False
        for part in ast.walk(self._function):
            match part:
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in _OWN:
                    return False
                case ast.Yield() | ast.YieldFrom() | ast.Raise():
                    return False
                case ast.Return() if part is not body[-1]:
                    return False
        return True

    def _is_always_run(self, call: ast.Call) -> bool:
        """Whether a call stands in no branch and no loop of the function."""
        for each in self._tree.ancestors(call):
            if each is self._function:
                return True
            if not isinstance(each, (ast.Expr, ast.Assign, ast.Return, ast.Tuple, ast.List)):
                break
        return False

    def _is_constant(self, seed: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a value is made of nothing but the number of the worker and what does not change between epochs."""
        parts = [seed]
        while parts:
            match parts.pop():
                case ast.Constant(value=value) if type(value) is int:
                    continue
                case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Mod(), right=right):
                    parts += [left, right]
                case ast.BinOp(left=ast.Constant() as left, op=ast.Pow(), right=ast.Constant() as right):
                    parts += [left, right]
                case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
                    parts.append(inner)
                case ast.Name() as name if self._is_settled(name, depth):
                    continue
                case ast.Attribute(value=ast.Name() as owner, attr=attribute) if self._is_option(owner, attribute):
                    continue
                case _:
                    return False
        return True

    def _is_option(self, owner: ast.Name, name: str) -> bool:
        """Whether an attribute is a seed among the options of the program, which nothing sets to another one."""
        if owner.id not in _OPTIONS or "seed" not in name.lower() or _OTHER_IN_EPOCHS.search(name):
            return False
        if name in self._semantics.facts.stored_attributes:
            return False
        bindings = self._semantics.bindings.reaching(owner)
        if any(each.scope.node is self._function or each.form is Form.LOOP for each in bindings):
            return False
        return self._semantics.elsewhere.speaks_of(f"stores: {name}") is not True

    def _is_settled(self, name: ast.Name, depth: int) -> bool:
        """Whether a variable is the number of the worker, or has one value that is the same in every epoch."""
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or not depth:
            return False
        [binding] = bindings
        is_own = binding.scope.node is self._function
        if binding.form is Form.PARAMETER:
            return is_own and (binding.node is self._number or self._is_given(binding.name))
        if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None or any(self._tree.loops(binding.node)):
            return False
        if len(binding.scope.bindings.get(name.id, ())) != 1:
            return False
        if not is_own:
            value = binding.value
            return isinstance(binding.scope.node, ast.Module) and isinstance(value, ast.Constant) and type(value.value) is int
        if binding.node not in self._known:
            self._known[binding.node] = self._is_constant(binding.value, depth - 1)
        return self._known[binding.node]

    def _is_given(self, name: str) -> bool:
        """Whether a parameter is bound before, to what is the same in every epoch."""
        value = self._given.get(name)
        return value is not None and self._is_constant(value, 1)


def _seeds_nothing_else(function: _Seeding, calls: tuple[ast.Call, ...]) -> bool:
    """Whether a function calls nothing else that speaks of seeds."""
    named = (part for part in ast.walk(function) if isinstance(part, ast.Call) and "seed" in last_name(part.func).lower())
    return set(calls).issuperset(named)
