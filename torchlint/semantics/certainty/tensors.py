"""What is a tensor for certain, so that a fix may rest on it: not because it is called or used like one."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.fact import CERTAIN, Fact, refuted, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.likely_tensors import PARTS, LikelyTensors
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.kinds.kind import Kind, Type

_LONGEST = 40
_DATASETS = frozenset(
    f"torchvision.datasets.{name}"
    for name in ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "CIFAR10", "CIFAR100", "SVHN", "STL10", "ImageFolder", "ImageNet")
) | {"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"}
"""Data sets of which a data loader makes batches of tensors, unless it is given a function of its own."""
_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
_OPAQUE = (
    torch_api.CONTAINER_MODULES
    | torch_api.TUPLE_MODULES
    | {
        *("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel"),
        *("torch.nn.Module", "torch.nn.Container", "torch.nn.parallel.DistributedDataParallelCPU", "torch.nn.Identity"),
    }
)
"""Modules of torch that give what other modules make, or several tensors."""
DEMANDING = torch_api.LOSS_FUNCTIONS | {
    *("torch.max", "torch.min", "torch.sum", "torch.mean", "torch.argmax", "torch.argmin"),
    *("torch.abs", "torch.exp", "torch.log", "torch.sqrt", "torch.sigmoid", "torch.tanh", "torch.relu", "torch.softmax"),
    *("torch.log_softmax", "torch.topk", "torch.sort", "torch.matmul", "torch.mm", "torch.bmm", "torch.dot", "torch.argsort"),
    *(f"torch.nn.functional.{name}" for name in ("relu", "softmax", "log_softmax", "sigmoid", "tanh", "dropout", "linear")),
    *(f"torch.nn.functional.{name}" for name in ("conv2d", "leaky_relu", "normalize", "interpolate", "pad")),
}
"""Functions of torch that raise where their first argument is no tensor (run on torch 2.13)."""


class Tensors(LikelyTensors):
    """Tells of expressions whether they are tensors in a way that fixes can rest on."""

    def __init__(self, semantics: Semantics) -> None:
        super().__init__(semantics)
        self._set: set[str] | None = None

    def fact(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a tensor: by what makes it, by an annotation, or as code that has run would have raised."""
        if self.is_tensor(node):
            return CERTAIN
        kind = self._semantics.kind(node)
        if kind.known and not kind.is_tensor:
            return refuted(f"`{_short(node)}` is no tensor")
        return unknown(self._doubt(node))

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether ``node`` is a tensor for certain."""
        return super().is_tensor(node) or (isinstance(node, ast.Name) and self._has_passed(node))

    # --- what counts -------------------------------------------------------------------------------------------------

    def _collates(self, loader: ast.expr) -> bool:
        """Whether a loader is made in sight, of a data set of tensors, with no function of its own for batches."""
        match loader:
            case ast.Name():
                return self._is_assigned(loader, self._collates)
            case ast.Call(func=ast.Name(id="enumerate" | "tqdm" | "iter"), args=[first, *_]):
                return self._collates(first)
            case ast.Call(func=function, args=[data, *_], keywords=words) if self._name(function) in _LOADERS:
                return not {word.arg for word in words} & {None, "collate_fn"} and self._is_plain_data(data)
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

    def _has_tensor(self, node: ast.Attribute) -> bool:
        """Whether an attribute is a tensor: the parameter of a module of torch, or what nothing but tensors is assigned to."""
        owner = node.value
        if node.attr not in PARTS and self._semantics.facts.self_class(owner) is None:
            return node.attr in torch_api.PARAMETER_ATTRIBUTES.get(self._semantics.kind(owner).name, ())
        return super()._has_tensor(node) and (node.attr in PARTS or not self._is_set_from_outside(node.attr))

    def _is_set_from_outside(self, attribute: str) -> bool:
        """Whether any code of the file assigns to an attribute of this name of something else than ``self``."""
        if self._set is None:
            nodes = self._semantics.tree.of_type(ast.Attribute)
            stored = [each for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)]
            self._set = {each.attr for each in stored if self._semantics.facts.self_class(each.value) is None}
        return attribute in self._set

    def _makes_tensor(self, module: Kind) -> bool:
        return super()._makes_tensor(module) and module.name not in _OPAQUE

    def _has_what_only_tensors_have(self, function: ast.Attribute) -> bool:
        return False  # among the classes of torch; a project has others

    def _has_passed(self, name: ast.Name) -> bool:
        """Whether code that has run before, whatever the way here, would have raised if ``name`` were no tensor."""
        found = self._semantics.bindings.reaching(name)
        if len(found) != 1:
            return False
        [binding] = found
        flow = self._semantics.control_flow
        witnesses = [use for use in binding.uses if use is not name and self._is_demanded(use)]
        scope = flow.scope(name)
        return any(flow.scope(use) is scope and not flow.may_start_with(scope, name, avoiding=[use]) for use in witnesses)

    def _is_demanded(self, use: ast.Name) -> bool:
        """Whether a use raises where the value is no tensor."""
        call = self._semantics.tree.parent(use)
        if not (isinstance(call, ast.Call) and call.args and call.args[0] is use):
            return False
        if self._name(call.func) in DEMANDING:
            return True
        called = self._semantics.kind(call.func)
        return called.type is Type.MODULE and called.definition is None and self._makes_tensor(called)

    # --- what is said of the others ----------------------------------------------------------------------------------

    def _doubt(self, node: ast.expr) -> str:
        """Why ``node`` may be no tensor."""
        match node:
            case ast.Name(id=name):
                for binding in self._semantics.bindings.reaching(node):
                    if not self._tensors.hold(binding):
                        return self._doubt_of(binding)
                return f"nothing shows that `{name}` is a tensor"
            case ast.Attribute(attr="data" | "grad" | "T", value=inner) | ast.Subscript(value=inner):
                return self._doubt(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in torch_api.TENSOR_METHODS:
                return self._doubt(inner) if isinstance(inner, ast.Name) else f"`{_short(node)}` may be no tensor"
        return f"`{_short(node)}` may be no tensor"

    def _doubt_of(self, binding: Binding) -> str:
        name = binding.name
        if self._tests.ask_about(binding):
            return f"the code asks what `{name}` is; it may be no tensor"
        match binding.form:
            case Form.PARAMETER:
                return f"`{name}` is an argument; it may be no tensor"
            case Form.IMPORT:
                return f"`{name}` is imported; it may be no tensor"
        if binding.value is None:
            return f"`{name}` may be no tensor"
        return f"`{name}` comes from `{_short(binding.value)}`; it may be no tensor"


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    if len(text) <= _LONGEST:
        return text
    return f"{ast.unparse(node.func)}(…)"[-_LONGEST:] if isinstance(node, ast.Call) else "…"
