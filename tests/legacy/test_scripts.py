"""Training scripts in the idioms of 2017 come alive: what they do on today's torch before all fixes, and after.

``scripts/`` holds the old programs, and ``modern/`` a program for each that computes the same in the words of today; both
leave their losses, and what else they compute, in ``history``, and some say in ``graphs`` whether outputs carried a graph.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import FixResult, fix
from torchlint.rules.selection import select_rules
from torchlint.text.source import Source

torch = pytest.importorskip("torch")

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))
NO_DIMENSIONS = (IndexError, r"invalid index of a 0-dim tensor")

RAISES: dict[str, tuple[type[Exception], str]] = {
    "adversarial_examples": NO_DIMENSIONS,
    "attention_translation": NO_DIMENSIONS,
    "conv_net": NO_DIMENSIONS,
    "data_updates": NO_DIMENSIONS,
    "deep_q_network": NO_DIMENSIONS,
    "lbfgs_sine": (IndexError, r"too many indices for array"),
    "linear_regression": NO_DIMENSIONS,
    "mlp_digits": (AttributeError, r"Iter' object has no attribute 'next'"),
    "notebook_export": NO_DIMENSIONS,
    "policy_gradient": (TypeError, r"multinomial\(\) missing 1 required positional argument"),
    "rnn_language_model": (TypeError, r"iteration over a 0-d tensor"),
    "segmentation": NO_DIMENSIONS,
    "style_transfer": (TypeError, r"backward\(\) got an unexpected keyword argument 'retain_variables'"),
}
"""How those that stop at once do so."""
KEEPS_GRAPH = {"lstm_evaluation", "wasserstein_gan"}
"""Those that compute the right numbers and keep the graphs of what was volatile."""
TAKES_THE_MEAN = {"vae"}
"""Those whose criterion is told to sum by an attribute that nothing reads any more."""

each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tensors as small as these are computed fastest by one thread, the more so on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@dataclass(frozen=True)
class Outcome:
    """What a program computed, and what torch warned of on the way."""

    history: list[float]
    graphs: list[bool]
    warned: list[str]


def run(path: Path) -> Outcome:
    """Runs a program in this process, where torch is imported already."""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        names: dict[str, Any] = runpy.run_path(str(path), run_name="__main__")
    history = [float(value) for value in names["history"]]
    return Outcome(history, names.get("graphs", []), sorted({str(warning.message) for warning in caught}))


@cache
def fixed(script: Path) -> FixResult:
    """What all default rules together make of a script, unsafe fixes included."""
    rules = select_rules(ignore=["TPL322"])  # whose fix shuffles, which is another program by intent
    return fix(Source(script.read_text(encoding="utf-8"), script.name), rules, Applicability.UNSAFE)


@pytest.fixture
def revived(script: Path, tmp_path: Path) -> Outcome:
    """The outcome of a script after its fixes."""
    path = tmp_path / script.name
    path.write_text(fixed(script).text, encoding="utf-8")
    return run(path)


def modern(script: Path) -> Outcome:
    """The outcome of the program that says the same in the words of today."""
    return run(HERE / "modern" / script.name)


def test_every_script_is_known_to_fail() -> None:
    assert {script.stem for script in SCRIPTS} == {*RAISES, *KEEPS_GRAPH, *TAKES_THE_MEAN}
    assert {script.name for script in SCRIPTS} == {path.name for path in (HERE / "modern").glob("*.py")}


# --- before ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(RAISES))
def test_stops_on_this_torch(name: str) -> None:
    error, message = RAISES[name]
    with pytest.raises(error, match=message):
        run(HERE / "scripts" / f"{name}.py")


@pytest.mark.parametrize("name", sorted(KEEPS_GRAPH))
def test_keeps_the_graphs_of_what_was_volatile(name: str) -> None:
    outcome = run(HERE / "scripts" / f"{name}.py")
    assert outcome.graphs and all(outcome.graphs)
    assert any("volatile was removed" in warning for warning in outcome.warned)
    assert outcome.history == pytest.approx(modern(HERE / f"{name}.py").history, rel=1e-5)


@pytest.mark.parametrize("name", sorted(TAKES_THE_MEAN))
def test_takes_the_mean_for_the_sum(name: str) -> None:
    """The sum over 10 pictures of 36 pixels outweighs everything else; the mean is below 1."""
    wrong, right = run(HERE / "scripts" / f"{name}.py").history, modern(HERE / f"{name}.py").history
    assert len(wrong) == len(right)
    assert all(100 * one < other for one, other in zip(wrong, right))


# --- after -----------------------------------------------------------------------------------------------------------


@each_script
def test_nothing_legacy_is_left(script: Path) -> None:
    result = fixed(script)
    assert [(found.code, found.location.row) for found in result.remaining if found.code.startswith("TPL1")] == []
    assert result.broken == ()
    assert re.search(r"\bVariable\(|volatile=|\.data\[0\]|clip_grad_norm\b", result.text) is None


@each_script
def test_runs_and_computes_what_it_did(script: Path, revived: Outcome) -> None:
    expected = modern(script)
    assert revived.history == pytest.approx(expected.history, rel=1e-4, abs=1e-6)
    assert revived.graphs == expected.graphs


@each_script
def test_torch_has_nothing_to_warn_of(script: Path, revived: Outcome) -> None:
    assert revived.warned == []


def test_the_scripts_need_every_rule_of_the_section() -> None:
    used = {found.code for script in SCRIPTS for found in fixed(script).fixed}
    legacy = {rule.code for rule in select_rules() if rule.code.startswith("TPL1")}
    others = {
        *("TPL107", "TPL110"),  # torchvision's models are not at hand; `async=` is no script for today's Python
        *("TPL108", "TPL109", "TPL111"),  # what came and went after these scripts were written
    }
    assert legacy - used == others
