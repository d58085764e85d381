"""Snapshots that were certainly meant to be copies, as nothing else could be wanted of what is done with them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.fact import CERTAIN, Fact, known, unknown
from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.aliasing.snapshots import Of, Snapshots
from torchlint.semantics.certainty.sources import Sources
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.scopes import Scope
from torchlint.semantics.code.tree import LOOPS, dotted, last_name
from torchlint.semantics.memory.places import Place, Places
from torchlint.semantics.observers.other_code import OtherCode
from torchlint.semantics.observers.programs import Programs

_COMPARING = frozenset(
    f"torch.{name}" for name in ("equal", "allclose", "isclose", "eq", "ne", "dist", "nn.functional.mse_loss")
)
"""Functions that look at two tensors together and give something new."""
_SAME = frozenset({"detach", "cpu", "numpy"})
"""What gives the tensor itself, or another object with its values."""
_STACKING = frozenset({"torch.stack", "numpy.stack", "numpy.array", "numpy.asarray", "numpy.vstack", "numpy.concatenate"})


class MeantCopies:
    """Tells of the snapshots of weights whether whoever took them wanted a copy."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._places = semantics.of(Places)

    def fact(self, node: ast.expr, of: Of) -> Fact:
        """Whether the snapshot ``node`` is only compared with what it is of, loaded back there, or collected.

        A view that is compared with its source, or loaded into it, does nothing at all; a copy is what gives it a meaning.
        """
        place = next((each.place for each in self._semantics.of(Snapshots).within(node) if each.of is of), None)
        if of is Of.MODULE or place is None:
            return unknown("code may rely on both being one object")
        same = known(self._stays(place), f"`{place.spelling}` may be another one by then")
        if of is Of.STATE:
            return same & self._can_be_copied(node, place) & self._restores(node, place)
        return same & (self._collects(node) if self._is_appended(node) else self._compares(node, place))

    # --- what it is of -----------------------------------------------------------------------------------------------

    def _stays(self, place: Place) -> bool:
        """Whether a variable, or an attribute of ``self``, has the same value wherever it is read; it may change in place."""
        bindings = [each for each in self._semantics.bindings.reaching(place.root) if each.form is not Form.AUGMENTED]
        if not bindings:
            return False
        others = bindings[0].scope.bindings.get(place.root.id, ())
        if [each for each in others if each.form is not Form.AUGMENTED] != bindings:
            return False
        path = place.spelling.split(".")[1:]
        owner = self._semantics.facts.self_class(place.root)
        if owner is not None and len(path) == 1:
            stores = [store for slot in self._semantics.facts.slots(owner, path[0]) for store in slot.stores]
            return len(stores) <= 1 and not self._semantics.of(Sources).is_set_from_outside(path[0])
        return all(isinstance(node, ast.Name) for node in self._places.rebound(place))

    def _is_same(self, other: Place, place: Place) -> bool:
        """Whether a place is the one that stays the same."""
        if self._places.same(other, place):
            return True
        reaching = self._semantics.bindings.reaching
        one, two = ({each.scope.node for each in reaching(each.root)} for each in (other, place))
        return other.spelling == place.spelling and one == two

    def _can_be_copied(self, node: ast.expr, place: Place) -> Fact:
        """Whether a state holds tensors and numbers alone: what else a module hands out may refuse to be copied."""
        takes = [part for part in ast.walk(node) if isinstance(part, ast.Call) and last_name(part.func) == "state_dict"]
        if any(call.args or call.keywords for call in takes):
            return unknown("what the state holds by these arguments may refuse to be copied")
        kind = self._semantics.kind(place.node)
        if kind.type is Type.OPTIMIZER and kind.definition is None:
            return CERTAIN
        plain = kind.type is Type.MODULE and kind.definition is None and kind.name in torch_api.MODULES
        leaf = plain and kind.name not in torch_api.CONTAINER_MODULES
        nobody = "get_extra_state" not in {each.name for each in self._tree.of_type(ast.FunctionDef)}
        in_sight = self._semantics.of(OtherCode).reads_nothing("state_dict").is_certain
        doubt = f"the state of `{place.spelling}` may hold what cannot be copied"
        return known(leaf or (nobody and in_sight), doubt)

    # --- states ------------------------------------------------------------------------------------------------------

    def _restores(self, node: ast.expr, place: Place) -> Fact:
        """Whether a state is only loaded back into what it is of; the best so far, saved or handed out once that is over."""
        if (found := self._uses(node)) is None:
            return unknown("code may rely on the state that follows the weights")
        uses, name = found
        best = self._best_loop(node)
        loaded = any(self._is_loaded_into(use, place) for use in self._entries(node, uses))
        for use in self._entries(node, uses):
            behind = best is not None and not self._tree.inside(use, best) and self._is_handed_out(use)
            if not (behind or self._is_loaded_into(use, place) or self._asks_for_none(use)):
                return unknown(f"code may rely on `{name}` following the weights")
        return known(loaded or best is not None, f"nothing shows what `{name}` is kept for")

    def _entries(self, node: ast.expr, uses: list[ast.expr]) -> list[ast.expr]:
        """What is read of a dict that has the snapshot under a key: that entry, or the dict itself."""
        key = None
        match self._tree.parent(node):
            case ast.Dict(keys=keys, values=values):
                key = next(name for name, value in zip(keys, values) if value is node)
        if not isinstance(key, ast.Constant):
            return uses
        found: list[ast.expr] = []
        for use in uses:
            match self._tree.parent(use):
                case ast.Subscript(value=value, slice=ast.Constant(value=other)) as entry if value is use:
                    found += [entry] if other == key.value else []
                case _:
                    found.append(use)
        return found

    def _is_loaded_into(self, use: ast.expr, place: Place) -> bool:
        match self._tree.parent(use):
            case ast.Call(func=ast.Attribute(value=model, attr="load_state_dict"), args=[first], keywords=[]) if first is use:
                other = self._places.place(model)
                return other is not None and self._is_same(other, place)
        return False

    def _asks_for_none(self, use: ast.expr) -> bool:
        match self._tree.parent(use):
            case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                return True
            case ast.If(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
                return test is use
        return False

    def _is_handed_out(self, use: ast.expr) -> bool:
        match self._tree.parent(use):
            case ast.Return():
                return True
            case ast.Call(func=ast.Attribute(attr="load_state_dict"), args=[first]):
                return first is use
            case ast.Call(func=function, args=[first, *_]) if first is use:
                return self._semantics.qualified_name(function) == "torch.save"
        return False

    def _best_loop(self, node: ast.expr) -> ast.AST | None:
        """The loop that keeps the best: ``if loss < least: least, best = loss, model.state_dict()``."""
        statement = self._tree.statement(node)
        branch = self._tree.parent(statement)
        match branch:
            case ast.If(test=ast.Compare(left=left, ops=[op], comparators=[right]), body=body) if statement in body:
                ordered = isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
                texts = {ast.unparse(left), ast.unparse(right)}
                pairs = [pair for each in body if isinstance(each, ast.Assign) for pair in _pairs(each)]
                if ordered and any({ast.unparse(target), ast.unparse(value)} == texts for target, value in pairs):
                    return next((each for each in self._tree.ancestors(branch) if isinstance(each, LOOPS)), None)
        return None

    # --- tensors -----------------------------------------------------------------------------------------------------

    def _compares(self, node: ast.expr, place: Place) -> Fact:
        """Whether tensors are only compared with those that they were taken of."""
        found = self._uses(node)
        if found is None or isinstance(self._target(node), ast.Attribute):
            return unknown("code may rely on the memory that is shared with the weights")
        uses, name = found
        if uses and all(self._is_compared(use, place) for use in uses):
            return CERTAIN
        return unknown(f"code may rely on the memory that `{name}` shares with `{place.spelling}`")

    def _is_compared(self, use: ast.expr, place: Place) -> bool:
        parent = self._tree.parent(use)
        match parent:
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._is_source(right if left is use else left, place)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                return self._is_source(right if left is use else left, place)
            case ast.Call(func=function, args=[first, second, *_], keywords=words) if use in (first, second):
                if self._semantics.qualified_name(function) in _COMPARING:
                    named = all(word.arg in ("rtol", "atol", "equal_nan", "reduction") for word in words)
                    return named and self._is_source(second if first is use else first, place)
                if self._semantics.qualified_name(function) == "builtins.zip" and not words and len(parent.args) == 2:
                    other = second if first is use else first
                    return self._is_live(other, place) and self._are_compared(parent, first is not use)
        return False

    def _are_compared(self, call: ast.Call, second: bool) -> bool:
        """Whether a loop over ``zip(initial, net.parameters())`` only compares the two that it takes at a time."""
        match self._tree.parent(call):
            case ast.For(target=ast.Tuple(elts=[ast.Name() as one, ast.Name() as two]), iter=iterable) if iterable is call:
                pass
            case ast.comprehension(target=ast.Tuple(elts=[ast.Name() as one, ast.Name() as two])):
                pass
            case _:
                return False
        old, new = (two, one) if second else (one, two)
        binding, live = self._semantics.bindings.of(old), self._semantics.bindings.of(new)
        if binding is None or live is None or not binding.uses:
            return False
        return all(self._meets(use, live.uses) for use in binding.uses)

    def _meets(self, use: ast.expr, others: Iterable[ast.Name]) -> bool:
        """Whether a tensor is compared with one of some names."""
        match self._tree.parent(use):
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                other = right if left is use else left
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                other = right if left is use else left
            case ast.Call(func=function, args=[first, second], keywords=[]) if (
                self._semantics.qualified_name(function) in _COMPARING
            ):
                other = second if first is use else first
            case _:
                return False
        return _stripped(other) in set(others)

    def _is_live(self, node: ast.expr, place: Place) -> bool:
        """Whether an expression gives all parameters of the module at ``place``."""
        match node:
            case ast.Call(func=ast.Attribute(value=model, attr="parameters"), args=[], keywords=[]):
                other = self._places.place(model)
                return other is not None and self._is_same(other, place)
        return False

    def _is_source(self, node: ast.expr, place: Place) -> bool:
        """Whether an expression is the tensor at ``place``, or a detached one with its values."""
        other = self._places.place(_stripped(node))
        return other is not None and self._is_same(other, place)

    # --- lists of tensors --------------------------------------------------------------------------------------------

    def _is_appended(self, node: ast.expr) -> bool:
        match self._tree.parent(node):
            case ast.Call(func=ast.Attribute(attr="append")):
                return True
        return False

    def _collects(self, node: ast.expr) -> Fact:
        """Whether a list of the values of each round is only stacked, once the loop is done."""
        doubt = unknown("code may rely on the memory that is shared with the weights")
        match self._tree.parent(node):
            case ast.Call(func=ast.Attribute(value=ast.Name() as holder)) as call:
                bindings, loop = self._semantics.bindings.reaching(holder), next(self._tree.loops(call), None)
            case _:
                return doubt
        if len(bindings) != 1 or loop is None or bindings[0].scope.parent is None or bindings[0].form is not Form.ASSIGNMENT:
            return doubt
        if not isinstance(bindings[0].value, ast.List) or bindings[0].value.elts or bindings[0].path:
            return doubt
        uses = [use for use in bindings[0].uses if use is not holder]
        return CERTAIN if uses and all(self._is_stacked(use, loop) for use in uses) else doubt

    def _is_stacked(self, use: ast.Name, loop: ast.AST) -> bool:
        match self._tree.parent(use):
            case ast.Call(func=function, args=[first, *_]) if first is use and not self._tree.inside(use, loop):
                return self._semantics.qualified_name(function) in _STACKING
        return False

    # --- where it is kept --------------------------------------------------------------------------------------------

    def _target(self, node: ast.expr) -> ast.expr | None:
        match self._tree.statement(node):
            case ast.Assign() as assignment:
                holder = self._tree.parent(node)
                kept = holder if isinstance(holder, ast.Dict) else node
                return next((target for target, value in _pairs(assignment) if value is kept), None)
        return None

    def _uses(self, node: ast.expr) -> tuple[list[ast.expr], str] | None:
        """All that the program does with the variable or attribute that keeps a snapshot, and its name; none if unknown."""
        match self._target(node):
            case ast.Name(id=name) as target:
                binding = self._semantics.bindings.of(target)
                if binding is None or not self._is_own(name, binding.scope):
                    return None
                uses = [use for each in binding.scope.bindings[name] for use in each.uses]
                scope = self._semantics.control_flow.scope(target)
                if any(self._semantics.control_flow.scope(use) is not scope for use in uses):
                    return None
                return [*uses], name
            case ast.Attribute(attr=name) as target if self._semantics.facts.self_class(target.value) is not None:
                if not self._semantics.of(OtherCode).reads_nothing(name).is_certain:
                    return None
                found = [each for each in self._tree.of_type(ast.Attribute) if each.attr == name]
                if any(self._semantics.facts.self_class(each.value) is None for each in found):
                    return None
                if name in {each.value for each in self._tree.of_type(ast.Constant)} or "vars" in self._semantics.facts.calls:
                    return None
                return [each for each in found if isinstance(each.ctx, ast.Load)], dotted(target) or name
        return None

    def _is_own(self, name: str, scope: Scope) -> bool:
        """Whether a variable belongs to the code that binds it, so that no other file reads it."""
        if name in scope.outer_names or isinstance(scope.node, ast.ClassDef):
            return False
        return scope.parent is not None or self._semantics.of(Programs).trains.is_certain


def _stripped(node: ast.expr) -> ast.expr:
    """A tensor without what gives another object with its values: ``w`` of ``w.detach().cpu()``."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]) if name in _SAME:
            return _stripped(inner)
        case ast.Attribute(value=inner, attr="data"):
            return _stripped(inner)
    return node


def _pairs(assignment: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Each target of an assignment with its value: ``best, least = model.state_dict(), 1e9`` has two."""
    match assignment:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            return list(zip(targets, values))
        case ast.Assign(targets=[target], value=value):
            return [(target, value)]
    return []
