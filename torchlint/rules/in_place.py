"""What rules about changes in place have in common: where such changes stand."""

from __future__ import annotations

from abc import abstractmethod

import libcst as cst

from torchlint.rules.rule import Rule


class InPlaceRule(Rule):
    """A rule about values that are changed in place: by a call, or by an assignment to an item, an attribute or a name."""

    @abstractmethod
    def check(self, node: cst.BaseExpression) -> None:
        """Looks at the call that may change something, or at what may be assigned to."""

    def visit_Call(self, node: cst.Call) -> None:
        """`b.add_(1)`, `init.normal_(w.data)`."""
        self.check(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        """`a[0] = 5`."""
        self.check(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """`self.b += 1`, `w.data += v`."""
        self.check(node)

    def visit_Name(self, node: cst.Name) -> None:
        """`b += 1`."""
        self.check(node)
