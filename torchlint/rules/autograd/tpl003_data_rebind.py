from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, CodeFix, fix, replace, without_attribute, wrap
from torchlint.fixes.code import expression, statement
from torchlint.fixes.detaching import detached
from torchlint.model.data import Runs
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Attribute
from torchlint.semantics.data.rebinds import Rebind
from torchlint.target import TorchVersion


class DataRebind(Rule):
    """
    ## What it does
    Finds assignments to the `.data` of a tensor: `p.data = value`.

    Where a tensor is given its own values in another dtype, `p.data = p.data.half()`, or size, or under `no_grad` in another
    order, and where a model is given first values that are made on the spot, `self.bias.data = torch.zeros(4)` in a
    constructor, or `layer.weight.data = torch.randn(4, 3) * 0.01` of a layer that was just made, or of its other weights, that
    is meant, and nothing is computed yet that it could spoil: that is strict. So are other values that a constructor computes,
    though not those that it is given or reads; weights of another model, or of an array, where the lines above assert that the
    sizes are the same, and code under `if __name__ == "__main__":` that only tries out what the file defines, or compares it,
    without an optimizer. So are a tensor's own values, clamped between numbers or normalised, behind the step of an optimizer
    or in a function that does no more. So is what a function from elsewhere gives for the tensor, `w.data = unit_norm(w)`,
    which may be the tensor's own memory, and values that are set under `no_grad` in a file that trains nothing, a weight that a
    `forward` masks before it uses it, a mask in no graph that a comparison takes values out of, and a weight that `weight_norm`
    computes anew before each forward. Nothing is computed with a gradient again, either: `p.grad.data = 0.5 * p.grad.data`.

    The same holds where two storages change places, where a layer that the function has just made is to share a weight of
    another, or gets a part of one and the function trains nothing (`new.weight.data = net.fc.weight.data[1:]`), where an
    optimizer puts back a clone of its own with autograd off, as a sharpness-aware step does, for buffers, the statistics of a
    norm and tensors of the program's own in a dictionary, for weights that are left with some of their own values, or with what
    a mask leaves of others, for the state of an optimizer, for a move to another device, for the noise that an attack steps and
    bounds, `delta.data = clamp(delta + step)`, and for tensors that are only data: noise, or a picture that is saved.

    ## Why is this bad
    The tensor's storage is swapped under autograd and the optimizer. Nothing checks that the new one fits:
    `Linear(2, 2).weight.data = torch.ones(3, 3)` is accepted silently. A value that was saved for the backward pass is
    replaced without notice, and the gradient is wrong.

    ## Example
    ```python
    layer.weight.data = embeddings
    ```

    ## Use instead
    ```python
    with torch.no_grad():
        layer.weight.copy_(embeddings)
    ```

    ## Fix safety
    `p.data = init.normal_(p.data)` becomes `init.normal_(p)`: safe where `p` is certainly a tensor, told by names alone (and
    not by `next(…)`, another each time), and no backward that has saved it can still follow: it was just made there, or in
    the constructor that runs, or nothing that outlives the change holds a graph. Nor may it be made under `inference_mode`,
    or a mode of the file watch calls. Else unsafe: `copy_` keeps the parameter's own shape, type and device, raises where the
    shapes do not fit, and no longer shares memory with the value. To a gradient the value is assigned itself, and to a name
    that goes on with another form of its tensor: `images.data = images.data.cuda()` becomes `images = images.cuda()`, also
    unsafe, as other names go on with the old one. There is no fix where another tensor is given another form (`p.data =
    p.data.half()`), as the copy would undo it, or what a mask leaves of weights, as that has another shape, nor where its old
    `.data` was kept, here or in another method of the class, to be put back, as the copy would overwrite what was kept: assign
    a new `nn.Parameter` to the module, or clone the old values.

    ## References
    - [torch.Tensor.copy_](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.copy_.html)
    """

    code = "TPL003"
    name = "data-rebind"
    since = TorchVersion(0, 4)
    triggers = (Attribute("data"),)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports an assignment to a tensor's `.data`, with the fix for the whole run of statements that it stands in."""
        rebind = self.model.data.rebind(node) if node.attr.value == "data" else None
        if rebind is not None:
            tensor = self.model.shown(node.value)
            message = f"`{tensor}.data = …` swaps the tensor's storage unchecked, under autograd and the optimizer"
            is_gradient = _is_gradient(node.value)
            if is_gradient:
                message = f"`{tensor}.data = …` swaps the gradient's storage unchecked; a gradient can be assigned itself"
            self.report(self._place(node), message, self._fix(rebind, tensor), strict=rebind.is_meant or is_gradient)

    def _place(self, node: cst.Attribute) -> cst.CSTNode:
        """What a finding is about: the whole assignment, so that it is one finding, where that starts with the target."""
        match self.model.statement(node):
            case cst.Assign(targets=[cst.AssignTarget(target=target)]) as whole if target is node:
                return whole
        return node

    def _fix(self, rebind: Rebind[cst.BaseExpression], tensor: str) -> CodeFix | None:
        if rebind.initialiser is not None:
            changes = self._initialise(rebind.data, rebind.initialiser)
            return fix(f"Initialise `{tensor}` itself", *changes, rests_on=rebind.rests_on)
        if rebind.takes_value:
            return fix(
                f"Assign to `{tensor}` itself",
                without_attribute(rebind.data),
                *self._mend(rebind),
                rests_on=unknown(f"what else refers to the old `{tensor}` is not changed any more"),
            )
        if rebind.copied is None:
            return None
        title, assignment = f"Copy the value into `{tensor}`", self.model.statement(rebind.data)
        if self.model.autograd.is_off(assignment):
            return fix(
                title,
                *self._copy(rebind),
                rests_on=unknown("the value may have another shape, dtype or device, and is no longer shared"),
            )
        if run := self._runs(assignment):
            return self._wrapped(run)
        copy = statement("{tensor}.detach().copy_({value})", tensor=rebind.tensor, value=rebind.copied)
        return fix(
            title,
            replace(assignment, copy),
            rests_on=unknown("the value may have another shape, dtype or device, and is no longer shared"),
        )

    def _initialise(self, data: cst.BaseExpression, initialiser: cst.BaseExpression) -> Iterator[Change]:
        """Leaves `init.normal_(p)` of `p.data = init.normal_(p.data)`."""
        yield replace(self.model.statement(data), cst.Expr(initialiser))
        match initialiser:
            case cst.Call(args=[cst.Arg(cst.Attribute(attr=cst.Name("data")) as first), *_]):
                yield without_attribute(first)

    @cached_property
    def _runs(self) -> Runs:
        return self.model.data.rebind_runs(is_left=lambda data: self.model.is_silenced(self.code, data))

    def _wrapped(self, run: list[cst.CSTNode]) -> CodeFix:
        """Puts a run of assignments under ``no_grad``, as copies."""
        if run[0] not in self._wraps:
            copies = [change for rebind in self.model.data.rebinds_within(run) for change in self._copy(rebind)]
            block = wrap(run, expression("{torch.no_grad}()"))
            self._wraps[run[0]] = fix(
                "Copy the value, under `torch.no_grad()`",
                block,
                *copies,
                rests_on=unknown("the value may have another shape, dtype or device, and is no longer shared"),
            )
        return self._wraps[run[0]]

    @cached_property
    def _wraps(self) -> dict[cst.CSTNode, CodeFix]:
        """The fixes that all assignments of a run share, by the first statement of the run."""
        return {}

    def _copy(self, rebind: Rebind[cst.BaseExpression]) -> Iterator[Change]:
        """Makes `x.copy_(value)` of `x.data = value`, less each `.data` of the value."""
        if rebind.copied is None:
            return
        copy = statement("{tensor}.copy_({value})", tensor=rebind.tensor, value=rebind.copied)
        yield replace(self.model.statement(rebind.data), copy)
        yield from self._mend(rebind)

    def _mend(self, rebind: Rebind[cst.BaseExpression]) -> Iterator[Change]:
        """What becomes of the ``.data`` in the value."""
        for read in rebind.reads:
            if not self.model.is_silenced("TPL002", read):
                yield without_attribute(read)
        for read in rebind.detached:
            if not self.model.is_silenced("TPL002", read) and not self.model.is_silenced("TPL104", read):
                yield detached(self.model, read)


def _is_gradient(tensor: cst.BaseExpression) -> bool:
    match tensor:
        case cst.Attribute(attr=cst.Name("grad")):
            return True
    return False
