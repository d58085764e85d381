"""What a rule is: a libcst visitor that is shown the statements it declares an interest in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import libcst as cst

from torchlint.diagnostic import Severity
from torchlint.fixes.changes import CodeFix
from torchlint.model import Model
from torchlint.options import DEFAULTS, Options
from torchlint.rules.declaration import Declaration


@dataclass(frozen=True, eq=False, slots=True)
class Remark:
    """A finding before it is placed in the text: the node it is about, what to say of it, and the fix."""

    node: cst.CSTNode
    message: str
    fix: CodeFix | None
    is_strict: bool = False
    severity: Severity | None = None


class Rule(Declaration, cst.CSTVisitor):
    """One rule, made once per file; its ``visit_*`` methods get the libcst nodes of the statements that hold a trigger of it.

    A simple statement is shown whole, of a compound one the header: its body are statements of their own. What a visit method
    returns does not matter, and there is nothing to leave: what stands around a node is asked of the ``model``.

    A subclass's docstring is the rule's documentation, in the sections "What it does", "Why is this bad", "Example",
    "Use instead", "Fix safety" and "References". Triggers save time and nothing else: a rule has to find the same when it is
    shown the whole file.
    """

    def __init__(self, model: Model, options: Options = DEFAULTS) -> None:
        super().__init__()
        self.model = model
        self.options = options
        self.remarks: list[Remark] = []

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if wrong := [name for name in vars(cls) if name.startswith("leave_")]:
            raise TypeError(f"{cls.__name__}.{wrong[0]}: a rule visits nodes and does not leave them; ask the model instead")

    def report(
        self,
        node: cst.CSTNode,
        message: str,
        fix: CodeFix | None = None,
        *,
        strict: bool = False,
        severity: Severity | None = None,
    ) -> None:
        """Adds a finding about ``node``, with the fix that mends it where there is one.

        What is ``strict`` is true, but few authors would change the line for it: it is shown where the rule is selected by its
        code, a prefix of it, its name, ``ALL`` or ``strict``, and not where it merely runs by default. The ``severity`` is
        that of the rule where none is given.
        """
        self.remarks.append(Remark(node, message, fix, strict, severity))


@cache
def visit_methods(rule: type[Rule]) -> tuple[tuple[type[cst.CSTNode], str], ...]:
    """The types of node that a rule looks at, and the names of the methods that do."""
    names = [name for name in dir(rule) if name.startswith("visit_") and name.count("_") == 1]
    own = [name for name in names if getattr(rule, name) is not getattr(cst.CSTVisitor, name, None)]
    return tuple((getattr(cst, name.removeprefix("visit_")), name) for name in own)
