"""Loads of what holds tensors, as its use shows: whole modules, checkpoints, and what is put on a device afterwards."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, dotted, last_name, spoken_name
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.saved_objects import SavedObjects
from torchlint.semantics.saving.uses import LoadedUses

_OF_MODULES = frozenset(
    {"eval", "train", "parameters", "named_parameters", "modules", "named_modules", "children", "state_dict", "zero_grad"}
)
"""Methods of modules that tensors do not have."""
_NAMED = "model|net|network|encoder|decoder|generator|discriminator|netG|netD|actor|critic|student|teacher|ema|optimizer|optim"
_KEYS = re.compile(rf"(.+_)?state_dict|weights|({_NAMED})(_state|_weights|_sd)?", re.IGNORECASE)
"""What checkpoints call the items that hold tensors."""
_MODEL = re.compile(
    r"(^|_)(model|net|network|backbone|pretrain(ed)?|weights?|checkpoint|ckpt|encoder|decoder|state_dict)s?(_|$)", re.IGNORECASE
)
_TRAINED = re.compile(rf"(^|_)({_NAMED}|backbone|weights?|checkpoint|ckpt|state|params?|parameters)", re.IGNORECASE)
"""What has come of a training, as it is called."""
_STATISTICS = re.compile(r"(^|_)(means?|stds?|var|variances?|stats|statistics)(_|$)", re.IGNORECASE)
"""What is called so that was counted over the data."""
_DIGEST = re.compile(r"-[0-9a-f]{8}\.pth$")
_LOADING = re.compile(r"^_?(load|restore|resume)(_|$)", re.IGNORECASE)
_DECRYPTING = re.compile(r"decrypt|decipher", re.IGNORECASE)
"""What functions are called that are given what is no tensor yet."""
_OPTIONS = re.compile(r"(args|options?|opt|cfg|conf|config|hparams|hyperparameters)$", re.IGNORECASE)
_OF_WHOLE = frozenset({"eval", "train", "parameters", "named_parameters"})
"""Methods that modules have, and neither tensors nor states."""
_STATE = re.compile(r"state|weights|checkpoint|ckpt", re.IGNORECASE)


class LoadedTensors:
    """Finds the loads of one file that put tensors on a device: on that which they were saved on, if they are told no other."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> set[ast.Call]:
        """The calls of ``torch.load`` that give tensors."""
        files, uses = self._semantics.of(SavedFiles), self._semantics.of(LoadedUses)
        loads = [load for load in files.loads if not _is_published(load)]
        return {
            load
            for load in loads
            if (load in files.weights and not any(map(self._is_decrypted, uses.of(load))))
            or any(map(self._shows_tensors, uses.of(load)))
            or self._is_own_checkpoint(uses.of(load))
        }

    def _is_decrypted(self, use: ast.expr) -> bool:
        """Whether a call makes the weights of what was loaded, which holds what was encrypted: objects of another library."""
        match self._tree.parent(use):
            case ast.Call(func=function, args=given):
                return use in given and _DECRYPTING.search(last_name(function)) is not None
        return False

    def are_data(self, load: ast.Call) -> bool:
        """Whether a load gives tensors side by side, of which nothing shows but that they are put on a device: a data set,
        which is made on the CPU, and not what was trained. So are statistics of the data, by their name:
        ``self.mean = torch.load(path)``.
        """
        if load in self._semantics.of(SavedFiles).weights:
            return False
        match self._tree.parent(load):
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
                is_named = _STATISTICS.search(last_name(target)) is not None
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if all(isinstance(each, ast.Name) for each in targets):
                is_named = not any(_TRAINED.search(last_name(each)) for each in targets)
            case _:
                return False
        shown = [each for each in self._semantics.of(LoadedUses).of(load) if self._shows_tensors(each)] if is_named else []
        return bool(shown) and all(map(self._is_put_on_device, shown))

    def _is_put_on_device(self, use: ast.expr) -> bool:
        method = self._tree.parent(use)
        return isinstance(method, ast.Attribute) and self._is_called(method) and self._moves(method)

    # --- whole modules -----------------------------------------------------------------------------------------------

    def place_of_module(self, load: ast.Call) -> str | None:
        """The device that a whole module is to be on, which nothing moves from where it is loaded to, while others are moved
        where it is used: its name in sight of the load, or none; ``None`` where that is not so.
        """
        uses = self._semantics.of(LoadedUses).of(load)
        if any(map(self._is_reckoned_with, uses)):
            return ""
        if any(map(self._is_module_item, uses)):
            return self._device_in_sight(self._moves_elsewhere, load) or None
        if moves := [move for use in uses for move in self._moves_of_others(use)]:
            return self._device_in_sight(moves, load)
        if any(map(self._is_own_part, uses)):
            return self._device_in_sight(self._moves_elsewhere, load) or ""
        if not any(map(self._is_run, uses)) or any(map(self._is_moved, uses)):
            return None
        functions = {self._tree.function(use) for use in uses}
        moves = [call for call in self._moves_elsewhere if not functions.isdisjoint(self._run_by(self._tree.function(call)))]
        return self._device_in_sight(moves, load)

    def _run_by(self, function: ast.AST | None) -> Iterator[ast.AST | None]:
        """A function, and those that call it."""
        yield function
        for site in self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else ():
            yield self._tree.function(site)

    def _is_reckoned_with(self, use: ast.expr) -> bool:
        """Whether an item is a dict of which something is reckoned with what the program has: the state of an optimizer that
        the program is itself, ``momentum = saved["momentum"]``, then ``momentum[key] * rate + update[key]``.
        """
        match item := self._tree.parent(use):
            case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is use:
                match self._tree.parent(item):
                    case ast.Assign(targets=[ast.Name() as name], value=given) if given is item:
                        binding = self._semantics.bindings.of(name)
                        return any(map(self._is_term, binding.uses if binding is not None else ()))
        return False

    def _is_term(self, use: ast.expr) -> bool:
        """Whether an entry by a key that is a variable is a term, and not moved before."""
        match entry := self._tree.parent(use):
            case ast.Subscript(value=value, slice=ast.Name()) if value is use:
                return isinstance(self._tree.parent(entry), (ast.BinOp, ast.AugAssign))
        return False

    def _moves_of_others(self, use: ast.expr) -> list[ast.Call]:
        """The moves to a device of what an item's name has been before, where the item itself is not moved:
        ``x = x.to(device)``, and then ``x = saved["x"]``.
        """
        match item := self._tree.parent(use):
            case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is use:
                match self._tree.parent(item):
                    case ast.Assign(targets=[ast.Name() as name], value=given) if given is item:
                        binding = self._semantics.bindings.of(name)
                        if binding is None or any(map(self._is_put_on_device, binding.uses)):
                            return []
                        others = self._semantics.bindings.lookup(name.id, binding.scope)
                        moves = [self._move_to_device(each.value) for each in others if each is not binding and not each.path]
                        return [move for move in moves if move is not None]
        return []

    def _move_to_device(self, value: ast.expr | None) -> ast.Call | None:
        """A value that is a move to a device, which may be another one than the CPU."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or not self._moves(value.func):
            return None
        return value if _place(value) is not None else None

    def _is_own_part(self, use: ast.expr) -> bool:
        """Whether an item becomes an attribute of the object that loads, which calls it, and is not seen to move it."""
        match item := self._tree.parent(use):
            case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is use:
                match self._tree.parent(item):
                    case ast.Assign(targets=[ast.Attribute(value=owner, attr=attribute)], value=given) if given is item:
                        definition = self._semantics.facts.self_class(owner)
                        slots = self._semantics.facts.slots(definition, attribute) if definition is not None else []
                        uses = [use for slot in slots for use in slot.uses]
                        is_called = any(isinstance(self._tree.parent(use), ast.Call) and self._is_run(use) for use in uses)
                        return is_called and not any(map(self._is_put_on_device, uses)) and not self._moves_itself
        return False

    @cached_property
    def _moves_itself(self) -> bool:
        """Whether an object moves itself, and with it all its parts: ``self.to(device)``."""
        moved = (call.func.value for call in self._moves_elsewhere if isinstance(call.func, ast.Attribute))
        return any(isinstance(each, ast.Name) and self._semantics.facts.self_class(each) is not None for each in moved)

    def _device_in_sight(self, moves: list[ast.Call], load: ast.Call) -> str | None:
        """The name of a device that something is moved to, where a load sees it; empty for one that it does not."""
        places = [place for call in moves if (place := _place(call)) is not None]
        if not places:
            return None
        seen = (place.id for place in places if isinstance(place, ast.Name) and self._is_in_sight(place.id, load))
        return next(seen, "")

    def _is_module_item(self, use: ast.expr) -> bool:
        """Whether an item of what is loaded is a whole module, or is moved: ``model = saved["model"]; model.eval()``.

        What is no parameter of it, and what an optimizer beside it keeps, stays where it is loaded to, whatever is moved then.
        """
        match item := self._tree.parent(use):
            case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is use:
                match self._tree.parent(item):
                    case ast.Assign(targets=[ast.Name() as name]):
                        binding = self._semantics.bindings.of(name)
                        return any(map(self._is_of_module, binding.uses if binding is not None else ()))
        return False

    def _is_of_module(self, use: ast.expr) -> bool:
        method = self._tree.parent(use)
        if not isinstance(method, ast.Attribute) or not self._is_called(method):
            return False
        return method.attr in _OF_WHOLE or self._moves(method)

    @cached_property
    def _moves_elsewhere(self) -> list[ast.Call]:
        """The moves of the file to what may be another device than the CPU, but for those of what is loaded."""
        calls = [*self._semantics.facts.calls.get("to", ()), *self._semantics.facts.calls.get("cuda", ())]
        moves = [call for call in calls if isinstance(call.func, ast.Attribute) and self._moves(call.func)]
        return [call for call in moves if call.func.value not in self._semantics.of(SavedFiles).loads]

    def _is_run(self, use: ast.expr) -> bool:
        """Whether a use is that of a module, which is called or put into a mode."""
        match self._tree.parent(use):
            case ast.Attribute(attr=name) as method:
                return name in ("eval", "train") and self._is_called(method)
            case ast.Call(func=function):
                return function is use
        return False

    def _is_moved(self, use: ast.expr) -> bool:
        """Whether something is put on a device, by itself or in what it is wrapped by, or is one of several in a list."""
        match self._tree.parent(use):
            case ast.Attribute() as method:
                return self._is_called(method) and self._moves(method)
            case ast.Call() as wrapped if wrapped.func is not use:
                outer = self._tree.parent(wrapped)
                return isinstance(outer, ast.Attribute) and self._is_called(outer) and self._moves(outer)
            case ast.List() | ast.Tuple() | ast.Dict():
                return True
        return False

    def _is_in_sight(self, name: str, load: ast.Call) -> bool:
        """Whether a variable has been given a value before a load, where it sees it."""
        scope = self._semantics.bindings.scope_of(load)
        bindings = self._semantics.bindings.lookup(name, scope)
        around = [load, *(each for each in self._tree.ancestors(load) if isinstance(each, FUNCTIONS))]
        return bool(bindings) and all(
            each.form in (Form.PARAMETER, Form.ASSIGNMENT, Form.IMPORT)
            and any(each.scope is self._semantics.bindings.scope_of(node) for node in around)
            and getattr(each.node, "lineno", 0) < (load if each.scope is scope else around[-1]).lineno
            for each in bindings
        )

    # --- uses --------------------------------------------------------------------------------------------------------

    def _is_own_checkpoint(self, uses: tuple[ast.expr, ...]) -> bool:
        """Whether what is loaded has keys of the checkpoints that the file saves, each with the state of something."""
        parents = [(each, self._tree.parent(each)) for each in uses]
        items = [parent for each, parent in parents if isinstance(parent, ast.Subscript) and parent.value is each]
        keys = {
            each.slice.value for each in items if isinstance(each.slice, ast.Constant) and isinstance(each.slice.value, str)
        }
        return bool(keys) and self._semantics.of(SavedObjects).are_beside_state(keys)

    def _shows_tensors(self, use: ast.expr) -> bool:
        """Whether a use of a loaded value shows that it holds tensors."""
        parent = self._tree.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use and _is_named_tensors(parent.slice):
            return not _OPTIONS.search(spoken_name(use))
        while isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is use:
            if isinstance(parent, ast.Attribute) and self._is_called(parent):
                if parent.attr in _OF_MODULES or self._moves(parent):
                    return True
            use, parent = parent, self._tree.parent(parent)
        match parent:
            case ast.Call(func=function) if function is use:
                return self._has_tensor_items(parent) if isinstance(use, ast.Attribute) else True
            case ast.Call(args=[given, *others]) if given is use or use in others:
                return self._loads_into_model(parent, use)
            case ast.Assign(targets=[ast.Attribute(value=owner)]):
                kind = self._semantics.kind(owner)
                return kind.type is Type.MODULE and self._semantics.facts.self_class(owner) is None
        return False

    def _is_called(self, method: ast.Attribute) -> bool:
        parent = self._tree.parent(method)
        return isinstance(parent, ast.Call) and parent.func is method

    def _moves(self, method: ast.Attribute) -> bool:
        """Whether a method that is called puts something on a device: ``.cuda()``, ``.to(device)``."""
        call = self._tree.parent(method)
        if not isinstance(call, ast.Call):
            return False
        if method.attr == "cuda":
            return True
        given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "device")]
        return method.attr == "to" and any(
            "device" in last_name(each).lower() or (isinstance(each, ast.Constant) and isinstance(each.value, str))
            for each in given
        )

    def _has_tensor_items(self, call: ast.Call) -> bool:
        """Whether the items of what is loaded are put on a device in a loop over them, or copied into parameters."""
        loop = self._tree.parent(call)
        if not isinstance(loop, ast.For) or last_name(call.func) not in ("items", "values"):
            return False
        target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
        binding = self._semantics.bindings.of(target) if isinstance(target, ast.Name) else None
        for use in binding.uses if binding is not None else ():
            parent = self._tree.parent(use)
            if isinstance(parent, ast.Attribute) and self._is_called(parent) and self._moves(parent):
                return True
            copied = parent if isinstance(parent, ast.Attribute) and parent.attr == "data" else use
            match self._tree.parent(copied):
                case ast.Call(func=ast.Attribute(attr="copy_"), args=[first, *_]) if first is copied:
                    return True
        return False

    def _loads_into_model(self, call: ast.Call, given: ast.expr) -> bool:
        """Whether a call loads what it is given into a model, as its name says, or into a parameter.

        So does ``models.load(saved)``, ``load_matched_state_dict(model, saved)``, ``weight.copy_(saved[name])``, and
        ``optimizer.load_state_dict(saved)``; ``load_model(path, options)`` does not.
        """
        parts = (dotted(call.func) or last_name(call.func)).split(".")
        match parts[-1]:
            case "copy_":
                return isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Name)
            case "load_state_dict" if isinstance(call.func, ast.Attribute):
                return self._semantics.kind(call.func.value).type is Type.OPTIMIZER or "optim" in spoken_name(call.func.value)
        if not _LOADING.search(parts[-1]) or _OPTIONS.search(spoken_name(given)):
            return False
        return any(map(_MODEL.search, parts)) if given is call.args[0] else _STATE.search(parts[-1]) is not None


def _place(move: ast.Call) -> ast.expr | None:
    """The device that a call moves something to; ``None`` for the CPU."""
    given = [*move.args[:1], *(word.value for word in move.keywords if word.arg == "device")]
    if not given:
        return move.func
    return None if isinstance(given[0], ast.Constant) and given[0].value == "cpu" else given[0]


def _is_published(load: ast.Call) -> bool:
    """Whether a load reads a file of torchvision's, which ends with its digest, and has all its tensors on the CPU."""
    match load.args:
        case [ast.Constant(value=str(path))]:
            return _DIGEST.search(path) is not None
    return False


def _is_named_tensors(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and _KEYS.fullmatch(key.value) is not None
