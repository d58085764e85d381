from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.fact import CERTAIN
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics import Grad
from torchlint.target import TorchVersion

_LONGEST = 40
"""A tensor whose text is longer than this is not quoted."""
_PLACING = frozenset({"dtype", "device"})


class TensorFromTensor(Rule):
    """
    ## What it does
    Finds `torch.tensor(t)` where `t` is a tensor already: `torch.tensor(loss)`, `torch.tensor(weight, dtype=torch.float)`. Also
    where a function asks whether its argument is a tensor, and makes one of it on every path; and where it always makes one of
    an argument, for which every call in the file gives a tensor.

    Strict is what has no graph to be cut from and is copied on purpose, as what a loader gives, in a file that hides all
    warnings, `warnings.filterwarnings("ignore")`: nothing is left of it but that the line could be another.

    ## Why is this bad
    It copies, warns, and cuts the copy from the graph in passing: no gradient flows through it, which nothing in the line
    says.

    ## Example
    ```python
    loss = F.cross_entropy(model(x), y)
    first = torch.tensor(loss)
    ```

    ## Use instead
    ```python
    loss = F.cross_entropy(model(x), y)
    first = loss.detach().clone()
    ```

    ## Fix safety
    `t.detach().clone()` is what `torch.tensor(t)` does. It is safe where `t` is certainly a tensor: what torch's functions
    give, or what is annotated as `torch.Tensor` in a file that has no class of tensors of its own and gives it nothing else;
    not what other code gives, nor an attribute that a subclass may set. And where no context around sets another device, and
    the file does not take notice of the warning that goes, as by a filter that makes errors of warnings. Else it is unsafe.

    A `dtype` or `device` becomes a `.to(…)`, `requires_grad=True` a `.requires_grad_()`. The result of an operator or a factory
    is a new tensor already and is not cloned. If the value was not meant to be cut from the graph, leave out the `.detach()`.
    There is no fix where the arguments are given as `**kwargs` or there are comments among them, and none where the argument
    may be a tensor or a number.

    ## References
    - [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html)
    """

    code = "TPL207"
    name = "tensor-from-tensor"
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (Found(".certainty.copied_tensors:CopiedTensors.found"),)
    needs = (("tensor",),)
    yields_to = ("TPL007",)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports `torch.tensor` of a tensor."""
        is_always = self.model.kinds.is_tensor_copied(node)
        if is_always is None:
            return
        given = _data(node)
        data = given.value
        text = self.model.shown(data)
        if not is_always:
            what = f"`{self.model.shown(node.func)}` copies `{text}` where that is a tensor already"
            self.report(node, f"{what}, and cuts the copy from the graph; use `{text}.detach().clone()` there")
            return
        said = f"`{text}`, which is a tensor already" if len(text) <= _LONGEST else "a tensor"
        instead = "".join(f".{method}()" for method in self._copy(data)) or text
        message = f"`{self.model.shown(node.func)}` copies {said}, and cuts the copy from the graph; use `{instead}`"
        self.report(node, message, self._copying(node, given), strict=self._is_of_no_matter(data))

    def _is_of_no_matter(self, data: cst.BaseExpression) -> bool:
        """Whether a tensor that others have, too, has no graph, and nobody sees the warning."""
        is_shared = "clone" in self._copy(data)
        return is_shared and self.model.kind(data).grad is Grad.NONE and self.model.code.hides_warnings

    def _copying(self, call: cst.Call, given: cst.Arg) -> CodeFix | None:
        """Replaces the call by ``data.detach().clone()`` and what the other arguments ask for."""
        words = {word.keyword.value if word.keyword is not None else "": word for word in call.args if word is not given}
        if not words.keys() <= {*_PLACING, "requires_grad", "pin_memory"}:
            return None
        base = _without_copying(given.value)
        new = base
        for method in self._copy(given.value):
            new = expression(f"{{tensor}}.{method}()", tensor=new)
        for name, arguments in _methods(words):
            new = _called(new, name, arguments)
        methods = self.model.shown(new).removeprefix(self.model.shown(expression("{tensor}.x", tensor=base)).removesuffix(".x"))
        title = f"Replace with `{methods}`" if methods else "Use the tensor as it is"
        is_placed = CERTAIN if "device" in words else self.model.kinds.is_copied_beside(call)
        return fix(
            title,
            replace(call, new),
            rests_on=self.model.kinds.is_tensor(given.value) & is_placed & self.model.code.warns_unseen,
        )

    def _copy(self, data: cst.BaseExpression) -> tuple[str, ...]:
        """What makes a copy that is cut from the graph: less where the value was made here and nobody else has it."""
        match data:
            case cst.Call() if self.model.kinds.makes_memory(data):
                return () if self.model.kind(data).grad is Grad.NONE else ("detach",)
            case cst.Comparison():
                return ()
            case cst.BinaryOperation():
                return ("detach",)
        return ("detach", "clone")


def _data(call: cst.Call) -> cst.Arg:
    """The argument that is made a tensor: the one that is given by its place, or as ``data``."""
    by_place = [given for given in call.args if given.keyword is None and not given.star]
    return by_place[0] if by_place else next(each for each in call.args if each.keyword and each.keyword.value == "data")


def _methods(words: dict[str, cst.Arg]) -> Iterator[tuple[str, list[cst.Arg]]]:
    """The methods that stand for the keyword arguments, with theirs."""
    placing = [word for name, word in words.items() if name in _PLACING]
    if len(placing) == 1:
        yield "to", [placing[0] if _may_be_none(placing[0].value) else cst.Arg(placing[0].value)]
    elif placing:
        yield "to", placing
    if "pin_memory" in words and _is_true(words["pin_memory"].value):
        yield "pin_memory", []
    match words.get("requires_grad"):
        case cst.Arg(cst.Name("False" | "None")) | None:
            pass
        case cst.Arg(cst.Name("True")):
            yield "requires_grad_", []
        case cst.Arg(wanted):
            yield "requires_grad_", [cst.Arg(wanted)]


def _called(tensor: cst.BaseExpression, method: str, arguments: list[cst.Arg]) -> cst.Call:
    """``tensor.method(…)``."""
    call = expression(f"{{tensor}}.{method}()", tensor=tensor)
    assert isinstance(call, cst.Call)
    plain = [
        each.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace("")) for each in arguments
    ]
    return call.with_changes(args=plain)


def _without_copying(data: cst.BaseExpression) -> cst.BaseExpression:
    """A tensor without the copying that its expression ends in already."""
    while True:
        match data:
            case cst.Call(func=cst.Attribute(value, cst.Name("clone" | "detach")), args=[]):
                data = value
            case _:
                return data


def _is_true(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Name) and value.value == "True"


def _may_be_none(value: cst.BaseExpression) -> bool:
    """Whether a dtype or device is given by a name, which may stand for ``None``: `to` then needs the keyword."""
    match value:
        case cst.Attribute(cst.Name("torch" | "th")):
            return False
    return True
