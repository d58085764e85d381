"""Mutants of real files are linted and fixed without an internal error: a few of those that ``mutants.py`` makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mutants import try_out

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.filterwarnings("ignore")  # of the code of the mutants
def test_mutants_of_files(capsys: pytest.CaptureFixture[str]) -> None:
    tally = try_out([str(FIXTURES / "tpl001_data_mutation"), str(FIXTURES / "tpl207_tensor_from_tensor")], count=30, seed=3)
    assert (tally["mutants"], tally["wrong"], capsys.readouterr().out) == (30, 0, "")
    assert tally["fixes"] > 0


@pytest.mark.filterwarnings("ignore")
def test_mutants_of_notebooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["import torch\n", "x = torch.ones(3, requires_grad=True)\n", "y = x.data\n", "x.requres_grad = True\n"]
    outputs = [{"name": "stdout", "output_type": "stream", "text": ["1\n"]}]
    sources: tuple[str | list[str], ...] = (["%matplotlib inline\n", *lines], lines, "".join(lines))
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": outputs, "source": each} for each in sources
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    tally = try_out([str(tmp_path)], count=60, seed=3, notebooks=True)
    assert (tally["mutants"], tally["wrong"], capsys.readouterr().out) == (60, 0, "")
    assert tally["fixes"] > 0
