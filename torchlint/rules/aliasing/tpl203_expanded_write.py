from __future__ import annotations

import libcst as cst

from torchlint.fact import Fact
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import expression
from torchlint.fixes.copying import copied
from torchlint.rules.in_place import InPlaceRule
from torchlint.rules.triggers import Found
from torchlint.semantics.aliasing.expansions import ExpandedWrite

_WRITTEN = {
    "register_buffer": "a buffer, which `load_state_dict` writes to",
    "Parameter": "a parameter, which an optimizer writes to",
}


class WriteToExpanded(InPlaceRule):
    """
    ## What it does
    Finds in-place writes to what `expand`, `expand_as`, `broadcast_to` or `meshgrid` gave:
    `e = row.expand(3, 4)` and later `e[0, 0] = 1`, `e += 1`, `e[:, 1].zero_()`; and such a tensor made a module's buffer or
    parameter: `nn.Parameter(row.expand(3, 4))`. What is expanded `if flag:` and written to `if not flag:` is left
    alone.

    ## Why is this bad
    An expanded tensor has one row in memory and shows it several times. A write to one element changes it in every row,
    and in the tensor that was expanded; other writes raise a `RuntimeError`. A buffer or parameter made of one cannot be
    loaded, nor can an optimizer change it.

    ## Example
    ```python
    mask = torch.ones(1, 4).expand(3, 4)
    mask[0, 0] = 0  # all three rows change
    ```

    ## Use instead
    ```python
    mask = torch.ones(1, 4).expand(3, 4).clone()
    mask[0, 0] = 0  # all three rows change
    ```

    ## Fix safety
    Safe where nothing else has the memory of what is expanded: a tensor that a factory makes there, or for a name that is read
    nowhere else. The copy has memory for each of its elements, which is what the write needs. Unsafe otherwise, since code may
    rely on what is written to the source as well; where always the same row is written to, and another one read, or all of
    such a row, and the whole read; and for a parameter of which single elements are written to.
    Where the statement writes to the expanded tensor and keeps nothing of it, there is no fix: what was meant to change
    cannot be told.

    ## References
    - [torch.Tensor.expand](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html)
    """

    code = "TPL203"
    name = "expanded-write"
    triggers = (Found(".aliasing.expansions:Expansions.writes"), Found(".aliasing.expansions:Expansions.weights"))
    needs = (("expand", "expand_as", "broadcast_to", "meshgrid"),)

    def visit_Call(self, node: cst.Call) -> None:
        """`e[:, 1].zero_()`, and `row.expand(3, 4)` that is made a buffer or a parameter."""
        self.check(node)
        weight = self.model.memory.expanded_weight(node)
        if weight is not None:
            shared = f"its rows are all the memory of `{self.model.shown(weight.source)}`"
            message = f"`{self.model.shown(node)}` is made {_WRITTEN[weight.made]}, but {shared}; clone it first"
            self.report(node, message, _cloned(node, weight.alone))

    def check(self, node: cst.BaseExpression) -> None:
        for write in self.model.memory.expanded_writes(node):
            self.report(node, self._message(node, write), self._fix(write))

    def _message(self, node: cst.BaseExpression, write: ExpandedWrite[cst.BaseExpression]) -> str:
        written = self.model.shown(node.func if isinstance(node, cst.Call) else node)
        what = f"`{self.model.shown(write.source)}`" if write.source is not None else "its source"
        expanded = self.model.shown(write.expanded)
        return f"`{written}` writes to `{expanded}`, whose rows are all the memory of {what}; clone it first"

    def _fix(self, write: ExpandedWrite[cst.BaseExpression]) -> CodeFix | None:
        """Clones the result of an expansion; not where nothing would be left of a write but a changed copy."""
        if not write.unpacked:
            return None if write.lost else _cloned(write.expanded, write.alone)
        part = cst.Name(self.model.code.free_name("part", "each", "expanded", "part_"))
        clones = expression("({part}.clone() for {part} in {parts})", part=part, parts=write.expanded)
        return fix("Clone what is expanded", replace(write.expanded, clones), rests_on=write.alone)


def _cloned(value: cst.BaseExpression, alone: Fact) -> CodeFix:
    return fix("Clone what is expanded", replace(value, copied(value, ("clone",))), rests_on=alone)
