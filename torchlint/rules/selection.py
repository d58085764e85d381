"""Which rules run: codes, their prefixes, names, ``ALL`` and ``strict``, selected and ignored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry

WORDS_FOR_ALL = ("ALL", "strict")
"""What stands for all rules, each with all that it finds."""
_SOME = 12
"""So many codes of several are named in a message."""


class SelectionError(Exception):
    """A code or name that selects nothing; the message is one line and gives the nearest."""


def select_rules(
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    *,
    among: Sequence[Entry] | None = None,
    by_default: Collection[Entry] | None = None,
) -> tuple[Entry, ...]:
    """The rules that run, sorted by code.

    ``select`` replaces the default rules, ``extend_select`` adds to them, ``ignore`` removes; each is a list of codes, of
    their prefixes (``TPL``, ``TPL1``), of names, which stand for the whole code, ``ALL`` or ``strict``. The longest
    (most specific) entry that matches a rule decides, as in ruff; of two equally long ones, ``ignore``. Raises `SelectionError`
    for an entry that matches no rule. ``among`` are the rules to choose from, by default all that there are, and ``by_default``
    those that run where nothing is said of them.
    """
    rules = all_rules() if among is None else among
    for entry in (*(select or ()), *ignore, *extend_select):
        _require_known(entry, rules)
    if by_default is None:
        by_default = [rule for rule in rules if rule.default]
    unasked = by_default if select is None else ()
    selected = (*(select or ()), *extend_select)
    return tuple(
        sorted(
            (rule for rule in rules if _runs(rule, selected, ignore, unasked=rule in unasked)),
            key=lambda rule: rule.code,
        )
    )


def unnamed(rules: Iterable[Entry], entries: Collection[str]) -> frozenset[str]:
    """The codes of the rules that none of the ``entries`` of any list matches: those that run by default, if they run."""
    return frozenset(rule.code for rule in rules if not any(_matches(rule, entry) for entry in entries))


def find_rule(code: str, *, among: Sequence[Entry] | None = None) -> Entry:
    """The rule with this very code, or name; raises `SelectionError` where there is none."""
    rules = all_rules() if among is None else among
    for rule in rules:
        if code in (rule.code, rule.name):
            return rule
    several = [rule.code for rule in rules if code and rule.code.startswith(code)]
    if len(several) > 1:
        raise SelectionError(f"`{code}` stands for several rules, of which one is to be named: {_some(several)}")
    raise SelectionError(_unknown(code, rules, ()))


def _some(codes: Sequence[str]) -> str:
    """Codes in a line, of many the first."""
    return ", ".join(codes) if len(codes) <= _SOME else f"{', '.join(codes[:_SOME])} and {len(codes) - _SOME} more"


def prefixes(rules: Iterable[Entry]) -> set[str]:
    """What stands for several rules: the letters of their codes, with some of the digits behind them."""
    letters = {rule.code: len(rule.code.rstrip("0123456789")) for rule in rules}
    return {code[:length] for code, shortest in letters.items() for length in range(shortest, len(code))}


def codes_of_names(rules: Iterable[Entry]) -> dict[str, str]:
    """The codes of ``rules`` by their names."""
    return {rule.name: rule.code for rule in rules}


def codes_in(arguments: Iterable[str]) -> list[str]:
    """The codes in ``arguments``, each of which holds one or several, separated by commas."""
    return [code.strip() for argument in arguments for code in argument.split(",") if code.strip()]


def _runs(rule: Entry, selected: Sequence[str], ignored: Sequence[str], *, unasked: bool) -> bool:
    chosen = _specificity(rule, selected)
    if chosen is None and unasked:
        chosen = -1  # less specific than any entry
    refused = _specificity(rule, ignored)
    return chosen is not None and (refused is None or chosen > refused)


def _specificity(rule: Entry, entries: Iterable[str]) -> int | None:
    """How specific the most specific of ``entries`` that matches a rule is; None where none does."""
    lengths = {rule.name: len(rule.code), **dict.fromkeys(WORDS_FOR_ALL, 0)}
    return max((lengths.get(entry, len(entry)) for entry in entries if _matches(rule, entry)), default=None)


def _matches(rule: Entry, entry: str) -> bool:
    return entry in (*WORDS_FOR_ALL, rule.name) or (entry != "" and rule.code.startswith(entry))


def is_known(entry: str, rules: Iterable[Entry]) -> bool:
    """Whether a code, a prefix of codes, a name, ``ALL`` or ``strict`` stands for any of ``rules``."""
    return entry in WORDS_FOR_ALL or any(_matches(rule, entry) for rule in rules)


def _require_known(entry: str, rules: Iterable[Entry]) -> None:
    if not is_known(entry, rules):
        raise SelectionError(_unknown(entry, rules, (*sorted(prefixes(rules)), *WORDS_FOR_ALL)))


def _differs_in_one(code: str, entry: str) -> bool:
    """Whether a code and an entry are of the same length and the same but for one character."""
    return len(code) == len(entry) and sum(one != other for one, other in zip(code, entry)) == 1


def _unknown(entry: str, rules: Iterable[Entry], others: Sequence[str]) -> str:
    """What is said of an ``entry`` that is no code of ``rules`` and none of the ``others``."""
    from difflib import get_close_matches

    parts = entry.split()
    if len(parts) > 1 and all(is_known(part, rules) for part in parts):
        return f"unknown rule code `{entry}`; put a comma between {' and '.join(f'`{part}`' for part in parts)}"
    codes = [*(rule.code for rule in rules), *others]
    near_codes = get_close_matches(entry.upper(), codes, n=1, cutoff=0.5)
    if near_codes != [entry.upper()]:
        near_codes = [*(rule.code for rule in rules if _differs_in_one(rule.code, entry.upper())), *near_codes]
    near_names = get_close_matches(entry.lower().replace("_", "-"), codes_of_names(rules), n=1, cutoff=0.7)
    nearest = [*near_names, *near_codes]
    hint = f"did you mean `{nearest[0]}`?" if nearest else "`torchlint rule --all` lists them"
    return f"unknown rule code `{entry}`; {hint}"
