"""Submodules that a class is given and that nothing in the file uses: their parameters never get a gradient."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.modules.classes import ModuleClasses

_GOING_THROUGH = frozenset(
    {
        *("modules", "children", "named_children", "named_modules", "get_submodule", "_modules", "__dict__", "__getattr__"),
        *("__getattribute__", "add_module", "register_module"),
    }
)
"""Attributes by which a class gets at its submodules whatever they are called."""


@dataclass(frozen=True, eq=False, slots=True)
class Unused:
    """The attribute ``name`` that nothing uses; ``may_be_inherited`` where a class of the file derives from that class."""

    name: str
    may_be_inherited: bool


class UnusedModules:
    """Finds such submodules in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts

    @cached_property
    def found(self) -> dict[ast.Assign, Unused]:
        """The assignments, in constructors, of a submodule with parameters that no code of the file names again."""
        found: dict[ast.Assign, Unused] = {}
        classes = self._semantics.of(ModuleClasses)
        for definition, facts in self._facts.classes.items():
            constructor = facts.methods.get("__init__")
            if constructor is None or "forward" not in facts.methods or not classes.has_known_bases(definition):
                continue
            if not classes.is_sure(definition) or self._goes_through(definition):
                continue
            for name, slot in facts.slots.items():
                assignment = self._tree.parent(slot.stores[0]) if len(slot.stores) == 1 else None
                if not isinstance(assignment, ast.Assign) or len(assignment.targets) != 1 or slot.class_values:
                    continue
                is_made = self._tree.function(assignment) is constructor and self._has_parameters(assignment.value)
                if is_made and name not in self._mentions and not self._is_used_by_kin(definition, name):
                    found[assignment] = Unused(name, self._has_heirs(definition))
        return found

    def _has_parameters(self, value: ast.expr) -> bool:
        """Whether a layer of torch is made that has parameters."""
        if not isinstance(value, ast.Call):
            return False
        name = self._semantics.qualified_name(value.func) or ""
        told = [word.value for word in value.keywords if word.arg in ("affine", "elementwise_affine")]
        is_affine = all(isinstance(each, ast.Constant) and each.value is True for each in told)
        if not is_affine or (name.startswith("torch.nn.InstanceNorm") and not told):
            return False
        return bool(torch_api.PARAMETER_ATTRIBUTES.get(name))

    def _goes_through(self, definition: ast.ClassDef) -> bool:
        """Whether a class goes through its submodules by other means than their names, or hands itself to other code."""
        for part in ast.walk(definition):
            match part:
                case ast.Attribute(attr=name) if name in _GOING_THROUGH:
                    return True
                case ast.Name(id="getattr" | "vars" | "setattr" | "hasattr"):
                    return True
                case ast.FunctionDef(name=name) if name in _GOING_THROUGH:
                    return True
                case ast.Name() if self._facts.self_class(part) is definition and self._is_handed_out(part):
                    return True
        return False

    def _is_handed_out(self, own: ast.Name) -> bool:
        """Whether ``self`` itself is given away, not only run: ``super(Net, self)`` does not."""
        parent = self._tree.parent(own)
        if (
            isinstance(parent, ast.Call)
            and isinstance(parent.func, ast.Name)
            and (parent.func is own or parent.func.id == "super")
        ):
            return False
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "__init__":
            return False
        return not isinstance(parent, ast.Attribute)

    def _has_heirs(self, definition: ast.ClassDef) -> bool:
        return len(self._facts.derived(definition)) > 1

    def _is_used_by_kin(self, definition: ast.ClassDef, name: str) -> bool:
        """Whether a class, one that it derives from, or one that derives from it, names an attribute more than once."""
        kin = dict.fromkeys(base for heir in self._facts.derived(definition) for base in self._facts.bases(heir))
        slots = [self._facts.classes[each].slots.get(name) for each in kin]
        return sum(len(slot.stores) + len(slot.uses) + len(slot.class_values) for slot in slots if slot is not None) > 1

    @cached_property
    def _mentions(self) -> set[str]:
        """The names of attributes of anything but a class's own instances, and the words of strings, in the file."""
        own = {part for facts in self._facts.classes.values() for slot in facts.slots.values() for part in slot.uses}
        own |= {part for facts in self._facts.classes.values() for slot in facts.slots.values() for part in slot.stores}
        found = {part.attr for part in self._tree.of_type(ast.Attribute) if part not in own}
        for text in self._tree.of_type(ast.Constant):
            if isinstance(text.value, str):
                found.update(text.value.replace(".", " ").split())
        return found
