"""Distributed samplers that are never told the epoch: each goes through its data in one and the same order, time and again."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, Loop, dotted, last_name, walk_body
from torchlint.semantics.provenance.loaders import LOADERS

Node = TypeVar("Node")
Place = TypeVar("Place")

_SAMPLERS = frozenset({"torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler"})
_AROUND = frozenset({"enumerate", "iter", "tqdm", "trange", "track", "zip", "islice", "log_every", "cycle", "progress_bar"})
"""Functions that go through what they are given."""
_WRAPPING = frozenset({"tqdm", "trange", "track", "progress_bar", "islice", "zip", "enumerate"})
"""Those of them whose result is often kept by a name, and gone through by that."""
_READING = frozenset({"len", "isinstance", "print", "type", "id", "str", "repr", "next", "range"})
_SHOWING = frozenset(
    {
        *("update", "write", "close", "refresh"),
        *("set_postfix", "set_postfix_str", "set_description", "set_description_str"),
    }
)
"""Methods of a bar that shows how far a loop is."""
_BACKWARD = frozenset({"backward", "manual_backward"})
_FRAMEWORKS = ("pytorch_lightning", "lightning", "accelerate", "ignite", "catalyst", "fastai", "composer", "ray")
"""Trainers that tell the sampler themselves."""
_PRETRAINED = frozenset({"transformers", "pytorch_transformers", "pytorch_pretrained_bert"})
"""Libraries of models that are trained already."""
_TRAINING = re.compile(r"train", re.IGNORECASE)
_OTHER_DATA = re.compile(r"test|val|eval|infer|predict", re.IGNORECASE)
_DEPTH = 6
_CALLERS = 3
"""So many functions may lie between a loop over epochs and the one over batches."""


@dataclass(frozen=True, eq=False, slots=True)
class UnsetEpoch(Generic[Node, Place]):
    """A sampler whose ``loader`` is gone through in a loop over epochs, of which nothing tells it.

    ``epoch`` is the variable of that loop, which starts with ``first``, where ``sampler`` or else ``loader`` is known; none of
    them is given where that is not so. The loader has that sampler for certain unless ``is_conditional``. What is trained is
    ``is_tuned`` where it comes from a library of models that need two or three epochs more.
    """

    epoch: Node | None
    first: Place | None
    sampler: Node | None
    loader: Node | None
    is_conditional: bool
    is_tuned: bool = False


@dataclass(frozen=True, slots=True)
class _Use:
    """Where a value is used, and the call that hands it to the function of that place, if one does."""

    node: ast.expr
    site: ast.Call | None


class _Escapes(Exception):
    """A value is handed to code that the file does not show."""


class UnsetEpochs:
    """Finds such samplers in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, UnsetEpoch[ast.expr, ast.stmt]]:
        """The calls that make such a sampler."""
        found: dict[ast.Call, UnsetEpoch[ast.expr, ast.stmt]] = {}
        words = self._semantics.words.all
        if "set_epoch" in words or any(name in words for name in _FRAMEWORKS):
            return found
        for call in self._tree.of_type(ast.Call) if "DistributedSampler" in words else ():
            if self._semantics.qualified_name(call.func) in _SAMPLERS and _shuffles(call):
                try:
                    unset = self._unset(call)
                except _Escapes:
                    unset = UnsetEpoch(None, None, None, None, True) if self._is_told_nowhere(call) else None
                if unset is not None and not self._may_be_told(call):
                    found[call] = replace(unset, is_tuned=not _PRETRAINED.isdisjoint(self._semantics.names.imported_libraries))
        return found

    def _unset(self, sampler: ast.Call) -> UnsetEpoch[ast.expr, ast.stmt] | None:
        loaders: list[ast.Call] = []
        is_conditional = False
        for given in [each.node for each in self._uses(sampler, 0)]:
            loader = self._loader_given(given)
            if loader is None:
                if not self._is_read(given):
                    raise _Escapes
                continue
            loaders.append(loader)
            is_conditional = is_conditional or not self._is_alone(given, sampler) or self._is_one_of(loader)
        uses = [use for loader in loaders for use in self._uses(loader, 0)]
        for use in uses:
            around = self._epochs(use)
            if around is not None:
                return self._described(sampler, around, is_conditional=is_conditional)
        if any(map(self._is_run_elsewhere, uses)) or (not uses and any(map(self._is_kept, loaders))):
            raise _Escapes
        return None

    def _is_run_elsewhere(self, use: _Use) -> bool:
        """Whether a use is in a function that the file does not call, so that another file may, once for each epoch."""
        function = self._tree.function(use.node)
        if not isinstance(function, FUNCTIONS) or self._semantics.inference.call_sites(function):
            return False
        return any(isinstance(each, (ast.For, ast.AsyncFor)) and self._trains(each) for each in self._tree.ancestors(use.node))

    def _is_kept(self, loader: ast.Call) -> bool:
        """Whether a loader is an attribute, which other files may go through."""
        assigned = self._tree.parent(loader)
        return isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Attribute)

    def _may_be_told(self, sampler: ast.Call) -> bool:
        """Whether a sampler is in an object, and another file of the project, which may know it, tells one of epochs."""
        is_within = any(isinstance(each, ast.ClassDef) for each in self._tree.ancestors(sampler))
        return is_within and self._semantics.elsewhere.speaks_of("set epochs") is True

    def _is_told_nowhere(self, sampler: ast.Call) -> bool:
        """Whether a sampler is for a training, by what it is made of, and no file of the project tells a sampler of epochs."""
        elsewhere, given = self._semantics.elsewhere, [*sampler.args[:1], *(word.value for word in sampler.keywords[:1])]
        name = ast.unparse(given[0]) if given else ""
        if any(word.arg == "seed" and not isinstance(word.value, ast.Constant) for word in sampler.keywords):
            return False  # perhaps another one in each epoch
        if (
            not elsewhere.is_in_project
            or not _TRAINING.search(name)
            or _OTHER_DATA.search(name)
            or not self._has_loader(sampler)
        ):
            return False
        return elsewhere.speaks_of("set epochs") is False and elsewhere.speaks_of("epochs") is True

    def _has_loader(self, sampler: ast.Call) -> bool:
        """Whether the file gives a sampler to a loader."""
        try:
            return any(self._loader_given(each.node) is not None for each in self._uses(sampler, 0))
        except _Escapes:
            return False

    # --- where a value goes --------------------------------------------------------------------------------------------

    def _uses(self, value: ast.expr, depth: int, site: ast.Call | None = None) -> Iterator[_Use]:
        """Where a value is used in the end: itself, or the variables, attributes and parameters that hold it."""
        if depth > _DEPTH:
            raise _Escapes
        parent = self._tree.parent(value)
        path: tuple[int, ...] = ()
        while isinstance(parent, ast.IfExp) and parent.test is not value:
            value, parent = parent, self._tree.parent(parent)
        if isinstance(parent, ast.Tuple) and isinstance(self._tree.parent(parent), ast.Return):
            path, parent = (parent.elts.index(value),), self._tree.parent(parent)
        match parent:
            case ast.Assign(targets=[target]) if parent.value is value:
                yield from self._uses_of_target(target, depth, site)
            case ast.Return():
                function = self._tree.function(parent)
                sites = self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else []
                if not sites:
                    raise _Escapes
                for site in sites:
                    yield from self._uses_of_result(site, path, depth)
            case ast.Call() if (callee := self._called(parent)) is not None:
                yield from self._uses_in(callee, parent, value, depth)
            case ast.Call(func=function) if (kept := self._kept(parent)) is not None and last_name(function) in _WRAPPING:
                yield from self._uses_of_target(kept, depth, site)
            case ast.keyword() if (
                isinstance(call := self._tree.parent(parent), ast.Call) and (callee := self._called(call)) is not None
            ):
                yield from self._uses_in(callee, call, value, depth)
            case ast.Dict():
                yield from self._uses_of_item(parent, parent.keys[parent.values.index(value)], depth)
            case _:
                yield _Use(value, site)

    def _uses_of_target(self, target: ast.expr, depth: int, site: ast.Call | None = None) -> Iterator[_Use]:
        if isinstance(target, ast.Name):
            binding = self._semantics.bindings.of(target)
            for use in binding.uses if binding is not None else ():
                yield from self._uses(use, depth + 1, site)
        elif isinstance(target, ast.Attribute) and (owner := self._semantics.facts.self_class(target.value)) is not None:
            for slot in self._semantics.facts.slots(owner, target.attr):
                for each in slot.uses:
                    yield from self._uses(each, depth + 1)
        else:
            raise _Escapes

    def _uses_of_item(self, items: ast.Dict, key: ast.expr | None, depth: int) -> Iterator[_Use]:
        """Where the item of a dictionary is used, by its key or by one that the text does not say."""
        for use in self._uses(items, depth):
            match self._tree.parent(use.node):
                case ast.Subscript(value=value, slice=index) as item if value is use.node:
                    is_another = isinstance(index, ast.Constant) and isinstance(key, ast.Constant) and index.value != key.value
                    if not is_another:
                        yield from self._uses(item, depth + 1, use.site)
                case _ if not self._is_read(use.node):
                    raise _Escapes

    def _kept(self, call: ast.Call) -> ast.expr | None:
        """The name that the result of a call is kept by."""
        assigned = self._tree.parent(call)
        return assigned.targets[0] if isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Name) else None

    def _called(self, call: ast.Call) -> Function | None:
        """The function of the file that a call runs: by its name, as a method, or to make an instance of a class."""
        return self._semantics.inference.call_graph.called(call)

    def _uses_of_result(self, site: ast.Call, path: tuple[int, ...], depth: int) -> Iterator[_Use]:
        if not path:
            yield from self._uses(site, depth + 1)
            return
        parent = self._tree.parent(site)
        match parent:
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if path[0] < len(targets):
                if any(isinstance(each, ast.Starred) for each in targets):
                    raise _Escapes
                yield from self._uses_of_target(targets[path[0]], depth)
            case _:
                raise _Escapes

    def _uses_in(self, function: Function, call: ast.Call, value: ast.expr, depth: int) -> Iterator[_Use]:
        """Where a function of the file uses what a call gives it."""
        arguments = function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if self._semantics.facts.argument(call, function, parameter) is value:
                binding = self._semantics.bindings.of(parameter)
                for use in binding.uses if binding is not None else ():
                    yield from self._uses(use, depth + 1, call)
                return
        raise _Escapes

    def _loader_given(self, use: ast.expr) -> ast.Call | None:
        """The loader that is given a sampler."""
        parent = self._tree.parent(use)
        call = self._tree.parent(parent) if isinstance(parent, ast.keyword) and parent.arg == "sampler" else None
        return call if isinstance(call, ast.Call) and self._semantics.qualified_name(call.func) in LOADERS else None

    def _is_read(self, use: ast.expr) -> bool:
        """Whether a use hands nothing to other code: a test, a length, an attribute."""
        match self._tree.parent(use):
            case ast.Call(func=ast.Name(id=name)) if name in _READING:
                return True
            case ast.Attribute() as attribute:
                around = self._tree.parent(attribute)
                return not (isinstance(around, ast.Call) and around.func is attribute)
            case ast.Compare() | ast.If() | ast.IfExp() | ast.BoolOp() | ast.UnaryOp() | ast.Expr():
                return True
        return False

    def _is_alone(self, use: ast.expr, sampler: ast.Call) -> bool:
        """Whether a loader is given that sampler on every path."""
        if isinstance(use, ast.Name):
            found = self._semantics.bindings.reaching(use)
            return len(found) == 1 and found[0].value is sampler
        if isinstance(use, ast.Attribute) and (owner := self._semantics.facts.self_class(use.value)) is not None:
            stores = [store for slot in self._semantics.facts.slots(owner, use.attr) for store in slot.stores]
            assigned = self._tree.parent(stores[0]) if len(stores) == 1 else None
            return isinstance(assigned, ast.Assign) and assigned.value is sampler
        return use is sampler

    def _is_one_of(self, loader: ast.Call) -> bool:
        """Whether the function that makes a loader may return another one instead."""
        function = self._tree.function(loader)
        return isinstance(function, FUNCTIONS) and len(self._semantics.facts.returned(function)) > 1

    # --- the training --------------------------------------------------------------------------------------------------

    def _epochs(self, found: _Use) -> tuple[Loop, ast.expr] | None:
        """The loop over epochs in which a loader is gone through by a training, and what the loader is called in that loop."""
        use = current = found.node
        while isinstance(parent := self._tree.parent(current), (ast.Call, ast.keyword)):
            if isinstance(parent, ast.Call):
                name = last_name(parent.func)
                if name not in _AROUND:
                    if name not in _READING:
                        raise _Escapes
                    return None
                current = parent
            else:
                raise _Escapes
        if isinstance(parent, ast.Attribute):
            around = self._tree.parent(parent)
            if isinstance(around, ast.Call) and around.func is parent and parent.attr not in _SHOWING:
                raise _Escapes
            return None
        if not isinstance(parent, (ast.For, ast.AsyncFor)) or parent.iter is not current or not self._trains(parent):
            return None
        outer = next(self._tree.loops(parent), None)
        if outer is not None:
            return outer, use
        return self._epochs_of_callers(parent, found)

    def _epochs_of_callers(
        self, place: ast.For | ast.AsyncFor | ast.Call, found: _Use, depth: int = _CALLERS
    ) -> tuple[Loop, ast.expr] | None:
        """The loop in which a function is called, or one that calls it in turn, and what the loader is called there."""
        function = self._tree.function(place)
        sites = self._semantics.inference.call_sites(function) if isinstance(function, FUNCTIONS) and depth else []
        use = found.node
        for site in [found.site] if found.site in sites and found.site is not None else sites:
            assert isinstance(function, FUNCTIONS)
            binding = next(iter(self._semantics.bindings.reaching(use)), None) if isinstance(use, ast.Name) else None
            if binding is not None and isinstance(binding.node, ast.arg) and binding.form is Form.PARAMETER:
                use = self._semantics.facts.argument(site, function, binding.node) or use
            outer = next(self._tree.loops(site), None)
            if outer is not None:
                return outer, use
            further = self._epochs_of_callers(site, _Use(use, None), depth - 1)
            if further is not None:
                return further
        return None

    def _trains(self, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether a loop back-propagates, or a function of the file does that it calls."""
        for part in walk_body(loop.body):
            if isinstance(part, ast.Call):
                if isinstance(part.func, ast.Attribute) and part.func.attr in _BACKWARD:
                    return True
                function = self._called(part)
                if function is not None and any(
                    isinstance(inner, ast.Attribute) and inner.attr in _BACKWARD for inner in walk_body(function.body)
                ):
                    return True
        return False

    def _described(
        self, sampler: ast.Call, around: tuple[Loop, ast.expr], *, is_conditional: bool
    ) -> UnsetEpoch[ast.expr, ast.stmt] | None:
        loop, loader = around
        if self._tree.inside(sampler, loop):
            return None
        epoch = loop.target if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) else None
        counts = (
            isinstance(loop, ast.For)
            and isinstance(loop.iter, ast.Call)
            and last_name(loop.iter.func) in ("range", "trange", "tqdm")
        )
        if epoch is None or not counts:
            return UnsetEpoch(None, None, None, None, is_conditional)
        assigned = self._tree.parent(sampler)
        name = assigned.targets[0] if isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Name) else None
        near = name is not None and self._tree.function(sampler) is self._tree.function(loop)
        named = loader if isinstance(loader, (ast.Name, ast.Attribute)) and self._is_known_in(loop, loader) else None
        return UnsetEpoch(epoch, loop.body[0], name if near else None, named, is_conditional)

    def _is_known_in(self, loop: Loop, loader: ast.Name | ast.Attribute) -> bool:
        """Whether a loader goes by the same name in a loop as where it is gone through."""
        here, there = self._tree.function(loop), self._tree.function(loader)
        if here is there:
            return True
        if isinstance(loader, ast.Name):
            return all(each.scope.node is self._tree.module for each in self._semantics.bindings.reaching(loader))
        own = self._semantics.facts.self_class(loader.value)
        if own is None or not isinstance(here, FUNCTIONS) or self._tree.parent(here) is not own:
            return False
        return [each.arg for each in (*here.args.posonlyargs, *here.args.args)][:1] == [dotted(loader.value)]


def _shuffles(call: ast.Call) -> bool:
    """Whether a sampler shuffles, as far as the call says."""
    if any(isinstance(each, ast.Starred) for each in call.args) or len(call.args) > 3:
        return False
    words = {word.arg: word.value for word in call.keywords}
    shuffle = words.get("shuffle")
    return None not in words and (shuffle is None or (isinstance(shuffle, ast.Constant) and shuffle.value is True))
