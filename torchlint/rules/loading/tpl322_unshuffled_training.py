from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class UnshuffledTraining(Rule):
    """
    ## What it does
    Finds the loader of a training loop that is told neither to shuffle nor how to sample, where a loader for tests or
    validation stands beside it.

    ## Why is this bad
    A `DataLoader` does not shuffle unless it is told to. Data are often stored class by class: then each batch is of one class,
    the model forgets the others, and batch normalisation counts one class at a time. In any other order, too, each epoch sees
    the same batches.

    ## Example
    ```python
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder

    train_loader = DataLoader(ImageFolder("train"), batch_size=64)
    test_loader = DataLoader(ImageFolder("test"), batch_size=64)
    for x, y in train_loader:
        criterion(model(x), y).backward()
    ```

    ## Use instead
    ```python
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder

    train_loader = DataLoader(ImageFolder("train"), batch_size=64, shuffle=True)
    test_loader = DataLoader(ImageFolder("test"), batch_size=64)
    for x, y in train_loader:
        criterion(model(x), y).backward()
    ```

    ## Fix safety
    Unsafe: the training sees its data in another order.

    Not reported are loaders that are told `shuffle=False`, data sets that are not in sight or draw their items at random,
    and files that speak of sequences or hidden states, whose order may mean something. Where the data were split at random,
    a finding is strict.

    ## References
    - [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
    """

    code = "TPL322"
    name = "unshuffled-training"
    triggers = (Found(".loading.unshuffled:UnshuffledLoaders.found"),)
    needs = (("DataLoader",), ("backward", "manual_backward"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the loader."""
        loader = self.model.training.unshuffled(node)
        if loader is None:
            return
        shown = self.model.shown(loader.name)
        self.report(
            node,
            f"the training goes through `{shown}` in one and the same order, as `{self.model.shown(loader.other)}` is gone "
            "through: pass `shuffle=True`",
            fix(
                f"Shuffle `{shown}`",
                replace(node, with_argument(node, "shuffle", cst.Name("True"))),
                rests_on=unknown("the training sees its data in another order"),
            ),
            strict=loader.is_split_at_random,
        )
