"""Which rules run: codes, their prefixes and ``ALL``, selected and ignored."""

from __future__ import annotations

from collections.abc import Sequence

from torchlint.rules import Rule


class SelectionError(Exception):
    """A code that selects nothing; the message is one line and names the nearest code."""


def select_rules(
    select: Sequence[str] | None = None, ignore: Sequence[str] = (), extend_select: Sequence[str] = ()
) -> tuple[type[Rule], ...]:
    """The rules that run, sorted by code.

    ``select`` replaces the default rules, ``extend_select`` adds to them, ``ignore`` removes; each is a list of codes, of
    their prefixes (``TPL``, ``TPL1``), or ``ALL``. The longest (most specific) entry that matches a rule decides, as in
    ruff. Raises `SelectionError` for an entry that matches no rule.
    """
    raise NotImplementedError
