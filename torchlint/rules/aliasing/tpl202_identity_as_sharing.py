from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, fix, replace
from torchlint.fixes.code import expression, method_call
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.aliasing.identity import Compared

_ASSERTIONS = {"assertIs": "assertEqual", "assertIsNot": "assertNotEqual"}
"""The assertions of unittest about objects, and those that compare addresses."""


class IdentityAsSharing(Rule):
    """
    ## What it does
    Finds the identity of tensor objects taken for the identity of their memory: `id(a) == id(b)`, `x.data is y.data`,
    `view is x` where `view = x.view(-1)`, and `before = id(x)` that is compared with `id(x)` later, where `x` is a variable.

    ## Why is this bad
    `view`, `detach`, `.data`, indexing and their like make a new tensor object over the same memory: the objects differ
    while everything written to one is seen in the other. And an `id` may be given again to another object, once the first
    is gone.

    ## Example
    ```python
    x = torch.zeros(3, 4)
    row = x[0]
    shared = id(row) == id(x)  # False, whatever is shared
    ```

    ## Use instead
    ```python
    x = torch.zeros(3, 4)
    row = x[0]
    shared = row.data_ptr() == x.data_ptr()  # False, whatever is shared
    ```

    ## Fix safety
    Unsafe: the comparison becomes the one of where the memory of both starts, whose result is another. A view that starts
    further behind has another address, too. Where a comment stands inside `id(…)`, there is no fix.

    ## References
    - [torch.Tensor.data_ptr](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.data_ptr.html)
    - [Tensor views](https://docs.pytorch.org/docs/stable/tensor_view.html)
    """

    code = "TPL202"
    name = "identity-as-sharing"
    triggers = (Found(".aliasing.identity:IdentityTests.found"),)
    needs = (("torch", "nn"), ("id", "is", "assertIs", "assertIsNot"))

    def visit_Comparison(self, node: cst.Comparison) -> None:
        """`id(a) == id(b)`, `x.data is y.data`."""
        match node.comparisons:
            case [cst.ComparisonTarget(operator=cst.Is() | cst.IsNot() as operator) as target]:
                equality = cst.Equal if isinstance(operator, cst.Is) else cst.NotEqual
                equal = equality(whitespace_before=operator.whitespace_before, whitespace_after=operator.whitespace_after)
                self._check(node, replace(target, target.with_changes(operator=equal)))
            case [_]:
                self._check(node)

    def visit_Call(self, node: cst.Call) -> None:
        """`self.assertIs(x.data, y.data)`."""
        match node.func:
            case cst.Attribute(attr=cst.Name(name)) as function if name in _ASSERTIONS:
                self._check(node, replace(function, function.with_changes(attr=cst.Name(_ASSERTIONS[name]))))
            case cst.Attribute():
                self._check(node)

    def _check(self, node: cst.BaseExpression, *changes: Change) -> None:
        test = self.model.memory.identity_test(node)
        if test is None:
            return
        one, other = self.model.shown(test.one.tensor), self.model.shown(test.other.tensor)
        shared = (
            f"`{one}` may be another object over the same memory" if one == other else f"`{one}` and `{other}` may share theirs"
        )
        self.report(
            node,
            f"`{self.model.shown(node)}` compares objects, not memory: {shared}; compare `data_ptr()`",
            fix(
                "Compare the addresses of the memory",
                *self._addresses(test.one, test.other),
                *changes,
                rests_on=unknown("the comparison gets another result"),
            ),
        )

    @staticmethod
    def _addresses(*sides: Compared[cst.BaseExpression]) -> Iterator[Change]:
        for side in sides:
            yield replace(side.written, _address(side))


def _address(side: Compared[cst.BaseExpression]) -> cst.BaseExpression:
    """The expression for where the memory of a tensor or array starts."""
    match side.tensor:
        case cst.Attribute(attr=cst.Name("data")) as data:
            return method_call(data, "data_ptr")
    return expression("{array}.ctypes.data" if side.is_array else "{array}.data_ptr()", array=side.tensor)
