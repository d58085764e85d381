"""Whether modules and parameters that are kept in a list are registered in another way, or looked after by hand."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.registration.collections import FILLING, Collection, Collections

_READING = frozenset(
    f"builtins.{name}"
    for name in (
        *("len", "enumerate", "zip", "reversed", "range", "print", "iter", "next", "str", "repr", "bool", "any", "all"),
        *("list", "tuple", "sum", "map", "min", "max"),
    )
)
"""Builtin functions that look at a list's items and register none."""
_LOOPING = frozenset({"builtins.enumerate", "builtins.zip", "builtins.reversed", "builtins.list", "builtins.tuple"})
_BY_HAND = frozenset(
    {
        *("parameters", "named_parameters", "modules", "named_modules", "state_dict", "load_state_dict"),
        *("train", "eval", "to", "cuda", "requires_grad_"),
    }
)
"""Methods of modules that code calls on the items of a list when it looks after unregistered modules itself."""
_PARTS = frozenset({"children", "named_children", "modules"})
"""Methods that give the parts of a module."""
_MOVING = frozenset({"to", "cuda"})
_REGISTERING = frozenset({"add_module", "register_module", "register_parameter", "setattr", "__setattr__"})
_DEEP = 4
"""Through how many methods a collection is followed."""


class Registration:
    """Looks at what becomes of the collections of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._collections = semantics.of(Collections)

    def is_registered(self, found: Collection) -> bool:
        """Whether the class registers the collection in another way, or looks after what is in it by hand."""
        slots = self._semantics.facts.slots(found.owner, found.target.attr)
        for slot in slots:
            for store in slot.stores:
                statement = self._semantics.tree.parent(store)
                if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                    if self._semantics.kind(statement.value).type is Type.MODULE:
                        return True
        if self._is_hidden(found) or any(map(self._has_parameters_collected, found.fillings)):
            return True
        if self._registers_itself(found.owner) or any(map(self._loop_handles, self._loops_by_others(found))):
            return True
        if self._is_registered_beside(found):
            return True
        if found.fillings and all(self._is_frozen(filling) or self._is_snapshot(filling) for filling in found.fillings):
            return True
        if self._is_trained_as_whole(found):
            return any(self._registers(use) for use in found.uses if not self._is_moved(use))
        return any(self._registers(use) for use in found.uses)

    def _registers_itself(self, owner: ast.ClassDef) -> bool:
        """Whether a class has a way of its own to register what it is given: its ``__setattr__``, or torch's own dicts."""
        if self._semantics.facts.method(owner, "__setattr__") is not None:
            return True
        return any(self._semantics.facts.slots(owner, name) for name in ("_modules", "_parameters"))

    def _is_registered_beside(self, found: Collection) -> bool:
        """Whether a loop over the same names registers what they stand for, or its parts: ``for each in [a, b]: …``."""
        tree, function = self._semantics.tree, self._semantics.tree.function(found.target)
        values = [each for display in found.displays if isinstance(display, (ast.List, ast.Tuple)) for each in display.elts]
        names = {each.id for each in (*values, *found.fillings) if isinstance(each, ast.Name)}
        calls = (call for name in ("add_module", "register_module") for call in self._semantics.facts.calls.get(name, ()))
        loops = (loop for call in calls if names and tree.function(call) is function for loop in tree.loops(call))
        iterated = (part for loop in loops if isinstance(loop, ast.For) for part in ast.walk(loop.iter))
        return any(isinstance(part, ast.Name) and part.id in names for part in iterated)

    def _loops_by_others(self, found: Collection) -> list[ast.expr]:
        """Where loops go through an attribute of that name of an object of which nothing is known: its owner, perhaps."""
        facts, tree = self._semantics.facts, self._semantics.tree
        return [
            part
            for part in tree.of_type(ast.Attribute)
            if part.attr == found.target.attr
            and isinstance(parent := tree.parent(part), (ast.For, ast.comprehension))
            and parent.iter is part
            and facts.self_class(part.value) is None
            and self._semantics.kind(part.value).type is Type.UNKNOWN
        ]

    def _is_trained_as_whole(self, found: Collection) -> bool:
        """Whether an optimizer is given ``model.parameters()`` of an object of the class, in which those of the items lack."""
        for call in self._semantics.facts.calls.get("parameters", ()):
            if isinstance(call.func, ast.Attribute) and self._semantics.kind(call.func.value).definition is found.owner:
                outer = self._semantics.tree.parent(call)
                if isinstance(outer, ast.Call) and self._semantics.kind(outer).type is Type.OPTIMIZER:
                    return True
        return False

    def _is_moved(self, use: ast.expr) -> bool:
        """Whether an item of the collection is moved to another device where it is used from outside, and no more."""
        parent = self._semantics.tree.parent(use)
        if not isinstance(use, ast.Attribute) or self._semantics.facts.self_class(use.value) is not None:
            return False
        if isinstance(parent, ast.Subscript) and parent.value is use:
            return self._is_move(parent)
        if isinstance(parent, ast.For) and parent.iter is use and isinstance(parent.target, ast.Name):
            binding = self._semantics.bindings.of(parent.target)
            return binding is not None and bool(binding.uses) and all(self._is_move(name) for name in binding.uses)
        return False

    def _is_move(self, item: ast.expr) -> bool:
        """Whether an item is moved by a statement of its own; its parts stay the same objects."""
        parent = self._semantics.tree.parent(item)
        if not isinstance(parent, ast.Attribute) or parent.attr not in _MOVING:
            return False
        call = self._semantics.tree.parent(parent)
        return isinstance(call, ast.Call) and isinstance(self._semantics.tree.parent(call), ast.Expr)

    def _is_hidden(self, found: Collection) -> bool:
        """Whether a list of one item is only read at its first place: the usual way to hide a module from another."""
        if found.fillings or len(found.displays) != 1:
            return False
        display = found.displays[0]
        if not isinstance(display, (ast.List, ast.Tuple)) or len(display.elts) != 1 or isinstance(display.elts[0], ast.Starred):
            return False
        for use in found.uses:
            parent = self._semantics.tree.parent(use)
            if not (isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant) and parent.slice.value == 0):
                return False
        return True

    def _has_parameters_collected(self, filling: ast.expr) -> bool:
        """Whether the parameters of what is put in are kept by the class as well: `self.kept += layer.parameters()`."""
        tree = self._semantics.tree
        around = next(tree.loops(filling), None) or tree.function(filling)
        items = {part.id for part in ast.walk(filling) if isinstance(part, ast.Name)}
        for call in self._semantics.facts.calls.get("parameters", ()):
            match call.func:
                case ast.Attribute(value=ast.Name(id=item)) if item in items:
                    if any(outer is around for outer in tree.ancestors(call)) and self._extends_list_of_class(call):
                        return True
        return False

    def _is_frozen(self, filling: ast.expr) -> bool:
        """Whether what is put in was frozen by hand before, as one that is not to be trained: `p.requires_grad = False`."""
        items = {part.id for part in ast.walk(filling) if isinstance(part, ast.Name)}
        around = next(self._semantics.tree.loops(filling), None) or self._semantics.tree.function(filling)
        for call in self._semantics.facts.calls.get("parameters", ()):
            match call.func, self._semantics.tree.parent(call):
                case ast.Attribute(value=ast.Name(id=item)), ast.For(body=[ast.Assign() as only]) as loop if item in items:
                    is_within = any(outer is around for outer in self._semantics.tree.ancestors(loop))
                    if is_within and loop.iter is call and _freezes(only):
                        return True
        return False

    def _is_snapshot(self, filling: ast.expr) -> bool:
        """Whether what is put in is a copy of a part as a training has made it, to be kept as it is: of an attribute that the
        class has besides, and not in its constructor.
        """
        function = self._semantics.tree.function(filling)
        match filling:
            case ast.Call(func=called, args=[ast.Attribute(value=owner)]):
                is_copy = self._semantics.qualified_name(called) == "copy.deepcopy"
                is_own = self._semantics.facts.self_class(owner) is not None
                return is_copy and is_own and isinstance(function, FUNCTIONS) and function.name != "__init__"
        return False

    def _extends_list_of_class(self, call: ast.Call) -> bool:
        """Whether a list of an object of the class is extended by what a call gives, and not by what is counted of it."""
        match given := self._semantics.tree.parent(call):
            case ast.Call(func=ast.Name(id="list")):
                value, extended = given, self._semantics.tree.parent(given)
            case _:
                value, extended = call, given
        match extended:
            case ast.AugAssign(target=ast.Attribute(value=owner), op=ast.Add(), value=added) if added is value:
                return self._semantics.facts.self_class(owner) is not None
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=owner), attr="extend"), args=[added]) if added is value:
                return self._semantics.facts.self_class(owner) is not None
        return False

    def _registers(self, use: ast.expr, outer: tuple[ast.expr, ...] = ()) -> bool:
        """Whether a use of the collection may register what is in it; ``outer`` are the calls that led there."""
        tree = self._semantics.tree
        child, parent = use, tree.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is child and isinstance(parent.ctx, ast.Load):
            return self._item_is_handled(parent)
        if (
            isinstance(parent, ast.Attribute)
            and parent.attr in ("values", "items", "keys")
            and isinstance(parent.ctx, ast.Load)
        ):
            call = tree.parent(parent)
            if isinstance(call, ast.Call):
                child, parent = call, tree.parent(call)
        while isinstance(parent, (ast.Starred, ast.BinOp, ast.List, ast.Tuple, ast.IfExp, ast.keyword, ast.Dict)):
            child, parent = parent, tree.parent(parent)  # type: ignore[assignment]
        if isinstance(parent, ast.Call) and child is not parent.func:
            name = self._semantics.qualified_name(parent.func)
            if name in _LOOPING:
                return self._loop_handles(parent)
            if name in _READING or name == "builtins.isinstance" or _is_filling(parent):
                return len(outer) < _DEEP and any(self._registers(each, (*outer, use)) for each in self._extended(parent))
            if (given := self._collections.parameter_given(parent, child)) is not None and len(outer) < _DEEP:
                return any(self._registers(inner, (*outer, use)) for inner in given.uses)
            return not (name or "").startswith("torch.") or name in torch_api.MODULES
        return self._loop_handles(child)

    def _extended(self, call: ast.Call) -> list[ast.expr]:
        """The other uses of the list that a call extends, of a name or an attribute of the class."""
        match call.func:
            case ast.Attribute(value=ast.Name() as name, attr="extend"):
                binding = self._semantics.bindings.reaching(name)
                return [use for each in binding for use in each.uses if use is not name]
            case ast.Attribute(value=ast.Attribute(value=holder, attr=attribute) as extended, attr="extend"):
                owner = self._semantics.facts.self_class(holder)
                slots = self._semantics.facts.slots(owner, attribute) if owner is not None else []
                return [use for slot in slots for use in slot.uses if use is not extended]
        return []

    def _loop_handles(self, iterated: ast.expr) -> bool:
        """Whether a loop over the collection registers its items or looks after their parameters by hand."""
        tree = self._semantics.tree
        parent = tree.parent(iterated)
        while isinstance(parent, ast.Call) and self._semantics.qualified_name(parent.func) in _LOOPING:
            iterated, parent = parent, tree.parent(parent)
        loop: ast.AST | None = None
        if isinstance(parent, (ast.For, ast.AsyncFor)) and parent.iter is iterated:
            loop = parent
        elif isinstance(parent, ast.comprehension) and parent.iter is iterated:
            loop = tree.parent(parent)
        if loop is None:
            return isinstance(parent, (ast.Assign, ast.Call, ast.Yield)) and not _is_reading_assignment(parent)
        targets = parent.target if isinstance(parent, (ast.For, ast.AsyncFor, ast.comprehension)) else None
        names = [part for part in ast.walk(targets) if isinstance(part, ast.Name)] if targets is not None else []
        bindings = [binding for name in names if (binding := self._semantics.bindings.of(name)) is not None]
        return any(self._item_is_handled(use) for binding in bindings for use in binding.uses)

    def _item_is_handled(self, item: ast.expr) -> bool:
        """Whether an item is registered where it is used, or its parameters are asked for."""
        tree = self._semantics.tree
        parent = tree.parent(item)
        match parent:
            case ast.Attribute(attr=method):
                return method in _BY_HAND
            case ast.Call(func=function) if function is not item:
                if self._semantics.qualified_name(function) in _LOOPING:
                    return self._is_looped_over(parent) and self._loop_handles(parent)
                return last_name(function) in _REGISTERING or self._makes_module(parent)
            case ast.For(iter=iterated) if iterated is item:
                return self._loop_handles(item)
            case ast.Assign(targets=[ast.Name() as name]):
                binding = self._semantics.bindings.of(name)
                return binding is not None and any(map(self._is_returned_to_attribute, binding.uses))
            case ast.Assign(targets=targets):
                return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)
            case ast.Return():
                return self._is_returned_to_attribute(item)
            case ast.Starred():
                outer = tree.parent(parent)
                return isinstance(outer, ast.Call) and self._makes_module(outer)
        return False

    def _is_looped_over(self, iterable: ast.expr) -> bool:
        """Whether what a call makes of items is what a statement loops over."""
        parent = self._semantics.tree.parent(iterable)
        return isinstance(parent, (ast.For, ast.AsyncFor)) and parent.iter is iterable

    def _is_returned_to_attribute(self, item: ast.expr) -> bool:
        """Whether a method returns an item, as the one that was chosen, and an attribute is given what the method returns."""
        tree = self._semantics.tree
        function = tree.function(item)
        if not isinstance(tree.parent(item), ast.Return) or not isinstance(function, FUNCTIONS):
            return False
        assigned = [tree.parent(call) for call in self._semantics.facts.calls.get(function.name, ())]
        return any(isinstance(each, ast.Assign) and self._is_registered_there(each.targets[0]) for each in assigned)

    def _is_registered_there(self, target: ast.expr) -> bool:
        """Whether an assignment registers a module, or the next does so in parts: `self.body = Sequential(*net.children())`."""
        if isinstance(target, ast.Attribute):
            return True
        binding = self._semantics.bindings.of(target) if isinstance(target, ast.Name) else None
        for use in binding.uses if binding is not None else ():
            match self._semantics.tree.statement(use):
                case ast.Assign(targets=[ast.Attribute()], value=value) if self._semantics.kind(value).type is Type.MODULE:
                    return any(isinstance(part, ast.Call) and last_name(part.func) in _PARTS for part in ast.walk(value))
        return False

    def _makes_module(self, call: ast.Call) -> bool:
        if (self._semantics.qualified_name(call.func) or "") in torch_api.MODULES:
            return True
        return self._semantics.kind(call).type is Type.MODULE and self._semantics.kind(call.func).type is Type.CLASS

    def is_kept_elsewhere(self, item: ast.expr) -> bool:
        """Whether a named item is given to an attribute as well, registered by name, or made a part of another module."""
        if not isinstance(item, ast.Name):
            return isinstance(item, ast.Call) and (self._is_made_registered(item) or self._is_kept_by_key(item))
        return any(
            self._is_assigned_to_attribute(b) or self._is_kept_on_all_paths(b, item) for b in self._collections.origins(item)
        )

    def _is_kept_on_all_paths(self, binding: Binding, item: ast.Name) -> bool:
        """Whether a name's value is given away wherever it is put into the collection; not where one branch does the one.

        Of two conditions that read alike one may stand for the other.
        """
        keeping = [use for use in (*binding.uses, item) if self._keeps(use)]
        if not keeping or binding.form not in (Form.ASSIGNMENT, Form.LOOP):
            return bool(keeping)
        flow, made = self._semantics.control_flow, binding.node
        if not flow.may_follow(made, item, avoiding=keeping):
            return True
        if not flow.may_end(item, avoiding=keeping) and not flow.may_follow(item, made, avoiding=keeping):
            return True
        around = self._branches(item)
        for use in keeping:
            own = self._branches(use) - around
            if not own or {_spelled(branch) for branch in own} & {_spelled(branch) for branch in around}:
                return True
        return False

    def _branches(self, node: ast.AST) -> set[tuple[ast.If, bool]]:
        """The conditional statements around a node within its function, each with whether it stands in the first branch."""
        found, child = set[tuple[ast.If, bool]](), node
        for outer in self._semantics.tree.ancestors(node):
            if isinstance(outer, FUNCTIONS):
                break
            if isinstance(outer, ast.If) and child is not outer.test:
                found.add((outer, child in outer.body))
            child = outer
        return found

    def _is_made_registered(self, call: ast.Call) -> bool:
        """Whether an item comes from a method of the class that registers what it makes."""
        if not isinstance(call.func, ast.Attribute):
            return False
        owner = self._semantics.facts.self_class(call.func.value)
        method = self._semantics.facts.method(owner, call.func.attr) if owner is not None else None
        if method is None:
            return False
        called = (part for part in ast.walk(method) if isinstance(part, ast.Call))
        return any(last_name(part.func) in _REGISTERING for part in called)

    def _is_kept_by_key(self, item: ast.Call) -> bool:
        """Whether an entry of a dict that has a name is given to a container by its key: ``parts.append(entry["part"])``."""
        display = self._semantics.tree.parent(item)
        statement = self._semantics.tree.parent(display) if isinstance(display, ast.Dict) else None
        if not isinstance(display, ast.Dict) or not isinstance(statement, ast.Assign) or item not in display.values:
            return False
        key = display.keys[display.values.index(item)]
        bindings = [self._semantics.bindings.of(target) for target in statement.targets if isinstance(target, ast.Name)]
        entries = (self._semantics.tree.parent(use) for binding in bindings if binding is not None for use in binding.uses)
        return isinstance(key, ast.Constant) and any(
            isinstance(entry, ast.Subscript) and ast.dump(entry.slice) == ast.dump(key) and self._is_registered(entry)
            for entry in entries
        )

    def _is_registered(self, value: ast.expr) -> bool:
        """Whether a value is put into something that registers modules."""
        call = self._semantics.tree.parent(value)
        if not isinstance(call, ast.Call) or value not in call.args or not isinstance(call.func, ast.Attribute):
            return False
        holder = self._semantics.kind(call.func.value)
        return (call.func.attr == "append" and holder.type is Type.MODULE) or last_name(call.func) in _REGISTERING

    def _keeps(self, use: ast.Name) -> bool:
        parent = self._semantics.tree.parent(use)
        match parent:
            case ast.Call(func=function) if function is not use:
                if last_name(function) in _REGISTERING:
                    return True
                return not isinstance(self._semantics.tree.parent(parent), ast.Expr) and not self._is_mere_function(function)
            case ast.Assign(targets=targets, value=value) if value is use:
                return any(isinstance(target, ast.Attribute) for target in targets)
            case ast.Starred() | ast.keyword():
                return True
        return False

    def _is_mere_function(self, function: ast.expr) -> bool:
        """Whether a call of a function keeps nothing: of a builtin, or of torch without being a module's class."""
        name = self._semantics.qualified_name(function) or ""
        return name.startswith(("builtins.", "torch.nn.init.", "torch.nn.utils."))

    def _is_assigned_to_attribute(self, binding: Binding) -> bool:
        statement = self._semantics.tree.parent(binding.node)
        return isinstance(statement, ast.Assign) and any(isinstance(target, ast.Attribute) for target in statement.targets)


def _spelled(branch: tuple[ast.If, bool]) -> tuple[str, bool]:
    """What is asked for a branch to be run, as it is written."""
    return ast.dump(branch[0].test), branch[1]


def _is_filling(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in FILLING


def _is_reading_assignment(parent: ast.AST) -> bool:
    """Whether ``parent`` is an assignment to plain names."""
    return isinstance(parent, ast.Assign) and not any(
        isinstance(part, (ast.Attribute, ast.Subscript)) for target in parent.targets for part in ast.walk(target)
    )


def _freezes(statement: ast.Assign) -> bool:
    """Whether a statement says that something needs no gradient."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=ast.Constant(value=False)):
            return True
    return False
