"""Notebooks: linted as one program, reported by cell, and written back with nothing else touched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import torchlint_
from torchlint.text.notebook import Notebook, NotebookError, NotebookSource
from torchlint.text.source import SourceError


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def code_cell(code: str | list[str], **more: Any) -> dict[str, Any]:
    lines = code.splitlines(keepends=True) if isinstance(code, str) else code
    return {"cell_type": "code", "execution_count": 3, "id": "a1", "metadata": {}, "outputs": [], "source": lines, **more}


def text_cell(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "m1", "metadata": {}, "source": [text]}


def content(*cells: dict[str, Any], language: str = "python") -> dict[str, Any]:
    metadata = {"kernelspec": {"language": language, "name": "k"}, "language_info": {"name": language}}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def write(name: str, notebook: dict[str, Any], **layout: Any) -> bytes:
    text = json.dumps(notebook, **{"indent": 1, "ensure_ascii": False, **layout}) + "\n"
    Path(name).write_bytes(text.encode())
    return text.encode()


TRAINING = content(
    text_cell("# Training"),
    code_cell("import torch\nmodel = torch.nn.Linear(2, 2)"),
    text_cell("Freeze it."),
    code_cell("%matplotlib inline\nfor p in model.parameters():\n    p.requres_grad = False\n!nvidia-smi"),
    code_cell("w = model(torch.ones(1, 2)).data\nprint(w + 1)"),
)


# --- findings --------------------------------------------------------------------------------------------------------


MASK = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x * torch.arange(8)"


@pytest.mark.parametrize(("line", "expected"), [("print(Net()(x))", 0), ("Net().to('cuda')", 1), ("device = get()", 1)])
def test_a_notebook_that_speaks_of_no_device_makes_tensors_as_it_likes(line: str, expected: int) -> None:
    write("a.ipynb", content(code_cell(MASK), code_cell(line)))
    assert torchlint_("--select", "TPL405", "--output-format", "concise", "a.ipynb").stdout.count("TPL405") == expected


def test_findings_name_cell_and_line() -> None:
    write("a.ipynb", TRAINING)
    result = torchlint_("--output-format", "concise", "a.ipynb")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("a.ipynb:cell 4:3:5: TPL005 [*] `requres_grad`")
    assert lines[1].startswith("a.ipynb:cell 5:1:5: TPL002 [*] ")
    assert (len(lines), result.returncode, result.stderr) == (4, 1, "")


def test_the_full_format_shows_the_line_of_the_cell() -> None:
    write("a.ipynb", TRAINING)
    assert "3 |     p.requres_grad = False" in torchlint_("a.ipynb").stdout


def test_json_has_the_cell_of_findings_and_edits() -> None:
    write("a.ipynb", content(code_cell("w = torch.nn.Linear(2, 2).weight"), code_cell("x = 1\nw.data.mul_(2)")))
    [found] = json.loads(torchlint_("--output-format", "json", "a.ipynb").stdout)
    assert (found["cell"], found["location"], found["code"]) == (2, {"row": 2, "column": 1}, "TPL001")
    assert {edit["cell"] for edit in found["fix"]["edits"]} == {2}


def test_cells_are_one_program() -> None:
    write(
        "a.ipynb",
        content(
            code_cell("import somelib as torch"), code_cell("p = torch.ones(1)\np.requres_grad = False\nprint(p.requres_grad)")
        ),
    )
    assert torchlint_("a.ipynb").returncode == 0


def test_notebooks_are_found_below_directories_and_linted_with_the_scripts() -> None:
    write("a.ipynb", TRAINING)
    Path("b.py").write_text("import torch\np = torch.ones(1)\np.requres_grad = False\n")
    found = json.loads(torchlint_("--output-format", "json", "-j", "2").stdout)
    assert [(Path(each["filename"]).name, each["cell"]) for each in found] == [("a.ipynb", 4), ("a.ipynb", 5), ("b.py", None)]
    again = json.loads(torchlint_("--output-format", "json").stdout)  # from the cache
    assert again == found


def test_suppression_in_cells() -> None:
    write("a.ipynb", content(code_cell("import torch\nw = torch.nn.Linear(2, 2).weight.data  # noqa: TPL002")))
    assert torchlint_("a.ipynb").returncode == 0


# --- magics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "%matplotlib inline\nx = 1",
        "!pip install torch\nx = 1",
        "files = !ls\nx = 1",
        "t = %timeit -o f(x)\nx = 1",
        "torch.add?\nx = 1",
        "?torch.add\nx = 1",
        "torch.add??",
        "if True:\n    !ls\n    %cd ..\nx = 1",
        "%%time\nx = 1",
        "%%timeit -n 3\nx = 1\n%pwd",
        "%%bash\necho 'not python'; if [ ]; then",
        "%%html\n<b>not python</b>",
        "x = '''\n%not magic\n'''",
        "y = (1\n% 2)\n!ls",
        "y = (a\n!= b)\n!ls",
        "",
        "\n",
        "# what?",
        "x = 5 % 2  # really?\n!ls",
        "!ls \\\n  -la\nx = 1",
        "%timeit f(x) \\\n  g(y) \\\nh(z)",
        "files = !ls \\\n  -l",
        "if True:\n    !ls \\\n      -la\n    x = 1",
        "if True:\n    !ls \\\n  -la",
        "x = 1 + \\\n  2\n!ls",
        "!echo '\u2028x'\nx = '\u2028!ls'",
        "%%bash\necho '\x0c\u2028'\n",
        "\n%%time\nx = 1",
        "cd '/content/drive/My Drive'",
        "\npip install torch --upgrade\n",
        "ls",
    ],
)
def test_magics_are_understood_and_kept(code: str) -> None:
    data = write("a.ipynb", content(code_cell(code), code_cell("import torch\np = torch.ones(1)\np.requres_grad = False")))
    source = NotebookSource.decode(data, "a.ipynb")
    assert source.is_sound(source.text)
    assert source.encode(source.text) == data
    result = torchlint_("--fix", "a.ipynb")
    assert (result.returncode, result.stderr) == (0, "")
    assert Path("a.ipynb").read_bytes() == data.replace(b"requres", b"requires")


def test_a_magic_in_a_cell_that_is_fixed_stays() -> None:
    write(
        "a.ipynb",
        content(
            code_cell(
                "import torch\n%load_ext x\nw = torch.nn.Linear(2, 2).weight\nif True:\n    w.data.mul_(2)\n    !ls {w}\n"
            )
        ),
    )
    torchlint_("--fix", "a.ipynb")
    [cell] = json.loads(Path("a.ipynb").read_text())["cells"]
    assert "".join(cell["source"]) == (
        "import torch\n%load_ext x\nw = torch.nn.Linear(2, 2).weight\n"
        "if True:\n    with torch.no_grad():\n        w.mul_(2)\n    !ls {w}\n"
    )


# --- writing back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layout",
    [{}, {"indent": None}, {"indent": 4}, {"indent": "\t"}, {"indent": None, "separators": (",", ":")}, {"ensure_ascii": True}],
    ids=str,
)
@pytest.mark.parametrize("as_string", [False, True])
def test_only_the_changed_line_changes(layout: dict[str, Any], as_string: bool) -> None:
    code = "import torch\ns = 'ü \U0001f525 \\n \"'\np = torch.ones(1)\np.requres_grad = False"
    output = {"output_type": "stream", "name": "stdout", "text": ["p.requres_grad\n"]}
    cell = code_cell(code, outputs=[output], zzz={"b": 1, "a": [1.50, 1e5]})
    if as_string:
        cell["source"] = code
    data = write("a.ipynb", content(text_cell("é requres"), cell, code_cell("x = 'requres'")), **layout)
    assert torchlint_("--fix", "a.ipynb").returncode == 0
    assert Path("a.ipynb").read_bytes() == data.replace(b"p.requres_grad = False", b"p.requires_grad = False")


def test_lines_that_are_added_are_laid_out_as_the_others() -> None:
    data = write("a.ipynb", content(code_cell("w = torch.nn.Linear(2, 2).weight\nw.data.mul_(2)")), indent=2)
    torchlint_("--fix", "a.ipynb")
    expected = data.replace(b'"w.data.mul_(2)"', b'"with torch.no_grad():\\n",\n        "    w.mul_(2)"')
    assert Path("a.ipynb").read_bytes() == expected


def test_without_a_final_newline_and_with_other_newlines() -> None:
    text = json.dumps(TRAINING, indent=1).replace("\n", "\r\n")
    Path("a.ipynb").write_bytes(text.encode())
    torchlint_("--fix", "a.ipynb")
    fixed = text.replace("requres_grad = False", "requires_grad = False").replace("(1, 2)).data", "(1, 2)).detach()")
    assert Path("a.ipynb").read_bytes() == fixed.encode()


def test_a_fix_that_would_reach_from_cell_to_cell_is_not_offered() -> None:
    cells = (code_cell("w = torch.nn.Linear(2, 2).weight\nw.data.mul_(2)"), code_cell("w.data.add_(1)"))
    write("a.ipynb", content(*cells))
    result = torchlint_("--fix", "a.ipynb")
    assert result.stderr == ""
    for cell in json.loads(Path("a.ipynb").read_text())["cells"]:
        compile("".join(cell["source"]), "cell", "exec")


def test_imports_go_to_the_cell_with_the_imports() -> None:
    write("a.ipynb", content(code_cell("from torch import nn"), code_cell("w = nn.Linear(2, 2).weight\nw.data.mul_(2)")))
    assert torchlint_("--fix", "a.ipynb").returncode == 0
    first, second = json.loads(Path("a.ipynb").read_text())["cells"]
    assert "".join(first["source"]) == "import torch\nfrom torch import nn"
    assert "".join(second["source"]) == "w = nn.Linear(2, 2).weight\nwith torch.no_grad():\n    w.mul_(2)"


def test_diffs_are_by_cell() -> None:
    data = write("a.ipynb", TRAINING)
    result = torchlint_("--diff", "a.ipynb")
    assert "--- a.ipynb:cell 4\n+++ a.ipynb:cell 4\n" in result.stdout
    assert "-    p.requres_grad = False\n+    p.requires_grad = False\n !nvidia-smi\n" in result.stdout
    assert Path("a.ipynb").read_bytes() == data


def test_standard_input() -> None:
    data = write("a.ipynb", TRAINING)
    found = json.loads(torchlint_("--output-format", "json", "--stdin-filename", "a.ipynb", "-", given=data).stdout)
    assert [each["cell"] for each in found] == [4, 5]
    fixed = torchlint_("--fix", "--stdin-filename", "a.ipynb", "-", given=data)
    assert json.loads(fixed.stdout)["cells"][3]["source"][2] == "    p.requires_grad = False\n"


def test_add_noqa() -> None:
    write("a.ipynb", TRAINING)
    assert torchlint_("--add-noqa", "a.ipynb").stderr == "Added 2 noqa comments.\n"
    cells = json.loads(Path("a.ipynb").read_text())["cells"]
    assert cells[4]["source"] == ["w = model(torch.ones(1, 2)).data  # noqa: TPL002\n", "print(w + 1)"]
    assert torchlint_("a.ipynb").returncode == 0


# --- what is no notebook of ours -------------------------------------------------------------------------------------


def test_other_languages_are_passed_over() -> None:
    write("a.ipynb", content(code_cell("p.requres_grad = False <- x"), language="R"))
    assert torchlint_("a.ipynb").returncode == 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.ipynb: error: not a notebook: Expecting value: line 1 column 1 (char 0)"),
        (b"[1, 2]", "a.ipynb: error: not a notebook of format 4: it has no list of cells"),
        (b'{"worksheets": []}', "a.ipynb: error: not a notebook of format 4: it has no list of cells"),
        (b'{"cells": [', "a.ipynb: error: not a notebook: "),
        (b"\xff\xfe", "a.ipynb: error: not a notebook: not utf-8 text: byte 0xff"),
        (b"[" * 100_000, "a.ipynb: error: not a notebook: "),
    ],
)
def test_what_cannot_be_read_is_one_line(data: bytes, message: str) -> None:
    Path("a.ipynb").write_bytes(data)
    result = torchlint_("a.ipynb")
    assert result.stderr.startswith(message)
    assert (result.stderr.count("\n"), result.returncode) == (1, 2)


def test_broken_python_names_the_cell() -> None:
    write("a.ipynb", content(text_cell("x"), code_cell("x = 1"), code_cell("x = 1\np.requres_grad = (")))
    result = torchlint_("a.ipynb")
    assert result.stderr.startswith("a.ipynb:cell 3:2:")
    assert "cannot parse" in result.stderr


@pytest.mark.parametrize("code", ["dc data", "cd data\nx = 1", "%%time\ncd data", "x = cd data"])
def test_other_lines_are_no_magics_without_their_sign(code: str) -> None:
    write("a.ipynb", content(code_cell(code)))
    result = torchlint_("a.ipynb")
    assert (result.returncode, "cannot parse" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    "notebook",
    [
        {"cells": []},
        {"cells": [1, "x", None, {}]},
        {"cells": [{"cell_type": "code"}, {"cell_type": "code", "source": 3}, {"source": ["x"]}]},
        {"metadata": 3, "cells": [code_cell("x = 1")]},
        {"cells": [code_cell([])], "metadata": {"kernelspec": None}},
    ],
)
def test_odd_notebooks_do_no_harm(notebook: dict[str, Any]) -> None:
    data = write("a.ipynb", notebook)
    assert torchlint_("--fix", "a.ipynb").returncode == 0
    assert Path("a.ipynb").read_bytes() == data


def test_notebooks_as_a_library() -> None:
    with pytest.raises(NotebookError):
        Notebook.read("{")
    with pytest.raises(SourceError):
        NotebookSource.decode(b"{", "a.ipynb")
    notebook = Notebook.read(json.dumps(TRAINING))
    assert [cell.number for cell in notebook.cells] == [2, 4, 5]
    assert notebook.with_code({}) == notebook.text


def test_a_fixed_notebook_runs_as_before() -> None:
    """The cells, executed one after the other, are Python that does what it did."""
    pytest.importorskip("torch")
    write(
        "a.ipynb",
        content(code_cell("import torch\nw = torch.nn.Linear(1, 1).weight"), code_cell("w.data.fill_(3)\nprint(w.item())")),
    )
    torchlint_("--fix", "a.ipynb")
    code = "\n".join("".join(cell["source"]) for cell in json.loads(Path("a.ipynb").read_text())["cells"])
    assert "no_grad" in code
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "3.0\n"


# --- what a fixed cell shares with the old one -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        ["import torch\np = torch.ones(1)\n", "p.requres_grad = False\nx = 1", "\ny = 2\n"],
        ["import torch;", "p = torch.ones(1);", "p.requres_grad = False"],
        ["", "import torch\n", "", "p = torch.ones(1)\n", "p.requres_grad = False", ""],
        ["import torch\n", "p = torch.ones(1)\n", "x = '\x0c \x1c \x85 \u2028'\n", "p.requres_grad = False"],
        ["import torch\r\n", "p = torch.ones(1)\r\n", "p.requres_grad = False"],
    ],
    ids=["several lines", "parts of a line", "empty strings", "other line breaks", "crlf"],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_source_in_other_pieces_than_lines_keeps_them(lines: list[str], ascii_only: bool) -> None:
    data = write("a.ipynb", content(code_cell(lines)), ensure_ascii=ascii_only)
    assert torchlint_("--fix", "a.ipynb").returncode == 0
    assert Path("a.ipynb").read_bytes() == data.replace(b"requres", b"requires")


@pytest.mark.parametrize("quoted", ['"{}"', '["{}"]'])
def test_a_line_that_is_fixed_keeps_the_escapes_of_the_rest(quoted: str) -> None:
    code = r"import torch\np = torch.ones(1)\nx = '\u00E9\/\u00e9/\uD83D\ude00'; p.requres_grad = False"
    text = '{"cells": [{"cell_type": "code", "source": ' + quoted.replace("{}", code) + "}]}"
    Path("a.ipynb").write_text(text)
    assert torchlint_("--fix", "a.ipynb").returncode == 0
    assert Path("a.ipynb").read_text() == text.replace("requres", "requires")


def test_lines_that_a_fix_adds_are_strings_of_their_own() -> None:
    lines = ["import torch\n", "w = torch.nn.Linear(2, 2).weight\n", "if w.dim():\n", "    w.data.zero_()\n", "x = 1"]
    write("a.ipynb", content(code_cell(lines)))
    assert torchlint_("--fix", "a.ipynb").returncode == 0
    [cell] = json.loads(Path("a.ipynb").read_text())["cells"]
    assert cell["source"] == [*lines[:3], *["    with torch.no_grad():\n", "        w.zero_()\n"], "x = 1"]


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ('["a\\n", "b\\n", "c"]', "a\nc", '["a\\n", "c"]'),
        ('["a\\n", "b\\n", "c"]', "a\nb\n", '["a\\n", "b\\n"]'),
        ('["a\\n", "b"]', "x\na\nb", '["x\\n", "a\\n", "b"]'),
        ('["a\\n"]', "a\nb\nc", '["a\\n","b\\n","c"]'),
        ('["a\\n", "b"]', "a\nb\nc", '["a\\n", "b\\n", "c"]'),
        ('["a"]', "é", '["\\u00e9"]'),
        ('["é"]', "éü", '["éü"]'),
        ('"a\\nb"', "a\nx\nb", '"a\\nx\\nb"'),
        ("[]", "a\nb", '["a\\n", "b"]'),
    ],
)
def test_new_code_is_spelt_as_the_old(old: str, new: str, after: str) -> None:
    text = '{"cells": [{"cell_type": "code", "source": {}}]}'
    notebook = Notebook.read(text.replace("{}", old))
    assert notebook.with_code({1: new}) == text.replace("{}", after)


# --- imports in notebooks --------------------------------------------------------------------------------------------

KEPT = """\
net = torch.nn.Linear(2, 2)
optim = torch.optim.SGD(net.parameters(), 1)
best = net.state_dict()
optim.step()
print(best)"""


@pytest.mark.parametrize(
    ("first", "after"),
    [
        ("%%time\nx = 1", "%%time\nimport copy\nx = 1"),
        ("%matplotlib inline\nx = 1", "%matplotlib inline\nimport copy\nx = 1"),
        ("!ls\n'text'\nx = 1", "!ls\nimport copy\n'text'\nx = 1"),
    ],
)
def test_an_import_is_added_behind_magics(first: str, after: str) -> None:
    write("a.ipynb", content(code_cell(first), code_cell(KEPT)))
    assert torchlint_("--fix", "--unsafe-fixes", "--select", "TPL009", "a.ipynb").stderr == ""
    sources = ["".join(cell["source"]) for cell in json.loads(Path("a.ipynb").read_text())["cells"]]
    assert sources == [after, KEPT.replace("net.state_dict()", "copy.deepcopy(net.state_dict())")]


@pytest.mark.parametrize("first", ["%%bash\nls", "%%time", "!ls"])
def test_an_import_is_added_to_a_cell_that_has_room_for_it(first: str) -> None:
    write("a.ipynb", content(code_cell(first), code_cell(KEPT)))
    assert torchlint_("--fix", "--unsafe-fixes", "--select", "TPL009", "a.ipynb").stderr == ""
    sources = ["".join(cell["source"]) for cell in json.loads(Path("a.ipynb").read_text())["cells"]]
    assert sources == [first, "import copy\n" + KEPT.replace("net.state_dict()", "copy.deepcopy(net.state_dict())")]


def test_a_cell_magic_stays_the_first_line() -> None:
    source = NotebookSource.decode(write("a.ipynb", content(code_cell("%%time\nx = 1"))), "a.ipynb")
    assert not source.is_sound(source.text.replace("pass  #", "import copy\npass  #"))
