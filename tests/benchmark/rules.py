"""What each rule costs on a code base: the files that its words let through, the statements it is shown, and its time.

Run as ``python tests/benchmark/rules.py DIRECTORY [--all]``, with torchlint importable; ``--all`` includes the rules that are
off by default. Times are of the processor, in milliseconds. What one rule asks the semantics first, others are told again for
nothing: the first to ask pays. The layers below the rules are timed by themselves.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from torchlint.engine.looking import Looking
from torchlint.engine.sieve import triggered
from torchlint.engine.words import Raw, passes_sieve
from torchlint.options import DEFAULTS
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.semantics import Semantics
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source, SourceError

_LAYERS = ("parsing", "tree and bindings", "rules")


class Costs:
    """What has been counted and timed so far."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.only: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self.statements: Counter[str] = Counter()
        self.times: defaultdict[tuple[str, str], float] = defaultdict(float)

    @contextmanager
    def timed(self, what: str, of: str = "") -> Iterator[None]:
        """Adds the time of a block."""
        start = time.process_time()
        yield
        self.times[what, of] += time.process_time() - start

    def milliseconds(self, what: str, of: str = "") -> int:
        """The time of all blocks of a sort."""
        return round(1000 * self.times[what, of])


def measure(paths: Sequence[Path], rules: Sequence[Entry]) -> Costs:
    """Runs ``rules`` on the files, one after the other."""
    costs = Costs()
    for path in paths:
        data = path.read_bytes()
        raw = Raw(data)
        awake = []
        for rule in rules:
            with costs.timed("sieve", rule.code):
                passes = raw.may_hold(rule)
            if passes:
                awake.append(rule)
        if passes_sieve(data, awake):
            costs.files.update(["", *(rule.code for rule in awake)])
            costs.only.update(rule.code for rule in awake if len(awake) == 1)
            try:
                _run(Source.decode(data, str(path)), data, awake, costs)
            except SourceError:
                continue
    return costs


def _run(source: Source, data: bytes, rules: Sequence[Entry], costs: Costs) -> None:
    with costs.timed("layer", "parsing"):
        assert source.tree
    with costs.timed("layer", "tree and bindings"):
        semantics = Semantics(source.tree)
    with costs.timed("layer", "rules"):
        looking = Looking(source, semantics, Suppressions(source), DEFAULTS)
        for rule in rules:
            if not rule.is_about_comments:
                with costs.timed("rule", rule.code):
                    shown = triggered(semantics, data, [rule])
                    found = looking.at(shown)[rule.code] if shown else []
                costs.findings[rule.code] += len(found)
                costs.statements[rule.code] += len(shown)


def main(directory: str, *options: str) -> None:
    """Prints the table."""
    gc.disable()
    sys.setrecursionlimit(6000)
    rules = [rule for rule in all_rules() if rule.default or "--all" in options]
    paths = sorted(Path(directory).rglob("*.py"))
    costs = measure(paths, rules)
    print(f"{len(paths)} files, {costs.files['']} let through by the words of any of {len(rules)} rules")
    print(", ".join(f"{layer}: {costs.milliseconds('layer', layer)} ms" for layer in _LAYERS))
    print("rule     files  only   sieve     rule  statements  findings")
    for rule in sorted(rules, key=lambda rule: -costs.times["rule", rule.code]):
        code = rule.code
        print(
            f"{code}  {costs.files[code]:6}  {costs.only[code]:4}  {costs.milliseconds('sieve', code):4} ms"
            f"  {costs.milliseconds('rule', code):5} ms  {costs.statements[code]:8}  {costs.findings[code]:8}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
