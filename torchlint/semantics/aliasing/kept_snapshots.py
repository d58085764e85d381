"""Snapshots that are kept across an update of the weights which they share their memory with."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Semantics, Type
from torchlint.semantics.aliasing.best_modules import BestModules
from torchlint.semantics.aliasing.first_snapshots import FirstSnapshots
from torchlint.semantics.aliasing.last_snapshots import LastSnapshots
from torchlint.semantics.aliasing.snapshot_reads import SnapshotReads
from torchlint.semantics.aliasing.snapshots import Of, Snapshot, Snapshots, is_entry_of_state
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS
from torchlint.semantics.memory.changes import CHANGING
from torchlint.semantics.memory.links import Links, Sharing
from torchlint.semantics.memory.places import Place, Places
from torchlint.semantics.training.gpu_weights import GpuWeights
from torchlint.semantics.training.updates import Update, Updates

Node = TypeVar("Node")

_SNAPSHOT = re.compile(
    r"(^|_)(old|prev|previous|initial|init|orig|original|saved?|start|starting|last|copy|cached?|frozen|better|pre|begin)(_|$|\d)"
    r"|best|backup|snapshot|before",
    re.IGNORECASE,
)
"""What a value is called that is kept to be looked at later."""
_COMPARING = re.compile(
    r"^(equal|allclose|isclose|array_equal|eq|ne|dist|cosine_similarity|mse_loss|assert_?\w*|zip|sub|norm|l1_loss|array_equiv)$"
)
"""Functions and methods that look at two values together."""
_MOST = 80
"""How many snapshots of one scope are looked at: each is held against all that happens there, and no one keeps so many."""
_MANY = 30
"""So many updates behind a snapshot are looked at: if none of these matters, the others hardly do."""


@dataclass(frozen=True, eq=False, slots=True)
class _Kept:
    """Where a snapshot is kept: ``name`` as it is spelled, ``uses`` what reads it, ``start`` behind which it is there."""

    name: str
    start: ast.AST
    uses: tuple[ast.expr, ...]
    rebound: tuple[ast.AST, ...]
    listed: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class KeptSnapshot(Generic[Node]):
    """An alias of ``source``, a spelling, that is kept as ``name`` while ``update`` changes what it is an alias of.

    ``core`` is the part that takes the weights, and ``comprehension`` tells that the alias is a comprehension over them.
    ``update`` is none where it is in code that may run in between. ``is_source`` is whether the alias is the source itself,
    ``is_entry`` whether it is an entry of a state, ``on_cpu`` whether it shares memory on the CPU only.
    """

    of: Of
    core: Node
    source: str
    name: str
    update: Node | None
    comprehension: bool
    is_source: bool
    is_entry: bool
    on_cpu: bool


class KeptSnapshots:
    """Finds them in a file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._places = semantics.of(Places)
        self._updates = semantics.of(Updates)
        self._snapshots = semantics.of(Snapshots)
        self._reads = semantics.of(SnapshotReads)
        self._seen: Counter[ast.AST] = Counter()
        """How many snapshots of each scope have been looked at."""
        self._found: dict[ast.expr, list[KeptSnapshot[ast.AST]]] = defaultdict(list)

    @cached_property
    def found(self) -> dict[ast.expr, list[KeptSnapshot[ast.AST]]]:
        """The snapshots, by the expressions that take them."""
        tree = self._semantics.tree
        for assignment in tree.of_type(ast.Assign):
            if len(assignment.targets) == 1:
                for target, value in _pairs(assignment.targets[0], assignment.value):
                    self._look_at(target, value)
        for annotated in tree.of_type(ast.AnnAssign):
            if annotated.value is not None:
                self._look_at(annotated.target, annotated.value)
        for call in tree.of_type(ast.Call):
            self._look_at_list(call)
        for best in self._semantics.of(BestModules).found:
            snapshot = Snapshot(Of.MODULE, best.value, best.value, best.place)
            self._keep(snapshot, _Kept(best.name, best.value, (), ()), Update(best.update, ()))
        return dict(self._found)

    def _look_at_list(self, call: ast.Call) -> None:
        """Looks at what is put into a list."""
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name() as holder, attr="append"), args=[value], keywords=[]):
                if not self._changes_anything(call):
                    return
                for snapshot in self._within(value):
                    if snapshot.of is not Of.MODULE and self._is_filled_in_loop(call, holder):
                        uses = tuple(use for binding in self._bindings(holder) for use in binding.uses if use is not holder)
                        self._judge(snapshot, _Kept(holder.id, call, uses, (), listed=True))

    def _within(self, value: ast.expr) -> Iterator[Snapshot]:
        """The snapshots that are taken within an expression, as long as there are not too many in its scope."""
        scope = self._semantics.control_flow.scope(value)
        for snapshot in self._snapshots.within(value, lambda of, place: any(self._updates_of(of, place, scope))):
            self._seen[scope] += 1
            if self._seen[scope] <= _MOST:
                yield snapshot

    def _look_at(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Subscript) and self._semantics.kind(target.value).type in (Type.TENSOR, Type.ARRAY):
            return  # it copies the numbers
        if not self._changes_anything(target) and not (isinstance(target, ast.Attribute) and _takes_state(value)):
            return
        for snapshot in self._within(value):
            match target:
                case ast.Name():
                    binding = self._semantics.bindings.of(target)
                    if binding is not None and self._is_plain(target):
                        self._judge(snapshot, self._kept_in(target, binding.uses, snapshot.key))
                case ast.Subscript(value=ast.Name() | ast.Attribute() as holder, slice=key):
                    place = self._places.place(holder)
                    uses = [use for use in self._places.occurrences(place) if use is not holder] if place else []
                    kept = tuple(use for use in uses if not _is_of_another(self._semantics.tree.parent(use), use, key))
                    anew = self._places.rebound(place) if place else ()
                    self._judge(snapshot, _Kept(ast.unparse(target), target, kept, (target, *anew)))
                case ast.Attribute():
                    self._look_at_attribute(snapshot, target)

    def _kept_in(self, target: ast.Name | ast.Attribute, uses: Iterable[ast.expr], key: ast.expr | None) -> _Kept:
        """A snapshot kept in a variable or attribute, or in a dict there under ``key``."""
        place = self._places.place(target)
        assert place is not None
        own = tuple(use for use in uses if not _is_of_another(self._semantics.tree.parent(use), use, key))
        return _Kept(place.spelling, target, own, tuple(self._places.rebound(place)))

    def _changes_anything(self, node: ast.expr) -> bool:
        """Whether any weights or values are changed in the code around ``node``: what most code does not, at little cost."""
        return self._semantics.control_flow.scope(node) in self._changing

    @cached_property
    def _changing(self) -> set[ast.AST]:
        """The functions, or the module, in which something is updated, or changed in place."""
        tree, calls = self._semantics.tree, self._semantics.facts.calls
        changes: list[ast.AST] = [call for name in calls if name.endswith("_") or name in CHANGING for call in calls[name]]
        changes += tree.of_type(ast.AugAssign)
        changes += (item for item in tree.of_type(ast.Subscript) if not isinstance(item.ctx, ast.Load))
        changes += (word for word in tree.of_type(ast.keyword) if word.arg == "out")
        return {*self._updates.scopes, *map(self._semantics.control_flow.scope, changes)}

    # --- where it is kept --------------------------------------------------------------------------------------------

    def _bindings(self, name: ast.Name) -> tuple[Binding, ...]:
        return self._semantics.bindings.reaching(name)

    def _is_plain(self, target: ast.Name) -> bool:
        """Whether a name is a variable of the code that assigns it: what is read of it can be seen."""
        scope = self._semantics.bindings.scope_of(target)
        return target.id not in scope.outer_names

    def _is_filled_in_loop(self, call: ast.Call, holder: ast.Name) -> bool:
        """Whether a list that is made outside of a loop is filled in it."""
        loop = next(self._semantics.tree.loops(call), None)
        if loop is None:
            return False
        inside = {
            binding for around in self._semantics.tree.loops(call) for binding in self._semantics.bindings.bound_in_loop(around)
        }
        return any(binding not in inside for binding in self._bindings(holder))

    # --- whether it is kept across an update -------------------------------------------------------------------------

    def _judge(self, snapshot: Snapshot, kept: _Kept) -> None:
        """Reports a snapshot that is read for its values after what it is an alias of has changed."""
        if not any(self._is_read(use, snapshot, kept) for use in kept.uses) or not self._is_filled(snapshot, kept):
            return
        if self._semantics.of(FirstSnapshots).is_replaced(kept.start, kept.rebound):
            return
        places = self._places
        avoiding = [*places.rebound(snapshot.place), *kept.rebound]
        scope = self._semantics.control_flow.scope(kept.start)
        every = self._updates_of(snapshot.of, snapshot.place, scope)
        last = self._semantics.of(LastSnapshots)
        updates = {update.node: update for update in every if not self._restores(update, kept)}
        updates = {node: each for node, each in updates.items() if not last.is_behind(kept.start, node, kept.uses)}
        for node in islice(places.following(kept.start, updates, avoiding), _MANY):
            for use in last.uses_behind(node, kept.start, kept.uses, kept.rebound):
                if use is not node and self._matters(use, snapshot, kept, updates[node]):
                    self._keep(snapshot, kept, updates[node])
                    return

    def _updates_of(self, of: Of, place: Place, scope: ast.AST) -> Iterator[Update]:
        """What may change what a snapshot is of, in the code that takes it."""
        for update in self._updates.of_scope(scope):
            if self._updates.changes(update, place):
                yield update
        if of is Of.TENSOR:
            yield from self._updates.change_tensor(place)

    def _is_filled(self, snapshot: Snapshot, kept: _Kept) -> bool:
        """Whether there is anything to share yet: the state of an optimizer is empty before its first step."""
        if self._semantics.kind(snapshot.place.node).type is not Type.OPTIMIZER:
            return True
        scope = self._semantics.control_flow.scope(kept.start)
        return any(
            self._semantics.control_flow.may_follow(update.node, kept.start, self._places.rebound(snapshot.place))
            for update in self._updates.of_scope(scope)
        )

    def _restores(self, update: Update, kept: _Kept) -> bool:
        """Whether an update is the restoring of the snapshot itself."""
        return any(self._semantics.tree.inside(use, update.node) for use in kept.uses)

    def _matters(self, use: ast.expr, snapshot: Snapshot, kept: _Kept, update: Update) -> bool:
        """Whether a read of the snapshot wants the values that it had when it was taken."""
        if not self._is_read(use, snapshot, kept):
            return False
        if snapshot.of is Of.MODULE:
            return (
                self._is_trained(snapshot)
                and self._is_conditional(snapshot, update)
                and _SNAPSHOT.search(kept.name) is not None
            )
        if snapshot.of is Of.STATE and self._is_loaded_back(use, snapshot):
            return True
        if self._meets_source(use, snapshot):
            return True
        if kept.listed:
            return snapshot.of is not Of.PARAMETERS
        conditional = snapshot.of is Of.STATE and self._is_conditional(snapshot, update)
        return conditional or _SNAPSHOT.search(kept.name) is not None

    def _is_trained(self, snapshot: Snapshot) -> bool:
        """Whether the code uses a module as what is trained, and not as something else that has an ``eval``."""
        return not self._snapshots.attributes(snapshot.place).isdisjoint(
            {"parameters", "named_parameters", "train", "state_dict"}
        )

    def _is_read(self, use: ast.expr, snapshot: Snapshot, kept: _Kept) -> bool:
        """Whether the values of a snapshot are read: a loop over a state itself is given its keys."""
        if snapshot.of is Of.STATE and snapshot.key is None and not kept.listed and self._reads.is_looped_over(use):
            return False
        return self._reads.are_values(use)

    def _is_loaded_back(self, use: ast.expr, snapshot: Snapshot) -> bool:
        """Whether a read stands in what ``load_state_dict`` gets of the same module; another one may be to follow it."""
        for parent in self._semantics.tree.ancestors(use):
            match parent:
                case ast.stmt():
                    return False
                case ast.Call(func=ast.Attribute(value=module, attr="load_state_dict") as function):
                    return not self._semantics.tree.inside(use, function) and self._is_source(module, snapshot)
        return False

    def _is_conditional(self, snapshot: Snapshot, update: Update) -> bool:
        """Whether the snapshot is taken under a condition, in a loop that the update is a part of: the best so far."""
        conditional = False
        for parent in self._semantics.tree.ancestors(snapshot.node):
            if isinstance(parent, FUNCTIONS):
                return False
            conditional = conditional or isinstance(parent, (ast.If, ast.IfExp))
            if isinstance(parent, LOOPS) and conditional and self._semantics.tree.inside(update.node, parent):
                return True
        return False

    def _meets_source(self, use: ast.expr, snapshot: Snapshot) -> bool:
        """Whether a read is compared with what the snapshot is of, or with another alias of that."""
        around = self._comparison(use)
        if around is None:
            return False
        for part in ast.walk(around):
            if isinstance(part, (ast.Name, ast.Attribute)) and part is not use and self._is_source(part, snapshot):
                return True
        return False

    def _is_source(self, part: ast.expr, snapshot: Snapshot) -> bool:
        place = self._places.place(part)
        if place is None:
            return False
        if self._places.same(place, snapshot.place):
            return True
        if isinstance(part, ast.Name):
            values = [binding.value for binding in self._bindings(part) if binding.value is not None]
            return any(
                self._places.same(inner, snapshot.place)
                for value in values
                if value is not snapshot.node
                for node in ast.walk(value)
                if isinstance(node, (ast.Name, ast.Attribute)) and (inner := self._places.place(node)) is not None
            )
        return False

    def _comparison(self, use: ast.expr) -> ast.expr | None:
        """The comparison, difference or pairing that a read is a part of."""
        found: ast.expr | None = None
        for parent in self._semantics.tree.ancestors(use):
            match parent:
                case ast.Compare() | ast.BinOp(op=ast.Sub()):
                    found = parent
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if _COMPARING.search(name):
                    found = parent
                case ast.stmt():
                    break
        return found

    # --- attributes --------------------------------------------------------------------------------------------------

    def _look_at_attribute(self, snapshot: Snapshot, target: ast.Attribute) -> None:
        """Looks at what is kept in an attribute: what happens in between is seen in one method only."""
        place = self._places.place(target)
        if place is None or snapshot.of is Of.MODULE:
            return
        owner = self._semantics.facts.self_class(target.value)
        if owner is None or snapshot.of is not Of.STATE:
            self._judge(snapshot, self._kept_in(target, self._places.occurrences(place), snapshot.key))
            return
        uses = [use for slot in self._semantics.facts.slots(owner, target.attr) for use in slot.uses]
        flow = self._semantics.control_flow
        function = flow.scope(target)
        later = [
            use for use in uses if flow.scope(use) is function and self._reads.are_values(use) and flow.may_follow(target, use)
        ]
        elsewhere = [use for use in uses if use not in later]
        if self._is_kept_for_later(snapshot, target, later, elsewhere) and self._may_be_filled(snapshot, function):
            if self._is_left_alone(uses, snapshot):
                self._keep(snapshot, _Kept(place.spelling, target, (), ()), None)
        else:
            here = [use for use in uses if flow.scope(use) is function]
            self._judge(snapshot, self._kept_in(target, here, snapshot.key))

    def _is_kept_for_later(
        self, snapshot: Snapshot, target: ast.Attribute, later: Sequence[ast.expr], elsewhere: Sequence[ast.expr]
    ) -> bool:
        """Whether another call restores a state that is kept in an attribute of ``self``; or it is called the best so far."""
        if any(self._restores_same(use, snapshot) for use in elsewhere):
            return True
        if later or self._semantics.kind(snapshot.place.node).type is Type.OPTIMIZER:
            return False
        function = self._semantics.tree.function(target)
        asked = any(isinstance(parent, ast.If) for parent in self._semantics.tree.ancestors(target))
        return asked and isinstance(function, FUNCTIONS) and "best" in target.attr.lower() and function.name != "__init__"

    def _may_be_filled(self, snapshot: Snapshot, function: ast.AST) -> bool:
        """Whether there may be state to share: an optimizer has none when the object that uses it is made."""
        is_optimizer = self._semantics.kind(snapshot.place.node).type is Type.OPTIMIZER
        return not (is_optimizer and isinstance(function, FUNCTIONS) and function.name == "__init__")

    def _restores_same(self, use: ast.expr, snapshot: Snapshot) -> bool:
        """Whether a read is what ``load_state_dict`` of the same model gets."""
        call = self._semantics.tree.parent(use)
        match call:
            case ast.Call(func=ast.Attribute(value=model, attr="load_state_dict"), args=[first, *_]) if first is use:
                other = self._places.place(model)
                return other is not None and other.spelling == snapshot.place.spelling
        return False

    def _is_left_alone(self, uses: Sequence[ast.expr], snapshot: Snapshot) -> bool:
        """Whether neither entries of the kept state are changed, nor the model replaced where it is taken or restored."""
        scopes = {self._semantics.control_flow.scope(node) for node in (*uses, snapshot.node)}
        if any(self._semantics.control_flow.scope(node) in scopes for node in self._places.rebound(snapshot.place)[1:]):
            return False
        for use in uses:
            parent = self._semantics.tree.parent(use)
            if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
                return False
            if isinstance(parent, ast.Attribute) and parent.attr in ("update", "pop"):
                return False
        return True

    def _keep(self, snapshot: Snapshot, kept: _Kept, update: Update | None) -> None:
        only_on_cpu = self._only_on_cpu(snapshot)
        if only_on_cpu and self._semantics.of(GpuWeights).are_at(snapshot.place):
            return
        self._found[snapshot.node].append(
            KeptSnapshot(
                snapshot.of,
                snapshot.core,
                snapshot.place.spelling,
                kept.name,
                update.node if update is not None else None,
                snapshot.comprehension,
                snapshot.node is snapshot.place.node,
                is_entry_of_state(snapshot.core),
                only_on_cpu,
            )
        )

    def _only_on_cpu(self, snapshot: Snapshot) -> bool:
        node = snapshot.node
        kept = node.value if isinstance(node, ast.DictComp) else node.elt if isinstance(node, ast.ListComp) else node
        return any(link.sharing is Sharing.ON_CPU for link in self._semantics.of(Links).chain(kept))


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target of an assignment with its value: ``best, least = model.state_dict(), 1e9`` has two."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        if len(target.elts) == len(value.elts) and not any(isinstance(part, ast.Starred) for part in target.elts):
            for pair in zip(target.elts, value.elts):
                yield from _pairs(*pair)
            return
    yield target, value


def _takes_state(value: ast.expr) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == "state_dict" for part in ast.walk(value))


def _is_of_another(parent: ast.AST | None, use: ast.expr, key: ast.expr | None) -> bool:
    """Whether a use of a dict, or list, takes what it holds under a key that is hardly ``key``."""
    match parent:
        case ast.Subscript(value=value, slice=ast.Constant(value=other)) if value is use:
            return isinstance(key, ast.Constant) and key.value != other
        case ast.Subscript(value=value, slice=ast.UnaryOp()) if value is use:
            return isinstance(key, ast.Constant) and isinstance(key.value, int)  # counted from the end of a list
    return False
