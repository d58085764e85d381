"""Fixes applied: which ones together, how often, and what becomes of the text around them."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Sequence
from textwrap import dedent
from typing import Any

import libcst as cst
import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import FixResult, fix
from torchlint.engine.linter import lint
from torchlint.fact import NOTHING
from torchlint.fixes.changes import fix as codefix
from torchlint.fixes.changes import replace
from torchlint.fixes.code import expression
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Call, Syntax, Word
from torchlint.text.source import Source

RULES = all_rules()


def rules(*codes: str) -> list[Entry]:
    return [rule for rule in RULES if rule.code in codes]


def fixed(text: str, applicability: Applicability = Applicability.UNSAFE, chosen: Sequence[Entry] = RULES) -> FixResult:
    return fix(Source(dedent(text)), chosen, applicability)


# --- rules made up to put the fixer to the test ----------------------------------------------------------------------


class _Renamed(Rule):
    """Replaces calls of ``old(x)`` by ``new(x)``, anew each time."""

    code = "XXX001"
    name = "renamed"
    triggers = (Call("old"),)

    def visit_Call(self, node: cst.Call) -> None:
        if isinstance(node.func, cst.Name) and node.func.value == "old":
            text = cst.Module([]).code_for_node(node).removeprefix("old")
            self.report(
                node, "`old` is `new`", codefix("Rename", replace(node, cst.parse_expression("new" + text)), rests_on=NOTHING)
            )


class _Broken(Rule):
    """Replaces the name ``bad`` by what is not Python."""

    code = "XXX002"
    name = "broken"
    triggers = (Word("bad"),)

    def visit_Name(self, node: cst.Name) -> None:
        if node.value == "bad":
            self.report(node, "`bad` is bad", codefix("Break it", replace(node, cst.Name("if")), rests_on=NOTHING))


class _Imported(Rule):
    """Takes ``sqrt`` from a module that has to be imported for it."""

    code = "XXX003"
    name = "imported"
    triggers = (Word("sqrt"),)

    def visit_Name(self, node: cst.Name) -> None:
        if node.value == "sqrt":
            self.report(
                node, "`sqrt` is of `math`", codefix("Import", replace(node, expression("{math.sqrt}")), rests_on=NOTHING)
            )


class _Endless(Rule):
    """Has always something to add."""

    code = "XXX004"
    name = "endless"
    triggers = (Syntax("Name"),)

    def visit_Name(self, node: cst.Name) -> None:
        if "again" in node.value:
            self.report(node, "`again`", codefix("Again", replace(node, cst.Name(f"again_{node.value}")), rests_on=NOTHING))


def test_of_two_fixes_that_overlap_the_second_waits_for_the_next_round() -> None:
    result = fixed("x = old(old(old(1)))\n", chosen=[Entry.of(_Renamed)])
    assert result.text == "x = new(new(new(1)))\n"
    assert [found.snippet for found in result.fixed] == [
        "x = old(old(old(1)))",
        "x = new(old(old(1)))",
        "x = new(new(old(1)))",
    ]
    assert result.remaining == ()


def test_a_fix_that_breaks_the_program_is_dropped_and_reported() -> None:
    result = fixed("x = old(1)\ny = bad\nz = old(2)\n", chosen=[Entry.of(_Renamed), Entry.of(_Broken)])
    assert result.text == "x = new(1)\ny = bad\nz = new(2)\n"
    assert [(found.code, found.location.row) for found in result.broken] == [("XXX002", 2)]
    assert [found.code for found in result.remaining] == ["XXX002"]
    assert [found.code for found in result.fixed] == ["XXX001", "XXX001"]


def test_an_edit_that_two_fixes_share_is_made_once() -> None:
    result = fixed("x = sqrt(2)\ny = sqrt(3)\n", chosen=[Entry.of(_Imported)])
    assert result.text == "import math\nx = math.sqrt(2)\ny = math.sqrt(3)\n"


def test_the_fixes_of_a_rule_that_never_ends_are_dropped_and_reported() -> None:
    result = fixed("again = 1\nx = old(1)\n", chosen=[Entry.of(_Renamed), Entry.of(_Endless)])
    assert result.text == "again = 1\nx = new(1)\n"
    assert [found.code for found in result.broken] == ["XXX004"]
    assert {(found.code, found.fix) for found in result.remaining} == {("XXX004", None)}


def test_without_a_finding_the_text_is_the_same_object() -> None:
    text = "x = 1\n"
    assert fix(Source(text), RULES).text is text


# --- what is applied -------------------------------------------------------------------------------------------------

MIXED = """\
import torch
from torch.autograd import Variable

w = torch.ones(3, requires_grad=True)
x = Variable(w.data)
y = Variable(unknown)
w.data = torch.zeros(3)
"""


def test_unsafe_fixes_wait_to_be_asked_for() -> None:
    result = fixed(MIXED, Applicability.SAFE)
    assert result.text == MIXED.replace("Variable(w.data)", "w.detach()")
    assert [(found.location.row, found.code) for found in result.remaining] == [(6, "TPL101"), (7, "TPL003")]


def test_all_fixes() -> None:
    assert fixed(MIXED).text == dedent("""\
        import torch

        w = torch.ones(3, requires_grad=True)
        x = w.detach()
        y = unknown
        with torch.no_grad():
            w.copy_(torch.zeros(3))
        """)


def test_only_the_chosen_rules_fix() -> None:
    result = fixed(MIXED, chosen=rules("TPL003"))
    assert result.text == MIXED.replace("w.data = torch.zeros(3)\n", "with torch.no_grad():\n    w.copy_(torch.zeros(3))\n")


def test_what_a_comment_silences_is_not_fixed() -> None:
    text = MIXED.replace("x = Variable(w.data)\n", "x = Variable(w.data)  # noqa: TPL101\n")
    result = fixed(text)
    assert "x = Variable(w.data)  # noqa: TPL101\n" in result.text
    assert "from torch.autograd import Variable\n" in result.text
    assert "y = unknown\n" in result.text


def test_a_silenced_statement_keeps_its_neighbours_block_alive() -> None:
    text = """\
        if cuda:
            x = Variable(x)  # noqa
            y = Variable(y)
        """
    assert fixed(text).text == "if cuda:\n    x = Variable(x)  # noqa\n"


def test_noqa_comments_can_be_left_to_the_caller() -> None:
    result = fix(Source("y = Variable(x.data)  # noqa\n"), RULES, Applicability.UNSAFE, suppress=False)
    assert result.text == "y = x.detach()  # noqa\n"


# --- the text around a fix -------------------------------------------------------------------------------------------

LOOP = """\
# -*- coding: utf-8 -*-
from torch.autograd import Variable


def step(model, image, other):
    image = Variable(image, volatile=True)
    scores = model(image)  # naïve
    model.weight.data.mul_(0.9)

    model.bias.data.zero_()
    return scores, Variable(other)
"""

LOOP_FIXED = """\
# -*- coding: utf-8 -*-
import torch


def step(model, image, other):
    with torch.no_grad():
        scores = model(image)  # naïve
        model.weight.mul_(0.9)

        model.bias.zero_()
    return scores, other
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_newlines_stay_as_they_are(newline: str) -> None:
    result = fix(Source(LOOP.replace("\n", newline)), RULES, Applicability.UNSAFE)
    assert result.text == LOOP_FIXED.replace("\n", newline)


def test_tabs_stay_tabs() -> None:
    assert fixed(LOOP.replace("    ", "\t")).text == LOOP_FIXED.replace("    ", "\t")


def test_a_file_without_a_final_newline_keeps_none() -> None:
    assert fixed(LOOP.removesuffix("\n")).text == LOOP_FIXED.removesuffix("\n")


def test_the_result_knows_its_encoding() -> None:
    data = "# -*- coding: latin-1 -*-\ny = Variable(x.data)  # na\xefve\n".encode("latin-1")
    source = Source.decode(data, "old.py")
    assert source.encode(
        fix(source, RULES, Applicability.UNSAFE).text
    ) == "# -*- coding: latin-1 -*-\ny = x.detach()  # na\xefve\n".encode("latin-1")


# --- many findings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("total += Variable(loss.data).data[0]\n", "total += loss.item()\n"),
        ("total += Variable(loss.data)[0]\n", "total += loss.item()\n"),
        ("y = Variable(Variable(x))\n", "y = x\n"),
        ("y = Variable(x, requires_grad=True), Variable(z)\n", "y = x.detach().requires_grad_(), z\n"),
        (
            "y = Variable(torch.tensor([[1.0],\n                           [2.0]]),\n             requires_grad=True).to(d)\n",
            "y = torch.tensor([[1.0],\n                  [2.0]], requires_grad=True).to(d)\n",
        ),
        ("y = model(Variable(x.data.cpu())).data.cpu().numpy()\n", "y = model(x.detach().cpu()).detach().cpu().numpy()\n"),
        ("y = f(Variable(a), Variable(b * 2), c=[Variable(d.data)])\n", "y = f(a, b * 2, c=[d.detach()])\n"),
        ("if type(h) == Variable: h = Variable(h.data)\n", "if isinstance(h, torch.Tensor): h = h.detach()\n"),
        ("a, b = Variable(a), Variable(b); c = Variable(a)\n", "c = a.detach()\n"),
        ("x = Variable(x); y = Variable(x * 2).data.numpy()\n", "y = (x * 2).detach().cpu().numpy()\n"),
    ],
)
def test_many_findings_on_one_line(line: str, expected: str) -> None:
    assert fixed(line).text == expected


def test_neighbouring_statements_share_one_no_grad() -> None:
    text = """\
        import torch

        for p in model.parameters():
            p.data.mul_(0.9)
            p.data.add_(p.grad.data)
            print(p)
            p.data.zero_()
        """
    assert fixed(text).text == dedent("""\
        import torch

        for p in model.parameters():
            with torch.no_grad():
                p.mul_(0.9)
                p.add_(p.grad)
            print(p)
            with torch.no_grad():
                p.zero_()
        """)


def test_lines_stay_aligned_with_the_bracket_that_they_are_in() -> None:
    text = """\
        import torch
        from torch import nn

        def f(m: nn.Linear, x: torch.Tensor):
            m.weight.data.copy_(torch.cat([x,
                                           x.data],
                                          dim=0),
                                non_blocking=True)
            m.weight.data = g(x.data,
                              x)
            y = h(x.data, g(1,
                            2),
                  3)
            if x.data.any(1,
                          keepdim=True):
                return y
        """
    assert fixed(text).text == dedent("""\
        import torch
        from torch import nn

        def f(m: nn.Linear, x: torch.Tensor):
            with torch.no_grad():
                m.weight.copy_(torch.cat([x,
                                          x.detach()],
                                         dim=0),
                               non_blocking=True)
                m.weight.copy_(g(x.detach(),
                                 x))
            y = h(x.detach(), g(1,
                                2),
                  3)
            if x.detach().any(1,
                              keepdim=True):
                return y
        """)


def test_two_rules_share_one_no_grad() -> None:
    text = """\
        import torch

        image = Variable(image, volatile=True)
        scores = model(image)
        model.weight.data.zero_()
        """
    assert fixed(text).text == dedent("""\
        import torch

        with torch.no_grad():
            scores = model(image)
            model.weight.zero_()
        """)


def test_an_import_that_many_fixes_need_is_added_once() -> None:
    text = """\
        from torch.autograd import Variable

        def check(x: Variable, y: Variable) -> bool:
            return isinstance(x, Variable) and type(y) == Variable
        """
    assert fixed(text).text == dedent("""\
        import torch

        def check(x: torch.Tensor, y: torch.Tensor) -> bool:
            return isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)
        """)


TANGLE = """\
from torch import nn
from torch.autograd import Variable


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.fc.weight.data.normal_(0, 1); self.fc.bias.data.zero_()
        for p in self.fc.parameters():
            p.requires_grads = False

    def hidden(self, h):
        if type(h) == Variable:
            return Variable(h.data)
        return [Variable(v) for v in h]


def run(model, loader, optimizer, criterion):
    total = 0
    for x, y in loader:
        x, y = Variable(x), Variable(y)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
        print(loss.data[0], model.fc.weight.data.cpu().numpy())
    for x, y in loader:
        x = Variable(x, volatile=True)
        loss = criterion(model(x), Variable(y))
        total += loss.data[0]
    print(f"loss {total:.3f}")
"""

TANGLE_FIXED = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        nn.init.normal_(self.fc.weight, 0, 1); nn.init.zeros_(self.fc.bias)
        for p in self.fc.parameters():
            p.requires_grad = False

    def hidden(self, h):
        if isinstance(h, torch.Tensor):
            return h.detach()
        return [v for v in h]


def run(model, loader, optimizer, criterion):
    total = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
        print(loss.item(), model.fc.weight.detach().cpu().numpy())
    with torch.no_grad():
        for x, y in loader:
            loss = criterion(model(x), y)
            total += loss.item()
    print(f"loss {total:.3f}")
"""


def test_all_rules_together() -> None:
    result = fixed(TANGLE)
    assert result.text == TANGLE_FIXED
    assert result.remaining == ()
    assert result.broken == ()


def test_the_order_of_the_rules_makes_no_difference() -> None:
    chance = random.Random(0)
    for _ in range(10):
        shuffled = chance.sample(RULES, len(RULES))
        assert fix(Source(TANGLE), shuffled, Applicability.UNSAFE).text == TANGLE_FIXED


def test_a_fixed_text_is_not_changed_again() -> None:
    result = fixed(TANGLE_FIXED)
    assert result.text == TANGLE_FIXED
    assert result.fixed == ()


def test_rule_after_rule_makes_the_same_as_all_at_once() -> None:
    source = Source(TANGLE)
    for _ in range(2):
        for rule in RULES:
            source = Source(fix(source, [rule], Applicability.UNSAFE).text)
    assert lint(source, RULES) == []


# --- programs before and after ---------------------------------------------------------------------------------------


def run(text: str) -> tuple[dict[str, Any], list[str]]:
    """The names that a program leaves behind, and the warnings that it gives."""
    names: dict[str, Any] = {"__name__": "program"}
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        exec(compile(text, "program.py", "exec"), names)
    return names, [str(warning.message) for warning in caught]


EVALUATION = """\
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
loader = [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(5)]
kept = []


def evaluate():
    model.eval()
    right, losses = 0, []
    for inputs, targets in loader:
        inputs = Variable(inputs, volatile=True)
        targets = Variable(targets, volatile=True)
        outputs = model(inputs)
        kept.append(outputs)
        losses.append(criterion(outputs, targets))
        right += (outputs.data.max(1)[1] == targets.data).sum()
    return float(sum(losses)), int(right)


loss, right = evaluate()
graphs = [output.grad_fn is not None for output in kept]
"""


def test_an_evaluation_computes_the_same_without_the_graph() -> None:
    pytest.importorskip("torch")
    before, complaints = run(EVALUATION)
    after, silence = run(fixed(EVALUATION).text)
    assert any("volatile" in complaint for complaint in complaints)
    assert not any("volatile" in complaint for complaint in silence)
    assert after["right"] == before["right"]
    assert after["loss"] == pytest.approx(before["loss"])
    assert before["graphs"] == [True] * 5
    assert after["graphs"] == [False] * 5


TRAINING = """\
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
model = nn.Linear(3, 1)
criterion = nn.MSELoss()
loader = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(5)]


def repackage_hidden(h):
    if type(h) == Variable:
        return Variable(h.data)
    return tuple(repackage_hidden(v) for v in h)


def step(inputs, targets):
    inputs, targets = Variable(inputs), Variable(targets, requires_grad=False)
    loss = criterion(model(inputs), targets)
    model.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.data.add_(-0.1 * p.grad.data)
    return loss


total = 0
for inputs, targets in loader:
    total += step(inputs, targets).data[0]
hidden = repackage_hidden((torch.ones(2), model.weight * 2))
weight = model.weight.data.numpy().tolist()
"""


def test_a_training_loop_of_torch_0_3_runs_again() -> None:
    pytest.importorskip("torch")
    with pytest.raises(IndexError, match="0-dim"):
        run(TRAINING)
    after, _ = run(fixed(TRAINING).text)
    old, _ = run(TRAINING.replace(".data[0]", ".item()").replace("type(h) == Variable", "isinstance(h, Variable)"))
    assert after["total"] == old["total"]
    assert after["weight"] == old["weight"]
    assert [h.requires_grad for h in after["hidden"]] == [False, False]


FREEZING = """\
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
for p in model[0].parameters():
    p.requires_grads = False
first = model[0].weight.tolist()
x = Variable(torch.randn(4, 3), requires_grad=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).pow(2).mean().backward()
optimizer.step()
frozen = model[0].weight.tolist() == first
gradient = x.grad.tolist()
leaf = x.is_leaf
"""


def test_a_misspelt_freeze_freezes() -> None:
    pytest.importorskip("torch")
    before, _ = run(FREEZING)
    after, _ = run(fixed(FREEZING, Applicability.SAFE).text)
    assert (before["frozen"], after["frozen"]) == (False, True)
    assert after["gradient"] == before["gradient"]
    assert after["leaf"] is True


SAFE_WRAPPERS = """\
import numpy as np
import torch
from torch.autograd import Variable

torch.manual_seed(0)
base = torch.randn(3, requires_grad=True)
out = base * 2
wrapped = [
    Variable(torch.randn(2) * 2),
    Variable(torch.from_numpy(np.ones(2))).float(),
    Variable(out.data),
    Variable(out.data.clone(), requires_grad=False),
    Variable(torch.randn(2), requires_grad=True),
    Variable(out, requires_grad=True),
    Variable(out.data, requires_grad=len(out) > 2),
    Variable(base, requires_grad=False),
    Variable(torch.arange(3.).view(3, 1).expand(3, 2), requires_grad=True),
    *map(Variable, [out, base]),
]
with torch.no_grad():
    wrapped.append(Variable(base * 3))
seen = [(x.tolist(), x.requires_grad, x.grad_fn is None, x.is_leaf) for x in wrapped]
shared = [x.data_ptr() == out.data_ptr() for x in wrapped]
tests = [isinstance(out, (torch.Tensor, Variable)), isinstance(3, Variable), isinstance(base, Variable)]
"""


def test_safe_fixes_of_wrappers_change_no_value_and_no_flag() -> None:
    pytest.importorskip("torch")
    result = fixed(SAFE_WRAPPERS, Applicability.SAFE)
    assert "Variable" not in result.text.replace("from torch.autograd import Variable\n", "")  # others may import it from here
    before, _ = run(SAFE_WRAPPERS)
    after, _ = run(result.text)
    assert after["seen"] == before["seen"]
    assert after["shared"] == before["shared"]
    assert after["tests"] == before["tests"] == [True, False, True]
