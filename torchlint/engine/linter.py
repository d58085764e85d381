"""One text to its diagnostics: the only way there is, used by the command, the flake8 plugin, tests and library users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torchlint.diagnostic import Diagnostic, FileError
from torchlint.engine.words import awake_rules, is_foreign
from torchlint.options import DEFAULTS, Options
from torchlint.rules.catalogue import Entry
from torchlint.text.comments import keeps_comments
from torchlint.text.headroom import recursion_headroom
from torchlint.text.source import Source, SourceError


def lint(
    source: Source,
    rules: Sequence[Entry],
    options: Options = DEFAULTS,
    *,
    suppress: bool = True,
    triggers: bool = True,
    fixes: bool = True,
) -> list[Diagnostic]:
    """The findings of ``rules`` in ``source`` that no noqa comment suppresses, in the order of the text.

    With ``suppress`` off, noqa comments are left to the caller. With ``triggers`` off, every rule is shown the whole file under
    libcst's own traversal: the same findings, slowly. With ``fixes`` off, they have none, which is sooner done. Raises
    `SourceError` where the text is not Python.
    """
    data = source.text.encode("utf-8", "surrogatepass")
    awake = awake_rules(rules, data, options, triggers=triggers)
    if not awake or is_foreign(data):
        return []
    from torchlint.engine.findings import Findings

    try:
        with recursion_headroom():
            findings = Findings(source, data, options, triggers=triggers, fixes=fixes)
            found = findings.of(rules, awake)
    except RecursionError:
        raise SourceError(FileError(source.filename, "cannot lint: the code is nested too deeply")) from None
    kept = [each for each in found if not (suppress and findings.suppressions.covers(each.code, each.location.row))]
    offered = [each if fixes and _is_offered(each, source, options) else replace(each, fix=None) for each in kept]
    return sorted(offered, key=lambda diagnostic: diagnostic.order)


def _is_offered(diagnostic: Diagnostic, source: Source, options: Options) -> bool:
    """Whether a finding's fix may be made."""
    fix = diagnostic.fix
    return fix is None or (diagnostic.code not in options.unfixable and source.allows(fix) and keeps_comments(fix, source))
