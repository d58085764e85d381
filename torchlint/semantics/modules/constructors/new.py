"""Modules and parameters that an expression makes anew, as against those that it takes from elsewhere."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, is_none
from torchlint.semantics.kinds.kind import Grad, Type
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.modules.mode_dependence import ModeDependence

_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.UninitializedParameter"})
_COPIES = frozenset({"copy.copy", "copy.deepcopy"})
_REPARAMETRIZING = frozenset({"weight_norm", "spectral_norm", "orthogonal"})
_SAME = frozenset({"to", "cuda", "cpu", "half", "float", "double", "eval", "train", "apply", "requires_grad_"})
_MODES = frozenset(
    f"torch.nn.{name}"
    for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "RReLU")
)
_LIBRARIES = ("torchvision.ops.", "torch_geometric.nn.", "dgl.nn.", "timm.layers.", "monai.networks.")
"""Packages in which what is called like a class is a module's."""
_PLAIN_BASES = frozenset({"torch.nn.Module", "builtins.object"})
_REGISTERING = frozenset({"register_buffer", "register_parameter", "add_module", "register_module"})
_DEEP = 8


class NewModules:
    """Tells what expressions make new modules and parameters, and whether those have parameters or buffers."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._classes = semantics.of(ModuleClasses)
        self._stateful: dict[ast.ClassDef, bool] = {}

    def is_parameter(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether ``node`` makes a new parameter, or is a name for one that was made before."""
        match node:
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) in _PARAMETERS
            case ast.Name() if depth < _DEEP:
                values = self._named(node)
                return bool(values) and all(self.is_parameter(value, depth + 1) for value in values)
        return False

    def is_module(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether ``node`` makes a new module, or is a name for one that was made before."""
        if depth >= _DEEP:
            return False
        match node:
            case ast.Call(func=function):
                return self._is_made(node, function, depth)
            case ast.IfExp(body=body, orelse=orelse):
                parts = [part for part in (body, orelse) if not is_none(part)]
                return bool(parts) and all(self.is_module(part, depth + 1) for part in parts)
            case ast.Name():
                values = [value for value in self._named(node) if not is_none(value)]
                return bool(values) and all(self.is_module(value, depth + 1) for value in values)
        return False

    def _named(self, name: ast.Name) -> list[ast.expr]:
        """The values that a name may have been assigned; empty where it may have come by its value otherwise."""
        bindings = self._semantics.bindings.reaching(name)
        if any(binding.form is not Form.ASSIGNMENT or binding.path for binding in bindings):
            return []
        return [binding.value for binding in bindings if binding.value is not None]

    def _is_made(self, call: ast.Call, function: ast.expr, depth: int) -> bool:
        name = self._semantics.qualified_name(function) or ""
        if name in torch_api.MODULES or name.startswith("torchvision.models."):
            return name != "torch.nn.Module"
        if name.startswith(_LIBRARIES) and name.rpartition(".")[2][:1].isupper():
            return True
        if name in _COPIES:
            return bool(call.args) and self._semantics.kind(call.args[0]).type is Type.MODULE
        if name.startswith("torch.nn.utils.") and name.rpartition(".")[2] in _REPARAMETRIZING:
            return bool(call.args) and self.is_module(call.args[0], depth + 1)
        if isinstance(function, ast.Attribute) and function.attr in _SAME:
            return self.is_module(function.value, depth + 1)
        kind = self._semantics.kind(function)
        if kind.type is Type.CLASS:
            made = self._semantics.kind(call)
            return made.type is Type.MODULE and (
                not isinstance(made.definition, ast.ClassDef) or self._classes.is_sure(made.definition)
            )
        if kind.type is Type.FUNCTION and isinstance(kind.definition, FUNCTIONS):
            return self._returns_new(kind.definition, depth)
        called = self._method(function)
        return called is not None and self._returns_new(called, depth)

    def _method(self, function: ast.expr) -> Function | None:
        """The method of the file's class that ``self.method`` is."""
        if isinstance(function, ast.Attribute):
            owner = self._semantics.facts.self_class(function.value)
            if owner is not None:
                return self._semantics.facts.method(owner, function.attr)
        return None

    def _returns_new(self, function: Function, depth: int) -> bool:
        values = self._semantics.facts.returned(function)
        return bool(values) and all(value is not None and self.is_module(value, depth + 1) for value in values)

    # --- what they hold ----------------------------------------------------------------------------------------------

    def has_state(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a new module may have parameters or buffers: all have that are not known to compute from inputs alone."""
        match node:
            case ast.Name() if depth < _DEEP:
                return any(self.has_state(value, depth + 1) for value in self._named(node))
            case ast.IfExp(body=body, orelse=orelse):
                return self.has_state(body, depth) or self.has_state(orelse, depth)
            case ast.Call():
                return self._call_has_state(node, depth)
        return not is_none(node)

    def _call_has_state(self, call: ast.Call, depth: int) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if name == "torch.nn.Sequential":
            return not call.args or any(isinstance(part, ast.Starred) or self.has_state(part, depth) for part in call.args)
        if name in torch_api.MODULES:
            tables = (torch_api.PARAMETER_ATTRIBUTES, torch_api.BUFFERS, torch_api.SUBMODULES)
            weighted = any(word.arg in ("weight", "pos_weight") for word in call.keywords)
            return weighted or name in torch_api.CONTAINER_MODULES or any(table.get(name) for table in tables)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _SAME and depth < _DEEP:
            return self.has_state(call.func.value, depth + 1)
        made = self._semantics.kind(call)
        if made.elsewhere is not None:
            return self._semantics.elsewhere.lookup.has_state(made.elsewhere)
        definition = made.definition
        return not isinstance(definition, ast.ClassDef) or self._class_has_state(definition)

    def _class_has_state(self, definition: ast.ClassDef) -> bool:
        """Whether instances of a class of the file may hold parameters or buffers."""
        if definition not in self._stateful:
            self._stateful[definition] = False  # while its parts are looked at, one of which may be of the class itself
            self._stateful[definition] = any(map(self._holds_state, self._semantics.facts.bases(definition)))
        return self._stateful[definition]

    def _holds_state(self, definition: ast.ClassDef) -> bool:
        facts = self._semantics.facts
        outside = [base for base in definition.bases if facts.definition(base) is None]
        if not all(self._is_plain_base(self._semantics.qualified_name(base) or "") for base in outside):
            return True
        slots = facts.classes[definition].slots
        return bool(_REGISTERING & slots.keys()) or any(
            self._may_be_state(store) for slot in slots.values() for store in slot.stores
        )

    @staticmethod
    def _is_plain_base(name: str) -> bool:
        """Whether what derives from a class has no parameters or buffers by that: of torch's own, those that have none."""
        is_layer = name in torch_api.MODULES and name not in torch_api.CONTAINER_MODULES
        tables = (torch_api.PARAMETER_ATTRIBUTES, torch_api.BUFFERS, torch_api.SUBMODULES)
        return name in _PLAIN_BASES or (is_layer and not any(table.get(name) for table in tables))

    def _may_be_state(self, store: ast.Attribute) -> bool:
        """Whether an attribute is given a module or parameter, or something that may be one for all that is known."""
        parent = self._semantics.tree.parent(store)
        value = parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None
        match value:
            case ast.Constant() | ast.Compare() | ast.JoinedStr() | ast.BinOp():
                return False
            case ast.Name():
                return self._semantics.kind(value).type is Type.MODULE
            case ast.Call() if self._semantics.kind(value).type in (Type.NUMBER, Type.STRING, Type.ARRAY):
                return False
            case ast.Call() if self._semantics.kind(value).grad is Grad.NONE and not self.is_parameter(value):
                return False  # a tensor
            case ast.Attribute() | ast.Call(func=ast.Attribute()) if self._is_own(value):
                return False
        return value is None or self.has_state(value, 1)

    def _is_own(self, value: ast.expr) -> bool:
        """Whether a value is another attribute of ``self``, or that moved, which is looked at where it is set itself."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
            value = value.func.value
        return isinstance(value, ast.Attribute) and self._semantics.facts.self_class(value.value) is not None

    def depends_on_mode(self, node: ast.expr) -> bool:
        """Whether a new module does one thing in training and another in evaluation, such as dropout."""
        calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
        if any(self._semantics.qualified_name(call.func) in _MODES or self._is_of_two_modes(call) for call in calls):
            return True
        return isinstance(node, ast.Name) and any(
            self.depends_on_mode(value) for value in self._named(node) if value is not node
        )

    def _is_of_two_modes(self, call: ast.Call) -> bool:
        """Whether a call makes an instance of the project's own class that asks for its mode, or is a dropout."""
        made = self._semantics.kind(call)
        if isinstance(made.definition, ast.ClassDef):
            bases = [base for each in self._semantics.facts.bases(made.definition) for base in each.bases]
            if any(self._semantics.qualified_name(base) in _MODES for base in bases):
                return True
        elif made.elsewhere is None:
            return False
        return made.type is Type.MODULE and self._semantics.of(ModeDependence).of(call) is True
