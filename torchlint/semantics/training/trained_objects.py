"""Objects that train, and save where they were told to, before the same run loads from there."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import argument, given_to, last_name, position
from torchlint.semantics.saving.own_files import OwnFiles

_RUNS = frozenset(
    {"train", "fit", "run", "run_training", "train_model", "start_training", "train_loop", "train_epochs", "learn"}
)
"""Methods that have an object train."""
_TRAINER = re.compile(r"train|fitter|learner|solver|experiment", re.IGNORECASE)
"""What classes are called whose objects train."""
_PLACE = re.compile(r"dir|path|folder|file|root|out|save|ckpt|checkpoint|log|run|settings", re.IGNORECASE)
"""What places are called that files are saved to, and what holds such."""
_OF_RUN = re.compile(
    r"(best|last|final)_\w{0,30}(path|file|filename|filepath|checkpoint|ckpt)|(save|out|output|log|ckpt|checkpoint)_?(dir|path|folder)"
)
"""What the places are called to which a run saves."""
_DEEPEST = 3
"""So many names may lie between a path and what it is made of."""


class TrainedObjects:
    """Tells of loads whether an object that was told where to save has trained before."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def has_saved(self, load: ast.Call) -> bool:
        """Whether a load comes behind the training by an object that was made of what the path is made of:
        ``trainer = Trainer(model, out_dir)``, ``trainer.train()``, and then ``torch.load(f"{out_dir}/best.pt")``.
        """
        path = argument(load, 0, "f")
        runs = self._trainings.get(self._tree.function(load), ()) if path is not None else ()
        places = set(self._places(path, _DEEPEST)) if runs and path is not None else set()
        return any(
            position(run) < position(load)
            and not self._semantics.of(OwnFiles).is_beside(run, load)
            and not all(map(places.isdisjoint, told))
            for run, *told in runs
        )

    @cached_property
    def _trainings(self) -> dict[ast.AST | None, list[tuple[ast.Call, set[str], set[str]]]]:
        """The calls that have an object train, with what they are told, and what it was, by the function that they stand in."""
        found: dict[ast.AST | None, list[tuple[ast.Call, set[str], set[str]]]] = defaultdict(list)
        told: dict[ast.Call, set[str]] = {}
        for call in self._tree.of_type(ast.Call):
            match call.func:
                case ast.Attribute(value=ast.Name() as trainer, attr=method) if method in _RUNS:
                    made = self._semantics.bindings.assigned(trainer)
                case ast.Name() as trainer if _TRAINER.search(trainer.id):
                    made = self._semantics.bindings.assigned(trainer)
                case _:
                    continue
            if isinstance(made, ast.Call) and _TRAINER.search(last_name(made.func)):
                if made not in told:
                    told[made] = self._told(made)
                found[self._tree.function(call)].append((call, self._told(call), told[made]))
        return found

    def _places(self, path: ast.expr, depth: int) -> Iterator[str]:
        """What says in which place a path is: names and attributes, and what has an attribute that is a place of a run."""
        for part in _values(path):
            if isinstance(part, ast.Attribute) and _PLACE.search(part.attr):
                yield ast.unparse(part)
                if _OF_RUN.fullmatch(part.attr):
                    yield ast.unparse(part.value)
            elif isinstance(part, ast.Name) and part.id not in ("self", "cls"):
                if _PLACE.search(part.id):
                    yield part.id
                if depth and (value := self._semantics.bindings.assigned(part)) is not None:
                    yield from self._places(value, depth - 1)

    def _told(self, call: ast.Call) -> set[str]:
        """The names and attributes that a call is given, and what they are made of."""
        pending, found, seen = given_to(call), set[str](), set[ast.expr]()
        while pending:
            for part in _values(pending.pop()):
                found.add(ast.unparse(part))
                given = self._semantics.bindings.assigned(part)
                if isinstance(given, (ast.Call, ast.List, ast.Tuple, ast.Dict)) and given not in seen:
                    seen.add(given)
                    pending.append(given)
        return found


def _values(value: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """The names and attributes that a value is made of: not what is called for it."""
    pending: list[ast.AST] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node
        elif isinstance(node, ast.Call):
            pending += given_to(node)
        else:
            pending += ast.iter_child_nodes(node)
