"""Files that a training writes before the same run loads them, over more than one function, and files saved from the CPU."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function, argument, given_to, last_name, position, spoken_name
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.own_files import OwnFiles
from torchlint.semantics.saving.paths import Paths

_STOPPING = re.compile(r"early_?stop|stopper", re.IGNORECASE)
_TRAINING = re.compile(r"(^|_)(train|fit)(_|$)", re.IGNORECASE)
_OF_TRAINERS = frozenset({"best_model_path", "last_model_path", "checkpoint_callback"})
"""What trainers tell of the files that they have saved in this run."""
_OF_RUN = re.compile(r"(best|last)_\w{0,30}(path|file|filename|filepath|checkpoint|ckpt)")
"""What an object that trains calls the path of what it has saved."""
_SAVING = re.compile(r"_?save(_(model|checkpoint|ckpt|state|weights|net|network)\w{0,9})?$", re.IGNORECASE)
_VALUE = re.compile(r"\{[^{}]*\}")
_WORDS = re.compile(r"[A-Za-z]{3}")
_DEEPEST = 4
"""How many names, or calls, are followed one behind the other."""

_OPTIMIZER = re.compile(r"optim|(^|_)opt(_|$)", re.IGNORECASE)
"""What optimizers are called."""


class TrainingRuns:
    """Tells of loads whether the training that comes before them in the same run wrote the file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._files = semantics.of(SavedFiles)
        self._own = semantics.of(OwnFiles)
        self._paths = semantics.of(Paths)

    def is_of_run(self, load: ast.Call) -> bool:
        """Whether a load reads what the run has saved.

        That is so where early stopping was given the model before, where the path is what a function gives back that saves to
        it, where the function, or each of its calls in the file, comes behind a call of one that saves to that path, where
        one that trains was given the model and what the path is made of, where another method of the class loads the best
        model of the training from there, and where each round of a loop saves, and loads what the rounds before have saved.
        """
        path = argument(load, 0, "f")
        if path is None:
            return False
        if self._is_of_training(load, path) or self._is_behind_saving(load, path) or self._is_loaded_by_training(load, path):
            return True
        return self._is_of_earlier_round(load, path)

    @cached_property
    def saves_from_cpu_alone(self) -> bool:
        """Whether all that the file saves is of models that were put on the CPU before, in the same block."""
        return bool(self._files.saves) and all(map(self._is_on_cpu, self._files.saves))

    # --- what a training gives ---------------------------------------------------------------------------------------

    def _is_of_training(self, load: ast.Call, path: ast.expr) -> bool:
        if any(isinstance(part, ast.Attribute) and part.attr in _OF_TRAINERS for part in self._parts(path)):
            return True
        if isinstance(path, ast.Attribute) and _OF_RUN.fullmatch(path.attr) and self._has_run(path.value, load):
            return True
        return self._is_of_stopping(load, path) or self._is_given_back(path) or self._is_behind_training(load, path)

    def _has_run(self, trainer: ast.expr, load: ast.Call) -> bool:
        """Whether an object has been told to train before a load."""
        tree, spelled = self._semantics.tree, ast.dump(trainer)
        return any(
            isinstance(call.func, ast.Attribute)
            and ast.dump(call.func.value) == spelled
            and tree.function(call) is tree.function(load)
            and position(call) < position(load)
            and not self._own.is_beside(call, load)
            for name in ("run", "train", "fit", "run_training", "train_model")
            for call in self._semantics.facts.calls.get(name, ())
        )

    def _is_behind_training(self, load: ast.Call, path: ast.expr) -> bool:
        """Whether a function that trains was given the model before, and what the path is made of."""
        tree = self._semantics.tree
        models = {ast.dump(owner) for each in tree.ancestors(load) if (owner := _owner_of_state(each)) is not None}
        parts = {ast.dump(part) for part in self._parts(path) if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript))}
        for call in self._trainings.get(tree.function(load), ()):
            given = {ast.dump(each) for each in given_to(call)}
            if position(call) < position(load) and given & models and given & parts - models:
                return not self._own.is_beside(call, load)
        return False

    @cached_property
    def _trainings(self) -> dict[ast.AST | None, list[ast.Call]]:
        """The calls of functions that are called like those that train, by the function that they stand in."""
        found: dict[ast.AST | None, list[ast.Call]] = defaultdict(list)
        for call in self._semantics.tree.of_type(ast.Call):
            if isinstance(call.func, ast.Name) and _TRAINING.search(call.func.id):
                found[self._semantics.tree.function(call)].append(call)
        return found

    def _is_of_stopping(self, load: ast.Call, path: ast.expr) -> bool:
        """Whether early stopping was called before with the model that is loaded into, with any model, or with a path."""
        names = {part.id for part in self._parts(path) if isinstance(part, ast.Name)}
        models = {
            ast.dump(owner) for each in self._semantics.tree.ancestors(load) if (owner := _owner_of_state(each)) is not None
        }
        for call in self._stoppings.get(self._semantics.tree.function(load), ()):
            if position(call) < position(load) and not self._own.is_beside(call, load):
                for given in given_to(call):
                    if ast.dump(given) in models or self._semantics.kind(given).type is Type.MODULE:
                        return True
                    if isinstance(given, ast.Name) and given.id in names:
                        return True
        return False

    @cached_property
    def _stoppings(self) -> dict[ast.AST | None, list[ast.Call]]:
        """The calls of what stops early, which saves the best model, by the function that they stand in."""
        found: dict[ast.AST | None, list[ast.Call]] = defaultdict(list)
        for call in self._semantics.tree.of_type(ast.Call):
            name = last_name(call.func)
            owner = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
            if (_STOPPING.search(name) and name[:1].islower()) or (_STOPPING.search(owner) and name in ("step", "__call__")):
                found[self._semantics.tree.function(call)].append(call)
        return found

    def _is_given_back(self, path: ast.expr) -> bool:
        """Whether a path is what a function of the file returns, and saved to, or one of the things that a training gives."""
        bindings = self._semantics.bindings.reaching(path) if isinstance(path, ast.Name) else ()
        for binding in bindings:
            if binding.path and self._is_result_of_training(binding.value):
                return True
            made = binding.value if isinstance(binding.value, ast.Call) and not binding.path else None
            function = self._semantics.facts.called(made) if made is not None else None
            if function is not None:
                returned = [each for each in self._semantics.facts.returned(function) if each is not None]
                saved = {ast.dump(each) for each in self._saved_in.get(function, ())}
                if returned and all(ast.dump(each) in saved for each in returned):
                    return True
        return False

    def _is_result_of_training(self, value: ast.expr | None) -> bool:
        """Whether a function is called like one that trains, and is given more than options."""
        return isinstance(value, ast.Call) and len(value.args) > 1 and _TRAINING.match(last_name(value.func)) is not None

    def _is_loaded_by_training(self, load: ast.Call, path: ast.expr) -> bool:
        """Whether a method of the class loads from the same path what its training has just saved."""
        owner = self._semantics.tree.enclosing_class(load)
        if owner is None:
            return False
        return self._paths.spelled(path) in self._best_of_classes.get(owner, ())

    @cached_property
    def _best_of_classes(self) -> dict[ast.ClassDef, set[str]]:
        """The paths that methods of a class load from what early stopping saved there."""
        found = defaultdict(set)
        for load in self._files.loads:
            owner, path = self._semantics.tree.enclosing_class(load), argument(load, 0, "f")
            if owner is not None and path is not None and self._is_of_stopping(load, path):
                found[owner].add(self._paths.spelled(path))
        return found

    def _is_of_earlier_round(self, load: ast.Call, path: ast.expr) -> bool:
        """Whether a path is made of what a loop counts, which also saves in each round: a model for each task."""
        loops = [loop for loop in self._semantics.tree.loops(load) if isinstance(loop, ast.For)]
        named = self._named(path, _DEEPEST) if loops else set()
        for loop in loops:
            counted = named & _names(loop.target)
            if counted and any(counted & _names(save) for save in self._savings if self._semantics.tree.inside(save, loop)):
                return True
        return False

    def _named(self, value: ast.expr, depth: int) -> set[str]:
        """The names that a value is made of, on all ways to it."""
        found = _names(value)
        names = [part for part in ast.walk(value) if isinstance(part, ast.Name)] if depth else []
        for each in names:
            for binding in self._semantics.bindings.reaching(each):
                if binding.form is Form.ASSIGNMENT and binding.value is not None and not binding.path:
                    found |= self._named(binding.value, depth - 1)
        return found

    @cached_property
    def _savings(self) -> list[ast.Call]:
        """The calls of what is called like a function that saves."""
        return [call for name, calls in self._semantics.facts.calls.items() if _SAVING.match(name) for call in calls]

    # --- what functions that were called before save -------------------------------------------------------------------

    def _is_behind_saving(self, load: ast.Call, path: ast.expr) -> bool:
        if not self._files.saves:
            return False
        function = self._semantics.tree.function(load)
        spelled = self._paths.spelled(path)
        if not isinstance(path, ast.Name) or not self._parameter(path):
            if self._comes_behind(load, spelled):
                return True
        sites = self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else []
        return bool(sites) and all(self._is_site_behind(site, function, path, spelled) for site in sites)

    def _is_site_behind(self, site: ast.Call, function: ast.AST | None, path: ast.expr, spelled: str) -> bool:
        parameter = self._parameter(path) if isinstance(path, ast.Name) else None
        if parameter is None or not isinstance(function, FUNCTIONS):
            return self._comes_behind(site, spelled)
        given = self._semantics.facts.argument(site, function, parameter)
        if given is None or given is self._semantics.facts.default(function, parameter):
            return False
        return self._comes_behind(site, self._paths.spelled(given))

    def _comes_behind(self, node: ast.Call, spelled: str) -> bool:
        """Whether something is saved to a path above a node, by a save or by the call of a function that does it."""
        place = self._semantics.tree.function(node)
        for written, paths in self._written_in.get(place, ()):
            if position(written) < position(node) and not self._own.is_beside(written, node):
                if spelled in paths or (isinstance(written, ast.Call) and any(_may_be_same(spelled, each) for each in paths)):
                    return True
        return False

    def _named_at(self, site: ast.Call, function: Function, path: str) -> str:
        """A path that a function makes of its parameters, as it is spelt of what a call gives for them."""
        arguments = function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if f"{{{parameter.arg}}}" in path:
                given = self._semantics.facts.argument(site, function, parameter)
                path = path.replace(f"{{{parameter.arg}}}", self._paths.spelled(given)) if given is not None else path
        return path

    @cached_property
    def _written_in(self) -> dict[ast.AST | None, list[tuple[ast.expr, set[str]]]]:
        """For each function, what it saves and the calls that save, with the paths as they are spelt."""
        found: dict[ast.AST | None, list[tuple[ast.expr, set[str]]]] = defaultdict(list)
        for file in self._own.written:
            found[self._semantics.tree.function(file)].append((file, {self._paths.spelled(file)}))
        level = {place: set().union(*(paths for _, paths in each)) for place, each in found.items()}
        for _ in range(_DEEPEST):
            next_level: dict[ast.AST | None, set[str]] = defaultdict(set)
            for function, paths in level.items():
                for site in self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else ():
                    place = self._semantics.tree.function(site)
                    if place is not function and isinstance(function, FUNCTIONS):
                        named = paths | {self._named_at(site, function, path) for path in paths}
                        found[place].append((site, named))
                        next_level[place] |= named
            level = next_level
        return found

    @cached_property
    def _saved_in(self) -> dict[ast.AST | None, list[ast.expr]]:
        found: dict[ast.AST | None, list[ast.expr]] = defaultdict(list)
        for file in self._own.written:
            found[self._semantics.tree.function(file)].append(file)
        return found

    # --- paths -------------------------------------------------------------------------------------------------------

    def _parameter(self, name: ast.Name) -> ast.arg | None:
        """The parameter that a name is."""
        bindings = self._semantics.bindings.reaching(name)
        nodes = [binding.node for binding in bindings if binding.form is Form.PARAMETER]
        return nodes[0] if len(nodes) == len(bindings) == 1 and isinstance(nodes[0], ast.arg) else None

    def _parts(self, path: ast.expr, depth: int = _DEEPEST) -> Iterator[ast.AST]:
        """The parts of a path, also of what its names were given."""
        for part in ast.walk(path):
            yield part
            value = self._paths.value(part) if isinstance(part, ast.Name) and depth else None
            if value is not None:
                yield from self._parts(value, depth - 1)

    # --- devices -----------------------------------------------------------------------------------------------------

    def _is_on_cpu(self, save: ast.Call) -> bool:
        """Whether a model is saved that was put on the CPU in the save, or in a statement above it in its block."""
        saved = argument(save, 0, "obj")
        if saved is None:
            return False
        made = self._paths.value(saved) if isinstance(saved, ast.Name) else saved
        if isinstance(made, (ast.Dict, ast.Call)):
            if any(map(self._is_state_of_optimizer, ast.walk(made))):
                return False  # what it keeps of each parameter stays on the GPU
            if any(map(_goes_to_cpu, ast.walk(made))):
                return True
        if any(map(_goes_to_cpu, ast.walk(saved))):
            return True
        statement, root = self._semantics.tree.statement(save), _root(saved)
        for other in self._semantics.tree.block(statement):
            if other is statement:
                return False
            if isinstance(other, ast.Expr) and root is not None:
                if _root(other.value) == root and any(map(_goes_to_cpu, ast.walk(other))):
                    return True
        return False

    def _is_state_of_optimizer(self, node: ast.AST) -> bool:
        """Whether the state of an optimizer is taken, as what has it is known to be, or is called."""
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="state_dict")):
                return self._semantics.kind(owner).type is Type.OPTIMIZER or _OPTIMIZER.search(spoken_name(owner)) is not None
        return False


def _may_be_same(path: str, other: str) -> bool:
    """Whether two paths are the same where what one of them has in braces is what the other one has written out."""
    end, other_end = path.rpartition("}")[2], other.rpartition("}")[2]
    if end != other_end or "{" in (path[:1], other[:1]) or end in (path, other) or not _WORDS.search(end.rpartition(".")[0]):
        return False
    return any(re.fullmatch(_pattern(one), two) is not None for one, two in ((path, other), (other, path)))


def _pattern(path: str) -> str:
    """What a path may be: what stands in braces, or any text that is written out, up to the first that goes on as it does."""
    start, *parts = _VALUE.split(path)
    pieces = [
        f"(?:{re.escape(field)}|[^{{}}]{{1,200}}{'?' if part else ''}){re.escape(part)}"
        for field, part in zip(_VALUE.findall(path), parts)
    ]
    return re.escape(start) + "".join(f"(?>{each})" for each in pieces[:-1]) + "".join(pieces[-1:])


def _owner_of_state(node: ast.AST) -> ast.expr | None:
    """What a call of `load_state_dict` loads into."""
    match node:
        case ast.Call(func=ast.Attribute(attr="load_state_dict", value=owner)):
            return owner
    return None


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _goes_to_cpu(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="cpu"), args=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value="cpu")]):
            return True
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Call(args=[ast.Constant(value="cpu")])]):
            return True
    return False


def _root(node: ast.expr) -> str | None:
    """The name, or attribute of a name, that a chain of calls starts with."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return ast.dump(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
