"""Tensors that code makes where torch makes tensors, and combines with its inputs, wherever these are."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, is_none
from torchlint.semantics.devices.module_inputs import ModuleInputs
from torchlint.semantics.devices.plain_tensors import PlainTensors
from torchlint.semantics.modules.classes import ModuleClasses

Node = TypeVar("Node")

_FACTORIES = (
    *("zeros", "ones", "empty", "full", "eye", "arange", "linspace", "tensor"),
    *("rand", "randn", "randint", "randperm", "normal"),
)
_DEFAULTS = frozenset({"set_default_device", "set_default_tensor_type"})
"""Words of code that says for all factories where they make tensors."""


_OF_DEVICES = re.compile(r"cuda|device|gpu|cpu|accelerat|lightning|^(mps|xpu|npu|hpu)$", re.IGNORECASE)
"""What code names that has to do with devices."""
_OTHER_DEVICES = re.compile(r"cuda|device|gpu|accelerat|lightning|^(mps|xpu|npu|hpu)$", re.IGNORECASE)
"""What code names that may run elsewhere than on the CPU."""
_PREPARING = re.compile(r"(transform|augment(ation|er|or)?|preprocess(or|ing)?)$", re.IGNORECASE)
"""What modules are called that prepare data."""


@dataclass(frozen=True, eq=False, slots=True)
class Placeless(Generic[Node]):
    """A tensor that is made on no device that is said, and meets ``other``.

    ``known`` is an input whose device it could have. It ``leaves_cpu`` where the file or its project has to do with other
    devices, and where ``other`` is there whatever the method is given.
    """

    other: Node
    known: Node | None
    leaves_cpu: bool = True


class PlacelessTensors:
    """Finds the calls of factories that make them, in the modules of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._asking: dict[Function, bool] = {}

    @cached_property
    def found(self) -> dict[ast.Call, Placeless[ast.expr]]:
        """The calls of factories, each with what the tensor meets."""
        found: dict[ast.Call, Placeless[ast.expr]] = {}
        if _DEFAULTS & self._semantics.words.all:
            return found
        plain, inputs = self._semantics.of(PlainTensors), self._semantics.of(ModuleInputs)
        for name in _FACTORIES:
            for call in self._semantics.facts.calls.get(name, ()):
                if self._semantics.qualified_name(call.func) != f"torch.{name}" or _is_told(call) or not inputs.makes(call):
                    continue
                function = self._tree.function(call)
                if not isinstance(function, FUNCTIONS) or self._is_under_device(call, function):
                    continue
                if function in self._reading_arrays:
                    continue
                if not self._is_run_by_forward(function) and not self._devices.get(function):
                    continue
                is_run = self._is_run_by_forward(function)
                met = [other for other in plain.met_by(call, function) if is_run or self._is_asked_with(other, function)]
                if met:
                    other = next((each for each in met if not self._may_be_none(each)), met[0])
                    found[call] = Placeless(other, self._known(other), self._may_leave_cpu and not self._may_be_none(other))
        return {} if found and self._semantics.elsewhere.speaks_of("default devices") else found

    def _is_run_by_forward(self, function: Function) -> bool:
        """Whether a function is the ``forward`` of a module, or a method that this calls."""
        if not function.name.startswith("forward") and not self._semantics.of(ModuleClasses).is_run_by_forward(function):
            return False
        return self._is_of_module(function)

    def _is_of_module(self, function: Function) -> bool:
        owner = self._tree.parent(function)
        if not isinstance(owner, ast.ClassDef) or self._prepares_data(owner):
            return False
        return self._semantics.of(ModuleClasses).is_sure(owner)

    def _prepares_data(self, owner: ast.ClassDef) -> bool:
        """Whether a module is called a transformation of data, which a data set runs on the CPU, and has no layers."""
        if _PREPARING.search(owner.name) is None:
            return False
        made = {self._semantics.qualified_name(part.func) or "" for part in ast.walk(owner) if isinstance(part, ast.Call)}
        return not any(name.startswith("torch.nn.") and not name.startswith("torch.nn.Module") for name in made)

    @cached_property
    def _devices(self) -> dict[ast.AST | None, set[str]]:
        """Of functions, the tensors whose device other tensors of theirs are given: ``torch.ones(n, device=x.device)``."""
        found: dict[ast.AST | None, set[str]] = {}
        for node in self._tree.of_type(ast.Attribute):
            if node.attr == "device" and isinstance(node.value, ast.Name) and self._semantics.kind(node.value).is_tensor:
                if isinstance(self._tree.parent(node), (ast.keyword, ast.Call)):
                    found.setdefault(self._tree.function(node), set()).add(node.value.id)
        return found

    @property
    def speaks_of_devices(self) -> bool:
        """Whether anything in the file has to do with other devices than the CPU."""
        return self._semantics.words.match(_OF_DEVICES)

    @cached_property
    def _may_leave_cpu(self) -> bool:
        """Whether the file, or any of its project, speaks of other devices: elsewhere, all tensors are on the CPU."""
        return self._semantics.words.match(_OTHER_DEVICES) or self._semantics.elsewhere.speaks_of("other devices") is True

    def _is_asked_with(self, other: ast.expr, function: Function) -> bool:
        """Whether a tensor is computed with one whose device the function asks for, or in a method of a module that asks."""
        if self._is_of_module(function):
            return True
        return any(isinstance(part, ast.Name) and part.id in self._devices[function] for part in ast.walk(other))

    @cached_property
    def _reading_arrays(self) -> set[ast.AST | None]:
        """The functions that read the array of what they are given: ``numpy()`` raises where that is not on the CPU."""
        found: set[ast.AST | None] = set()
        for call in self._semantics.facts.calls.get("numpy", ()):
            if isinstance(call.func, ast.Attribute) and not call.args + call.keywords and self._is_given(call.func.value, 2):
                found.add(self._tree.function(call))
        return found

    def _is_given(self, value: ast.expr, depth: int) -> bool:
        """Whether a value is a parameter, or is computed of one where that is, and not moved to the CPU."""
        parts = list(ast.walk(value))
        if any(isinstance(part, ast.Attribute) and part.attr in ("cpu", "to", "numpy", "device") for part in parts):
            return False
        for name in (part for part in parts if isinstance(part, ast.Name)):
            for binding in self._semantics.bindings.reaching(name):
                if binding.form is Form.PARAMETER and isinstance(binding.scope.node, FUNCTIONS):
                    if self._semantics.facts.self_class(name) is None:
                        return True
                elif depth and binding.form is Form.ASSIGNMENT and binding.value is not None and not binding.path:
                    if self._is_given(binding.value, depth - 1):
                        return True
        return False

    def _is_under_device(self, call: ast.Call, forward: Function) -> bool:
        """Whether a ``with torch.device(…)`` around a call says where it makes tensors, or may; or a branch asks for that."""
        if self._asks(forward):
            return True
        for parent in self._tree.ancestors(call):
            if parent is forward:
                return False
            if isinstance(parent, ast.With) and any("device" in ast.unparse(item.context_expr) for item in parent.items):
                return True
        return False

    def _asks(self, function: Function) -> bool:
        """Whether a function has a condition that asks for a device."""
        if function not in self._asking:
            self._asking[function] = any(_OF_DEVICES.search(ast.unparse(test)) for test in self._tests.get(function, ()))
        return self._asking[function]

    @cached_property
    def _tests(self) -> dict[ast.AST | None, list[ast.expr]]:
        """The conditions in the file, by the functions that they are in."""
        found: dict[ast.AST | None, list[ast.expr]] = {}
        nodes: list[ast.If | ast.IfExp] = [*self._semantics.tree.of_type(ast.If), *self._semantics.tree.of_type(ast.IfExp)]
        for node in nodes:
            found.setdefault(self._semantics.tree.function(node), []).append(node.test)
        return found

    def _known(self, other: ast.expr) -> ast.expr | None:
        """A parameter of the method that is a tensor whatever is given, of which an input is computed."""
        for part in ast.walk(other):
            if isinstance(part, ast.Name) and self._semantics.kind(part).is_tensor:
                bindings = self._semantics.bindings.reaching(part)
                if len(bindings) == 1 and bindings[0].form is Form.PARAMETER and not self._is_left_out(bindings[0]):
                    return part
        return None

    def _may_be_none(self, other: ast.expr) -> bool:
        """Whether a value is a parameter that is None where it is not given, or computed of nothing else that is a tensor."""
        names = [part for part in ast.walk(other) if isinstance(part, ast.Name) and self._semantics.kind(part).is_tensor]
        bindings = [binding for name in names for binding in self._semantics.bindings.reaching(name)]
        return bool(bindings) and all(each.form is Form.PARAMETER and self._is_left_out(each) for each in bindings)

    def _is_left_out(self, parameter: Binding) -> bool:
        """Whether a parameter is None where it is not given."""
        function, argument = parameter.scope.node, parameter.node
        if not isinstance(function, FUNCTIONS) or not isinstance(argument, ast.arg):
            return False
        default = self._semantics.facts.default(function, argument)
        return is_none(default)


def _is_told(call: ast.Call) -> bool:
    """Whether a call says a device, or leaves open what it says."""
    is_open = any(isinstance(each, ast.Starred) for each in call.args) and any(word.arg is None for word in call.keywords)
    return is_open or any(word.arg in (None, "device", "out") for word in call.keywords)
