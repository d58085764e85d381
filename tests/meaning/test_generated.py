"""Safe fixes keep what generated programs mean; and what makes, explains and shrinks these programs does so."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from explained import explanation
from fixing import fixed
from forked import run, run_in_turn
from generator import program
from run_generated import AT_ONCE, fails, known, tally
from shrinking import shrunk

PROGRAMS = range(1, 301)
"""The programs that are run with every change; `run_generated.py` runs as many as one likes."""
KNOWN = known()


@pytest.mark.parametrize("first", PROGRAMS[::30])
def test_safe_fixes_keep_the_results_of_generated_programs(first: int) -> None:
    differ: dict[int, tuple[str, ...]] = {}
    ran = 0
    for start in range(first, first + 30, AT_ONCE):
        found = tally(range(start, min(start + AT_ONCE, first + 30)))
        ran += found.ran
        differ |= {each.seed: each.codes for each in found.differences}
    assert differ == {seed: codes for seed, codes in KNOWN.items() if first <= seed < first + 30}
    assert ran >= 20


def test_a_number_stands_for_a_program() -> None:
    assert program(7) == program(7)
    assert program(7) != program(8)


def test_programs_have_two_files_classes_and_loops() -> None:
    programs = ["\n".join(program(seed).values()) for seed in range(40)]
    assert sum("pieces" in text for text in programs) > 15
    assert sum("\nclass " in text for text in programs) > 15
    assert sum("    for " in text or "\nfor " in text for text in programs) > 20


SUM = """\
import torch
model = torch.nn.Linear(2, 1)
x = torch.ones(4, 2)
kept = x.data
total = 0.0
for step in range(3):
    loss = model(x).pow(2).mean()
    total += loss.detach()
print(float(total))
"""


def explained(text: str) -> str:
    files = {"main.py": text}
    mended = fixed(files)
    before, after = run(files), run(mended.files)
    assert not before.same(after)
    return explanation(files, mended, before, after)


def test_a_hazard_that_was_printed_is_explained_by_what_was_meant() -> None:
    frozen = "import torch\nnet = torch.nn.Linear(2, 1)\nfor p in net.parameters():\n    p.requres_grad = False\n"
    assert explained(f"{frozen}print([p.requires_grad for p in net.parameters()])\n") == "TPL005"
    hidden = "import torch\nw = torch.ones(2, requires_grad=True)\nmid = w * 2\nmid.sum().backward()\nprint(mid.grad)\n"
    assert explained(hidden) == "TPL010"
    assert explained("import torch\nloss = torch.ones(2, 3).pow(2).mean()\nprint(loss.data[0])\n") == "TPL102"


def test_a_wrong_result_is_not_explained() -> None:
    other = "import torch\ncalled = []\nclass Box:\n    pass\nbox = Box()\nbox.requres_grad = 1\n"
    assert run({"main.py": other}).error is None
    second = "import torch\nfrom torch.autograd import Variable\nx = torch.ones(2)\nv = Variable(x)\nprint(v is x)\n"
    files = {"main.py": second}
    wrong = {"main.py": second.replace("Variable(x)", "x")}
    mended = fixed(files)
    assert explanation(files, type(mended)(wrong, mended.applied, mended.found), run(files), run(wrong)) == ""


def test_programs_are_shrunk_to_what_fails() -> None:
    files = {"main.py": SUM, "pieces.py": "import torch\n\n\ndef unused():\n    return 1\n"}
    smaller = shrunk(files, lambda each: "loss = model(x)" in each["main.py"])
    assert smaller == {"main.py": "for step in range(3):\n    loss = model(x).pow(2).mean()\n"}


def test_a_smaller_program_fails_as_the_whole_one_did() -> None:
    assert not fails({"main.py": SUM}, "TPL004")
    assert not fails({"main.py": "total +=\n"}, "TPL004")


def test_programs_in_turn_do_not_see_one_another() -> None:
    first = {"main.py": "import torch, pieces\nprint(pieces.n)\ntorch.set_grad_enabled(False)\n", "pieces.py": "n = 1\n"}
    ends = {"main.py": "import os\nprint('bye', flush=True)\nos._exit(3)\n"}
    second = {"main.py": "import torch, pieces\nprint(pieces.n, torch.is_grad_enabled())\n", "pieces.py": "n = 2\n"}
    outcomes = run_in_turn([first, ends, second, {"main.py": "1 / 0\n"}])
    assert [outcome.text for outcome in outcomes] == [
        "1\n",
        "bye\nthe process ended with status 3",
        "2 True\n",
        "ZeroDivisionError: division by zero",
    ]
