"""What a file asks of cuDNN, and what it would do well to ask."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.training.loops import TrainingLoops

_CUDNN = "torch.backends.cudnn"
_FLAGS = frozenset({"benchmark", "deterministic", "enabled"})
_CONVOLUTION = re.compile(r"torch\.nn\.(?:Lazy)?Conv(?:Transpose)?[123]d$|torchvision\.models\.[a-z]\w*$")
_OF_ONE_SHAPE = re.compile(
    r"torchvision\.datasets\.(?:CIFAR10|CIFAR100|E?MNIST|FashionMNIST|KMNIST|QMNIST|SVHN|STL10|USPS)$|torch\.utils\.data\.TensorDataset$"
)
_CROPS = re.compile(r"torchvision\.transforms\.(?:v2\.)?(?:RandomCrop|CenterCrop|RandomResizedCrop|RandomSizedCrop|FiveCrop)$")
_RESIZES = re.compile(r"torchvision\.transforms\.(?:v2\.)?(?:Resize|Scale)$")
_SETTING_CALLS = frozenset(
    {f"{_CUDNN}.set_flags", "torch.use_deterministic_algorithms", "torch.set_deterministic", "torch._set_deterministic"}
)


class Cudnn:
    """Looks at the flags of cuDNN that a file sets, and where it sets none, at what it trains."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def uneven_benchmarks(self) -> set[ast.Assign]:
        """The assignments that turn the benchmark on where determinism, which it undoes, is turned on as well."""
        on, off = _divided(self._settings.get("benchmark", []))
        strict_on, strict_off = _divided(self._settings.get("deterministic", []))
        follows = self._semantics.control_flow.may_follow
        return {
            node for node in on if any(follows(other, node, strict_off) or follows(node, other, off) for other in strict_on)
        }

    @cached_property
    def unset_for(self) -> set[ast.For]:
        """The training loop of a script that sets no flag and convolves inputs of one shape on a GPU; empty for other files."""
        if self._settings or self._sets_by_call() or not self._convolves_one_shape():
            return set()
        loops = [loop for loop in self._semantics.of(TrainingLoops).all if isinstance(loop, ast.For)]
        return set(loops[:1])

    # --- what is set -------------------------------------------------------------------------------------------------

    @cached_property
    def _settings(self) -> dict[str, list[ast.Assign]]:
        """The assignments to flags of cuDNN, by the flag."""
        found: dict[str, list[ast.Assign]] = {}
        for node in self._semantics.tree.of_type(ast.Assign):
            for flag in filter(None, map(self._flag, node.targets)):
                found.setdefault(flag, []).append(node)
        return found

    def _flag(self, target: ast.expr) -> str | None:
        """The flag of cuDNN that is assigned to, also where the file does not import what it calls ``cudnn``."""
        name = self._semantics.qualified_name(target) or dotted(target) or ""
        module, _, flag = name.removeprefix("builtins.").rpartition(".")
        return flag if module in (_CUDNN, "cudnn", "backends.cudnn") and flag in _FLAGS else None

    def _sets_by_call(self) -> bool:
        """Whether a function sets flags, or a trainer of Lightning, which sets them by its own arguments."""
        calls = self._semantics.facts.calls
        last = (name.rpartition(".")[2] for name in _SETTING_CALLS)
        setting = (call for name in last for call in calls.get(name, ()))
        return bool(calls.get("Trainer")) or any(
            self._semantics.qualified_name(call.func) in _SETTING_CALLS for call in setting
        )

    # --- what is trained ---------------------------------------------------------------------------------------------

    def _convolves_one_shape(self) -> bool:
        """Whether a file makes convolutions, an optimizer and a loader of inputs of one shape, and uses a GPU."""
        names = self._called_names()
        if not any(_CONVOLUTION.match(name) for name in names) or not any(name.startswith("torch.optim.") for name in names):
            return False
        if "torch.utils.data.DataLoader" not in names or self._collates() or not self._uses_gpu():
            return False
        return self._has_one_shape(names)

    def _called_names(self) -> set[str]:
        calls = (call for found in self._semantics.facts.calls.values() for call in found)
        return {name for call in calls if (name := self._semantics.qualified_name(call.func)) is not None}

    def _collates(self) -> bool:
        """Whether a loader of the file puts batches together in a way of its own, and so perhaps of many shapes."""
        loaders = self._semantics.facts.calls.get("DataLoader", ())
        return any(word.arg in ("collate_fn", "batch_sampler", None) for loader in loaders for word in loader.keywords)

    def _uses_gpu(self) -> bool:
        calls = self._semantics.facts.calls
        if calls.get("cuda"):
            return True
        return bool(calls.get("to")) and any(map(_names_cuda, self._semantics.tree.of_type(ast.Constant)))

    def _has_one_shape(self, names: set[str]) -> bool:
        if any(_OF_ONE_SHAPE.match(name) or _CROPS.match(name) for name in names):
            return True
        calls = self._semantics.facts.calls
        resizes = [call for name in ("Resize", "Scale") for call in calls.get(name, ()) if call.args]
        return any(
            _RESIZES.match(self._semantics.qualified_name(call.func) or "") and isinstance(call.args[0], (ast.Tuple, ast.List))
            for call in resizes
        )


def _divided(assignments: list[ast.Assign]) -> tuple[list[ast.Assign], list[ast.Assign]]:
    """The assignments of True, and the others."""
    on = [node for node in assignments if isinstance(node.value, ast.Constant) and node.value.value is True]
    return on, [node for node in assignments if node not in on]


def _names_cuda(node: ast.Constant) -> bool:
    return isinstance(node.value, str) and "cuda" in node.value
