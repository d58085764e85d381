"""Modules that a class keeps in an attribute as the best so far, while the training that goes on changes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Loop, in_body
from torchlint.semantics.memory.places import Place, Places
from torchlint.semantics.modules.evidence import ModuleEvidence
from torchlint.semantics.training.updates import Update, Updates

_CALLERS = 3
"""So many calls far the loop is looked for that trains what is kept."""


@dataclass(frozen=True, eq=False, slots=True)
class BestModule:
    """A module, ``value`` at ``place``, that is kept as ``name`` although ``update`` goes on changing it."""

    value: ast.expr
    place: Place
    name: str
    update: ast.AST


class BestModules:
    """Finds them in one file: ``if loss < self.least: self.best_model = model``, which another method reads.

    What is kept by its key in a dict of the object, ``self.best["model"] = model``, is kept alike.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._trained: dict[tuple[ast.ClassDef, str], set[ast.AST]] = {}
        self._taken: dict[tuple[ast.ClassDef, str], dict[object, set[ast.AST | None]]] = {}

    @property
    def found(self) -> Iterator[BestModule]:
        """The modules that are kept so."""
        for assignment in self._tree.of_type(ast.Assign):
            match assignment.targets, assignment.value:
                case [(ast.Attribute() | ast.Subscript()) as target], (ast.Name() | ast.Attribute()) as value:
                    best = self._kept(target, value)
                    if best is not None:
                        yield best

    def _kept(self, target: ast.Attribute | ast.Subscript, value: ast.expr) -> BestModule | None:
        held, function = _held(target), self._tree.function(target)
        if held is None or "best" not in ast.unparse(target).lower():
            return None
        owner = self._semantics.facts.self_class(held.value)
        if owner is None or not isinstance(function, FUNCTIONS) or not self._is_compared(target):
            return None
        if self._is_replaced(target):
            return None
        place = self._semantics.of(Places).place(value)
        if place is None or not self._is_module(value):
            return None
        key = target.slice.value if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) else None
        if self._takers(owner, held.attr).get(key, set()) <= {function}:
            return None
        update = self._update(place, target, _CALLERS)
        return BestModule(value, place, ast.unparse(target), update) if update is not None else None

    def _is_module(self, value: ast.expr) -> bool:
        kind = self._semantics.kind(value)
        return kind.type is Type.MODULE or (not kind.known and self._semantics.of(ModuleEvidence).is_module(value))

    def _takers(self, owner: ast.ClassDef, attribute: str) -> dict[object, set[ast.AST | None]]:
        """The functions that take a module out of an attribute: itself (`None`), or the item of each key."""
        if (owner, attribute) not in self._taken:
            found = self._taken[owner, attribute] = dict[object, set[ast.AST | None]]()
            for use in (use for slot in self._semantics.facts.slots(owner, attribute) for use in slot.uses):
                taken, key = self._read(use)
                if self._takes(taken):
                    found.setdefault(key, set()).add(self._tree.function(use))
        return self._taken[owner, attribute]

    def _read(self, use: ast.expr) -> tuple[ast.expr, object]:
        """What a use of an attribute reads, and by which key, if it is one item of it."""
        match self._tree.parent(use):
            case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Load()) as item:
                return item, key
        return use, None

    def _is_compared(self, target: ast.expr) -> bool:
        """Whether a comparison decides, in the function itself, that something is kept."""
        child: ast.AST = target
        for parent in self._tree.ancestors(target):
            if isinstance(parent, ast.If) and in_body(child, parent):
                orders = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
                comparisons = (part for part in ast.walk(parent.test) if isinstance(part, ast.Compare))
                if any(isinstance(each, orders) for part in comparisons for each in part.ops):
                    return True
            if isinstance(parent, FUNCTIONS):
                return False
            child = parent
        return False

    def _is_replaced(self, target: ast.expr) -> bool:
        """Whether a later statement beside it keeps something else there: a copy of it."""
        statement, spelled = self._tree.statement(target), ast.unparse(target)
        block = self._tree.block(statement)
        later = block[block.index(statement) + 1 :]
        targets = (each for after in later if isinstance(after, ast.Assign) for each in after.targets)
        return any(ast.unparse(each) == spelled for each in targets)

    def _takes(self, use: ast.expr) -> bool:
        """Whether a read takes the module itself, and does not just ask whether there is one."""
        match self._tree.parent(use):
            case ast.Assign() | ast.Return() | ast.Attribute(ctx=ast.Load()) | ast.Starred():
                return True
            case ast.Call(func=function, args=given):
                return function is use or use in given
        return False

    def _update(self, place: Place, node: ast.AST, far: int) -> ast.AST | None:
        """What changes a module in a loop around ``node``, or around a call of the function that it stands in."""
        updates = self._semantics.of(Updates)
        scope = self._semantics.control_flow.scope(node)
        for loop in self._loops_on(node):
            if self._is_made_in(place, loop):
                return None
            for update in updates.of_scope(scope):
                if self._tree.inside(update.node, loop) and self._changes(update, place):
                    return update.node
        function = self._tree.function(node)
        if not far or not isinstance(function, FUNCTIONS) or self._is_made_in(place, function):
            return None
        for call in self._semantics.inference.call_sites(function):
            outer = updates.outside(place, call, function)
            found = self._update(outer, call, far - 1) if outer is not None else None
            if found is not None:
                return found
        return None

    def _loops_on(self, node: ast.AST) -> list[Loop]:
        """The loops around a statement that go on behind it, from the inside: its block does not end with a ``break``."""
        loops = list(self._tree.loops(node))
        match self._tree.block(self._tree.statement(node))[-1]:
            case ast.Break():
                return loops[1:]
            case ast.Return() | ast.Raise():
                return []
        return loops

    def _changes(self, update: Update, place: Place) -> bool:
        """Whether an update changes a module: one whose parameters its optimizer has; else, where the object is given both, the
        one that the method runs which makes the step, or has another one make it.
        """
        if update.of:
            return self._semantics.of(Updates).changes(update, place)
        owner = self._semantics.facts.self_class(place.root)
        called = self._semantics.inference.call_graph.called(update.node) if isinstance(update.node, ast.Call) else None
        function = called or self._tree.function(update.node)
        return owner is not None and function in self._training_methods(owner, place)

    def _training_methods(self, owner: ast.ClassDef, place: Place) -> set[ast.AST]:
        """The methods that run a module of a class's objects, where the class steps an optimizer of theirs."""
        key = owner, place.spelling
        if key not in self._trained:
            steps = (call.func for call in self._semantics.facts.calls.get("step", ()) if isinstance(call.func, ast.Attribute))
            steps_own = any(isinstance(each.value, ast.Attribute) and self._is_own(each.value, owner) for each in steps)
            uses = self._semantics.of(Places).occurrences(place) if steps_own else ()
            runs = (self._tree.function(use) for use in uses if self._is_run(use))
            self._trained[key] = {each for each in runs if isinstance(each, FUNCTIONS)}
        return self._trained[key]

    def _is_own(self, optimizer: ast.Attribute, owner: ast.ClassDef) -> bool:
        if self._semantics.facts.self_class(optimizer.value) is not owner:
            return False
        return self._semantics.kind(optimizer).type is Type.OPTIMIZER or "optim" in optimizer.attr.lower()

    def _is_run(self, use: ast.expr) -> bool:
        """Whether a use of a module calls it, or puts it into training mode."""
        match self._tree.parent(use):
            case ast.Call(func=function):
                return function is use
            case ast.Attribute(attr="forward" | "train") as method:
                call = self._tree.parent(method)
                return isinstance(call, ast.Call) and call.func is method
        return False

    def _is_made_in(self, place: Place, code: Loop | ast.AST) -> bool:
        """Whether a place gets another module somewhere in the code, so that the old one is left as it is."""
        rebound = list(self._semantics.of(Places).rebound(place))
        if any(self._tree.inside(node, code) for node in rebound):
            return True
        makers = {each for node in rebound if isinstance(each := self._tree.function(node), FUNCTIONS)}
        sites = (site for each in makers for site in self._semantics.inference.call_sites(each))
        return any(self._tree.inside(site, code) for site in sites)


def _held(target: ast.Attribute | ast.Subscript) -> ast.Attribute | None:
    """The attribute that a target is, or is an item of by a key that is written out."""
    match target:
        case ast.Attribute():
            return target
        case ast.Subscript(value=ast.Attribute() as held, slice=ast.Constant(value=str())):
            return held
    return None
