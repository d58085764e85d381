"""Programs that run on one GPU, always the same: it is written out wherever they move something, and no other is spoken of."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.saving.own_files import file_of
from torchlint.semantics.saving.paths import Paths

_CHOICE = re.compile(
    r"(^|_)(cuda|n?gpus?|gpu_?ids|devices?\d?|dev|ngpus?)$|^device_|is_available|is_cuda|map_location|DataParallel|DistributedDataParallel"
    r"|(local|world)_?(rank|size)|get_rank|init_process_group|accelerat|fabric|deepspeed|lightning|horovod|apex\.parallel|^(mps|xpu|npu|hpu)$",
    re.IGNORECASE,
)
"""What the names are called of code that may run elsewhere, too."""
_ELSEWHERE = re.compile(
    r"pre_?train|imagenet|download|(^|_)hub|https?:|teacher|backbone|(^|_)init|convert|finetun", re.IGNORECASE
)
"""What a path speaks of that is of another program, or another run."""
_GPU = frozenset({"cuda", "cuda:0"})


class OneGpu:
    """Tells of loads whether the program that loads the file runs on one GPU alone."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._paths = semantics.of(Paths)

    def is_of_one_gpu(self, load: ast.Call) -> bool:
        """Whether a load is of a program that moves all to the one GPU, and its path says nothing of another program."""
        path = file_of(load, 0, "f")
        return path is not None and self.knows_one_gpu and not self._is_from_elsewhere(path)

    @cached_property
    def knows_one_gpu(self) -> bool:
        """Whether the file moves a model and a batch, or other two, to the GPU, and could not mean another device."""
        calls = [*self._semantics.facts.calls.get("cuda", ()), *self._semantics.facts.calls.get("to", ())]
        moves = {call: self._is_to_one_gpu(call) for call in calls}
        moved = {
            ast.unparse(call.func.value) for call, is_to in moves.items() if is_to and isinstance(call.func, ast.Attribute)
        }
        return len(moved) > 1 and False not in moves.values() and not self._chooses

    def _is_to_one_gpu(self, call: ast.Call) -> bool | None:
        """Whether a move goes to the one GPU; ``None`` where it is none, or goes to the CPU from there."""
        if not isinstance(call.func, ast.Attribute):
            return None
        given = [*call.args, *(word.value for word in call.keywords if word.arg != "non_blocking")]
        if call.func.attr == "cuda":
            return not given or (isinstance(given[0], ast.Constant) and given[0].value in (None, 0))
        if not given or self._is_dtype(given[0]):
            return None
        if self._is_device_of_tensor(given[0]) or (isinstance(given[0], ast.Constant) and given[0].value == "cpu"):
            return None
        return self._is_gpu(given[0])

    def _is_dtype(self, node: ast.expr) -> bool:
        return (self._semantics.qualified_name(node) or "").startswith("torch.") or last_name(node) == "dtype"

    def _is_gpu(self, device: ast.expr) -> bool:
        """Whether a device is the one GPU, as it is written out, or as all is that a name stands for."""
        match device:
            case ast.Constant(value=str(text)):
                return text in _GPU
            case ast.Call(func=function, args=[ast.Constant(value=str(text))]):
                return text in _GPU and self._semantics.qualified_name(function) == "torch.device"
            case ast.Name() if not isinstance(device.ctx, ast.Store):
                bindings = self._semantics.bindings.reaching(device)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT and not each.path and isinstance(each.value, (ast.Constant, ast.Call))
                    and self._is_gpu(each.value)
                    for each in bindings
                )  # fmt: skip
        return False

    def _is_device_of_tensor(self, node: ast.expr) -> bool:
        """Whether a device is the one where a tensor is already."""
        return isinstance(node, ast.Attribute) and node.attr == "device" and self._semantics.kind(node.value).is_tensor

    @cached_property
    def _chooses(self) -> bool:
        """Whether the file has a name, an attribute, a parameter or an argument that speaks of a choice."""
        return any(map(self._speaks_of_choice, self._semantics.tree.nodes))

    def _speaks_of_choice(self, node: ast.AST) -> bool:
        match node:
            case ast.Name(id="DataParallel", ctx=ast.Load()) | ast.Attribute(attr="DataParallel"):
                return not self._wraps_alone(node)
            case ast.Name(id=name, ctx=ast.Load()):
                return _CHOICE.search(name) is not None and not self._is_gpu(node)
            case ast.Attribute(attr="cuda"):
                parent = self._semantics.tree.parent(node)
                is_called = isinstance(parent, ast.Call) and parent.func is node
                return not is_called and self._semantics.qualified_name(node) != "torch.cuda"
            case ast.Attribute(attr="device"):
                return self._semantics.qualified_name(node) != "torch.device" and not self._is_device_of_tensor(node)
            case ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                return _CHOICE.search(name) is not None
            case ast.keyword(arg="device", value=value):
                return not self._is_gpu(value) and not self._is_device_of_tensor(value)
            case ast.keyword(arg=str(name)):
                return _CHOICE.search(name) is not None
        return False

    def _wraps_alone(self, parallel: ast.AST) -> bool:
        """Whether a model is wrapped for all GPUs that there are: its weights lie on the first one."""
        match self._semantics.tree.parent(parallel):
            case ast.Call(func=function, args=[_], keywords=[]):
                return function is parallel
        return False

    def _is_from_elsewhere(self, path: ast.expr) -> bool:
        return any(
            _ELSEWHERE.search(word) for word in re.findall(r"[\w:]+", f"{ast.unparse(path)} {self._paths.spelled(path)}")
        )
