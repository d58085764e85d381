from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from torchlint.diagnostic import Severity
from torchlint.fact import all_of
from torchlint.fixes.changes import Change, CodeFix, fix, without_attribute, wrap
from torchlint.fixes.code import expression
from torchlint.fixes.data_changes import initialised, masked, through_detach, without_data
from torchlint.fixes.detaching import detached
from torchlint.model.data import Runs
from torchlint.rules.in_place import InPlaceRule
from torchlint.rules.triggers import Found
from torchlint.semantics.data.changes import DataChange, Remedy
from torchlint.semantics.data.roles import Means
from torchlint.target import TorchVersion

_NEW = frozenset(f"torch.{name}{end}" for name in ("zeros", "ones", "empty", "full", "rand", "randn") for end in ("", "_like"))
_STATISTICS = frozenset({"running_mean", "running_var", "num_batches_tracked"})


class DataMutation(InPlaceRule):
    """
    ## What it does
    Finds tensors that are changed through their `.data`: `w.data *= 3`, `w.data.sub_(lr * w.grad)`, `w.data[i] = v`,
    `init.normal_(w.data)`, and changes through a local name, `c = out.data` and later `c.zero_()`. Those that give the
    `.data` another shape first, `x.data.resize_(n).copy_(y)`, leave that of `x` as it is.

    What does no harm where it stands is a warning: the initialisers, what sets the values that a model starts with, what no
    gradient depends on, and the values of gradients themselves.

    Strict findings, which are shown where the rule is selected by name: what sets the values that a model starts with, in a
    constructor, in a function that initialises or loads it, in one that only constructors call, of other files, too, or that is
    only applied to models which were just made, where no gradient can go wrong yet, unless it is a variable and no parameter of
    a layer, `w.data.normal_()`, for which a function of `torch.nn.init` does the same; what moves the weights of one network
    after those of another, as of a target network, `t.data.copy_(0.9 * t.data + 0.1 * p.data)` in a loop over both;
    `p.grad.data.clamp_(-1, 1)`, unless the file speaks of `create_graph`; what was just made,
    `torch.zeros(3).data.fill_(2)`, or copied, where nothing has used the copy yet; what has no graph, in a file that neither
    back-propagates nor defines a `forward`; a value without a graph that its function has only stored to, compared and moved so
    far, a mask that is filled or a buffer, and what the `backward` of an autograd function is given; what is changed where
    `self.training` is false; through a name, the results and batches of a function that back-propagates nothing and hands out
    nothing with a graph, as an evaluation that scales arrays of images; and a weight that a `forward` masks or clamps before it
    uses it, `self.weight.data *= self.mask`: masked again, it stays as it is; what is given another size where autograd is off;
    and what a function has for one step, as a beam search has its scores, where nothing shows that it has a graph; and weights
    that a file which trains nothing gives the values of arrays, `w.data.copy_(torch.from_numpy(v))` and `w.data[:] =
    torch.from_numpy(v)`.

    ## Why is this bad
    `x.data` shares its memory with `x` but has a version counter of its own. Autograd saves values for the backward pass
    and checks by that counter that nobody changed them; a change through `.data` goes unseen, and the backward pass
    computes gradients from the wrong values, silently.

    ## Example
    ```python
    out = a.sigmoid()
    out.data.zero_()
    out.sum().backward()  # a.grad is all zeros, no error
    ```

    ## Use instead
    ```python
    out = a.sigmoid()
    with torch.no_grad():
        out.zero_()
    out.sum().backward()  # raises: a value needed for backward was modified
    ```

    ## Fix safety
    Where autograd is off already, and for a gradient, `.data` is dropped. What a function of `torch.nn.init` does as well
    becomes a call of that: `nn.init.normal_(w, 0, 0.02)`. Elsewhere the statement is put into `with torch.no_grad():`,
    together with its neighbours. All this is safe where this is certain:

    - What is changed is a tensor: made by torch, annotated so, or the weight of what is asked to be a layer of torch. It is
      not sparse, with a `.data` that has values of its own, nor made under `inference_mode` and changed outside of it; and no
      `TorchFunctionMode` of the file sees the calls.
    - No backward that has saved it can still follow; it would raise now. The tensor was just made there; or it is part of a
      module whose constructor runs (`__init__`, and what only that calls: a method with an underscore, `self.apply(…)`),
      and that has only stored, listed and initialised its parts so far, or read their form and `.data`. Classes of other
      files are trusted to keep no graph of the weights that they make, unless they are given a part. Or,
      in a program that shows all callers, or where the project shows that no other file calls, nothing that outlives the
      change holds a graph, but for what is only printed or read by `.item()`: initialisation before the training loop,
      clipping behind `optimizer.step()`.
    - Nothing in the statements that go under `no_grad` needs autograd or is unknown: they are arithmetic of tensors and
      numbers, functions of torch and methods of tensors. A matrix product with a weight is not: autocast would keep a cast
      of what the weight was. One with its `.data` is, which stays detached.

    What is reshaped through `.data`, `x.data.resize_(n).copy_(y)`, is reshaped itself, which is unsafe: it has another shape
    then. There is no fix where it requires grad, as such a tensor cannot be resized.

    Everything else is unsafe, so the result of an operation: the backward pass may now raise, which is the point. Where
    values of a result are masked, the name is given a new tensor. Instead of an augmented assignment to an attribute, which
    would assign the attribute itself, a method is called.

    ## References
    - [Extending autograd: in-place correctness checks](https://docs.pytorch.org/docs/stable/notes/autograd.html)
    - [Migration guide for torch 0.4: what about .data?](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL001"
    name = "data-mutation"
    since = TorchVersion(0, 4)
    triggers = (Found(".data.changes:DataChanges.at"),)
    needs = (("data",),)
    yields_to = ("TPL003", "TPL309", "TPL311")

    def check(self, node: cst.BaseExpression) -> None:
        for change in self.model.data.changes(node):
            message, severity = self._said(change)
            self.report(self._place(change), message, self._fix(change), strict=self._is_mere_style(change), severity=severity)

    def _is_mere_style(self, change: DataChange[cst.BaseExpression]) -> bool:
        """Whether a change can do no harm where it is made, and there is no plainer way to make it."""
        if self._is_gradient(change):
            return not self.model.autograd.makes_graphs_of_gradients
        if (
            change.is_of_copy
            or self._is_unseen(change)
            or self._is_copied(change)
            or self._is_of_step(change)
            or self.model.data.is_recomputed(change.tensor)
            or self.model.data.is_masked_weight(change.node)
            or self.model.data.follows_another(change.node)
            or (change.means is Means.RESHAPED and self.model.autograd.runs_off(change.node))
        ):
            return True
        if change.is_beginning and self._is_of_module(change.tensor):
            return True
        is_plain_call = change.means is Means.INITIALISER and change.remedy is Remedy.NOTHING
        return change.is_beginning and change.remedy is not Remedy.INITIALISE and not is_plain_call

    @staticmethod
    def _is_of_module(tensor: cst.BaseExpression) -> bool:
        """Whether a tensor is the parameter of a layer, by the way it is asked for: ``self.conv.weight``."""
        return isinstance(tensor, cst.Attribute)

    def _is_unseen(self, change: DataChange[cst.BaseExpression]) -> bool:
        """Whether no gradient can go wrong: new tensors, statistics, and what has no graph where nothing propagates."""
        if isinstance(change.tensor, cst.Call) and self.model.name(change.tensor.func) in _NEW:
            return True
        if isinstance(change.tensor, cst.Attribute) and change.tensor.attr.value in _STATISTICS:
            return True
        if change.name is not None and self.model.autograd.is_local_result(change.tensor):
            return True
        if not change.is_beginning and self.model.autograd.changes_unsaved(change.tensor, change.node):
            return True
        return self.model.autograd.seems_graphless(change.tensor) and not self.model.autograd.may_propagate

    def _is_of_step(self, change: DataChange[cst.BaseExpression]) -> bool:
        """Whether what is changed is a function's own for one step, as far as is known, and no plainer way is shown."""
        if change.is_beginning or change.means in (Means.INITIALISER, Means.RESHAPED) or change.remedy is Remedy.ANEW:
            return False
        return self.model.data.is_passing(change.tensor)

    def _is_copied(self, change: DataChange[cst.BaseExpression]) -> bool:
        """Whether a layer is given a weight from elsewhere, in a file that trains nothing, or where code is tested.

        So is any tensor that is given the values of an array there, as where weights are read from a file of another library.
        """
        match change.node:
            case cst.Call(cst.Attribute(attr=cst.Name("copy_")), args=[cst.Arg(value), *_]) if self._is_of_array(value):
                return not self.model.autograd.trains
            case cst.Subscript():
                return not self.model.autograd.trains and self._is_set_to_array(change.node)
        match change:
            case DataChange(node=cst.Call(cst.Attribute(attr=cst.Name("copy_"))), tensor=cst.Attribute(attr=cst.Name(name))):
                if name not in ("weight", "bias"):
                    return False
                return not self.model.autograd.trains or self.model.code.is_in_tests(change.node)
        return False

    def _is_set_to_array(self, target: cst.BaseExpression) -> bool:
        """Whether an assignment gives what stands on its left the values of an array: ``w.data[:] = torch.from_numpy(v)``."""
        match self.model.statement(target):
            case cst.Assign(targets=[cst.AssignTarget(target=first)], value=value) if first is target:
                return self._is_of_array(value)
        return False

    def _is_of_array(self, value: cst.BaseExpression) -> bool:
        """Whether a value is made of an array: ``torch.from_numpy(array)``."""
        match value:
            case cst.Attribute(value=inner, attr=cst.Name("data")):
                return self._is_of_array(inner)
            case cst.Call(func=function):
                return self.model.name(function) == "torch.from_numpy"
        return False

    def _place(self, change: DataChange[cst.BaseExpression]) -> cst.CSTNode:
        """What a finding is about: the whole assignment where what it starts with is changed, so that it is one finding."""
        statement = self.model.statement(change.node)
        match statement:
            case cst.AugAssign(target=first) | cst.Assign(targets=[cst.AssignTarget(target=first)]) if first is change.node:
                return statement
        return change.node

    def _said(self, change: DataChange[cst.BaseExpression]) -> tuple[str, Severity]:
        """What to say of a change, and whether it is wrong or, where it does no harm, dated."""
        tensor, way = self.model.shown(change.tensor), "`.data`"
        if change.remedy in (Remedy.RESHAPE, Remedy.NONE):
            kept = f"`{tensor}` keeps its shape: only its `.data`, another tensor over the same memory, is given a new one"
            return f"{kept}; reshape `{tensor}` itself" if change.remedy is Remedy.RESHAPE else kept, "error"
        if change.name is not None:
            way = f"`{self.model.shown(change.name)}`, its `.data` from line {self.model.line(change.data)}"
        if change.means is Means.INITIALISER and not change.is_beginning:
            return (
                f"`{tensor}` is initialised through {way}, unseen by autograd; the initialisers take `{tensor}` itself",
                "error",
            )
        if self._is_gradient(change):
            seen = f"`{tensor}` is changed through {way}, unseen by autograd; a gradient can be changed itself"
            return seen, "error" if self.model.autograd.makes_graphs_of_gradients else "warning"
        if dated := self._dated(change, tensor, way):
            return dated, "warning"
        return self._harm(change, tensor, way), "error"

    def _dated(self, change: DataChange[cst.BaseExpression], tensor: str, way: str) -> str:
        """What to say of a change that does no harm where it is made; nothing of another one."""
        initialised = f"`{tensor}` is initialised through {way}, which does no harm before any forward"
        if change.means is Means.INITIALISER:
            return f"{initialised}; the initialisers take `{tensor}` itself"
        if change.remedy is Remedy.INITIALISE:
            return f"{initialised}; `torch.nn.init.{change.initialiser}` is the plain way"
        if self._is_unseen(change):
            return f"`{tensor}` is changed through {way}, where it can be changed itself: no gradient depends on it"
        if change.is_beginning or self._is_copied(change):
            return f"`{tensor}` is set through {way}, which does no harm before any forward; `torch.no_grad()` is today's way"
        if self.model.data.follows_another(change.node):
            return f"`{tensor}` follows the weights of another network through {way}; `torch.no_grad()` is today's way"
        if change.rests_on.is_certain:
            changed = f"`{tensor}` is changed through {way}, which autograd does not notice"
            return f"{changed}; no gradient goes wrong here, and nothing would tell if one did"
        return ""

    def _harm(self, change: DataChange[cst.BaseExpression], tensor: str, way: str) -> str:
        """What to say of a change by which a gradient may go wrong."""
        changed = f"`{tensor}` is changed through {way}, which autograd does not notice"
        hidden = f"`{tensor}` is changed through {way}, hidden from autograd's checks"
        if self.model.autograd.runs_off(change.node):
            return f"{hidden}; `.data` is not needed where autograd is off"
        if change.remedy is Remedy.ANEW:
            return f"`{tensor}` is masked through {way}, which autograd does not notice: give it the masked values"
        if self.model.autograd.is_of_evaluation(change.node):
            return f"{changed}; `torch.no_grad()` is today's way"
        if change.remedy is Remedy.NOTHING:
            return f"{hidden}; without a graph, it can be changed itself"
        return f"{changed}: a gradient that needs the values from before would be silently wrong"

    @staticmethod
    def _is_gradient(change: DataChange[cst.BaseExpression]) -> bool:
        match change.tensor:
            case cst.Attribute(attr=cst.Name("grad")):
                return True
        return False

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _fix(self, change: DataChange[cst.BaseExpression]) -> CodeFix | None:
        tensor = self.model.shown(change.tensor)
        if change.remedy is Remedy.ANEW:
            return fix(f"Give `{tensor}` the masked values", masked(self.model, change), rests_on=change.rests_on)
        if self._is_dropped(change):
            if change.remedy is Remedy.NOTHING:
                return fix(f"Change `{tensor}` itself", *self._drop_all(change), rests_on=change.rests_on)
            if run := self._runs[change.rests_on.is_certain](self.model.statement(change.data)):
                return self._wrapped(run)
            if change.remedy is Remedy.INITIALISE:
                title = f"Initialise `{tensor}` itself, with `torch.nn.init.{change.initialiser}`"
                return fix(title, initialised(change), rests_on=change.rests_on)
        if change.remedy is Remedy.RESHAPE and not self._is_left(change.data):
            return fix(f"Reshape `{tensor}` itself", without_data(self.model, change), rests_on=change.rests_on)
        if change.remedy in (Remedy.RESHAPE, Remedy.NONE):
            return None
        return fix(
            f"Change `{tensor}.detach()`, which autograd notices", through_detach(self.model, change), rests_on=change.rests_on
        )

    def _is_dropped(self, change: DataChange[cst.BaseExpression]) -> bool:
        """Whether a change is mended by leaving its `.data` out, be it under `no_grad`."""
        return change.remedy in (Remedy.NOTHING, Remedy.NO_GRAD, Remedy.INITIALISE) and not self._is_left(change.data)

    def _is_left(self, data: cst.BaseExpression) -> bool:
        return self.model.is_silenced(self.code, data)

    # --- runs of statements under one `no_grad` ----------------------------------------------------------------------

    @cached_property
    def _runs(self) -> dict[bool, Runs]:
        """The runs of statements whose fix is safe, and those of the others."""
        return {safe: self.model.data.change_runs(safe=safe, is_left=self._is_left) for safe in (True, False)}

    def _wrapped(self, run: list[cst.CSTNode]) -> CodeFix:
        """Puts a run of statements under `no_grad`, less each `.data` that is not needed there."""
        if run[0] not in self._wraps:
            changes = [change for change in self.model.data.changes_within(run) if self._is_dropped(change)]
            dropped = [change for each in changes for change in self._drop_all(each)]
            block = wrap(run, expression("{torch.no_grad}()"))
            self._wraps[run[0]] = fix(
                "Leave `.data` out, under `torch.no_grad()`",
                block,
                *dropped,
                rests_on=all_of(*(change.rests_on for change in changes)),
            )
        return self._wraps[run[0]]

    @cached_property
    def _wraps(self) -> dict[cst.CSTNode, CodeFix]:
        """The fixes that all changes of a run share, by the first statement of the run."""
        return {}

    def _drop_all(self, change: DataChange[cst.BaseExpression]) -> Iterator[Change]:
        """Leaves out the `.data` of a change, with each other one in its statement that is not needed then."""
        yield without_data(self.model, change)
        for read in change.reads:
            if not self.model.is_silenced("TPL002", read):
                yield without_attribute(read)
        for read in change.detached:
            if not self.model.is_silenced("TPL002", read) and not self.model.is_silenced("TPL104", read):
                yield detached(self.model, read)
