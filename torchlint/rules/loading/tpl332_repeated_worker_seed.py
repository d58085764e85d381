from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found

_ANEW = {
    "random": "{torch.initial_seed}()",
    "numpy": "{torch.initial_seed}() % 2**32",
    "torch": "{torch.initial_seed}()",
}
"""A seed of a worker that is another one in each epoch."""
_GENERATORS = {"random": "Python's generator", "numpy": "numpy's generator", "torch": "torch's generator"}


class RepeatedWorkerSeed(Rule):
    """
    ## What it does
    Finds a `worker_init_fn` that seeds a generator with a number that is the same in every epoch,
    `random.seed(args.seed + worker_id)`, of a `DataLoader` that is shuffled or otherwise shows that it is for a training, and
    whose workers do not persist. The number has to be made of what cannot change meanwhile: the number of the worker, constants
    of the file, and a seed among the options of the program. A function that asks for `torch.initial_seed()` or
    `get_worker_info()` is left alone, and so is one that seeds in a branch.

    Strict is a seed of a generator of which it is not known whether the items are made of what it draws: no class in the file,
    and no project, tells.

    ## Why is this bad
    The workers are started in each epoch anew, and torch seeds each one then, for Python, numpy and torch, with a number that
    is another one in each epoch. Who seeds them again with the same number makes each epoch draw what the first one did: the
    same crops, flips and noise in the same order, however long the training takes.

    ## Example
    ```python
    class Noisy(torch.utils.data.Dataset):
        def __getitem__(self, index):
            return images[index] + np.random.normal()


    def seed_worker(worker_id):
        np.random.seed(42 + worker_id)


    loader = torch.utils.data.DataLoader(Noisy(), shuffle=True, num_workers=4, worker_init_fn=seed_worker)
    ```

    ## Use instead
    ```python
    class Noisy(torch.utils.data.Dataset):
        def __getitem__(self, index):
            return images[index] + np.random.normal()


    def seed_worker(worker_id):
        np.random.seed(torch.initial_seed() % 2**32)


    loader = torch.utils.data.DataLoader(Noisy(), shuffle=True, num_workers=4, worker_init_fn=seed_worker)
    ```

    ## Fix safety
    Unsafe: other numbers are drawn. They are still the same in each run of the program, if that calls `torch.manual_seed`.
    There is no fix where the function is used elsewhere as well, or seeds anything else.

    ## References
    - [Reproducibility: DataLoader](https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader)
    """

    code = "TPL332"
    name = "repeated-worker-seed"
    triggers = (Found(".loading.worker_seeds:WorkerSeeds.found"),)
    needs = (("worker_init_fn",), ("seed", "manual_seed"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that seeds a worker."""
        found = self.model.training.worker_seed(node)
        if found is None:
            return
        changes = [
            replace(seed, expression(_ANEW[library])) for seed, library in zip(found.seeds, found.libraries, strict=True)
        ]
        self.report(
            node,
            f"`{self.model.shown(node)}` seeds {_GENERATORS[found.library]} alike in every epoch, in the workers of the loader "
            f"in line {self.model.line(found.loader)}: each epoch draws the same numbers; use `torch.initial_seed()`",
            fix("Use the seed that torch gives the worker", *changes, rests_on=unknown("other numbers are drawn"))
            if found.is_all
            else None,
            strict=not found.is_drawn,
        )
