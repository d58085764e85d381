from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.data_reads import is_needless, is_without_graph, mended_read
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Attribute
from torchlint.semantics import Grad
from torchlint.semantics.data.meant_numbers import MeantNumber
from torchlint.semantics.data.roles import Role
from torchlint.target import TorchVersion

_LONGEST = 60
"""What is longer is not shown twice, nor to its end."""


class DataAccess(Rule):
    """
    ## What it does
    Finds `.data` read where a tensor without its graph is wanted: `save(fake.data)`, `torch.max(out.data, 1)`.

    By default, that is where the function shows the graph: a layer, a model or torch computes the value there, or a call
    whose result is called like an output or a loss (`logits`, `fake`, `policy_loss`), or it is called so and
    back-propagated. It is also where the function is there to detach (`repackage_hidden`), or an object keeps the value in a
    list for later (`self.images.append(image)` of `image = image.data`); and of a parameter where its memory is kept, given
    back or handed on (`best = [p.data for p in net.parameters()]`), or a `forward` computes with it. Other reads are strict:
    of arguments and attributes, however they are called, and of what methods compute that only have a model infer (`infer`,
    `sample`, `beam_search`), which is done with autograd off.

    Where there is no graph to hide anything from (labels, indices, gradients, inputs, what is resized in place to be filled
    anew, what its class freezes, what a module without parameters makes of such, what says where something is read or
    written, what is made or read under `torch.no_grad()`, or by a function or method that is decorated so in any file of
    the project, or that all of it calls so, of what is marked `volatile`, or by an autograd function of one's own), where
    values go into another `.data`, at once or under a name that stands for nothing else, for entries of state dicts, and
    where only the form of a tensor is read, a comparison, an assertion or a text is made of it, also of a sum of such
    numbers, a parameter, or a buffer beside the same parameter, `.data` does no harm: that is strict. So is what is
    detached as well on the way to a copy, a parameter whose values processes exchange, a loss that a meter is given where
    autograd is off, and one that has a name first and is then indexed for its number, which raises. And what leaves no
    tensor over the memory that is read: a copy that is made at once (`x.data.clone()`), but for a loss, the mean of one of
    many weights, what an optimizer computes with a parameter, also under a name by which it is put back
    (`wide = p.data.float()`, then `p.data.copy_(wide)`), running means and differences of parameters that are added to no
    loss (`p.grad += mu * (p.data - q.data)`), a number of what processes have reduced, the place of a maximum
    (`q.max(1)[1].data[0]`), numbers that become a text one by one, and one number of a tensor that is only shown
    (`print(loss.data)`), logged or compared, or becomes one of Python's, under names and one by one too
    (`gap = a.data.cpu() - b.data.cpu()`, then `gap.item()`), or that is taken as torch 0.3 gave it (`loss.data[0]`,
    `p.data[0]` of `p = scores[q, c]`), what only decides a condition (`if torch.sigmoid(stop.data) > limit:`), what
    `torch.tensor` copies, what is detached wherever its name is used, and what code under `if __name__ == "__main__":`
    computes to try out the classes of the file.

    ## Why is this bad
    `x.data` shares its memory with `x`, but not its version counter. When the values are later changed in place, through
    either of them, autograd does not notice that what it saved for the backward pass is gone, and gradients are silently
    wrong. `x.detach()` gives the same tensor with the same counter: autograd raises instead.

    ## Example
    ```python
    _, predicted = torch.max(outputs.data, 1)
    ```

    ## Use instead
    ```python
    _, predicted = torch.max(outputs.detach(), 1)
    ```

    ## Fix safety
    `.detach()` gives the same values without the graph. It is safe where two things are certain. The value is a tensor: what
    torch's functions and layers give, what is annotated as `torch.Tensor` or was tested to be one, the parameters of a model
    that is made in the file; not what other code gives, nor the parameters of an unknown model, which may be lazy ones that
    cannot be detached yet. And the shared version counter makes no difference: the values are read on the spot
    (`torch.max(out.data, 1)`, `.item()`, `print`), nobody else has the tensor (`F.softmax(x).data`), or nothing over this
    memory is changed in place, by code in sight or out of it. Otherwise it is unsafe; so it is in a file that hands functions
    to `torch.func` or `vmap`, which take `.data` for something else.

    Where only its shape, type or device is read, or where its values go into a new tensor and either it has no graph or
    autograd is off, `.data` is just dropped. A loss that is printed, formatted or added up means the number, and so does the
    place of a maximum, `q.max(1)[1].data[0]`: there it is `.item()`, safe in formats for numbers, unsafe where a number is
    printed otherwise than a tensor, or where code may want a tensor.

    ## References
    - [Migration guide for torch 0.4: what about .data?](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL002"
    name = "data-access"
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (Attribute("data"),)
    yields_to = ("TPL001", "TPL003", "TPL009", "TPL101")

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports a read of `.data` that no other rule is about."""
        access = self.model.data.access(node) if node.attr.value == "data" else None
        if access is None or access.role is not Role.READ:
            return
        number = self.model.data.meant_number(node)
        if number is not None and not (number.kept and self.options.accumulate_with == "detach"):
            self._report_number(node, number)
            return
        tensor = self.model.shown(node).removesuffix(".data")  # with the parentheses that it needs
        short = f"`{tensor}.data` shares memory with `{tensor}`"
        if len(tensor) > _LONGEST:
            short = f"`.data` of `{self.model.shown_start(node.value, _LONGEST)}` shares memory with it"
        message = f"{short}, but hides changes from autograd's checks; use `.detach()`"
        if self.model.memory.reads_form(node):
            message = f"`{tensor}.data` where `{tensor}` itself would do: only its form is read, or a number"
        elif is_needless(self.model, node):
            message = f"`{tensor}.data` where `{tensor}` itself would do: it has no graph to leave"
        self.report(node, message, mended_read(self.model, node), strict=self._is_harmless(node))

    def _is_harmless(self, node: cst.Attribute) -> bool:
        """Whether nobody would change the line: there is no graph to hide anything from, or only the form is read."""
        match node.value:
            case cst.Attribute(attr=cst.Name("grad")):
                return True
        if self.model.data.is_harmless_read(node) or self.model.data.is_of_beginning(node):
            return True
        if self.model.autograd.seems_graphless(node.value) or is_without_graph(self.model, node):
            return True
        return not self._has_graph_to_leave(node)

    def _has_graph_to_leave(self, node: cst.Attribute) -> bool:
        """Whether something shows that there is a graph; a leaf has none, and its memory matters where it is kept."""
        if self.model.kind(node.value).grad is Grad.LEAF:
            return self.model.data.is_kept(node)
        return self.model.autograd.shows_graph(node.value) or self.model.data.is_pooled(node)

    def _report_number(self, node: cst.Attribute, number: MeantNumber[cst.BaseExpression]) -> None:
        read = self.model.shown(number.read)
        if number.indexed:
            changes = [replace(node, node.value), replace(number.read, expression("{read}.item()", read=number.read))]
            message = f"`{read}` is a tensor since torch 0.4, where a number is meant: take its `.item()`"
        else:
            item = expression("{tensor}.item()", tensor=number.tensor)
            changes = [replace(number.read, item)]
            message = f"`{read}` is a tensor where a number is meant: use `{self.model.shown(item)}`"
        is_shown = number.shown and not (number.kept or number.indexed)
        is_strict = is_shown or number.indexed or self.model.autograd.is_made_unrecorded(node.value)
        self.report(node, message, fix("Use `.item()`", *changes, rests_on=number.alike), strict=is_strict)
