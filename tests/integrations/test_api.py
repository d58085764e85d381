"""torchlint as a library: pure functions on texts."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest

import torchlint
from torchlint.rules.selection import SelectionError
from torchlint.text.source import SourceError

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
READ = "import torch\nx = torch.ones(1, requires_grad=True)\nstore(x.data + 1)\n"
REBIND = "import torch\nw = torch.nn.Linear(2, 2).weight\nw.data = torch.ones(2, 2)\n"
KEPT = """\
import torch
kept = []
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in data:
    loss = torch.nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept.append(loss)
print([float(loss) for loss in kept])
"""
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": TYPO}], "metadata": {}, "nbformat": 4})


def test_lint() -> None:
    [found] = torchlint.lint(TYPO, filename="train.py")
    assert (found.code, found.filename, found.location.row, found.location.column) == ("TPL005", "train.py", 3, 1)
    assert found.fix is not None


def test_the_rules_are_chosen_as_by_the_command() -> None:
    assert torchlint.lint(TYPO + READ, select=["TPL002"])[0].code == "TPL002"
    assert torchlint.lint(TYPO, ignore=["TPL005"]) == []
    assert [found.code for found in torchlint.lint(TYPO + "x = 1  # noqa: TPL001\n", extend_select=["TPL900"])] == [
        "TPL005",
        "TPL900",
    ]
    assert torchlint.lint(READ, target_torch="0.3") == []


def test_fix() -> None:
    result = torchlint.fix(TYPO)
    assert result.text == TYPO.replace("requres", "requires")
    assert ([found.code for found in result.fixed], result.remaining, result.broken) == (["TPL005"], (), ())


def test_unsafe_fixes_have_to_be_asked_for() -> None:
    assert torchlint.fix(REBIND).text == REBIND
    assert "w.copy_(" in torchlint.fix(REBIND, unsafe=True).text
    assert torchlint.fix(KEPT).text == KEPT.replace("append(loss", "append(loss.item()")
    assert torchlint.fix(KEPT, accumulate_with="detach").text == KEPT.replace("append(loss", "append(loss.detach()")
    [found] = torchlint.lint(KEPT, accumulate_with="detach")
    assert found.fix is not None and found.fix.edits[0].content == ".detach()"
    assert torchlint.fix(TYPO, unfixable=["TPL005"]).text == TYPO


def test_notebooks() -> None:
    [found] = torchlint.lint(NOTEBOOK, filename="a.ipynb")
    assert (found.cell, found.location.row) == (1, 3)
    result = torchlint.fix(NOTEBOOK, filename="a.ipynb")
    assert result.text == NOTEBOOK.replace("requres", "requires")
    assert [(found.cell, found.location.row) for found in result.fixed] == [(1, 3)]


def test_results_can_be_pickled() -> None:
    found, result = torchlint.lint(TYPO), torchlint.fix(TYPO)
    assert pickle.loads(pickle.dumps((found, result))) == (found, result)


def test_errors() -> None:
    with pytest.raises(SourceError, match=r"a\.py:1:\d+: error: cannot parse as Python"):
        torchlint.lint("p.requres_grad = (", filename="a.py")
    for text, filename in (("p.requres_grad = '\ud800'", "a.py"), ('{"cells": "\ud800"}', "a.ipynb")):
        with pytest.raises(SourceError, match=f"^{filename}: error: "):
            torchlint.lint(f"{text} # torch", filename=filename)
    with pytest.raises(SelectionError, match="unknown rule code `TPLX`"):
        torchlint.lint(TYPO, select=["TPLX"])
    with pytest.raises(TypeError, match=r"^select: expected a list, such as \['TPL001'\], found the string 'TPL001'$"):
        torchlint.lint(TYPO, select="TPL001")
    with pytest.raises(TypeError, match=r"^unfixable: expected a list"):
        torchlint.fix(TYPO, unfixable="TPL001")
    with pytest.raises(ValueError, match="not a version of torch: 'x'"):
        torchlint.lint(TYPO, target_torch="x")
    with pytest.raises(AttributeError, match="has no attribute 'lnt'"):
        _ = torchlint.lnt


@pytest.mark.skipif(sys.platform == "win32", reason="no clock of processor time")
def test_a_text_that_takes_too_long_is_given_up() -> None:
    long = "import torch\nx = torch.ones(1)\n" + "x.data.add_(x.data)\n" * 5_000
    for function in (torchlint.lint, torchlint.fix):
        with pytest.raises(SourceError, match=r"^a\.py: error: cannot lint: it takes longer than 0\.05 s$") as raised:
            function(long, filename="a.py", timeout=0.05)
        assert raised.value.error.code == "timeout"
    assert len(torchlint.lint(TYPO, timeout=60)) == 1


def test_what_results_are_made_of_can_be_imported() -> None:
    from torchlint import Applicability, Diagnostic, Edit, Fix, FixResult, Location
    from torchlint import SourceError as Raised

    [found] = torchlint.lint(TYPO)
    assert type(found) is Diagnostic and type(found.fix) is Fix and type(found.fix.edits[0]) is Edit
    assert (type(found.location), type(found.fix.applicability)) == (Location, Applicability)
    assert type(torchlint.fix(TYPO)) is FixResult
    assert Raised is SourceError


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, torchlint; print([name for name in sys.modules if name.startswith('torchlint.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_pool_of_processes_can_use_it() -> None:
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(2) as pool:
        assert [len(found) for found in pool.map(torchlint.lint, [TYPO, READ, "x = 1\n"])] == [1, 1, 0]
