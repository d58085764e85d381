from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from torchlint.diagnostic import Diagnostic
from torchlint.rules.catalogue import Entry
from torchlint.rules.comment_rule import CommentRule, TextEdit
from torchlint.rules.triggers import Comment as CommentTrigger
from torchlint.text.noqa import Comment

_OURS = "TPL"
_EVERYWHERE = 0
"""The row that stands for all others."""


class UnusedNoqa(CommentRule):
    """
    ## What it does
    Finds codes in `# noqa: …` comments that silence nothing: the rule finds nothing there, or there is no such rule. Only the
    codes of torchlint and of its plugins' rules are looked at; comments without codes may be meant for other tools.

    ## Why is this bad
    The comment stays when the code has long been mended, and one day silences a finding that nobody has seen. (This is about
    keeping order: no program behaves otherwise without the comment.)

    ## Example
    ```python
    import torch

    weights = torch.ones(3).detach()  # noqa: TPL002
    ```

    ## Use instead
    ```python
    import torch

    weights = torch.ones(3).detach()
    ```

    ## Fix safety
    Safe: a comment changes nothing, but for a program that reads its own text. Codes of other tools, and what else the comment
    says, stay.

    ## References
    - [flake8: selecting and ignoring violations](https://flake8.pycqa.org/en/latest/user/violations.html)
    """

    code = "TPL900"
    name = "unused-noqa"
    default = False
    severity = "warning"
    proven = False
    triggers = (CommentTrigger("noqa"),)

    def review(self, findings_of: Callable[[Sequence[Entry]], list[Diagnostic]]) -> None:
        """Reports the comments that name codes of which nothing is found; rules that are not selected count, too."""
        found: dict[tuple[Entry, ...], dict[int, set[str]]] = {}
        for comment in self.suppressions.comments():
            ours = [(code, span) for code, span in comment.codes if self._is_ours(code)]
            prefixes = tuple({code for code, _ in ours})
            rules = tuple(rule for rule in self.known if rule.code.startswith(prefixes))
            if rules not in found:
                found[rules] = _by_row(findings_of(rules))
            by_row = found[rules]
            silenced = set[str]().union(*(by_row.get(row, ()) for row in comment.rows or (_EVERYWHERE,)))
            unused = [(code, span) for code, span in ours if not any(each.startswith(code) for each in silenced)]
            if unused:
                self._report(comment, unused)

    def _is_ours(self, code: str) -> bool:
        known = code.startswith(_OURS) or any(rule.code.startswith(code) for rule in self.known)
        return known and not self.code.startswith(code)

    def _report(self, comment: Comment, unused: list[tuple[str, tuple[int, int]]]) -> None:
        names = ", ".join(f"`{self.source.text[start:end]}`" for _, (start, end) in unused)
        start, end = unused[0][1][0], unused[-1][1][1]
        edits = [self._without_comment(comment)] if len(unused) == len(comment.codes) else self._without_codes(comment, unused)
        fix = self.fix("Remove what silences nothing", edits)
        silences, it = ("silences", "it") if len(unused) == 1 else ("silence", "them")
        self.report(start, end, f"{names} {silences} nothing here: remove {it} from the comment", fix)

    def _without_comment(self, comment: Comment) -> TextEdit:
        """Takes away the comment, the blanks before it, and its line where nothing else is there."""
        start, end = comment.span
        text = self.source.text
        end = start + len(text[start:end].rstrip(", \t"))
        row = self.source.location(start).row
        line_start, line_end = self.source.line_span(row)
        if rest := text[end:line_end].lstrip(" \t:,-").rstrip():
            return (start, text.index(rest, end), "" if rest.startswith("#") else "# ")
        if not text[line_start:start].strip():
            return (line_start, self.source.line_start(row + 1), "")
        return (line_start + len(text[line_start:start].rstrip(" \t")), line_end, "")

    @staticmethod
    def _without_codes(comment: Comment, unused: list[tuple[str, tuple[int, int]]]) -> list[TextEdit]:
        """Takes away each code with what stands between it and the next; those behind the last that stays, all at once."""
        gone = {span for _, span in unused}
        last_kept = max(span[1] for _, span in comment.codes if span not in gone)
        following = dict(zip((span for _, span in comment.codes), (span[0] for _, span in comment.codes[1:])))
        edits: list[TextEdit] = [(span[0], following[span], "") for _, span in unused if span[1] < last_kept]
        end = unused[-1][1][1]
        return [*edits, (last_kept, end, "")] if end > last_kept else edits


def _by_row(found: Iterable[Diagnostic]) -> dict[int, set[str]]:
    """The codes of what is found, by the rows, and those of the whole file."""
    rows = defaultdict[int, set[str]](set)
    for each in found:
        rows[each.location.row].add(each.code)
        rows[_EVERYWHERE].add(each.code)
    return dict(rows)
