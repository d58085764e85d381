"""Safe fixes keep what a program means: each program of the bench is run on torch before and after them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from bench import PROGRAMS, Program, judge, known, paths, verdict_text
from forked import run

KNOWN = known()


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.relative_to(PROGRAMS).as_posix())
def test_safe_fixes_keep_the_meaning(path: Path) -> None:
    program = Program.read(path)
    verdict = judge(program)
    assert ", ".join(verdict.wrong) == KNOWN.get(program.name, ""), verdict_text(verdict)


def test_only_programs_are_known_to_fail() -> None:
    assert set(KNOWN) <= {path.relative_to(PROGRAMS).as_posix() for path in paths()}


# --- the bench itself ------------------------------------------------------------------------------------------------


def judged(text: str, **said: str) -> tuple[str, ...]:
    """What the bench finds wrong with a program."""
    attacks = tuple(said.get("attacks", "TPL004").split())
    return judge(Program("it", {"main.py": text}, attacks, "its promise", said.get("shows", ""), "safe" in said)).wrong


SUM = """\
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for step in range(3):
    loss = model(torch.ones(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
print(f"{float(total):.3f}")
"""
FROZEN = """\
import torch
model = torch.nn.Linear(2, 1)
for parameter in model.parameters():
    parameter.requres_grad = False
print([parameter.requires_grad for parameter in model.parameters()])
"""


def test_a_program_that_prints_the_same_passes() -> None:
    assert judged(SUM, safe="yes") == ()
    assert judged(SUM, shows="something") == ("shows nothing",)


def test_a_program_that_prints_something_else_fails() -> None:
    assert judged(FROZEN, attacks="TPL005") == ("differs",)
    assert judged(FROZEN, attacks="TPL005", shows="frozen weights that are not") == ()


def test_a_rule_that_is_attacked_finds_something() -> None:
    assert judged("import torch\nprint(torch.ones(2))\n", attacks="TPL004") == ("is not found",)
    assert judged("import torch\nprint(torch.ones(2))\n", attacks="TPL004", safe="yes") == ("is not found", "is not safe")


def test_what_is_never_twice_the_same_is_said_to_be_so() -> None:
    text = f"{FROZEN}import os\nprint(os.getpid())\n"
    assert judged(text, attacks="TPL005") == ("is not deterministic",)


def test_a_run_has_a_folder_a_time_and_an_end_of_its_own() -> None:
    both = {"main.py": "import helper\nprint(helper.number, __name__)\n", "helper.py": "number = 3\n"}
    assert run(both).printed == "3 __main__\n"
    raised = run({"main.py": "print('so far')\nraise ValueError('it', 1)\n"})
    assert (raised.printed, raised.error) == ("so far\n", "ValueError: ('it', 1)")
    assert run({"main.py": "print(1, flush=True)\nwhile True: pass\n"}, limit=0.5).error == "took more than 0.5 s"
    assert run({"main.py": "import os\nos._exit(3)\n"}).error == "the process ended with status 3"
    assert run({"main.py": "import torch\nw = torch.ones(2, requires_grad=True)\nw.sum().backward()\nprint(w.grad)\n"}) == run(
        {"main.py": "import torch\nw = torch.ones(2, requires_grad=True)\nw.sum().backward()\nprint(w.grad)\n"}
    )


def test_the_last_digits_of_numbers_are_no_difference() -> None:
    three = [run({"main.py": f"print('loss', {number})\n"}) for number in ("0.3", "0.30000001", "0.31")]
    assert three[0].same(three[1])
    assert not three[0].same(three[2])
