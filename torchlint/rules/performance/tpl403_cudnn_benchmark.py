from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, insert_below_imports, replace
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found

_LONGEST = 40


class CudnnBenchmark(Rule):
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
    severity = "warning"
    triggers = (Found(".devices.cudnn:Cudnn.uneven_benchmarks"), Found(".devices.cudnn:Cudnn.unset_for"))
    needs = (("deterministic", "DataLoader"), ("cudnn", "backward", "manual_backward", "grad"))

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports a benchmark that is turned on where determinism is turned on as well."""
        if not self.model.devices.is_uneven_benchmark(node):
            return
        self.report(
            node,
            f"`{self.model.shown(node.targets[0].target)} = True` may pick another algorithm in each run, "
            "next to `deterministic = True`: set it to False",
            fix(
                "Turn the benchmark off",
                replace(node.value, cst.Name("False")),
                rests_on=unknown("another algorithm rounds in another way"),
            ),
        )

    def visit_For(self, node: cst.For) -> None:
        """Reports the training of a script that sets no flag."""
        if not self.model.devices.lacks_benchmark(node):
            return
        setting = statement("{torch.backends.cudnn.benchmark} = True")
        self.report(
            node.iter,
            f"the convolutions see one shape in each step over `{self.model.shown(node.iter, _LONGEST)}`: "
            "set `torch.backends.cudnn.benchmark = True` once",
            fix(
                "Let cuDNN pick the fastest algorithm",
                insert_below_imports(setting),
                rests_on=unknown("another algorithm rounds in another way"),
            ),
        )
