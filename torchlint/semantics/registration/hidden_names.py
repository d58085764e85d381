"""Attributes of a module under which nothing can be registered, since the module's class has something of that name.

A registered module stands in a table of its owner, and is served by the `__getattr__` of `nn.Module`: what the class has under
the same name is found first (ran on torch 2.13: with `layers = None` in the class, `self.layers` stays `None`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.registration.collections import Collection

_OWN = frozenset(
    {
        *("_parameters", "_buffers", "_modules", "_apply", "_version", "_get_name", "_call_impl", "_named_members"),
        *("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_non_persistent_buffers_set"),
        *("_state_dict_hooks", "_state_dict_pre_hooks", "_save_to_state_dict", "_load_from_state_dict", "_compiled_call_impl"),
    }
)
"""What `nn.Module` keeps for itself."""
_SERVING = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__delattr__"})
"""Methods by which a class says itself how its attributes are kept and found."""
_CONTAINERS = frozenset(
    f"torch.nn.{name}" for name in ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
)
"""Modules that run, count or give all that is registered in them."""


class HiddenNames:
    """Tells of attributes whether what is registered under their name would be found there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts

    def is_hidden(self, found: Collection) -> bool:
        """Whether the class of a module, one of its bases, or a class that is made of it, has something of that name."""
        name = found.target.attr
        if name in torch_api.MODULE_ATTRIBUTES or name in _OWN:
            return True
        return any(
            name in self._facts.classes[each].methods or any(value is not None for value in self._values(each, name))
            for each in self._related(found.owner)
        )

    def is_served(self, found: Collection) -> Fact:
        """Whether attributes are kept and found as `nn.Module` does it, and what is registered changes nothing else."""
        for each in self._related(found.owner):
            for name in _SERVING & self._facts.classes[each].methods.keys():
                return unknown(f"`{each.name}.{name}` may not find what is registered")
            for base in each.bases:
                if (self._semantics.qualified_name(base) or "") in _CONTAINERS:
                    return unknown(f"`{ast.unparse(base)}` runs or gives all that is registered in it")
        return CERTAIN

    def _values(self, owner: ast.ClassDef, name: str) -> Iterator[ast.expr | None]:
        """What the body of a class gives a name."""
        slots = self._facts.classes[owner].slots
        return (value for value, _ in slots[name].class_values) if name in slots else iter(())

    def _related(self, owner: ast.ClassDef) -> list[ast.ClassDef]:
        """The class, its bases, and the classes that are made of it, with theirs."""
        return list(dict.fromkeys(each for derived in self._facts.derived(owner) for each in self._facts.bases(derived)))
