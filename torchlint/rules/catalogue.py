"""The catalogue of rules: what there is to know of each without importing it.

An `Entry` stands for a rule wherever one is chosen, named or sent to another process; the rule's class, and libcst with it, is
imported when a file holds a trigger of it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

from torchlint.rules.triggers import Comment, Needs, Trigger
from torchlint.target import OLDEST, TorchVersion

if TYPE_CHECKING:
    from torchlint.diagnostic import Severity
    from torchlint.rules.comment_rule import CommentRule
    from torchlint.rules.rule import Rule


class Entry(NamedTuple):
    """A rule: what it declares (see `Rule`), and where its class is."""

    code: str
    name: str
    module: str
    class_name: str
    triggers: tuple[Trigger, ...]
    needs: Needs = ()
    default: bool = True
    proven: bool = True
    since: TorchVersion = OLDEST
    yields_to: tuple[str, ...] = ()
    severity: Severity = "error"
    url: str = ""
    """The address of the rule's page, where it declares one."""
    plugin: str = ""
    """Of a rule of another package, which package that is, and which state of it."""
    loaded: type[Rule | CommentRule] | None = None
    """The class, where it was there before its entry."""

    def __hash__(self) -> int:
        """That of the code, which no other rule has: entries are looked up for every statement that a rule is shown."""
        return hash(self.code)

    @classmethod
    def of(cls, rule: type[Rule | CommentRule]) -> Entry:
        """The entry of a rule's class."""
        return cls(
            rule.code,
            rule.name,
            rule.__module__,
            rule.__qualname__,
            rule.triggers,
            rule.needs,
            rule.default,
            rule.proven,
            rule.since,
            rule.yields_to,
            rule.severity,
            rule.url,
            loaded=rule,
        )

    @property
    def page_url(self) -> str | None:
        """The address of the rule's page, if it has one."""
        from torchlint.diagnostic import page_url

        return page_url(self.code, self.url)

    @property
    def is_about_comments(self) -> bool:
        """Whether the rule is a `CommentRule`."""
        return any(isinstance(trigger, Comment) for trigger in self.triggers)

    def load(self) -> type[Rule | CommentRule]:
        """The rule's class, imported now if it has not been."""
        if self.loaded is not None:
            return self.loaded
        found: Any = importlib.import_module(self.module)
        for part in self.class_name.split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]

    @property
    def documentation(self) -> str:
        """The docstring of the rule's class, its page in Markdown."""
        from inspect import cleandoc

        return cleandoc(self.load().__doc__ or "")
