from __future__ import annotations

import ast
import re

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics.code.tree import Loop, dotted
from torchlint.semantics.training.loops import TrainingLoops

_CUDNN = "torch.backends.cudnn"
_CONVOLUTION = re.compile(r"torch\.nn\.(?:Lazy)?Conv(?:Transpose)?[123]d$|torchvision\.models\.[a-z]\w*$")
_OF_ONE_SHAPE = re.compile(
    r"torchvision\.datasets\.(?:CIFAR10|CIFAR100|E?MNIST|FashionMNIST|KMNIST|QMNIST|SVHN|STL10|USPS)$|torch\.utils\.data\.TensorDataset$"
)
_CROPS = re.compile(r"torchvision\.transforms\.(?:v2\.)?(?:RandomCrop|CenterCrop|RandomResizedCrop|RandomSizedCrop|FiveCrop)$")
_RESIZES = re.compile(r"torchvision\.transforms\.(?:v2\.)?(?:Resize|Scale)$")
_SETTING_CALLS = frozenset(
    {f"{_CUDNN}.set_flags", "torch.use_deterministic_algorithms", "torch.set_deterministic", "torch._set_deterministic"}
)


def _may_set_or_need(data: bytes) -> bool:
    if b"cudnn" in data and b"deterministic" in data:
        return True
    return b"backward" in data and b"DataLoader" in data and (b"Conv" in data or b"models" in data)


class CudnnBenchmark(AstRule):
    """
    ## What it does
    Finds `cudnn.benchmark = True` that runs together with `cudnn.deterministic = True`, and training scripts that convolve
    inputs of one shape on the GPU and set neither.

    ## Why is this bad
    With `benchmark`, cuDNN tries its algorithms on the first input of each shape and keeps the fastest. Where shapes stay the
    same, this costs a moment and makes every later step faster. Which one wins may differ from run to run, though: next to
    `deterministic`, which asks for equal runs, it undoes what was asked for.

    A script is reported where it makes convolutions, an optimizer and a data loader itself, uses a GPU, and takes its inputs
    from a dataset of one shape (CIFAR, MNIST, `TensorDataset`) or crops or resizes them to one.

    ## Example
    ```python
    import torch

    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = True
    ```

    ## Use instead
    ```python
    import torch

    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    ```

    ## Fix safety
    Unsafe: another algorithm rounds in another way. `benchmark` is turned off next to `deterministic`, and set below the
    imports of a script that lacks it. There is no fix for a script whose imports do not stand at the top.

    ## References
    - [torch.backends.cudnn](https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.torch.backends.cudnn.benchmark)
    - [Reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html#cuda-convolution-benchmarking)
    """

    code = "TPL403"
    name = "cudnn-benchmark"
    default = False
    screen = Screen(any_of=(b"cudnn", b"cuda"), check=_may_set_or_need)

    def finish(self) -> None:
        """Looks at what the file sets, and where it sets nothing, at what it trains."""
        settings = self._settings()
        if settings:
            self._compare(settings.get("benchmark", []), settings.get("deterministic", []))
        elif not self._sets_by_call() and (loop := self._loop_of_one_shape()) is not None:
            self._report_missing(loop)

    # --- what is set -------------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, list[ast.Assign]]:
        """The assignments to flags of cuDNN, by the flag."""
        found: dict[str, list[ast.Assign]] = {}
        for node in self.semantics.tree.nodes:
            if isinstance(node, ast.Assign):
                for flag in filter(None, map(self._flag, node.targets)):
                    found.setdefault(flag, []).append(node)
        return found

    def _flag(self, target: ast.expr) -> str | None:
        """The flag of cuDNN that is assigned to, also where the file does not import what it calls `cudnn`."""
        name = self.semantics.qualified_name(target) or dotted(target) or ""
        module, _, flag = name.removeprefix("builtins.").rpartition(".")
        return (
            flag
            if module in (_CUDNN, "cudnn", "backends.cudnn") and flag in ("benchmark", "deterministic", "enabled")
            else None
        )

    def _compare(self, benchmarks: list[ast.Assign], strict: list[ast.Assign]) -> None:
        """Reports each benchmark that is turned on where determinism is turned on as well."""
        on, off = _divided(benchmarks)
        strict_on, strict_off = _divided(strict)
        follows = self.semantics.control_flow.may_follow
        for node in on:
            if any(follows(other, node, strict_off) or follows(node, other, off) for other in strict_on):
                text = ast.unparse(node.targets[0])
                message = (
                    f"`{text} = True` may pick another algorithm in each run, next to `deterministic = True`: set it to False"
                )
                edit = (self.source.start(node.value), self.source.end(node.value), "False")
                self.report(node, message, self.fix("Turn the benchmark off", [edit], safe=False))

    def _sets_by_call(self) -> bool:
        calls = self.semantics.facts.calls
        names = ("set_flags", "use_deterministic_algorithms", "set_deterministic", "_set_deterministic", "Trainer")
        return any(
            self.semantics.qualified_name(call.func) in _SETTING_CALLS or name == "Trainer"
            for name in names
            for call in calls.get(name, ())
        )

    # --- what is trained ---------------------------------------------------------------------------------------------

    def _loop_of_one_shape(self) -> Loop | None:
        """The training loop of a script that convolves inputs of one shape on a GPU."""
        names = self._called_names()
        if not any(_CONVOLUTION.match(name) for name in names) or not any(name.startswith("torch.optim.") for name in names):
            return None
        if "torch.utils.data.DataLoader" not in names or self._collates() or not self._uses_gpu():
            return None
        if not self._has_one_shape(names):
            return None
        loops = [loop for loop in self.semantics.of(TrainingLoops).all if isinstance(loop, ast.For)]
        return loops[0] if loops else None

    def _called_names(self) -> set[str]:
        calls = (call for found in self.semantics.facts.calls.values() for call in found)
        return {name for call in calls if (name := self.semantics.qualified_name(call.func)) is not None}

    def _collates(self) -> bool:
        """Whether a loader of the file puts batches together in a way of its own, and so perhaps of many shapes."""
        loaders = self.semantics.facts.calls.get("DataLoader", ())
        return any(word.arg in ("collate_fn", "batch_sampler", None) for loader in loaders for word in loader.keywords)

    def _uses_gpu(self) -> bool:
        calls = self.semantics.facts.calls
        return bool(calls.get("cuda")) or (bool(calls.get("to")) and any(map(_names_cuda, self.semantics.tree.nodes)))

    def _has_one_shape(self, names: set[str]) -> bool:
        if any(_OF_ONE_SHAPE.match(name) or _CROPS.match(name) for name in names):
            return True
        calls = self.semantics.facts.calls
        resizes = [call for name in ("Resize", "Scale") for call in calls.get(name, ()) if call.args]
        return any(
            _RESIZES.match(self.semantics.qualified_name(call.func) or "") and isinstance(call.args[0], (ast.Tuple, ast.List))
            for call in resizes
        )

    # --- the reports -------------------------------------------------------------------------------------------------

    def _report_missing(self, loop: Loop) -> None:
        assert isinstance(loop, (ast.For, ast.AsyncFor))
        batches = ast.unparse(loop.iter)
        message = (
            f"the convolutions see one shape in each step over `{batches if len(batches) <= 40 else '…'}`: "
            "set `torch.backends.cudnn.benchmark = True` once"
        )
        self.report(loop.iter, message, self._insertion())

    def _insertion(self) -> Fix | None:
        """Sets the flag below the imports at the top of the file."""
        body = self.source.tree.body
        imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
        rewriter = Rewriter(self.source, self.semantics)
        if not imports or not rewriter.stands_alone(imports[-1]):
            return None
        torch, more = rewriter.torch_name(body[-1])
        place = self.source.line_start((imports[-1].end_lineno or 0) + 1)
        newline = self.source.newline
        setting = f"{newline}{torch}.backends.cudnn.benchmark = True{newline}"
        edits: list[TextEdit] = [(place, place, setting), *more]
        return self.fix("Let cuDNN pick the fastest algorithm", edits, safe=False)


def _divided(assignments: list[ast.Assign]) -> tuple[list[ast.Assign], list[ast.Assign]]:
    """The assignments of True, and the others."""
    on = [node for node in assignments if isinstance(node.value, ast.Constant) and node.value.value is True]
    return on, [node for node in assignments if node not in on]


def _names_cuda(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "cuda" in node.value
