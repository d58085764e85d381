from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.copying import Copying
from torchlint.rules.screens import GAP, Screen, is_about_torch
from torchlint.rules.snapshots import Of, Snapshot, Snapshots, is_entry_of_state
from torchlint.semantics import Binding, Type
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS
from torchlint.semantics.memory.links import Links, Sharing
from torchlint.semantics.memory.places import Places
from torchlint.semantics.training.updates import Update, Updates

_UPDATES = (b".step(", b"load_state_dict(", b".fit(")
_TRAINING_CALL = re.compile(rb"(?:train|fit|learn|update|optimi[sz]e)\w*" + GAP + rb"[(#]")
_STATE = re.compile(rb"state_dict(?<!load_state_dict)" + GAP + rb"[(#]")
_IN_PLACE = re.compile(rb"\w_" + GAP + rb"[(#]|[-+*/%&|^]=")
_PARAMETERS = (b"requires_grad", b"Parameter", b"parameters", b"weight", b"bias")


def _may_keep(data: bytes) -> bool:
    """Whether a file updates weights, and takes what may be an alias of some."""
    if not (is_about_torch(data) or any(word in data for word in (b"model", b"lightning", b"state_dict", b"parameters"))):
        return False
    if _STATE.search(data) is not None:
        return True
    named = b"opt" in data or b"solver" in data
    if any(part in data for part in _UPDATES) or (named and _TRAINING_CALL.search(data) is not None):
        return any(part in data for part in _PARAMETERS) or b".train(" in data
    if not (b"no_grad" in data or b".data" in data or b"inference_mode" in data):
        return False
    takes = any(part in data for part in _PARAMETERS) and (b".detach(" in data or b".data" in data)
    return takes and _IN_PLACE.search(data) is not None


_SNAPSHOT = re.compile(
    r"(^|_)(old|prev|previous|initial|init|orig|original|saved?|start|starting|last|copy|cached?|frozen|better|pre|begin)(_|$|\d)"
    r"|best|backup|snapshot|before",
    re.IGNORECASE,
)
"""What a value is called that is kept to be looked at later."""
_FORM_ONLY = frozenset(
    {
        *("keys", "shape", "size", "dtype", "device", "numel", "dim", "ndim", "is_cuda", "pop"),
        *("requires_grad", "requires_grad_", "grad"),
    }
)
"""What is read of a snapshot without its values."""
_NO_VALUES = frozenset({"len", "type", "isinstance", "id", "hasattr", "set", "sorted"})
_COMPARING = re.compile(
    r"^(equal|allclose|isclose|array_equal|eq|ne|dist|cosine_similarity|mse_loss|assert_?\w*|zip|sub|norm|l1_loss|array_equiv)$"
)
"""Functions and methods that look at two values together."""
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


class SnapshotAlias(AstRule):
    """
    ## What it does
    Finds "copies" of weights that are none and are kept across an update: `best = model.state_dict()`,
    `before = list(model.parameters())`, `old = w.detach()`, `best_model = model`, which are compared, restored or saved
    after `optimizer.step()`, `load_state_dict` or a call that trains.

    ## Why is this bad
    `state_dict()`, `parameters()`, `.detach()` and `.data` give the model's own memory. The optimizer changes it in place,
    so the "snapshot" follows the weights: the best weights are those of the last step, and a comparison with the old ones
    finds no difference.

    ## Example
    ```python
    best = model.state_dict()
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
    model.load_state_dict(best)
    ```

    ## Use instead
    ```python
    import copy

    best = copy.deepcopy(model.state_dict())
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
    model.load_state_dict(best)
    ```

    ## Fix safety
    Safe: the snapshot becomes the copy that it was meant to be. A kept module (`best_model = model`) becomes a
    `copy.deepcopy` of it, which is unsafe: code that relies on both being one object changes.

    ## References
    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "TPL009"
    name = "snapshot-alias"
    screen = Screen(
        any_of=(*_PARAMETERS, b"state_dict", b"train"),
        check=_may_keep,
        names=frozenset({b".step", b".load_state_dict", b".fit", b".detach", b".data", b".train"}),
    )

    def visit_Assign(self, node: ast.Assign) -> None:
        """Looks at what an assignment keeps."""
        if len(node.targets) == 1:
            for target, value in _pairs(node.targets[0], node.value):
                self._look_at(target, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Looks at what an annotated assignment keeps."""
        if node.value is not None:
            self._look_at(node.target, node.value)

    def visit_Call(self, node: ast.Call) -> None:
        """Looks at what is put into a list."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name() as holder, attr="append"), args=[value], keywords=[]):
                for snapshot in self._snapshots.within(value):
                    if snapshot.of is not Of.MODULE and self._is_filled_in_loop(node, holder):
                        uses = tuple(use for binding in self._bindings(holder) for use in binding.uses if use is not holder)
                        self._judge(snapshot, _Kept(holder.id, node, uses, (), listed=True))

    def _look_at(self, target: ast.expr, value: ast.expr) -> None:
        for snapshot in self._snapshots.within(value):
            match target:
                case ast.Name():
                    binding = self.semantics.bindings.of(target)
                    if binding is not None and self._is_plain(target):
                        self._judge(snapshot, self._kept_in(target, binding.uses, snapshot.key))
                case ast.Subscript(value=ast.Name() | ast.Attribute() as holder, slice=key):
                    place = self.semantics.of(Places).place(holder)
                    uses = [use for use in self.semantics.of(Places).occurrences(place) if use is not holder] if place else []
                    kept = tuple(use for use in uses if not _is_of_another(self.semantics.tree.parent(use), use, key))
                    self._judge(snapshot, _Kept(ast.unparse(target), target, kept, (target,)))
                case ast.Attribute():
                    self._look_at_attribute(snapshot, target)

    def _kept_in(self, target: ast.Name | ast.Attribute, uses: Iterable[ast.expr], key: ast.expr | None) -> _Kept:
        """A snapshot kept in a variable or attribute, or in a dict there under ``key``."""
        place = self.semantics.of(Places).place(target)
        assert place is not None
        own = tuple(use for use in uses if not _is_of_another(self.semantics.tree.parent(use), use, key))
        return _Kept(place.spelling, target, own, tuple(self.semantics.of(Places).rebound(place)))

    # --- where it is kept --------------------------------------------------------------------------------------------

    @cached_property
    def _snapshots(self) -> Snapshots:
        return Snapshots(self.semantics)

    def _bindings(self, name: ast.Name) -> tuple[Binding, ...]:
        return self.semantics.bindings.reaching(name)

    def _is_plain(self, target: ast.Name) -> bool:
        """Whether a name is a variable of the code that assigns it: what is read of it can be seen."""
        scope = self.semantics.bindings.scope_of(target)
        return target.id not in scope.outer_names

    def _is_filled_in_loop(self, call: ast.Call, holder: ast.Name) -> bool:
        """Whether a list that is made outside of a loop is filled in it."""
        loop = next(self.semantics.tree.loops(call), None)
        if loop is None:
            return False
        inside = {
            binding for around in self.semantics.tree.loops(call) for binding in self.semantics.bindings.bound_in_loop(around)
        }
        return any(binding not in inside for binding in self._bindings(holder))

    # --- whether it is kept across an update -------------------------------------------------------------------------

    def _judge(self, snapshot: Snapshot, kept: _Kept) -> None:
        """Reports a snapshot that is read for its values after what it is an alias of has changed."""
        if not any(self._reads_values(use) for use in kept.uses) or not self._is_filled(snapshot, kept):
            return
        places = self.semantics.of(Places)
        avoiding = [*places.rebound(snapshot.place), *kept.rebound]
        updates = {update.node: update for update in self._updates_of(snapshot, kept) if not self._restores(update, kept)}
        for node in islice(places.following(kept.start, updates, avoiding), _MANY):
            for use in places.following(node, kept.uses, list(kept.rebound)):
                if use is not node and self._matters(use, snapshot, kept, updates[node]):
                    self._report(snapshot, kept, updates[node])
                    return

    def _updates_of(self, snapshot: Snapshot, kept: _Kept) -> Iterator[Update]:
        """What may change what the snapshot is of, in the code that takes it."""
        scope = self.semantics.control_flow.scope(kept.start)
        for update in self._updates.of_scope(scope):
            if self._updates.changes(update, snapshot.place):
                yield update
        if snapshot.of is Of.TENSOR:
            yield from self._updates.change_tensor(snapshot.place)

    @cached_property
    def _updates(self) -> Updates:
        return Updates(self.semantics)

    def _is_filled(self, snapshot: Snapshot, kept: _Kept) -> bool:
        """Whether there is anything to share yet: the state of an optimizer is empty before its first step."""
        if self.semantics.kind(snapshot.place.node).type is not Type.OPTIMIZER:
            return True
        scope = self.semantics.control_flow.scope(kept.start)
        return any(
            self.semantics.control_flow.may_follow(update.node, kept.start, self.semantics.of(Places).rebound(snapshot.place))
            for update in self._updates.of_scope(scope)
        )

    def _restores(self, update: Update, kept: _Kept) -> bool:
        """Whether an update is the restoring of the snapshot itself."""
        return any(self.semantics.tree.inside(use, update.node) for use in kept.uses)

    def _matters(self, use: ast.expr, snapshot: Snapshot, kept: _Kept, update: Update) -> bool:
        """Whether a read of the snapshot wants the values that it had when it was taken."""
        if not self._reads_values(use):
            return False
        if snapshot.of is Of.MODULE:
            return (
                self._is_trained(snapshot)
                and self._is_conditional(snapshot, update)
                and _SNAPSHOT.search(kept.name) is not None
            )
        if self._is_loaded(use) and snapshot.of is Of.STATE:
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

    def _reads_values(self, use: ast.expr) -> bool:
        parent = self.semantics.tree.parent(use)
        match parent:
            case ast.Attribute(attr="items" | "values"):
                call = self.semantics.tree.parent(parent)
                return not isinstance(call, ast.Call) or self._reads_values(call)
            case ast.Attribute(attr=attribute):
                return attribute not in _FORM_ONLY and attribute != "append"
            case ast.comprehension(target=target, iter=iterable) | ast.For(target=target, iter=iterable) if iterable is use:
                return self._are_values_read(target)
            case ast.Call(func=ast.Name(id=name)) if use in parent.args:
                return name not in _NO_VALUES
            case ast.Subscript(value=value) if value is use:
                return isinstance(parent.ctx, ast.Load) and self._reads_values(parent)
            case ast.Compare(ops=operators):
                return not any(isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for operator in operators)
            case ast.If() | ast.While() | ast.IfExp(test=ast.Name()) | ast.BoolOp() | ast.Delete() | ast.Expr():
                return False
        return True

    def _are_values_read(self, target: ast.expr) -> bool:
        """Whether the values of what a loop's target stands for are read."""
        bound = [self.semantics.bindings.of(part) for part in ast.walk(target) if isinstance(part, ast.Name)]
        return any(self._reads_values(use) for binding in bound if binding is not None for use in binding.uses)

    def _is_loaded(self, use: ast.expr) -> bool:
        """Whether a read stands in what ``load_state_dict`` gets."""
        for parent in self.semantics.tree.ancestors(use):
            if isinstance(parent, ast.stmt):
                return False
            if (
                isinstance(parent, ast.Call)
                and isinstance(parent.func, ast.Attribute)
                and parent.func.attr == "load_state_dict"
            ):
                return not self.semantics.tree.inside(use, parent.func)
        return False

    def _is_conditional(self, snapshot: Snapshot, update: Update) -> bool:
        """Whether the snapshot is taken under a condition, in a loop that the update is a part of: the best so far."""
        conditional = False
        for parent in self.semantics.tree.ancestors(snapshot.node):
            if isinstance(parent, FUNCTIONS):
                return False
            conditional = conditional or isinstance(parent, ast.If)
            if isinstance(parent, LOOPS) and conditional and self.semantics.tree.inside(update.node, parent):
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
        place = self.semantics.of(Places).place(part)
        if place is None:
            return False
        if self.semantics.of(Places).same(place, snapshot.place):
            return True
        if isinstance(part, ast.Name):
            values = [binding.value for binding in self._bindings(part) if binding.value is not None]
            return any(
                self.semantics.of(Places).same(inner, snapshot.place)
                for value in values
                if value is not snapshot.node
                for node in ast.walk(value)
                if isinstance(node, (ast.Name, ast.Attribute)) and (inner := self.semantics.of(Places).place(node)) is not None
            )
        return False

    def _comparison(self, use: ast.expr) -> ast.expr | None:
        """The comparison, difference or pairing that a read is a part of."""
        found: ast.expr | None = None
        for parent in self.semantics.tree.ancestors(use):
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
        place = self.semantics.of(Places).place(target)
        if place is None or snapshot.of is Of.MODULE:
            return
        owner = self.semantics.facts.self_class(target.value)
        if owner is None or snapshot.of is not Of.STATE:
            self._judge(snapshot, self._kept_in(target, self.semantics.of(Places).occurrences(place), snapshot.key))
            return
        uses = [use for slot in self.semantics.facts.slots(owner, target.attr) for use in slot.uses]
        flow = self.semantics.control_flow
        function = flow.scope(target)
        later = [use for use in uses if flow.scope(use) is function and flow.may_follow(target, use)]
        elsewhere = [use for use in uses if use not in later]
        if self._is_kept_for_later(snapshot, target, later, elsewhere) and self._may_be_filled(snapshot, function):
            if self._is_left_alone(uses, snapshot):
                self._report(snapshot, _Kept(place.spelling, target, (), ()), None)
        else:
            here = [use for use in uses if flow.scope(use) is function]
            self._judge(snapshot, self._kept_in(target, here, snapshot.key))

    def _is_kept_for_later(
        self, snapshot: Snapshot, target: ast.Attribute, later: Sequence[ast.expr], elsewhere: Sequence[ast.expr]
    ) -> bool:
        """Whether another call restores a state that is kept in an attribute of ``self``; or it is called the best so far."""
        if any(self._restores_same(use, snapshot) for use in elsewhere):
            return True
        if later or self.semantics.kind(snapshot.place.node).type is Type.OPTIMIZER:
            return False
        function = self.semantics.tree.function(target)
        asked = any(isinstance(parent, ast.If) for parent in self.semantics.tree.ancestors(target))
        return asked and isinstance(function, FUNCTIONS) and "best" in target.attr.lower() and function.name != "__init__"

    def _may_be_filled(self, snapshot: Snapshot, function: ast.AST) -> bool:
        """Whether there may be state to share: an optimizer has none when the object that uses it is made."""
        is_optimizer = self.semantics.kind(snapshot.place.node).type is Type.OPTIMIZER
        return not (is_optimizer and isinstance(function, FUNCTIONS) and function.name == "__init__")

    def _restores_same(self, use: ast.expr, snapshot: Snapshot) -> bool:
        """Whether a read is what ``load_state_dict`` of the same model gets."""
        call = self.semantics.tree.parent(use)
        match call:
            case ast.Call(func=ast.Attribute(value=model, attr="load_state_dict"), args=[first, *_]) if first is use:
                other = self.semantics.of(Places).place(model)
                return other is not None and other.spelling == snapshot.place.spelling
        return False

    def _is_left_alone(self, uses: Sequence[ast.expr], snapshot: Snapshot) -> bool:
        """Whether neither entries of the kept state are changed, nor the model replaced where it is taken or restored."""
        scopes = {self.semantics.control_flow.scope(node) for node in (*uses, snapshot.node)}
        if any(
            self.semantics.control_flow.scope(node) in scopes for node in self.semantics.of(Places).rebound(snapshot.place)[1:]
        ):
            return False
        for use in uses:
            parent = self.semantics.tree.parent(use)
            if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
                return False
            if isinstance(parent, ast.Attribute) and parent.attr in ("update", "pop"):
                return False
        return True

    # --- report ------------------------------------------------------------------------------------------------------

    def _report(self, snapshot: Snapshot, kept: _Kept, update: Update | None) -> None:
        source = snapshot.place.spelling
        when = f"line {getattr(update.node, 'lineno', 0)}" if update is not None else "training"
        if snapshot.of is Of.MODULE or snapshot.node is snapshot.place.node:
            what = f"`{kept.name}` is `{source}` itself and changes with it"
        else:
            where = ", if that is on the CPU," if self._only_on_cpu(snapshot) else ""
            what = f"`{ast.unparse(snapshot.node)}` shares its memory with `{source}`{where} and changes with it"
        self.report(snapshot.node, f"{what} in {when}; keep a copy", self._fix(snapshot))

    def _only_on_cpu(self, snapshot: Snapshot) -> bool:
        node = snapshot.node
        kept = node.value if isinstance(node, ast.DictComp) else node.elt if isinstance(node, ast.ListComp) else node
        return any(link.sharing is Sharing.ON_CPU for link in self.semantics.of(Links).chain(kept))

    @cached_property
    def _copying(self) -> Copying:
        return Copying(self.source, self.semantics)

    def _fix(self, snapshot: Snapshot) -> Fix:
        return self.fix("Keep a copy", self._edits(snapshot), safe=snapshot.of is not Of.MODULE)

    def _edits(self, snapshot: Snapshot) -> list[TextEdit]:
        node = snapshot.node
        match snapshot.of:
            case Of.STATE if not snapshot.comprehension:
                return self._copying.deepcopy(node)
            case Of.STATE | Of.PARAMETERS if isinstance(node, (ast.DictComp, ast.ListComp)):
                kept = node.value if isinstance(node, ast.DictComp) else node.elt
                return self._copying.copy_tensor(kept, detached=snapshot.of is Of.STATE)
            case Of.PARAMETERS:
                return self._copying.copy_parameters(node, snapshot.core)
            case Of.TENSOR:
                return self._copying.copy_tensor(node, detached=is_entry_of_state(snapshot.core))
        return self._copying.deepcopy(node)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target of an assignment with its value: ``best, least = model.state_dict(), 1e9`` has two."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        if len(target.elts) == len(value.elts) and not any(isinstance(part, ast.Starred) for part in target.elts):
            for pair in zip(target.elts, value.elts):
                yield from _pairs(*pair)
            return
    yield target, value


def _is_of_another(parent: ast.AST | None, use: ast.expr, key: ast.expr | None) -> bool:
    """Whether a use of a dict takes what it holds under a key that is surely not ``key``."""
    match parent:
        case ast.Subscript(value=value, slice=ast.Constant(value=other)) if value is use:
            return isinstance(key, ast.Constant) and key.value != other
    return False
