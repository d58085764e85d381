"""The flake8 plugin: the command's findings at the command's places, under flake8's own options."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import libcst as cst
import pytest

pytest.importorskip("flake8")

from flake8.main.application import Application

from forms import is_thorough
from torchlint.flake8_plugin import Plugin
from torchlint.proof.hazards import fixtures_folder
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Syntax

Place = tuple[str, int, int, str]

FORMAT = "%(path)s|%(row)d|%(col)d|%(code)s|%(text)s"


def flake8(*arguments: str, cwd: Path, text: bytes | None = None) -> list[str]:
    """What flake8 prints, each finding as in `FORMAT`; fails where flake8 itself does."""
    command = [sys.executable, "-m", "flake8", "--isolated", "--format", FORMAT, *arguments]
    run = subprocess.run(command, cwd=cwd, input=text, capture_output=True, check=False)
    assert run.stderr == b""
    return run.stdout.decode("utf-8").splitlines()


def places(lines: Sequence[str]) -> list[Place]:
    split = (line.split("|", 4) for line in lines)
    return sorted((path.removeprefix("./"), int(row), int(column), code) for path, row, column, code, _ in split)


def places_of_command(*arguments: str, cwd: Path) -> list[Place]:
    command = [sys.executable, "-m", "torchlint", "--no-cache", "--output-format", "json", *arguments]
    found = json.loads(subprocess.run(command, cwd=cwd, capture_output=True, check=False).stdout)
    return sorted(
        (
            Path(each["filename"]).relative_to(cwd.resolve()).as_posix(),
            each["location"]["row"],
            each["location"]["column"],
            each["code"],
        )
        for each in found
    )


# --- the same places -------------------------------------------------------------------------------------------------


def test_same_places_as_the_command_on_every_fixture() -> None:
    """But for what Python itself cannot parse, `x.cuda(async=True)`: flake8 runs no plugin on that.

    Each file is linted alone: they are no project, in which what one file does would silence a rule in all.
    """
    folder = fixtures_folder()
    files = [path for path in sorted(folder.glob("*/*.py")) if is_thorough() or path.stem in ("bad", "hazard")]
    names = [path.relative_to(folder).as_posix() for path in files]
    found = places(flake8("--select", "TPL", "--torchlint-no-project", *names, cwd=folder))
    expected = places_of_command("--select", "TPL", "--no-project", *names, cwd=folder)
    refused = {place[0] for place in expected if not _is_python(folder / place[0])}
    assert refused == {"tpl110_async_keyword/bad.py", "tpl110_async_keyword/hazard.py"}
    assert found == [place for place in expected if place[0] not in refused]
    assert {code for _, _, _, code in found} == {rule.code for rule in all_rules()} - {"TPL110"}


def _is_python(path: Path) -> bool:
    try:
        ast.parse(path.read_bytes())
    except SyntaxError:
        return False
    return True


TYPO = "p.requres_grad = False"

NASTY: dict[str, tuple[bytes, list[tuple[int, int, str]]]] = {
    "byte order mark": (b"\xef\xbb\xbfp.requres_grad = False\n", [(1, 1, "TPL005")]),
    "carriage return and line feed": (b"import torch\r\n\r\np.requres_grad = False\r\n", [(3, 1, "TPL005")]),
    "carriage return alone": (b"import torch\r\rp.requres_grad = False\r", [(3, 1, "TPL005")]),
    "mixed newlines": (
        b"import torch\r\n\np.requres_grad = False\r\np.requres_grad = True\n",
        [(3, 1, "TPL005"), (4, 1, "TPL005")],
    ),
    "form feeds": (
        b"import torch\n\x0c\np.requres_grad = False\n\x0cp.requres_grad = True\n",
        [(3, 1, "TPL005"), (4, 2, "TPL005")],
    ),
    "tabs": (b"for p in net.parameters():\n\tp.requres_grad = False\n", [(2, 2, "TPL005")]),
    "no final newline": (TYPO.encode(), [(1, 1, "TPL005")]),
    "characters of two bytes": ("s = 'ééé'; p.requres_grad = False\n".encode(), [(1, 12, "TPL005")]),
    "characters of four bytes": ("s = '🔥🔥'; p.requres_grad = False\n".encode(), [(1, 11, "TPL005")]),
    "combining characters": ("s = 'e\u0301'; p.requres_grad = False\n".encode(), [(1, 11, "TPL005")]),
    "line separators in a string": ("s = '\u2028\x85'; p.requres_grad = False\n".encode(), [(1, 11, "TPL005")]),
    "latin-1": ("# coding: latin-1\ns = 'éé'; p.requres_grad = False\n".encode("latin-1"), [(2, 11, "TPL005")]),
    "escaped surrogate": (b"s = '\\ud800'; p.requres_grad = False\n", [(1, 15, "TPL005")]),
    "continued line": (b"import torch\nx = \\\n    torch.ones(2, require_grad=True)\n", [(3, 19, "TPL005")]),
    "string of several lines": (b's = """\n# noqa\n\n"""\np.requres_grad = False\n', [(5, 1, "TPL005")]),
    "in an f-string": (b"import torch\ns = f'{1} {torch.ones(2, require_grad=True)}'\n", [(2, 26, "TPL005")]),
    "in an f-string of several lines": (
        "import torch\ns = f'''é\n  é{torch.ones(2, require_grad=True)}'''\n".encode(),
        [(3, 19, "TPL005")],
    ),
    "nothing": (b"", []),
    "no candidate": (b"import torch\n", []),
    "candidate in a comment": (b"# p.requres_grad = False\n", []),
}


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    for name, (text, _) in NASTY.items():
        (folder / f"{name}.py").write_bytes(text)
    return folder


def test_same_places_as_the_command_in_texts_that_are_hard_to_count_in(nasty: Path) -> None:
    expected = sorted((f"{name}.py", *place) for name, (_, found) in NASTY.items() for place in found)
    assert places(flake8("--select", "TPL", ".", cwd=nasty)) == expected
    assert places_of_command("--select", "TPL", ".", cwd=nasty) == expected


def test_says_what_the_command_says(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{TYPO}\n", encoding="utf-8")
    (line,) = flake8("--select", "TPL", "a.py", cwd=tmp_path)
    assert line == "a.py|1|1|TPL005|`requres_grad` is a misspelt `requires_grad`: it is set without an error and has no effect"


# --- under flake8's options ------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A file with one finding of TPL005, one of TPL002 and one of flake8's own."""
    (tmp_path / "a.py").write_text(
        "import torch\nimport os\n\np = torch.ones(1, requires_grad=True)\np.requres_grad = False\ntuple((p * 2).data)\n",
        encoding="utf-8",
    )
    return tmp_path


def codes(*arguments: str, cwd: Path) -> list[str]:
    return [code for _, _, _, code in places(flake8(*arguments, cwd=cwd))]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), ["F401", "TPL005", "TPL002"]),
        (("--select", "TPL"), ["TPL005", "TPL002"]),
        (("--select", "TPL005"), ["TPL005"]),
        (("--select", "TPL1"), []),
        (("--select", "E9"), []),
        (("--extend-select", "TPL005"), ["F401", "TPL005", "TPL002"]),
        (("--select", "F", "--extend-select", "TPL005"), ["F401", "TPL005"]),
        (("--ignore", "TPL002"), ["F401", "TPL005"]),
        (("--extend-ignore", "TPL0"), ["F401"]),
        (("--per-file-ignores", "a.py:TPL005"), ["F401", "TPL002"]),
    ],
    ids=lambda value: " ".join(value) or "defaults" if isinstance(value, tuple) else "",
)
def test_selection(options: tuple[str, ...], expected: list[str], project: Path) -> None:
    assert codes(*options, "a.py", cwd=project) == expected


def test_noqa_is_flake8s(project: Path) -> None:
    text = (project / "a.py").read_text().replace("False", "False  # noqa: TPL005").replace(".data)", ".data)  # noqa")
    (project / "a.py").write_text(text)
    assert codes("--select", "TPL", "a.py", cwd=project) == []
    assert codes("--select", "TPL", "--disable-noqa", "a.py", cwd=project) == ["TPL005", "TPL002"]


def test_standard_input(project: Path) -> None:
    lines = flake8("--select", "TPL", "--stdin-display-name", "b.py", "-", cwd=project, text=(project / "a.py").read_bytes())
    assert places(lines) == [("b.py", 5, 1, "TPL005"), ("b.py", 6, 7, "TPL002")]


def test_several_processes(project: Path) -> None:
    text = (project / "a.py").read_text()
    for number in range(20):
        (project / f"b{number:02}.py").write_text("#\n" * number + text)
    found = places(flake8("--select", "TPL005", "-j", "2", ".", cwd=project))
    assert found == [("a.py", 5, 1, "TPL005"), *((f"b{number:02}.py", 5 + number, 1, "TPL005") for number in range(20))]


class OptIn(Rule):
    """Finds every module."""

    code = "TPL998"
    name = "module"
    default = False
    triggers = (Syntax("Import"),)

    def visit_Import(self, node: cst.Import) -> None:
        self.report(node, "an import")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], False),
        (["--ignore", "E501"], False),
        (["--select", "F,TPL005"], False),
        (["--select", "TPL"], True),
        (["--select", "TPL998"], True),
        (["--extend-select", "TPL998"], True),
        (["--extend-select", "TPL005"], False),
        (["--extend-select", "TPL9", "--ignore", "TPL998"], False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_opt_in_rules_are_off_unless_selected(
    options: list[str], expected: bool, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torchlint.flake8_plugin.all_rules", lambda plugins: (Entry.of(OptIn),))
    monkeypatch.setattr(Plugin, "rules", ())
    monkeypatch.chdir(project)
    Application().run(["--isolated", "-j", "1", *options, "a.py"])
    assert ("TPL998" in capsys.readouterr().out) is expected


# --- side effects ----------------------------------------------------------------------------------------------------


def test_flake8s_tree_is_left_as_it_was() -> None:
    text = "import torch\ns = f'''\n{torch.ones(2, require_grad=True)}'''\np.requres_grad = False\n"
    tree = ast.parse(text)
    before = ast.dump(tree, include_attributes=True)
    found = list(Plugin(tree, "a.py", text.splitlines(keepends=True)).run())
    assert [(row, column, message[:6]) for row, column, message, _ in found] == [(3, 15, "TPL005"), (4, 0, "TPL005")]
    assert ast.dump(tree, include_attributes=True) == before


def test_flake8s_tree_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"import torch\n{TYPO}\n"
    tree = ast.parse(text)
    monkeypatch.setattr("torchlint.text.source.ast.parse", lambda text: pytest.fail("parsed again"))
    found = Plugin(tree, "a.py", text.splitlines(keepends=True)).run()
    assert [(row, column) for row, column, _, _ in found] == [(2, 0)]


def test_file_without_candidates_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.engine.findings.Semantics", lambda source: pytest.fail("looked into"))
    assert list(Plugin(ast.parse("import os\n"), "a.py", ["import os\n"]).run()) == []


def test_files_without_candidates_load_next_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os\n", encoding="utf-8")
    command = [sys.executable, "-X", "importtime", "-m", "flake8", "--isolated", "-j", "1", "--select", "TPL", "a.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    modules = {line.split("|")[-1].strip() for line in run.stderr.splitlines()}
    own = {name for name in modules if name.startswith("torchlint.")}
    assert "libcst" not in modules
    assert own - {"torchlint.flake8_plugin"} == {
        *("torchlint.engine", "torchlint.engine.words", "torchlint.options", "torchlint.rules", "torchlint.target"),
        *("torchlint.rules.catalogue", "torchlint.rules.index", "torchlint.rules.plugins", "torchlint.rules.triggers"),
    }


def test_code_that_is_nested_too_deeply_is_passed_over() -> None:
    place = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 1}
    value: ast.expr = ast.Name("x", ast.Load(), **place)
    for _ in range(10_000):
        value = ast.Attribute(value, "mT", ast.Load(), **place)
    data = ast.Attribute(value, "data", ast.Load(), **place)
    method = ast.Attribute(data, "zero_", ast.Load(), **place)
    tree = ast.Module([ast.Expr(ast.Call(method, [], [], **place), **place)], [])
    assert list(Plugin(tree, "a.py", ["x.data.zero_()\n"]).run()) == []


# --- options ---------------------------------------------------------------------------------------------------------


def test_the_target_torch_may_be_given_and_configured(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nprint(torch.ones(1).data)\n")
    assert [line.split("|")[3] for line in flake8("--select", "TPL", ".", cwd=tmp_path)] == ["TPL002"]
    assert flake8("--select", "TPL", "--target-torch", "0.3", ".", cwd=tmp_path) == []
    (tmp_path / "setup.cfg").write_text("[flake8]\ntarget-torch = 0.3\n")
    configured = [sys.executable, "-m", "flake8", "--config", "setup.cfg", "--select", "TPL", "."]
    assert subprocess.run(configured, cwd=tmp_path, capture_output=True, check=False).stdout == b""


def test_what_accumulates_may_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import torch\nkept = []\nfor x in data:\n    loss = torch.sum(model(x))\n    loss.backward()\n    kept.append(loss)\n"
        "print(float(kept[-1]))\n"
    )
    [line] = flake8("--select", "TPL0", ".", cwd=tmp_path)
    assert line.endswith("use `.item()`")
    [line] = flake8("--select", "TPL0", "--accumulate-with", "detach", ".", cwd=tmp_path)
    assert line.endswith("use `.detach()`")
    [line] = flake8("--select", "TPL", ".", cwd=tmp_path)  # with TPL402, which would report `.item()`
    assert line.endswith("use `.detach()`")


def test_a_target_that_is_no_version_is_refused_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "flake8", "--isolated", "--target-torch", "new", "."]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "--target-torch: not a version of torch: 'new' (expected one such as 1.13 or 2.0)" in result.stdout
