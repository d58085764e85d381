"""One text to its diagnostics: the only way there is, used by the command, the flake8 plugin, tests and library users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.diagnostic import Applicability, Diagnostic, FileError, applies
from torchlint.engine.words import awake_rules, is_foreign
from torchlint.options import DEFAULTS, Options
from torchlint.rules.catalogue import Entry
from torchlint.text.comments import keeps_comments
from torchlint.text.headroom import recursion_headroom
from torchlint.text.source import Source, SourceError

if TYPE_CHECKING:
    from torchlint.project.reading import Reading

_SAFE = Applicability.SAFE
_RESTS = "it rests on what another file of the project says"


def lint(
    source: Source,
    rules: Sequence[Entry],
    options: Options = DEFAULTS,
    *,
    suppress: bool = True,
    triggers: bool = True,
    fixes: bool = True,
    reading: Reading | None = None,
) -> list[Diagnostic]:
    """The findings of ``rules`` in ``source`` that no noqa comment suppresses, in the order of the text.

    With ``suppress`` off, noqa comments are left to the caller. With ``triggers`` off, every rule is shown the whole file under
    libcst's own traversal: the same findings, slowly. With ``fixes`` off, they have none, which is sooner done. With a
    ``reading``, names that the file imports are followed into the other files of its project; no fix is safe by what they
    say. Raises `SourceError` where the text is not Python.
    """
    data = source.text.encode("utf-8", "surrogatepass")
    awake = awake_rules(rules, data, options, triggers=triggers)
    if not awake or is_foreign(data):
        return []
    from torchlint.engine.findings import Findings

    try:
        with recursion_headroom():
            with Findings(source, data, options, triggers=triggers, fixes=fixes, reading=reading) as findings:
                found = findings.of(rules, awake)
                rests_on_others = findings.rest_on_others
            safe = {each.code for each in found if each.fix is not None and applies(each.fix, _SAFE)}
            if fixes and safe and rests_on_others:
                of_comments = any(rule.is_about_comments and rule.code in safe for rule in awake)
                with Findings(source, data, options, triggers=triggers, fixes=True, around=reading) as alone:
                    by_itself = alone.of(rules, [rule for rule in awake if rule.code in safe or of_comments])
                found = [no_safer(each, by_itself) for each in found]
    except RecursionError:
        raise SourceError(FileError(source.filename, "cannot lint: the code is nested too deeply")) from None
    kept = [each for each in found if not (suppress and findings.suppressions.covers(each.code, each.location.row))]
    offered = [each if fixes and _is_offered(each, source, options) else replace(each, fix=None) for each in kept]
    return sorted(offered, key=lambda diagnostic: diagnostic.order)


def no_safer(diagnostic: Diagnostic, alone: list[Diagnostic]) -> Diagnostic:
    """A finding whose fix is safe only if it is by the file alone."""
    fix = diagnostic.fix
    if fix is None or not applies(fix, _SAFE):
        return diagnostic
    safe = (each.fix.edits for each in alone if each.code == diagnostic.code and each.fix and applies(each.fix, _SAFE))
    if fix.edits in safe:
        return diagnostic
    return replace(diagnostic, fix=replace(fix, applicability=Applicability.UNSAFE, reason=_RESTS))


def _is_offered(diagnostic: Diagnostic, source: Source, options: Options) -> bool:
    """Whether a finding's fix may be made."""
    fix = diagnostic.fix
    return fix is None or (diagnostic.code not in options.unfixable and source.allows(fix) and keeps_comments(fix, source))
