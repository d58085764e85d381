"""Objects of other files' classes that add up what they are given: ``losses = AverageMeter()``, ``losses.update(loss, n)``."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.summaries.lookup import ClassElsewhere


class Meters:
    """Tells which calls in a file give a value to an object that adds it to those before it, as it is."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def add_up(self, node: ast.Expr) -> bool:
        """Whether what a statement gives to an object is added up there: ``losses.update(loss, n)``."""
        match node.value:
            case ast.Call(func=ast.Attribute(value=meter, attr=method)):
                made = self._constructions(meter)
                return bool(made) and all(self._gathers(each, method) for each in made) and not self._is_reset(node, meter)
        return False

    def _gathers(self, made: ast.expr | None, method: str) -> bool:
        """Whether a call makes an object of another file whose method adds up what it is given."""
        found = self._semantics.elsewhere.target(made.func) if isinstance(made, ast.Call) else None
        return isinstance(found, ClassElsewhere) and method in self._semantics.elsewhere.lookup.body(found).gathering

    def _constructions(self, meter: ast.expr) -> list[ast.expr | None]:
        """What makes an object, by all that its name, its attribute or its place in a dictionary is given."""
        match meter:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(meter)
                return [each.value if each.form is Form.ASSIGNMENT and not each.path else None for each in bindings]
            case ast.Attribute(value=owner, attr=name):
                definition = self._semantics.facts.self_class(owner)
                slots = self._semantics.facts.slots(definition, name) if definition is not None else ()
                stores = [self._tree.parent(store) for slot in slots for store in slot.stores]
                return [each.value if isinstance(each, (ast.Assign, ast.AnnAssign)) else None for each in stores]
            case ast.Subscript(value=(ast.Name() | ast.Attribute()) as holder, slice=key):
                held = [part for made in self._constructions(holder) for part in _items(made, key)]
                stored = self._items.get((self._tree.function(meter), ast.unparse(meter)), [])
                return [*held, *stored] if held or isinstance(key, ast.Constant) else []
        return []

    @cached_property
    def _items(self) -> dict[tuple[ast.AST | None, str], list[ast.expr]]:
        """What is assigned to the items of dictionaries, by the function and how they are spelt."""
        found: dict[tuple[ast.AST | None, str], list[ast.expr]] = defaultdict(list)
        for node in self._tree.of_type(ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                    found[self._tree.function(node), ast.unparse(target)].append(node.value)
        return found

    def _is_reset(self, node: ast.Expr, meter: ast.expr) -> bool:
        """Whether an object begins anew in the loop that gives it values."""
        loop = next(self._tree.loops(node), None)
        resets = [each for name in ("reset", "clear", "zero") for each in self._semantics.facts.calls.get(name, ())]
        return loop is not None and any(
            next(self._tree.loops(each), None) is loop
            and isinstance(each.func, ast.Attribute)
            and ast.unparse(each.func.value) == ast.unparse(meter)
            for each in resets
        )


def _items(holder: ast.expr | None, key: ast.expr) -> list[ast.expr | None]:
    """What a dictionary makes of an item, as it is written out: ``{"loss": Meter()}``, ``{name: Meter() for name in names}``,
    ``defaultdict(Meter)``.

    Nothing where items are put into it later, or it is not clear which is asked for.
    """
    match holder:
        case ast.Dict(keys=keys, values=values) if isinstance(key, ast.Constant) and values:
            named = [value for each, value in zip(keys, values) if isinstance(each, ast.Constant) and each.value == key.value]
            return [*named]
        case ast.Dict(keys=keys, values=[*values]) if values and None not in keys:
            return [*values]
        case ast.DictComp(value=value):
            return [value]
        case ast.Call(func=function, args=[(ast.Name() | ast.Attribute()) as made]) if last_name(function) == "defaultdict":
            return [ast.Call(made, [], [])]
    return []
