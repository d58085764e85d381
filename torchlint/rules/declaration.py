"""What a rule of either kind declares of itself."""

from __future__ import annotations

from typing import ClassVar

from torchlint.diagnostic import Severity
from torchlint.rules.triggers import Needs, Trigger
from torchlint.target import OLDEST, TorchVersion


class Declaration:
    """The declared part of a rule, of one about nodes and of one about comments; its docstring is its documentation."""

    code: ClassVar[str]
    name: ClassVar[str]
    default: ClassVar[bool] = True
    """Whether the rule is on unless selected otherwise."""
    severity: ClassVar[Severity] = "error"
    """An ``error`` is what is wrong or raises, a ``warning`` what is slow, unclear or dated.

    A rule may give single findings another one."""
    proven: ClassVar[bool] = True
    """Whether the rule has a hazard program; one that is about order in the text has nothing to show on torch."""
    triggers: ClassVar[tuple[Trigger, ...]]
    """Of these a statement holds one."""
    needs: ClassVar[Needs] = ()
    """Of each of these groups of words the file holds one."""
    since: ClassVar[TorchVersion] = OLDEST
    """The first torch that has what the rule recommends: for older targets the rule is silent."""
    url: ClassVar[str] = ""
    """The address of the rule's page, for rules that are not torchlint's own."""
    yields_to: ClassVar[tuple[str, ...]] = ()
    """The rules that say more: where one of them reports a place that overlaps with a finding of this rule, it is dropped."""
