from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, fix, replace
from torchlint.fixes.code import api, expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Call
from torchlint.target import TorchVersion

_PLACING = frozenset({"dtype", "device"})


class CopyingConversion(Rule):
    """
    ## What it does
    Finds conversions of numpy arrays that copy for nothing: `torch.tensor(array)` where the array was made for it and is not
    used again, `torch.from_numpy(np.array(array))`, and `torch.tensor([array, array])`, a list of arrays.

    ## Why is this bad
    `torch.tensor` always copies. Of a list of arrays it reads every single number through Python, which takes ten times as
    long and more.

    ## Example
    ```python
    def load(paths):
        frames = np.stack([read(path) for path in paths])
        return torch.tensor(frames)
    ```

    ## Use instead
    ```python
    def load(paths):
        frames = np.stack([read(path) for path in paths])
        return torch.as_tensor(frames)
    ```

    ## Fix safety
    Unsafe: the tensor shares its memory with the array. That matters where something else still holds the array. A list of
    arrays becomes `torch.from_numpy(np.stack(…))`; there is no fix where `requires_grad` is given, which that does not take.

    Small arrays, and conversions to another `dtype` or `device`, which have to copy, are left alone.

    ## References
    - [torch.as_tensor](https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html)
    """

    code = "TPL208"
    name = "copying-conversion"
    default = False
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (Call("tensor", "from_numpy"),)
    needs = (("np", "numpy"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a conversion that copies an array for nothing."""
        match [given for given in node.args if given.keyword is None and given.star != "**"]:
            case [cst.Arg(star="") as given]:
                pass
            case _:
                return
        name, memory = self.model.name(node.func), self.model.memory
        if name == "torch.tensor" and memory.is_list_of_arrays(given.value):
            self._report_list(node, given)
        elif name == "torch.tensor" and len(node.args) == 1 and memory.is_copied_for_nothing(given.value):
            message = (
                f"`torch.tensor` copies `{self.model.shown_start(given.value)}`, which is not used again; use `torch.as_tensor`"
            )
            self.report(
                node,
                message,
                fix(
                    "Use `torch.as_tensor`",
                    _calls(node, "as_tensor"),
                    rests_on=unknown("the tensor shares its memory with the array"),
                ),
            )
        elif name == "torch.from_numpy":
            self._check_array_of_array(node, given.value)

    def _report_list(self, call: cst.Call, given: cst.Arg) -> None:
        """`torch.tensor([array, array])`"""
        arrays = self.model.shown_start(given.value)
        message = f"`torch.tensor` reads the arrays in `{arrays}` number by number; stack them with `np.stack`"
        words = {each.keyword.value if each.keyword is not None else "" for each in call.args if each is not given}
        if not words <= _PLACING:
            self.report(call, message)
            return
        function = "as_tensor" if words else "from_numpy"
        stacked = expression("{numpy.stack}({arrays})", arrays=given.value)
        changes = _calls(call, function), replace(given.value, stacked)
        self.report(
            call,
            message,
            fix("Stack the arrays with numpy", *changes, rests_on=unknown("the tensor shares its memory with the new array")),
        )

    def _check_array_of_array(self, call: cst.Call, made: cst.BaseExpression) -> None:
        """`torch.from_numpy(np.array(array))`"""
        match made:
            case cst.Call(function, [cst.Arg(data, keyword=None, star="")]) if self.model.name(function) == "numpy.array":
                if self.model.memory.is_copied_for_nothing(data):
                    short = self.model.shown_start(data)
                    message = f"`np.array` copies `{short}`, which is an array already and not used again; use it as it is"
                    self.report(
                        call,
                        message,
                        fix(
                            "Leave out `np.array`",
                            replace(made, data),
                            rests_on=unknown("the tensor shares its memory with the data"),
                        ),
                    )


def _calls(call: cst.Call, name: str) -> Change:
    """Makes another function of torch the one that is called."""
    match call.func:
        case cst.Attribute() as function:
            return replace(function, function.with_changes(attr=cst.Name(name)))
    return replace(call.func, api(f"torch.{name}"))
