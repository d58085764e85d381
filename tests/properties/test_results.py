"""Safe fixes keep what a program computes: small programs are run on torch before and after."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from hypothesis import assume, given, note
from running import run, runnable_programs

from torchlint.engine.fixer import fix
from torchlint.rules import all_rules
from torchlint.text.source import Source

HAZARD_IS_THE_RESULT = ("TPL005", "TPL006", "TPL009", "TPL010", "TPL013", "TPL203", "TPL301", "TPL303")
"""The rules whose safe fixes change what is printed, since what was printed is the damage: frozen weights that were not, a copy
that was none, a method that was not called. Their hazard programs show that the fix does what it should."""

STALE_GRAPH = "modified by an inplace operation"
"""What torch says once a change that ``.data`` hid from it is seen: the hazard of TPL001 is that it did not."""

RULES = [rule for rule in all_rules() if rule.code not in HAZARD_IS_THE_RESULT]


@given(runnable_programs())
def test_safe_fixes_keep_the_results(text: str) -> None:
    before = run(text)
    assume(before.error is None)
    fixed = fix(Source(text), RULES)
    after = run(fixed.text)
    if after.error is not None and STALE_GRAPH in after.error:
        assert any(found.code == "TPL001" for found in fixed.fixed)
        return
    note(fixed.text)
    note(f"printed before: {before.printed}\nprinted after: {after.printed}\n{after.error}")
    assert before.same(after)
