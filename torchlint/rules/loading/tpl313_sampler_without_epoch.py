from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, insert_before
from torchlint.fixes.code import compound, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.loading.unset_epochs import UnsetEpoch


class SamplerWithoutEpoch(Rule):
    """
    ## What it does
    Finds a `DistributedSampler` whose loader is gone through in a loop over epochs, where nothing calls `set_epoch`. Of a
    sampler of training data whose loader is handed to other files, or gone through by code that they run, none of the
    project's files may call it. A finding is strict where models of `transformers` are tuned, for two or three epochs.

    ## Why is this bad
    The sampler shuffles with a generator that it seeds anew in each epoch, by `seed + epoch`, so that all processes agree. If
    nobody tells it the epoch, that is 0 for ever: each epoch has the same batches in the same order.

    ## Example
    ```python
    from torch.utils.data import DataLoader, DistributedSampler

    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, batch_size=64, sampler=sampler)
    for epoch in range(90):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
    ```

    ## Use instead
    ```python
    from torch.utils.data import DataLoader, DistributedSampler

    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, batch_size=64, sampler=sampler)
    for epoch in range(90):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
    ```

    ## Fix safety
    Unsafe: the training sees its data in other orders. There is no fix where the loop has no variable that counts the epochs.

    Trainers that call `set_epoch` themselves are left alone: Lightning, Accelerate, Ignite and the like, and code of other
    files that is handed the loader or the sampler, unless all files of the project are known.

    ## References
    - [torch.utils.data.distributed.DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    """

    code = "TPL313"
    name = "sampler-without-epoch"
    triggers = (Found(".loading.unset_epochs:UnsetEpochs.found"),)
    needs = (("DistributedSampler",), ("DataLoader",))  # of which another file may train

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the sampler."""
        unset = self.model.training.unset_epoch(node)
        if unset is not None:
            self.report(
                node,
                "nothing calls `set_epoch` of this sampler: every epoch has the same batches in the same order",
                _telling(unset),
                strict=unset.is_tuned,
            )


def _telling(unset: UnsetEpoch[cst.BaseExpression, cst.CSTNode]) -> CodeFix | None:
    """Tells the sampler the epoch, first of all in the loop over epochs."""
    if unset.first is None or unset.epoch is None:
        return None
    rests_on = unknown("the training sees its data in other orders")
    title = "Call `set_epoch` in each epoch"
    if unset.sampler is not None and not unset.is_conditional:
        told = statement("{sampler}.set_epoch({epoch})", sampler=unset.sampler, epoch=unset.epoch)
        return fix(title, insert_before(unset.first, told, alone=True), rests_on=rests_on)
    if unset.loader is None:
        return None
    if not unset.is_conditional:
        told = statement("{loader}.sampler.set_epoch({epoch})", loader=unset.loader, epoch=unset.epoch)
        return fix(title, insert_before(unset.first, told, alone=True), rests_on=rests_on)
    asked = compound(
        "if isinstance({loader}.sampler, {torch.utils.data.DistributedSampler}):\n    {again}.sampler.set_epoch({epoch})\n",
        loader=unset.loader,
        again=unset.loader.deep_clone(),
        epoch=unset.epoch,
    )
    return fix(title, insert_before(unset.first, asked, alone=True), rests_on=rests_on)
