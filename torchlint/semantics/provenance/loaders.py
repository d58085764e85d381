"""Which data loaders give batches of tensors for certain: made in sight, of a data set in sight, with torch's own collating."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Form

LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
TENSOR_SETS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})
IMAGE_SETS = frozenset(
    f"torchvision.datasets.{name}"
    for name in ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "CIFAR10", "CIFAR100", "SVHN", "STL10", "ImageFolder", "ImageNet")
)
_DATASETS = TENSOR_SETS | IMAGE_SETS
"""Data sets of which a data loader makes batches of tensors, unless it is given a function of its own."""
_AROUND = frozenset({"builtins.iter", "builtins.list", "tqdm.tqdm", "tqdm.auto.tqdm"})


class Loaders:
    """Tells whether what is iterated over gives batches of tensors; of which tensors, `certainty.loader_items` says."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def gives(self, iterable: ast.expr, path: tuple[int | None, ...]) -> bool:
        """Whether iterating gives batches with a tensor at ``path``."""
        match iterable:
            case ast.Call(func=function, args=[inner, *_]) if self._name(function) == "builtins.enumerate":
                return path[:1] == (1,) and self.gives(inner, path[1:])
            case ast.Call(func=function, args=[inner, *_]) if self._name(function) in _AROUND:
                return self.gives(inner, path)
        return len(path) == 1 and path[0] is not None and self._collates(iterable)

    def _collates(self, loader: ast.expr) -> bool:
        """Whether a loader is made in sight, of a data set of tensors, with no function of its own for batches."""
        match loader:
            case ast.Name():
                return self._is_assigned(loader, self._collates)
            case ast.Call(func=function, args=arguments, keywords=words) if self._name(function) in LOADERS:
                named = {word.arg: word.value for word in words}
                data = arguments[0] if arguments else named.get("dataset")
                return data is not None and not named.keys() & {None, "collate_fn"} and self._is_plain_data(data)
        return False

    def _is_plain_data(self, data: ast.expr) -> bool:
        if isinstance(data, ast.Name):
            return self._is_assigned(data, self._is_plain_data)
        return isinstance(data, ast.Call) and self._name(data.func) in _DATASETS

    def _is_assigned(self, name: ast.Name, holds: Callable[[ast.expr], bool]) -> bool:
        """Whether a name has no value but ones that it is assigned, of which all ``holds``."""
        found = self._semantics.bindings.reaching(name)
        return bool(found) and all(
            each.form is Form.ASSIGNMENT and not each.path and each.value is not None and holds(each.value) for each in found
        )

    def _name(self, node: ast.expr) -> str:
        return self._semantics.qualified_name(node) or ""
