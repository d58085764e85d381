"""Files that show all of a program: all that runs, and all that could change what layers of torch do."""

from __future__ import annotations

import ast
import builtins
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.observers.callers import Callers
from torchlint.semantics.observers.programs import Programs
from torchlint.semantics.observers.sight import Sight

_BY_MODE = frozenset(
    f"torch.nn.{name}"
    for name in (
        *("Transformer", "TransformerEncoder", "TransformerEncoderLayer", "TransformerDecoder", "TransformerDecoderLayer"),
        *("MultiheadAttention", "LSTM", "Container"),
    )
) | {"torch.is_grad_enabled", "torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.DistributedDataParallelCPU"}
"""What takes another way where autograd is off: `TransformerEncoder` zeroes the outputs at padded places then, a decoder's are
NaN where all is padded, and those of an `LSTM` differ in the last digits on the CPU (ran).
"""
_KNOWN = (
    torch_api.FUNCTIONS.keys()
    | torch_api.FACTORIES
    | torch_api.PASSING_FACTORIES
    | torch_api.MODULES
    | torch_api.OPTIMIZERS
    | torch_api.SCHEDULERS
    | {
        *(
            "torch",
            "torch.nn",
            "torch.nn.functional",
            "torch.optim",
            "torch.optim.lr_scheduler",
            "torch.utils",
            "torch.utils.data",
        ),
        *("torch.nn.Parameter", "torch.Tensor", "torch.device", "torch.dtype", "torch.Size", "torch.Generator", "torch.finfo"),
        *(
            "torch.no_grad",
            "torch.inference_mode",
            "torch.manual_seed",
            "torch.autograd.Variable",
            "torch.autograd",
            "torch.save",
        ),
        *(
            "torch.nn.utils",
            "torch.nn.utils.rnn",
            "torch.nn.init",
            "torch.nn.modules",
            "torch.cuda",
            "torch.backends",
            "torch.iinfo",
        ),
        *(
            "torch.set_default_dtype",
            "torch.set_default_tensor_type",
            "torch.set_printoptions",
            "torch.initial_seed",
            "torch.inf",
        ),
        *("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_norm", "torch.nn.utils.clip_grad_value_", "torch.pi"),
        *("torch.use_deterministic_algorithms", "torch.set_num_threads", "torch.get_num_threads", "torch.__version__"),
        *(
            "torch.distributions",
            "torch.utils.tensorboard",
            "torch.nn.DataParallel",
            "torch.nn.ParameterList",
            "torch.backends.cudnn",
        ),
    }
    | {f"torch.{name}" for name in ("float", "float16", "float32", "float64", "half", "double", "long", "int", "int8", "int16")}
    | {
        f"torch.{name}"
        for name in ("int32", "int64", "uint8", "short", "bool", "bfloat16", "cfloat", "complex64", "complex128")
    }
) - _BY_MODE
_KNOWN_PARTS = (
    *("torch.nn.init.", "torch.utils.data.", "torch.cuda.", "torch.optim.", "torch.distributions.", "torch.utils.tensorboard."),
    *("torch.nn.utils.rnn.", "torch.backends."),
)
_REPLACING = (
    "torch.nn.utils.weight",
    "torch.nn.utils.spectral",
    "torch.nn.utils.parametriz",
    "torch.nn.utils.prune",
    "torch.func.",
)
_BUILTIN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "get_ipython", "display"}
_SPELLED = frozenset({"exec", "eval", "compile", "globals", "locals", "vars", "setattr", "getattr", "delattr", "__import__"})
_WATCHING = frozenset(
    {"gc", "inspect", "importlib", "ctypes", "pickle", "dill", "runpy", "code", "weakref", "unittest", "trace"}
)
"""Libraries by which code finds objects, or runs code, that no name leads to."""
_CLASSIC = (
    "alexnet",
    "densenet",
    "mobilenet",
    "mnasnet",
    "resnet",
    "resnext",
    "shufflenet",
    "squeezenet",
    "vgg",
    "wide_resnet",
)
_FILLING = frozenset(
    {"append", "appendleft", "extend", "insert", "add", "update", "put", "setdefault", "push", "__setitem__", "backward"}
)
_CALLED = frozenset({"forward", "__call__", "__class__", "__dict__", "eval", "train", "parameters"})
_REBOUND = torch_api.TENSOR_METHODS.keys() | _CALLED
_TABLES = frozenset(
    {"__dict__", "_modules", "_parameters", "_buffers", "__globals__", "__code__", "__class__", "__torch_function__"}
)


class ClosedFiles:
    """Tells whether a file is a program that shows all that it runs."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._callers = semantics.of(Callers)

    @cached_property
    def in_sight(self) -> Fact:
        """Whether no other file runs code of this one, and this one runs nothing but its own code and that of libraries."""
        if self._callers.foreign:
            return unknown(f"the code uses `{self._callers.foreign}` of another file, and what that does is not in sight")
        if not self._semantics.of(Programs).runs and not self._semantics.of(Sight).unreached.is_certain:
            return unknown("the file may be imported, and used by code that is not in sight")
        return known_by(self._unbound, self._imported, self._spelled)

    @cached_property
    def fact(self) -> Fact:
        """Whether that is so, and layers are those of torch, with neither hooks nor weights that are computed, and of the file.

        What they do is then what torch says, and what the ``forward`` of a class shows.
        """
        return self.in_sight & known_by(self._named, self._of_torch) if self.in_sight.is_certain else self.in_sight

    @cached_property
    def _unbound(self) -> str:
        """A name that nothing in the file gives a value."""
        for name in self._semantics.tree.of_type(ast.Name):
            if isinstance(name.ctx, ast.Load) and not self._semantics.bindings.reaching(name):
                resolved = self._semantics.qualified_name(name) or ""
                if resolved == f"builtins.{name.id}" and name.id not in _BUILTIN:
                    return f"nothing shows what `{name.id}` is"
        return ""

    @cached_property
    def _imported(self) -> str:
        """What the file imports that finds its objects in other ways than by names."""
        watching = self._semantics.names.imported_libraries & _WATCHING
        return f"`{min(watching)}` finds code and objects by other ways than their names" if watching else ""

    @cached_property
    def _spelled(self) -> str:
        """What reads or replaces parts of objects without naming them."""
        for name in sorted(_SPELLED):
            if any(isinstance(call.func, ast.Name) for call in self._semantics.facts.calls.get(name, ())):
                return f"`{name}` may run any code, and find any value"
        for node in self._semantics.tree.of_type(ast.Attribute):
            if node.attr in _TABLES:
                return f"`{shortened(node)}` may change what an object does"
        return ""

    @cached_property
    def _named(self) -> str:
        """What sees or replaces what a layer does, or hands on how to fill a container."""
        for node in self._semantics.tree.of_type(ast.Attribute):
            if "hook" in node.attr or node.attr in ("parametrize", "register_module_full_backward_hook"):
                return f"`{shortened(node)}` may see what a model computes"
            if isinstance(node.ctx, ast.Store) and node.attr in _REBOUND and not self._is_own(node):
                return f"`{shortened(node)}` is replaced"
            if node.attr in _FILLING and isinstance(node.ctx, ast.Load) and not self._is_called(node):
                return f"`{shortened(node)}` is handed on"
        return ""

    def _is_own(self, store: ast.Attribute) -> bool:
        """Whether an object gets an attribute of its own, which is no part of what makes it a module."""
        return self._semantics.facts.self_class(store.value) is not None and store.attr not in _CALLED

    @cached_property
    def _of_torch(self) -> str:
        """What the file uses of torch and torchvision of which it is not certain that it leaves layers as they are."""
        for node in self._semantics.tree.of_type(ast.Attribute, ast.Name):
            if isinstance(self._semantics.tree.parent(node), ast.Attribute):
                continue
            name = self._semantics.qualified_name(node) or ""
            if name.startswith("torch") and not self._is_known(node, name):
                return f"`{shortened(node)}` may change what a layer does, or do something else without a graph"
        return ""

    def _is_known(self, node: ast.expr, name: str) -> bool:
        if name.startswith("torchvision.models."):
            return name.rpartition(".")[2].startswith(_CLASSIC)
        if name == "torch.load":
            call = self._semantics.tree.parent(self._semantics.tree.parent(node) or node)
            return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict"
        if name in ("torch.autograd.grad", "torch.autograd.backward", "torch.enable_grad"):
            return self._is_called(node)
        if name.startswith(("torch.autograd.", "torch.nn.functional.multi_head")):
            return name == "torch.autograd.Variable"
        if name in _BY_MODE or "grad_enabled" in name or (name in torch_api.FUNCTIONS and name.startswith(_REPLACING)):
            return False
        is_known_class = any(name.startswith(f"{known}.") for known in ("torch.Tensor", "torch.nn.Module"))
        return not name.startswith("torch.") or name in _KNOWN or name.startswith(_KNOWN_PARTS) or is_known_class

    def _is_called(self, node: ast.expr) -> bool:
        call = self._semantics.tree.parent(node)
        return isinstance(call, ast.Call) and call.func is node


def known_by(*doubts: str) -> Fact:
    """A claim that is certain where there is no doubt of it."""
    return next((unknown(doubt) for doubt in doubts if doubt), CERTAIN)
