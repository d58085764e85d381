"""Modules without parameters, ``nn.Softmax()``, and those of the project that have none: what they give has a graph only if
what they are given has one.
"""

from __future__ import annotations

import ast
import builtins
import re
from functools import cached_property
from typing import TypeAlias

from torchlint.semantics import Binding, Form, Grad, Semantics, Type, torch_api
from torchlint.semantics.code.names import canonical
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.summaries.bodies import class_body
from torchlint.semantics.summaries.local_names import imported_names
from torchlint.semantics.summaries.lookup import ClassElsewhere, Lookup, Outside, Target
from torchlint.semantics.summaries.shown.freezing import flags_of, is_frozen_by
from torchlint.semantics.summaries.summary import IMPORTED, Parameterless

_HOLDING = frozenset(
    f"torch.nn.{name}"
    for name in (
        *("AdaptiveLogSoftmaxWithLoss", "Container", "DataParallel", "Module", "ModuleDict", "ModuleList", "ParameterDict"),
        *("ParameterList", "RNNCellBase", "Sequential", "Transformer", "TransformerDecoder", "TransformerDecoderLayer"),
        *("TransformerEncoder", "TransformerEncoderLayer", "LinearCrossEntropyLoss"),
    )
)
"""Modules of torch whose parts have parameters, or may."""
_PLAIN = frozenset(
    name
    for name in torch_api.MODULES
    if not torch_api.PARAMETER_ATTRIBUTES.get(name) and name not in _HOLDING and name.startswith("torch.nn.")
    if not name.startswith("torch.nn.parallel.") and name not in LOSS_MODULES
)
"""Layers of torch without any; of a loss, its number is what is asked for."""
_GIVING = ("torch.nn.", "torch.hub.", "torch.jit.", "torch.load", "torch.compile", "torch.package.", "torch.fx.", "torch.ao.")
"""What of torch may give modules with parameters, apart from its functions and initialisers."""
_FUNCTIONS = ("torch.nn.functional.", "torch.nn.init.")
_COMPUTING = (
    "torch.",
    "numpy.",
    "math.",
    "random.",
    "scipy.",
    "torchvision.transforms.",
    "PIL.",
    "cv2.",
    "warnings.",
)
_UNCLEAR = frozenset(
    f"builtins.{name}" for name in ("getattr", "setattr", "eval", "exec", "map", "filter", "vars", "globals", "__import__")
)
_WITH_WEIGHTS = re.compile(
    r"net|model|weight|param|layer|module|backbone|coder|(^|_)(w|fc|conv|bias|head|fn|func|block)s?(_|\d|$)", re.IGNORECASE
)
"""Names of what may be a module, or a parameter."""
_Flags: TypeAlias = tuple[tuple[str, bool | None], ...]
_SAME = frozenset({"to", "cuda", "cpu", "eval", "train", "float", "half", "double"})
_DEPTH = 6


class ParameterlessModules:
    """Tells of expressions whether they stand for modules without a parameter."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._bound: dict[Binding, bool] = {}
        self._kept: dict[tuple[ast.ClassDef, str], bool] = {}
        self._told: dict[ast.ClassDef, Parameterless | None] = {}
        self._known: dict[tuple[str, str, _Flags], bool] = {}

    def are(self, module: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether all that a name, an attribute of ``self`` or a call stands for are such modules."""
        if not depth:
            return False
        match module:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SAME and isinstance(
                inner, (ast.Call, ast.Name)
            ):
                return self.are(inner, depth - 1)
            case ast.Call(func=function, args=parts, keywords=[]) if self._name(function) == "torch.nn.Sequential":
                return bool(parts) and all(self.are(each, depth - 1) for each in parts)
            case ast.Call():
                return self._makes(module, depth)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(module)
                return bool(bindings) and all(self._is_bound(each, depth - 1) for each in bindings)
            case ast.Attribute(value=owner, attr=name):
                return self._are_kept(owner, name, depth - 1)
        return False

    def _is_bound(self, binding: Binding, depth: int) -> bool:
        if binding not in self._bound:
            self._bound[binding] = False  # while it is looked at
            is_assigned = binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None
            self._bound[binding] = is_assigned and binding.value is not None and self.are(binding.value, depth)
        return self._bound[binding]

    def _are_kept(self, owner: ast.expr, name: str, depth: int) -> bool:
        cls = self._semantics.facts.self_class(owner)
        if cls is None or name in self._semantics.facts.stored_attributes:
            return False
        if (cls, name) not in self._kept:
            self._kept[cls, name] = False  # while it is looked at
            self._kept[cls, name] = self._are_stored(cls, name, depth) and not self._has_heir(cls)
        return self._kept[cls, name]

    def _has_heir(self, owner: ast.ClassDef) -> bool:
        """Whether a class of another file derives from one, and has a constructor of its own, which may store another."""
        callers = self._semantics.elsewhere.callers
        return callers is not None and any("__init__" in each.summary.methods for each in callers.heirs(owner.name))

    def _are_stored(self, cls: ast.ClassDef, name: str, depth: int) -> bool:
        slots = self._semantics.facts.slots(cls, name)
        stored = [getattr(self._semantics.tree.parent(store), "value", None) for slot in slots for store in slot.stores]
        if any(slot.class_values for slot in slots) or not stored:
            return False
        return all(isinstance(value, ast.Call) and self.are(value, depth) for value in stored)

    def _name(self, function: ast.expr) -> str:
        return self._semantics.qualified_name(function) or ""

    # --- what makes them ---------------------------------------------------------------------------------------------

    def _makes(self, call: ast.Call, depth: int) -> bool:
        """Whether a call makes such a module, and gives it nothing that may have parameters."""
        if self._name(call.func) in _PLAIN:
            return not any(word.arg is None for word in call.keywords)
        given = given_to(call)
        if any(map(self._may_have_parameters, given)):
            return False
        definition = self._semantics.facts.definition(call.func)
        if isinstance(definition, ast.ClassDef):
            return self._is_own(definition, flags_of(call), depth)
        found = self._semantics.elsewhere.module_class(call.func)
        return found is not None and self._is_elsewhere(found, flags_of(call), self._semantics.elsewhere.lookup, depth)

    def _may_have_parameters(self, given: ast.expr) -> bool:
        """Whether an argument may be, or hold, a module or a tensor with a graph: it is one, or called so."""
        kind = self._semantics.kind(given)
        if kind.type is Type.MODULE or kind.grad in (Grad.GRAPH, Grad.LEAF):
            return True
        for part in ast.walk(given):
            match part:
                case ast.Call(func=function):
                    name = self._name(function)
                    if not name.startswith(("torch.Size", "builtins.", "numpy.", "math.")) or name in _UNCLEAR:
                        return True
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    if _WITH_WEIGHTS.search(name) or self._semantics.kind(part).type is Type.MODULE:
                        return True
                case ast.Starred() | ast.Lambda() | ast.Await():
                    return True
        return False

    def _is_own(self, definition: ast.ClassDef, flags: _Flags, depth: int) -> bool:
        """Whether a class of this file has no parameters; where there is no project, by the file alone."""
        callers = self._semantics.elsewhere.callers
        if callers is not None:
            found = callers.lookup.reference(definition.name, self._semantics.elsewhere.file)
            if isinstance(found, ClassElsewhere):
                return self._is_elsewhere(found, flags, callers.lookup, depth)
        if definition.keywords or not all(self._name(base) == "torch.nn.Module" for base in definition.bases):
            return False
        if definition not in self._told:
            self._told[definition] = class_body(definition).parameterless
        told = self._told[definition]
        if told is None or not is_frozen_by(told.by, flags) or not depth or not definition.bases:
            return False
        return all(self._is_own_part(reference, each, depth - 1) for reference, each in told.parts)

    def _is_own_part(self, reference: str, flags: _Flags, depth: int) -> bool:
        if reference.startswith(IMPORTED):
            return _makes_none(canonical(reference.removeprefix(IMPORTED)))
        root, dot, rest = reference.partition(".")
        if root in self._imported:
            return _makes_none(canonical(self._imported[root] + dot + rest))
        defined = [each for each in self._semantics.tree.module.body if getattr(each, "name", None) == reference]
        if not defined:
            return _makes_none(f"builtins.{reference}")
        return len(defined) == 1 and isinstance(defined[0], ast.ClassDef) and self._is_own(defined[0], flags, depth)

    @cached_property
    def _imported(self) -> dict[str, str]:
        """What the file imports, by its own names, under the full ones."""
        imports = (each for each in self._semantics.tree.module.body if isinstance(each, (ast.Import, ast.ImportFrom)))
        return {name: full for each in imports for name, full in imported_names(each)}

    def _is_elsewhere(self, found: ClassElsewhere, flags: _Flags, lookup: Lookup, depth: int) -> bool:
        """Whether a class, as a lookup sees it, and those that it derives from, have no parameters."""
        if not depth or not lookup.is_module(found):
            return False
        key = (found.file, found.name, flags)
        if key not in self._known:
            self._known[key] = False  # while it is looked at
            self._known[key] = all(self._is_base(base, flags, lookup, depth) for base in lookup.bases(found))
        return self._known[key]

    def _is_base(self, base: Target | None, flags: _Flags, lookup: Lookup, depth: int) -> bool:
        if isinstance(base, Outside):
            return base.name in ("torch.nn.Module", "builtins.object") or base.name in _PLAIN
        if not isinstance(base, ClassElsewhere) or base.summary.unusual:
            return False
        told = lookup.body(base).parameterless
        if told is None or not is_frozen_by(told.by, flags):
            return False
        return all(self._is_part(lookup.reference(each, base.file), by, lookup, depth - 1) for each, by in told.parts)

    def _is_part(self, target: Target | None, flags: _Flags, lookup: Lookup, depth: int) -> bool:
        if isinstance(target, ClassElsewhere):
            return self._is_elsewhere(target, flags, lookup, depth)
        return isinstance(target, Outside) and _makes_none(target.name)


def _makes_none(name: str) -> bool:
    """Whether what is called by a full name outside of the project gives no parameters."""
    if name in _PLAIN or name.startswith(_FUNCTIONS):
        return True
    if name.startswith("builtins."):
        return hasattr(builtins, name.removeprefix("builtins.")) and name not in _UNCLEAR
    return name.startswith(_COMPUTING) and not name.startswith(_GIVING)
