"""Where the weights of a model change: steps of an optimizer, loaded states, calls that train."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Basis, Semantics, Type
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS, Function, given_to
from torchlint.semantics.memory.changes import Changes
from torchlint.semantics.memory.places import Place, Places

_OPTIMIZER_NAME = re.compile(r"optim|(^|_)opti?($|_|\d)|solver", re.IGNORECASE)
_TRAINS = re.compile(r"(^|_)(train|fit|learn|update|optimi[sz]e)(_|$|\d)|^train|^fit$", re.IGNORECASE)


@dataclass(frozen=True, eq=False, slots=True)
class Update:
    """A call, or an in-place change, that gives weights new values.

    ``of`` are the places whose weights change: models, tensors; empty where that is not known.
    """

    node: ast.AST
    of: tuple[Place, ...]


class Updates:
    """The updates of one file, by the function, class or module whose code they are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def of_scope(self, scope: ast.AST) -> list[Update]:
        """The updates that run in ``scope`` itself, in the order of the text."""
        return self._by_scope.get(scope, [])

    def changes(self, update: Update, place: Place) -> bool:
        """Whether an update may change what ``place`` is: a model with all its parts, a tensor, a part of a model."""
        return not update.of or any(self._overlap(place, other) for other in update.of)

    def _overlap(self, one: Place, other: Place) -> bool:
        shorter, longer = sorted((one, other), key=lambda place: len(place.spelling))
        if not f"{longer.spelling}.".startswith(f"{shorter.spelling}."):
            return self._is_alias(one, other)
        bindings = [set(self._semantics.bindings.reaching(place.root)) for place in (one, other)]
        if not bindings[0].isdisjoint(bindings[1]) or not any(bindings):
            return True
        owner = self._semantics.facts.self_class(one.root)
        return owner is not None and owner is self._semantics.facts.self_class(other.root)

    def _is_alias(self, one: Place, other: Place) -> bool:
        """Whether one of two places is a name for the other, or for a part of it: ``w = model.fc.weight``."""
        for place, whole in ((one, other), (other, one)):
            bindings = self._semantics.bindings.reaching(place.node) if isinstance(place.node, ast.Name) else ()
            for binding in bindings:
                source = self._whole(binding.value) if binding.value is not None else None
                if source is not None and source.id == whole.root.id and (source is not place.root):
                    return True
        return False

    def _whole(self, value: ast.expr) -> ast.Name | None:
        """The name of what a value is a part of, or wraps: ``model`` of ``model.fc.weight``, ``DataParallel(model)``."""
        while not isinstance(value, ast.Name):
            match value:
                case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                    value = inner
                case ast.Call(func=function, args=[first, *_]) if (self._semantics.qualified_name(function) or "").startswith(
                    "torch."
                ):
                    value = first
                case ast.Call(func=ast.Attribute(value=inner)):
                    value = inner
                case _:
                    return None
        return value

    @property
    def scopes(self) -> Iterable[ast.AST]:
        """The functions, or the module, in which there are updates."""
        return self._by_scope.keys()

    @cached_property
    def _by_scope(self) -> dict[ast.AST, list[Update]]:
        found: dict[ast.AST, list[Update]] = {}
        for update in [*self._direct, *self._through_functions]:
            found.setdefault(self._semantics.control_flow.scope(update.node), []).append(update)
        return found

    # --- direct updates ----------------------------------------------------------------------------------------------

    @cached_property
    def _direct(self) -> list[Update]:
        return list(self._seen_directly())

    def _seen_directly(self) -> Iterator[Update]:
        calls = self._semantics.facts.calls
        for call in calls.get("step", ()):
            if (optimizer := self._stepped(call)) is not None:
                yield Update(call, tuple(self.optimized(optimizer)))
        for call in calls.get("load_state_dict", ()):
            if isinstance(call.func, ast.Attribute) and (place := self._place(call.func.value)) is not None:
                yield Update(call, (place,))
        for name in calls:
            if _TRAINS.search(name):
                for call in calls[name]:
                    if (update := self._training_call(call, name)) is not None:
                        yield update
        yield from self._in_place

    def _place(self, node: ast.expr) -> Place | None:
        return self._semantics.of(Places).place(node)

    def _stepped(self, call: ast.Call) -> ast.expr | None:
        """The optimizer that ``call``, of a method ``step``, makes a step of."""
        if not isinstance(call.func, ast.Attribute):
            return None
        receiver = call.func.value
        kind = self._semantics.kind(receiver)
        if kind.type is Type.OPTIMIZER:
            is_of_use = kind.basis in (Basis.CALLED, Basis.READ)
            return None if is_of_use and self._is_differentiated(call) else receiver
        given = call.args[0] if call.args else None
        if given is not None and (self._semantics.kind(given).type is Type.OPTIMIZER or self._is_called_optimizer(given)):
            return given  # a gradient scaler's step
        if not kind.known and self._is_called_optimizer(receiver) and self._trains and not self._is_differentiated(call):
            return receiver
        return None

    def _is_differentiated(self, step: ast.Call) -> bool:
        """Whether gradients with a graph are made where an optimizer of unknown make does a step: it may make new weights."""
        scope = self._semantics.control_flow.scope(step)
        return any(
            self._semantics.control_flow.scope(call) is scope
            for call in self._semantics.facts.calls.get("backward", ())
            for word in call.keywords
            if word.arg == "create_graph" and not (isinstance(word.value, ast.Constant) and not word.value.value)
        )

    def _is_called_optimizer(self, node: ast.expr) -> bool:
        while isinstance(node, (ast.Subscript, ast.Call)):
            node = node.value if isinstance(node, ast.Subscript) else node.func
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        return _OPTIMIZER_NAME.search(name) is not None

    @property
    def _trains(self) -> bool:
        return bool(self._semantics.of(Backpropagated).roots)

    def optimized(self, optimizer: ast.expr) -> list[Place]:
        """The models and tensors whose weights an optimizer was given; empty where that is not known for all it may be."""
        if isinstance(optimizer, ast.Name):
            bindings = self._semantics.bindings.reaching(optimizer)
            values = [binding.value if binding.form is Form.ASSIGNMENT and not binding.path else None for binding in bindings]
        elif isinstance(optimizer, ast.Attribute):
            owner = self._semantics.facts.self_class(optimizer.value)
            slots = self._semantics.facts.slots(owner, optimizer.attr) if owner is not None else []
            statements = [self._semantics.tree.parent(store) for slot in slots for store in slot.stores]
            values = [statement.value if isinstance(statement, ast.Assign) else None for statement in statements]
        else:
            return []
        found: list[Place] = []
        for value in values:
            places = list(self._given(value)) if isinstance(value, ast.Call) else []
            if not places:
                return []
            found += places
        return found

    def _given(self, construction: ast.Call) -> Iterator[Place]:
        """The places in the first argument of an optimizer: ``model`` of ``model.parameters()``, ``w`` of ``[w]``."""
        given = construction.args[:1] or [word.value for word in construction.keywords if word.arg == "params"]
        for argument in given:
            whole = _models(argument)
            tensors = argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else []
            places = [self._place(part) for part in [*whole, *tensors]]
            if all(places) and not any(isinstance(part, COMPREHENSIONS) for part in ast.walk(argument)):
                yield from (place for place in places if place is not None)

    def _training_call(self, call: ast.Call, name: str) -> Update | None:
        """A call by a telling name that is given a model together with an optimizer, or ``trainer.fit(model)``."""
        given = given_to(call)
        if isinstance(self._semantics.facts.definition(call.func), FUNCTIONS):
            return None  # what that does is seen in its code
        models = [part for part in given if self._semantics.kind(part).type is Type.MODULE]
        places = tuple(place for part in models if (place := self._place(part)) is not None)
        if not places:
            return None
        if name == "fit" and isinstance(call.func, ast.Attribute) and models[0] is given[0]:
            return Update(call, places)
        optimizers = [
            part for part in given if self._semantics.kind(part).type is Type.OPTIMIZER or self._is_called_optimizer(part)
        ]
        return Update(call, places) if optimizers else None

    @property
    def _in_place(self) -> Iterator[Update]:
        """Changes of parameters in place: in a loop over ``model.parameters()``, or of one tensor through its name."""
        changes = self._semantics.of(Changes)
        for loop in self._semantics.tree.of_type(ast.For):
            models = _models(loop.iter)
            if len(models) == 1 and (place := self._place(models[0])) is not None:
                for target in (part for part in ast.walk(loop.target) if isinstance(part, ast.Name)):
                    binding = self._semantics.bindings.of(target)
                    for change in changes.changes(binding) if binding is not None else ():
                        yield Update(change.node, (place,))

    def change_tensor(self, place: Place) -> Iterator[Update]:
        """The in-place changes of one tensor through its own name or attribute."""
        changes = self._semantics.of(Changes)
        places = self._semantics.of(Places)
        for change in places.changes_at(place):
            yield Update(change.node, (place,))
        if isinstance(place.node, ast.Name):
            for binding in self._semantics.bindings.reaching(place.node):
                for change in changes.changes(binding):
                    yield Update(change.node, (place,))

    # --- functions of the file that update ---------------------------------------------------------------------------

    @cached_property
    def _through_functions(self) -> list[Update]:
        """The calls of functions of the file in which something is updated."""
        found: list[Update] = []
        pending = [(update.node, update.of) for update in self._direct]
        seen: set[tuple[ast.AST, tuple[str, ...]]] = set()
        while pending:
            node, places = pending.pop()
            function = self._semantics.tree.function(node)
            if not isinstance(function, FUNCTIONS):
                continue
            for call in self._semantics.inference.call_sites(function):
                of = tuple(self._at_call(call, function, places))
                if places and not of:
                    continue  # only what is made in the function itself
                key = (call, tuple(place.spelling for place in of))
                if key not in seen and not self._semantics.tree.inside(call, function):
                    seen.add(key)
                    found.append(Update(call, of))
                    pending.append((call, of))
        return found

    def _at_call(self, call: ast.Call, function: Function, places: tuple[Place, ...]) -> Iterator[Place]:
        """What the places of a function's body are where it is called; where none is known, the modules it is given."""
        found = [self.outside(place, call, function) for place in places]
        if not places:
            given = given_to(call)
            found = [self._place(part) for part in given if self._semantics.kind(part).type is Type.MODULE]
        yield from (place for place in found if place is not None)

    def outside(self, place: Place, call: ast.Call, function: Function) -> Place | None:
        """The place that a caller knows as ``place``: the argument for a parameter, the same of ``self``, a global."""
        binding = next(iter(self._semantics.bindings.reaching(place.root)), None)
        if binding is None or binding.scope.node is not function:
            return place
        if binding.form is not Form.PARAMETER or not isinstance(binding.node, ast.arg):
            return None
        attributes = place.spelling.partition(".")[2]
        if isinstance(call.func, ast.Attribute) and self._semantics.facts.self_class(place.root) is not None:
            argument: ast.expr | None = call.func.value
        else:
            argument = self._semantics.facts.argument(call, function, binding.node)
        outer = self._place(argument) if argument is not None else None
        if outer is None or not attributes:
            return outer
        return Place(outer.node, f"{outer.spelling}.{attributes}", outer.root)


def _models(node: ast.expr) -> list[ast.expr]:
    """The models whose ``parameters()`` an expression takes."""
    return [
        part.func.value
        for part in ast.walk(node)
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr in ("parameters", "named_parameters")
    ]
