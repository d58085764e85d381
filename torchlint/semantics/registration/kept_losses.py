"""Losses that miss nothing in a plain list: what they hold is never trained, and it is moved by itself or as another's part."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import is_false, walk_body

_HOLDING = frozenset({"torch.nn.Parameter", "torch.nn.ParameterList", "torch.nn.ParameterDict"})
_WEIGHTS = frozenset({"weight", "pos_weight"})
_MOVES = frozenset({"to", "cuda"})


class KeptLosses:
    """Tells of new modules whether they are such losses."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def lacks_nothing(self, item: ast.expr) -> bool:
        """Whether a loss of torch has no weights but those of ``self``, or one of the file moves its frozen ones when made."""
        if not isinstance(item, ast.Call):
            return False
        name = self._semantics.qualified_name(item.func) or ""
        if name.startswith("torch.nn.") and name.endswith("Loss"):
            return all(self._is_registered(word.value) for word in item.keywords if word.arg in _WEIGHTS)
        definition = self._semantics.kind(item).definition
        return isinstance(definition, ast.ClassDef) and "Loss" in definition.name and self._moves_itself(definition)

    def _is_registered(self, weight: ast.expr) -> bool:
        """Whether a weight is, or is in, an attribute of ``self`` that registers parameters, or holds nothing."""
        while isinstance(weight, ast.Subscript):
            weight = weight.value
        facts = self._semantics.facts
        owner = facts.self_class(weight.value) if isinstance(weight, ast.Attribute) else None
        if owner is None or not isinstance(weight, ast.Attribute):
            return isinstance(weight, ast.Constant)
        stores = [store for slot in facts.slots(owner, weight.attr) for store in slot.stores]
        values = [getattr(self._semantics.tree.parent(store), "value", None) for store in stores]
        return bool(values) and all(self._registers(value, owner) for value in values)

    def _registers(self, value: object, owner: ast.ClassDef) -> bool:
        match value:
            case ast.ListComp(elt=ast.Constant(value=None)) | ast.Constant(value=None):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                method = self._semantics.facts.method(owner, name)
                given = self._semantics.facts.returned(method) if method is not None else []
                return bool(given) and all(isinstance(each, ast.Call) and self._holds(each) for each in given)
            case ast.Call():
                return self._holds(value)
        return False

    def _holds(self, call: ast.Call) -> bool:
        return self._semantics.qualified_name(call.func) in _HOLDING

    def _moves_itself(self, definition: ast.ClassDef) -> bool:
        """Whether a constructor moves its own object, whose parameters are all frozen, and that has no module for a part."""
        facts = self._semantics.facts
        made = facts.classes[definition].methods.get("__init__")
        outside = [self._semantics.qualified_name(base) for base in definition.bases]
        if made is None or outside != ["torch.nn.Module"]:
            return False
        calls = [part for part in walk_body(made.body) if isinstance(part, ast.Call)]
        moved = any(
            isinstance(call.func, ast.Attribute)
            and call.func.attr in _MOVES
            and facts.self_class(call.func.value) is definition
            for call in calls
        )
        modules = (self._semantics.qualified_name(call.func) or "" for call in calls)
        is_plain = all(
            not name.startswith("torch.nn.") or name in ("torch.nn.Parameter", "torch.nn.Module") for name in modules
        )
        parameters = [call for call in calls if self._semantics.qualified_name(call.func) == "torch.nn.Parameter"]
        return moved and is_plain and all(map(_is_frozen, parameters))


def _is_frozen(parameter: ast.Call) -> bool:
    return any(word.arg == "requires_grad" and is_false(word.value) for word in parameter.keywords)
