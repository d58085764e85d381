from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import again, expression, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class GeneratorInWorkers(Rule):
    """
    ## What it does
    Finds data sets that keep a random generator, `self.rng = np.random.default_rng()`, and draw from it for each item, where a
    `DataLoader` with workers is given no `worker_init_fn`.

    ## Why is this bad
    Each worker gets a copy of the data set, with the generator in the state that it had in the main process, in every epoch
    anew. All workers draw the same numbers, and the same ones in each epoch: augmentation repeats itself. (torch seeds its own
    global generator, Python's and numpy's for each worker, but none that a data set keeps.)

    ## Example
    ```python
    import numpy as np
    from torch.utils.data import DataLoader, Dataset


    class Noisy(Dataset):
        def __init__(self, images):
            self.images = images
            self.rng = np.random.default_rng(0)

        def __getitem__(self, index):
            return self.images[index] + self.rng.normal()


    loader = DataLoader(Noisy(images), num_workers=4)
    ```

    ## Use instead
    ```python
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Noisy(Dataset):
        def __init__(self, images):
            self.images = images
            self.rng = np.random.default_rng(0)

        def __getitem__(self, index):
            return self.images[index] + self.rng.normal()


    def seed(worker):
        torch.utils.data.get_worker_info().dataset.rng = np.random.default_rng(torch.initial_seed())


    loader = DataLoader(Noisy(images), num_workers=4, worker_init_fn=seed)
    ```

    ## Fix safety
    Unsafe: other numbers are drawn. The fix gives the loader a `lambda` that does what `seed` does above; where workers are
    spawned and not forked, it has to be a function with a name.

    ## References
    - [torch.utils.data: randomness in multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading)
    """

    code = "TPL325"
    name = "generator-in-workers"
    triggers = (Found(".loading.worker_generators:WorkerGenerators.found"),)
    needs = (("num_workers",), ("default_rng", "RandomState", "Random", "Generator"), ("class",))

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports the assignment that keeps the generator."""
        kept = self.model.training.worker_generator(node)
        if kept is None or not isinstance(kept.loader, cst.Call):
            return
        seed = expression(
            f'lambda worker: setattr({{torch.utils.data.get_worker_info}}().dataset, "{kept.name}", {kept.anew})',
            maker=again(kept.maker),
        )
        self.report(
            node,
            f"each worker of the loader in line {self.model.line(kept.loader)} has a copy of `{self.model.shown(kept.drawn)}` "
            "in the same state: all draw the same numbers, in every epoch",
            fix(
                "Let each worker have a generator of its own",
                replace(kept.loader, with_argument(kept.loader, "worker_init_fn", seed)),
                rests_on=unknown("other numbers are drawn"),
            ),
        )
