"""Fixes of many rules in one text: on one line, nested in one expression, side by side.

What comes out depends neither on the order in which the rules are given nor on whether they run together or one after the
other.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.text.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures"
TWO_CHANGES = {("TPL501", "TPL505")}
"""Rules that may report the same piece of code: where a load puts what it reads, and what it may read, are two changes."""
RULES = {rule.code: rule for rule in all_rules()}


def fixed(text: str, rules: Sequence[Entry]) -> str:
    result = fix(Source(text), rules, Applicability.UNSAFE)
    assert not result.broken
    return result.text


CASES = {
    "nested in one expression": (
        "TPL101 TPL002 TPL104",
        """\
        import torch
        from torch.autograd import Variable

        model = torch.nn.Linear(2, 2)
        y = Variable(model(torch.ones(1, 2)).data).cpu().data.numpy()
        """,
        """\
        import torch

        model = torch.nn.Linear(2, 2)
        y = model(torch.ones(1, 2)).detach().cpu().numpy()
        """,
    ),
    "side by side on a line": (
        "TPL002 TPL005 TPL102",
        """\
        import torch
        from torch import nn

        model = nn.Linear(2, 1)
        loss = nn.MSELoss()(model(torch.ones(1, 2)), torch.ones(1, 1))
        p = model.weight; p.requres_grad = False; x, n = p.data, loss.data[0]
        """,
        """\
        import torch
        from torch import nn

        model = nn.Linear(2, 1)
        loss = nn.MSELoss()(model(torch.ones(1, 2)), torch.ones(1, 1))
        p = model.weight; p.requires_grad = False; x, n = p.detach(), loss.item()
        """,
    ),
    "neighbouring no_grad blocks": (
        "TPL001 TPL003",
        """\
        import torch

        w = torch.nn.Linear(2, 2).weight
        w.data *= 2
        w.data = torch.zeros(2, 2)
        w.data.add_(1)
        """,
        """\
        import torch

        w = torch.nn.Linear(2, 2).weight
        with torch.no_grad():
            w *= 2
            w.copy_(torch.zeros(2, 2))
            w.add_(1)
        """,
    ),
    "imports added once": (
        "TPL001 TPL009",
        """\
        from torch import nn, optim


        def train(loader):
            model = nn.Linear(2, 1)
            optimizer = optim.SGD(model.parameters(), lr=0.1)
            best, least = model.state_dict(), 1e9
            for x, y in loader:
                optimizer.zero_grad()
                loss = ((model(x) - y) ** 2).mean()
                loss.backward()
                optimizer.step()
                if loss.item() < least:
                    least, best = loss.item(), model.state_dict()
                    kept = model.state_dict()
                model.weight.data.clamp_(-1, 1)
            model.load_state_dict(best)
            return model, kept
        """,
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_the_rules_does_not_matter(name: str) -> None:
    codes, before, after = CASES[name]
    rules = [RULES[code] for code in codes.split()]
    results = {fixed(dedent(before), order) for order in permutations(rules)}
    assert len(results) == 1
    (text,) = results
    if after is not None:
        assert text == dedent(after)
    together = fixed(dedent(before), all_rules())
    assert fixed(together, rules) == together


@pytest.mark.parametrize("name", CASES)
def test_one_rule_after_the_other_ends_in_the_same_text(name: str) -> None:
    codes, before, _ = CASES[name]
    rules = [RULES[code] for code in codes.split()]
    together = fixed(dedent(before), rules)
    for order in permutations(rules):
        text = dedent(before)
        for _ in range(len(order)):
            for rule in order:
                text = fixed(text, [rule])
        assert text == together


def test_imports_are_added_once_where_the_others_are() -> None:
    text = fixed(dedent(CASES["imports added once"][1]), [RULES["TPL001"], RULES["TPL009"]])
    assert text.startswith("import copy\n\nimport torch\nfrom torch import nn, optim\n")
    assert text.count("import copy") == text.count("import torch\n") == 1
    assert text.count("copy.deepcopy(") == 2  # the first round replaces what is kept in front of it


@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir() if (path / "bad.py").exists()))
def test_all_rules_together_settle_on_every_fixture(folder: str) -> None:
    """With every rule on, whatever order they are in: the same text, which parses and which a second run leaves alone."""
    source = Source((FIXTURES / folder / "bad.py").read_bytes().decode())
    forwards = fix(source, all_rules(), Applicability.UNSAFE)
    backwards = fix(source, all_rules()[::-1], Applicability.UNSAFE)
    assert forwards.text == backwards.text
    assert forwards.broken == ()
    ast.parse(forwards.text)
    assert fix(Source(forwards.text), all_rules(), Applicability.UNSAFE).text == forwards.text


@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir() if (path / "bad.py").exists()))
def test_one_place_has_one_finding(folder: str) -> None:
    """No two rules report the very same piece of code, unless they ask for two changes of it."""
    for path in sorted((FIXTURES / folder).glob("*.py")):
        text = path.read_bytes().decode()
        found = lint(Source(text), all_rules())
        places = [(each.location, each.end_location) for each in found]
        doubled = {place for place in places if places.count(place) > 1}
        doubled -= {
            place
            for place in doubled
            if tuple(sorted(each.code for each in found if (each.location, each.end_location) == place)) in TWO_CHANGES
        }
        assert {
            (str(place), each.code) for each in found for place in doubled if (each.location, each.end_location) == place
        } == set()
