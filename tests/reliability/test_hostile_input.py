"""Input that means ill: each is reported in a line or linted, in bounded time and memory, and never executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import environment, torchlint_
from torchlint.config.discovery import discover
from torchlint.engine.cache import Cache, digest
from torchlint.engine.runner import Action, Outcome, Task, examine, run
from torchlint.rules import all_rules
from torchlint.rules.selection import select_rules
from torchlint.text.reading import parse_size, read_file, shown_size

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
RIGHT = TYPO.replace("requres", "requires")
SELECTED = ("--isolated", "--no-cache", "--select", "TPL005")
TYPOS = Task(select_rules(["TPL005"]))
EVERYTHING = Task(all_rules())
FIXES = Task(select_rules(["TPL005"]), Action.FIX)


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def errors(outcome: Outcome) -> list[str]:
    return [str(error) for error in outcome.errors]


def linted(text: str | bytes, name: str = "a.py", task: Task = EVERYTHING) -> Outcome:
    return examine(text.encode() if isinstance(text, str) else text, name, task)


# --- code that is deep or wide ---------------------------------------------------------------------------------------

DEEP = 50_000

NESTED = {
    "attributes": "p" + ".b" * DEEP,
    "attributes that rules look at": "p" + ".data" * 4_000,
    "calls": "p" + ".view(1)" * DEEP,
    "subscripts": "p" + "[0]" * DEEP,
    "sums": "p" + " + p" * DEEP,
    "signs": "-" * DEEP + "p",
    "negations": "not " * DEEP + "p",
    "parentheses": "(" * DEEP + "p" + ")" * DEEP,
    "lists": "[" * DEEP + "p" + "]" * DEEP,
    "open brackets": "[" * DEEP,
    "lambdas": "lambda: " * DEEP + "p",
    "conditions": "p if p else " * DEEP + "p",
    "powers": "p" + "**p" * DEEP,
    "f-strings": "f'{" * 200 + "p" + "}'" * 200,
    "number": "9" * DEEP,
}


@pytest.mark.parametrize("expression", NESTED.values(), ids=NESTED.keys())
def test_deep_nesting_is_linted_or_refused_in_one_line(expression: str) -> None:
    outcome = linted(f"{TYPO}x = {expression}\n")
    reported = errors(outcome)
    assert [found.code for found in outcome.diagnostics].count("TPL005") == 1 or len(reported) == 1
    assert not [line for line in reported if "internal error" in line or "\n" in line]


def test_deep_nesting_of_statements() -> None:
    branches = "if p:\n    pass\n" + "elif p:\n    p.data\n" * DEEP
    blocks = "".join(f"{' ' * depth}if p:\n" for depth in range(99)) + " " * 99 + "p.data\n"
    for text in (TYPO + branches, TYPO + blocks, TYPO + "p = " * DEEP + "p.data\n"):
        assert not [line for line in errors(linted(text)) if "internal error" in line]


def test_the_command_survives_deep_nesting() -> None:
    for name, expression in (("attributes", NESTED["attributes"]), ("sums", NESTED["sums"])):
        Path(f"{name}.py").write_text(f"{TYPO}x = {expression}\n")
    Path("z.py").write_text(TYPO)
    finished = torchlint_("--isolated", "--no-cache", "--fix", ".")
    assert "Traceback" not in finished.stderr
    assert Path("z.py").read_text() == RIGHT


def test_a_line_of_megabytes() -> None:
    line = "x = [" + "1, " * 500_000 + "]; p.requres_grad = False"
    outcome = linted(TYPO + line + "\n", task=TYPOS)
    assert [found.location.row for found in outcome.diagnostics] == [3, 4]
    Path("a.py").write_text(TYPO + line + "\n")
    finished = torchlint_(*SELECTED, "a.py")
    assert max(map(len, finished.stdout.splitlines())) < 300


def test_findings_on_one_line_share_its_text() -> None:
    outcome = linted("import torch\np = torch.ones(1)\n" + "p.requres_grad = 1; " * 1000 + "\n", task=TYPOS)
    assert len(outcome.diagnostics) == 1000
    assert len({id(found.snippet) for found in outcome.diagnostics}) == 1


def test_the_cache_does_not_repeat_a_long_line_for_each_of_its_findings() -> None:
    Path("a.py").write_text("import torch\np = torch.ones(1)\n" + "p.requres_grad = 1; " * 2000 + "\n")
    for _ in range(2):
        [outcome] = run(["a.py"], TYPOS, cache=Cache("cache", "key"))
        assert len(outcome.diagnostics) == 2000
    assert sum(path.stat().st_size for path in Path("cache").rglob("*") if path.is_file()) < 1_000_000


def test_thousands_of_fixes_are_made_in_one_round() -> None:
    outcome = linted("import torch\np = torch.ones(1)\n" + "p.requres_grad = True\n" * 2000, task=FIXES)
    assert outcome.replacement == b"import torch\np = torch.ones(1)\n" + b"p.requires_grad = True\n" * 2000
    assert len(outcome.fixed) == 2000


# --- bytes that are no code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        (b"import torch\0\np.requres_grad = 1\n", "null bytes"),
        (b"\x7fELF\x02\x01\x01\0\0 requres_grad \xff\xfe", "not utf-8 text: byte 0xff"),
        (TYPO.encode("utf-16"), None),
        (b"# coding: nonsense\n" + TYPO.encode(), "unknown encoding: nonsense"),
        (b"# coding: rot13\n" + TYPO.encode(), "unknown encoding: rot13"),
        (b"# coding: bz2\n" + TYPO.encode(), "unknown encoding: bz2"),
        (b"# coding: undefined\n" + TYPO.encode(), "not undefined text"),
        (b"# coding: utf-7\np.requres_grad = '+2AA-'\n", "cannot parse"),
    ],
    ids=["null", "binary", "utf-16", "nonsense", "rot13", "bz2", "undefined", "surrogate"],
)
def test_what_is_not_text_is_refused_in_one_line(data: bytes, reported: str | None) -> None:
    outcome = linted(data, task=TYPOS)
    assert len(errors(outcome)) == (reported is not None)
    assert all(reported in line for line in errors(outcome) if reported), errors(outcome)
    assert not [line for line in errors(outcome) if "internal error" in line]


@pytest.mark.parametrize("encoding", ["utf-7", "utf-8-sig", "unicode_escape"])
def test_a_file_whose_bytes_the_encoding_would_not_give_back_is_not_fixed(encoding: str) -> None:
    odd = {"utf-7": b"# +AGE-b\n", "utf-8-sig": b"\xef\xbb\xbf", "unicode_escape": b"# \\x41\n"}[encoding]
    declared = f"# coding: {encoding}\n".encode()
    data = odd + declared + TYPO.encode() if encoding == "utf-8-sig" else declared + odd + TYPO.encode()
    outcome = linted(data, task=FIXES)
    if outcome.replacement is not None:
        assert outcome.replacement == data.replace(b"requres", b"requires")
    else:
        assert ["would not stay as they are" in line for line in errors(outcome)] == [True]
        assert [found.code for found in outcome.diagnostics] == ["TPL005"]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf8", "UTF_8", "utf-8-sig"])
def test_a_byte_order_mark_is_kept_and_none_is_added(mark: bytes, encoding: str) -> None:
    data = mark + f"# coding: {encoding}\n# \u00e9\n{TYPO}".encode()
    assert linted(data, task=FIXES).replacement == data.replace(b"requres", b"requires")


def test_a_byte_order_mark_and_another_encoding_are_refused_as_python_does() -> None:
    data = b"\xef\xbb\xbf# coding: latin-1\n" + TYPO.encode()
    assert errors(linted(data, task=FIXES)) == ["a.py: error: the byte order mark says utf-8, a comment says latin-1"]
    with pytest.raises(SyntaxError):
        compile(data, "a.py", "exec")


# --- things that are no files ----------------------------------------------------------------------------------------


def test_pipes_devices_and_loops_are_not_waited_for() -> None:
    Path("src/inner").mkdir(parents=True)
    Path("src/a.py").write_text(TYPO)
    os.mkfifo("src/pipe.py")
    os.mkfifo("src/.gitignore")
    os.symlink("/dev/zero", "src/zero.py")
    os.symlink("..", "src/inner/loop")
    os.symlink("self.py", "src/self.py")
    finished = torchlint_("--no-cache", "--select", "TPL005", "src", "/dev/zero")
    assert sorted(finished.stderr.splitlines()) == [
        "/dev/zero: error: not a regular file",
        "src/pipe.py: error: not a regular file",
        "src/self.py: error: Too many levels of symbolic links",
        "src/zero.py: error: not a regular file",
    ]
    assert finished.stdout.count("TPL005 ") == 1


def test_a_gitignore_that_never_ends_is_not_read() -> None:
    os.symlink("/dev/zero", ".gitignore")
    Path("a.py").write_text(TYPO)
    assert list(discover(["."]).files) == ["a.py"]


def test_a_file_that_has_become_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("a.py")
    [outcome] = run(["a.py"], TYPOS)
    assert errors(outcome) == ["a.py: error: cannot read the file: not a regular file"]


@pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="of Linux")
def test_a_file_whose_content_is_invented_as_it_is_read_is_read_up_to_the_limit() -> None:
    with pytest.raises(OSError, match=r"larger than 100kB"):
        read_file("/proc/self/pagemap", 100_000)
    assert read_file("/proc/self/status", 100_000).startswith(b"Name:")


def test_names_that_are_not_text() -> None:
    name = os.fsdecode(b"\xff\n\x1b[31m.py")
    Path(name).write_text(TYPO)
    for output_format in ("full", "concise", "json", "sarif", "github", "junit", "gitlab"):
        finished = torchlint_(*SELECTED, "--output-format", output_format, ".")
        assert finished.returncode == 1
        assert finished.stderr == ""
    torchlint_(*SELECTED, "--fix", ".")
    assert Path(name).read_text() == RIGHT


def test_names_that_a_terminal_would_act_upon_are_shown_with_escapes() -> None:
    Path("a\n::error::b\x1b[31m\x9b.py").write_text(TYPO)
    Path("c\r.py").write_text("import torch\np.requres_grad = (\n")
    for options in (("--output-format", "concise"), (), ("--output-format", "grouped"), ("--diff",), ("--fix", "--show-fixes")):
        finished = torchlint_(*SELECTED, *options, ".")
        printed = finished.stdout + finished.stderr
        assert "a\\n::error::b\\x1b[31m\\x9b.py" in printed
        assert "c\\r.py:2:18: error" in finished.stderr
        assert not set(printed) & {"\r", "\x1b", "\x9b"}
        assert not [line for line in printed.splitlines() if line.startswith("::")]


# --- standard streams ------------------------------------------------------------------------------------------------


def with_closed(streams: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command with some of its standard streams closed, as in ``>&-``."""
    command = [sys.executable, "-m", "torchlint", *SELECTED, *arguments]
    shell = ["sh", "-c", f'exec "$@" {streams}', "sh", *command]
    return subprocess.run(shell, capture_output=True, text=True, env=environment(), timeout=60, check=False)


@pytest.mark.parametrize("arguments", [("a.py",), ("--fix", "a.py"), ("--output-format", "json", "a.py"), ("--help",), ("-",)])
def test_without_a_standard_output_nothing_is_done(arguments: tuple[str, ...]) -> None:
    Path("a.py").write_text(TYPO)
    finished = with_closed(">&-", *arguments)
    assert (finished.returncode, finished.stderr) == (2, "torchlint: error: the standard output is closed\n")
    assert Path("a.py").read_text() == TYPO


def test_without_a_standard_input_there_is_nothing_to_lint() -> None:
    finished = with_closed("<&-", "-")
    assert (finished.returncode, finished.stderr) == (2, "torchlint: error: the standard input is closed\n")


def test_without_other_streams_files_are_fixed_as_ever() -> None:
    Path("a.py").write_text(TYPO)
    finished = with_closed("<&- 2>&-", "--fix", "a.py", "missing.py")
    said = "Found 1 error (1 fixed, 0 remaining).\n1 file could not be read: missing.py.\n"
    assert (finished.returncode, finished.stdout) == (2, said)
    assert Path("a.py").read_text() == RIGHT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system with /dev/full")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("a.py",), ("--show-files",)])
def test_output_that_has_no_room_is_an_error(arguments: tuple[str, ...]) -> None:
    Path("a.py").write_text(TYPO)
    command = [sys.executable, "-m", "torchlint", *SELECTED, *arguments]
    variables = {name: value for name, value in environment().items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        finished = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, env=variables, timeout=60, check=False
        )
    assert (finished.returncode, finished.stderr) == (2, b"torchlint: error: No space left on device\n")


# --- large files -----------------------------------------------------------------------------------------------------


def test_a_file_above_the_limit_is_refused_and_the_others_are_linted() -> None:
    Path("large.py").write_text(TYPO + "#" * 1000)
    Path("small.py").write_text(TYPO)
    finished = torchlint_(*SELECTED, "--max-file-size", "1kB", ".")
    assert finished.stderr == "large.py: error: cannot read the file: it is larger than 1kB (see max-file-size)\n"
    assert "small.py:3:1: TPL005" in finished.stdout
    assert finished.returncode == 2
    assert torchlint_(*SELECTED, "--max-file-size", "2kB", ".").stderr == ""


def test_the_limit_can_be_configured() -> None:
    Path("a.py").write_text(TYPO)
    Path("torchlint.toml").write_text('max-file-size = "10B"\n')
    assert "larger than 10B" in torchlint_("--no-cache", "a.py").stderr
    Path("torchlint.toml").write_text("max-file-size = 100\n")
    assert torchlint_("--no-cache", "a.py").stderr == ""
    assert "max-file-size = 100\n" in torchlint_("--show-settings").stdout
    Path("torchlint.toml").write_text("max-file-size = -1\n")
    assert "expected a number of bytes" in torchlint_("--no-cache", "a.py").stderr


def test_standard_input_above_the_limit_comes_back_as_it_was() -> None:
    finished = torchlint_(*SELECTED, "--max-file-size", "10", "--fix", "-", given=TYPO)
    assert finished.stdout == TYPO
    assert "<stdin>: error: cannot lint: it is larger than 10B" in finished.stderr


def test_a_notebook_may_hold_more_than_its_code() -> None:
    outputs = [{"output_type": "stream", "name": "stdout", "text": "x" * 3000}]
    data = notebook({"cell_type": "code", "source": TYPO, "outputs": outputs}).encode()
    limited = Task(select_rules(["TPL005"]), max_file_size=500)
    assert [found.code for found in linted(data, "a.ipynb", limited).diagnostics] == ["TPL005"]
    code = notebook({"cell_type": "code", "source": TYPO + "#" * 600}).encode()
    assert errors(linted(code, "a.ipynb", limited)) == [
        "a.ipynb: error: cannot lint: it is larger than 500B (see max-file-size)"
    ]


@pytest.mark.parametrize(
    ("text", "size"), [("10MB", 10_000_000), ("10 mb", 10_000_000), ("5k", 5000), ("0", 0), ("7B", 7), ("1G", 1_000_000_000)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size
    assert parse_size(shown_size(size)) == size


@pytest.mark.parametrize("text", ["", "-1", "1.5MB", "MB", "1TB", "١MB", "9" * 16])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="not a size such as 10MB"):
        parse_size(text)
    assert torchlint_("--max-file-size", text).returncode == 2 if text == "1TB" else True


# --- notebooks -------------------------------------------------------------------------------------------------------


def notebook(*cells: object) -> str:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


HOSTILE_NOTEBOOKS = {
    "nothing": "",
    "null": "null",
    "no list": '{"cells": {}}',
    "unfinished": '{"cells": [',
    "trailing": "{} {}",
    "deep": "[" * 100_000,
    "deep objects": '{"cells":' * 100_000,
    "deep in a cell": '{"cells": [' + "[" * 500 + "]" * 500 + "]}",
    "long number": '{"cells": [{"cell_type": ' + "9" * 10_000 + ', "source": []}]}',
    "numbers for lines": '{"cells": [{"cell_type": "code", "source": [1, [2], {"a": 3}, null]}]}',
    "cells that are none": '{"cells": [1, null, "a", [], {}]}',
    "not a number": '{"cells": [{"cell_type": NaN, "source": "x"}]}',
    "surrogates": '{"cells": [{"cell_type": "code", "source": "p.requres_grad = \'\\ud800\'"}]}',
    "null bytes": '{"cells": [{"cell_type": "code", "source": "p.requres_grad = 1\\u0000"}]}',
    "metadata": '{"cells": [], "metadata": [1]}',
    "stand-in": notebook({"cell_type": "code", "source": f"{TYPO}pass  # torchlint: line 7\n"}),
    "marker": notebook({"cell_type": "code", "source": f"# torchlint: cell 5\n{TYPO}"}),
}


@pytest.mark.parametrize("text", HOSTILE_NOTEBOOKS.values(), ids=HOSTILE_NOTEBOOKS.keys())
@pytest.mark.parametrize("action", [Action.LINT, Action.FIX, Action.DIFF, Action.ADD_NOQA])
def test_hostile_notebooks(text: str, action: Action) -> None:
    outcome = linted(text, "a.ipynb", Task(all_rules(), action))
    assert not [line for line in errors(outcome) if "internal error" in line or "\n" in line], errors(outcome)


def test_of_several_lists_of_cells_the_last_is_the_notebook_and_the_others_stay() -> None:
    cell = json.dumps({"cell_type": "code", "source": TYPO})
    text = f'{{"cells": [{cell}], "cells": [{cell}], "metadata": {{}}}}'
    replacement = linted(text, "a.ipynb", FIXES).replacement
    assert replacement is not None
    first, second = replacement.decode().split('], "cells": [')
    assert ("requres" in first, "requires" in second) == (True, True)


def test_a_notebook_keeps_its_byte_order_mark() -> None:
    text = notebook({"cell_type": "code", "source": TYPO})
    data = b"\xef\xbb\xbf" + text.encode()
    assert linted(data, "a.ipynb", FIXES).replacement == data.replace(b"requres", b"requires")


def test_a_line_that_looks_like_what_stands_for_a_magic_is_not_taken_for_one() -> None:
    text = notebook({"cell_type": "code", "source": f"%matplotlib inline\n{TYPO}pass  # torchlint: line 0\n"})
    outcome = linted(text, "a.ipynb", FIXES)
    assert outcome.replacement is None
    assert ["would not stay as they are" in line for line in errors(outcome)] == [True]


def test_blanks_in_a_notebook_are_read_once() -> None:
    code = TYPO + "x = (\n" + " " * 300_000 + "\n"
    assert len(errors(linted(notebook({"cell_type": "code", "source": code}), "a.ipynb", TYPOS))) == 1


# --- nothing is executed ---------------------------------------------------------------------------------------------

TRAP = "open({trace!r}, 'a').write({name!r} + ' was run\\n')\n"


def set_traps(names: list[str]) -> Path:
    """Makes modules that leave a trace when they are run; gives where."""
    trace = Path("trace.txt").absolute()
    for name in names:
        Path(f"{name}.py").write_text(TRAP.format(trace=str(trace), name=name) + TYPO)
    return trace


HOSTILE_NAMES = [
    "torch",
    "numpy",
    "conftest",
    "setup",
    "sitecustomize",
    "usercustomize",
    "__init__",
    "pathspec",
    "rich",
    "libcst",
]


@pytest.mark.parametrize("options", [(), ("--fix",), ("--diff",), ("--add-noqa",), ("--jobs", "3")], ids=str)
def test_linted_code_and_its_folder_are_not_imported(options: tuple[str, ...]) -> None:
    trace = set_traps([*HOSTILE_NAMES, *sorted(sys.stdlib_module_names - loaded_by_python())])
    Path("big.py").write_text(TYPO + "x = 1\n" * 30_000)
    finished = torchlint_("--no-cache", "--select", "TPL005", *options, ".", anew=True)
    assert not trace.exists(), trace.read_text()
    assert "Traceback" not in finished.stderr


def loaded_by_python() -> set[str]:
    """What Python itself loads before the first line of any program that it runs with ``-m``: nothing can be done there."""
    Path("probe").mkdir()
    Path("probe/__main__.py").write_text("import sys\nprint(*sys.modules)\n")
    finished = subprocess.run([sys.executable, "-m", "probe"], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in finished.stdout.split()}


def test_the_installed_command_does_not_look_in_the_working_directory() -> None:
    trace = set_traps(sorted(sys.stdlib_module_names))
    program = (
        "import sys; sys.path[:] = [each for each in sys.path if each]; from torchlint.cli.main import main; sys.exit(main())"
    )
    script = Path("bin/torchlint")
    script.parent.mkdir()
    script.write_text(program.replace("; ", "\n"))
    subprocess.run(
        [sys.executable, str(script), "--no-cache", "."], capture_output=True, env=environment(), timeout=60, check=False
    )
    assert not trace.exists(), trace.read_text()


def test_configuration_is_data() -> None:
    trace = Path("trace.txt").absolute()
    Path("torchlint.toml").write_text(f"""select = ["__import__('os').system('touch {trace}')"]\n""")
    assert torchlint_(".").returncode == 2
    Path("torchlint.toml").write_text('plugins = ["trap"]\n')
    Path("trap.py").write_text(TRAP.format(trace=str(trace), name="trap"))
    assert "plugin `trap`: no installed package is called so" in torchlint_(".").stderr
    assert not trace.exists()


def test_the_cache_is_data(monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    Path("a.py").write_text(TYPO)
    for name in ("load", "loads", "Unpickler", "dump", "dumps"):
        monkeypatch.setattr(pickle, name, lambda *arguments, **options: pytest.fail("pickled"))
    for _ in range(2):
        [outcome] = run(["a.py"], TYPOS, cache=Cache("cache", "key"))
        assert [found.code for found in outcome.diagnostics] == ["TPL005"]
    for path in Path("cache/key").iterdir():
        assert isinstance(json.loads(path.read_bytes().partition(b"\n")[2]), dict)


BROKEN_CACHES = {
    "a list": lambda entry: [],
    "a number": lambda entry: 3,
    "null": lambda entry: None,
    "no folder": lambda entry: {"FOLDER": []},
    "no entry": lambda entry: {"FOLDER": {"a.py": 3}},
    "an empty entry": lambda entry: {"FOLDER": {"a.py": []}},
    "no findings": lambda entry: {"FOLDER": {"a.py": [*entry[:4], 3, 4]}},
    "a short finding": lambda entry: {"FOLDER": {"a.py": [*entry[:4], [[1]], []]}},
    "a finding of numbers": lambda entry: {"FOLDER": {"a.py": [*entry[:4], [[1] * len(entry[4][0])], []]}},
    "a finding nowhere": lambda entry: {"FOLDER": {"a.py": [*entry[:4], [[*entry[4][0][:3], None, *entry[4][0][4:]]], []]}},
    "an error of numbers": lambda entry: {"FOLDER": {"a.py": [*entry[:4], [], [[1, [1, 1], 1, 1, 1]]]}},
}


@pytest.mark.parametrize("broken", BROKEN_CACHES.values(), ids=BROKEN_CACHES.keys())
def test_a_cache_that_has_the_right_checksum_and_nothing_else_counts_as_empty(broken: Callable[[Any], object]) -> None:
    Path("a.py").write_text(TYPO)
    expected = run(["a.py"], TYPOS, cache=Cache("cache", "key"))
    [shard] = Path("cache/key").iterdir()
    [entries] = json.loads(shard.read_bytes().partition(b"\n")[2]).values()
    payload = json.dumps(broken(entries["a.py"])).replace("FOLDER", os.getcwd()).encode()
    shard.write_bytes(digest(payload).encode() + b"\n" + payload)
    assert run(["a.py"], TYPOS, cache=Cache("cache", "key")) == expected


def test_a_cache_that_is_deep_or_no_file_counts_as_empty() -> None:
    Path("a.py").write_text(TYPO)
    expected = run(["a.py"], TYPOS, cache=Cache("cache", "key"))
    [shard] = Path("cache/key").iterdir()
    payload = b"[" * 100_000
    shard.write_bytes(digest(payload).encode() + b"\n" + payload)
    assert run(["a.py"], TYPOS, cache=Cache("cache", "key")) == expected
    for link in ("/dev/zero", "pipe"):
        shard.unlink()
        if link == "pipe":
            os.mkfifo(shard)
        else:
            os.symlink(link, shard)
        assert run(["a.py"], TYPOS, cache=Cache("cache", "key")) == expected


def test_a_cache_folder_that_no_file_can_be_in_is_one_line() -> None:
    Path("a.py").write_text(TYPO)
    Path("torchlint.toml").write_text('select = ["TPL005"]\ncache-dir = "a\\u0000b"\n')
    finished = torchlint_("a.py")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr == (
        "torchlint.toml: error: `cache-dir`: expected a folder below that of this file, torchlint's own or new,"
        ' found "a\\x00b": there is a null character in it\n'
    )


@pytest.mark.parametrize("count", ["1e999", "NaN", "-5", "0"])
def test_a_baseline_with_an_impossible_count_hides_nothing(count: str) -> None:
    Path("a.py").write_text(TYPO)
    known = f'{{"version": 1, "findings": {{"a.py": {{"TPL005": {{"p.requres_grad = False": {count}}}}}}}}}'
    Path("known.json").write_text(known)
    finished = torchlint_(*SELECTED, "--baseline", "known.json", "a.py")
    refused = "known.json: error: not a baseline of torchlint\n"
    assert (finished.returncode, finished.stderr) in ((2, refused), (1, ""))
