from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.copying import copied
from torchlint.rules.in_place import InPlaceRule
from torchlint.rules.triggers import Found
from torchlint.semantics.aliasing.detached import DetachedChange


class DetachedAliasMutation(InPlaceRule):
    """
    ## What it does
    Finds in-place changes of a `.detach()` of a tensor that is used again: `c = out.detach()` and later `c.zero_()`,
    `image = x.detach().cpu().numpy()` and later `image -= image.min()`. Also the other way round, a `.detach()` that is kept
    and used after the tensor was changed by what it says: `last = x[:, -1:].detach()`, `x -= last`, and later `x + last`.

    It is strict where the tensor is an argument, and no caller in the file goes on with what it has passed; and where a
    `.cpu()` stands in between, so that nothing is shared wherever a GPU is used.

    ## Why is this bad
    `.detach()` gives another tensor over the same memory, and so does `.numpy()`. The change goes through to the tensor
    that was detached: the weights change, or the backward pass raises because a value that it needs was modified. By way
    of an array autograd does not even notice. And what was kept is no longer what it was. Where there is a `.cpu()` in
    between, all this happens on the CPU only.

    ## Example
    ```python
    out = x.sigmoid()
    mask = out.detach()
    mask[mask < 0.5] = 0  # changes out
    loss = (out * mask).sum()
    ```

    ## Use instead
    ```python
    out = x.sigmoid()
    mask = out.detach().clone()
    mask[mask < 0.5] = 0  # changes out
    loss = (out * mask).sum()
    ```

    ## Fix safety
    Unsafe: the change no longer reaches the tensor that was detached, which may be what the code relied on. Where the
    change is made without a name for the alias, there is no fix.

    ## References
    - [torch.Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
    """

    code = "TPL008"
    name = "detached-alias-mutation"
    triggers = (
        Found(".aliasing.detached:DetachedAliases.changes"),
        Found(".aliasing.overtaken:OvertakenAliases.changes"),
    )
    needs = (("detach", "numpy"), ("detach", "data"))
    yields_to = ("TPL001", "TPL203")

    def check(self, node: cst.BaseExpression) -> None:
        for change in self.model.memory.detached_changes(node):
            mended = self._fix(change) if change.has_name else None
            self.report(node, self._message(change), mended, strict=change.on_cpu or not change.is_shown)
        kept = self.model.memory.overtaken_change(node)
        if kept is not None:
            changed, alias, name = (self.model.shown(part) for part in (_changed(kept), kept.alias, kept.tensor))
            message = f"`{name}`, which is read later, changes with `{changed}`: `{alias}` shares its memory; keep a copy"
            self.report(node, message, self._fix(kept))

    def _message(self, change: DetachedChange[cst.BaseExpression]) -> str:
        changed = self.model.shown(_changed(change))
        where, tensor = " (on the CPU)" if change.on_cpu else "", self.model.shown(change.tensor)
        is_namesake = self.model.shown(change.through).partition("[")[0] == tensor
        what = f"the `{tensor}` of the caller" if is_namesake else f"`{tensor}`"
        alias = self.model.shown(change.alias)
        return f"`{changed}` changes {what}, too{where}: `{alias}` shares its memory; change a copy"

    def _fix(self, change: DetachedChange[cst.BaseExpression]) -> CodeFix:
        copy = copied(change.alias, self.model.memory.copying_methods(change.alias))
        return fix(
            "Copy what is changed",
            replace(change.alias, copy),
            rests_on=unknown("the change no longer reaches the tensor, on which code may rely"),
        )


def _changed(change: DetachedChange[cst.BaseExpression]) -> cst.BaseExpression:
    return change.node.func if isinstance(change.node, cst.Call) else change.node
