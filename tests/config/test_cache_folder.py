"""Where the cache may be, what of it counts, and which runs use it, through the command."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from command import torchlint_
from torchlint.engine.cache import digest

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
"""A finding of TPL005, with a safe fix."""
RIGHT = TYPO.replace("requres", "requires")
REBIND = "import torch\nw = torch.nn.Linear(2, 2).weight\nw.data = torch.ones(2, 2)\n"
"""A finding of TPL003, with an unsafe fix."""
OURS = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of torchlint; see https://bford.info/cachedir/\n"


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(tmp_path, "outside").mkdir()
    Path(tmp_path, "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    write("src/a.py", TYPO)


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def everything(folder: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


# --- where it may be -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        (".", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("..", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("../..", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("../outside", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("new/../../outside/cache", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("ABSOLUTE/outside", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("ABSOLUTE/project/cache", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("~/cache", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("link", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("link/cache", "it leads elsewhere; `--cache-dir` may name any folder"),
        ("src", "there are other things in it"),
        ("src/a.py", "there are other things in it"),
    ],
)
def test_a_configured_cache_is_below_the_configuration_in_a_folder_of_its_own(folder: str, reason: str) -> None:
    os.symlink("../outside", "link")
    folder = folder.replace("ABSOLUTE", os.path.dirname(os.getcwd()))
    write("torchlint.toml", f'cache-dir = "{folder}"\n')
    before = everything("..")
    result = torchlint_()
    assert result.stderr == (
        "torchlint.toml: error: `cache-dir`: expected a folder below that of this file, torchlint's own or new,"
        f' found "{folder}": {reason}\n'
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert everything("..") == before


@pytest.mark.parametrize("folder", ["cache", "made/by/the/way", "./.cache/../kept", "empty"])
def test_a_new_folder_is_taken_and_is_torchlints_own_from_then_on(folder: str) -> None:
    Path("empty").mkdir()
    write("torchlint.toml", f'cache-dir = "{folder}"\n')
    for _ in range(2):
        assert torchlint_().returncode == 1
        assert Path(folder, "CACHEDIR.TAG").read_text() == OURS


def test_the_option_may_name_any_folder_of_its_own() -> None:
    assert torchlint_("--cache-dir", "../outside").returncode == 1
    assert Path("../outside/CACHEDIR.TAG").read_text() == OURS
    before = everything("..")
    result = torchlint_("--cache-dir", ".")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == ".: error: there are other things in it, and the cache needs a folder of its own\n"
    assert everything("..") == before


@pytest.mark.parametrize("what", ["link", "empty link", "files"])
def test_the_default_folder_is_left_alone_where_it_is_something_else(what: str) -> None:
    if what == "files":
        write(".torchlint_cache/notes.txt", "mine")
    else:
        os.symlink("../outside", ".torchlint_cache")
        if what == "link":
            write("../outside/notes.txt", "mine")
    before = everything("..")
    result = torchlint_("src", "--output-format", "concise")
    assert (result.returncode, result.stderr) == (1, "")
    assert everything("..") == before


def test_the_ignore_file_of_a_cache_hides_no_code() -> None:
    write("src/CACHEDIR.TAG", OURS)
    write("torchlint.toml", 'cache-dir = "src"\n')
    for _ in range(2):
        assert torchlint_("--output-format", "concise").stdout.startswith("src/a.py:3:1: TPL005")
    assert Path("src/.gitignore").read_text() == "# Made by torchlint\n*\n"
    write("src/.gitignore", "# by hand\n*\n")
    assert torchlint_().stderr == "warning: no Python files found under the given paths\n"


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "no bytes": lambda data: b"",
    "cut off": lambda data: data[: len(data) // 2],
    "another byte": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "twice": lambda data: data + data,
    "no text": lambda data: bytes(range(256)) * 40,
    "another shape": lambda data: sealed(b'{"a.py": [[[]]], "\\u001b[2J": 1e999}'),
    "deep": lambda data: sealed(b"[" * 100_000),
}


def sealed(payload: bytes) -> bytes:
    """With the checksum that the cache puts in front of what it holds."""
    return digest(payload).encode() + b"\n" + payload


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_cache_is_an_empty_one(how: str) -> None:
    expected = torchlint_(".", "--cache-dir", "kept")
    shards = [path for path in Path("kept").rglob("*") if path.is_file() and path.name not in (".gitignore", "CACHEDIR.TAG")]
    assert shards and expected.returncode == 1
    for path in shards:
        path.write_bytes(SPOILT[how](path.read_bytes()))
    for _ in range(2):
        again = torchlint_(".", "--cache-dir", "kept")
        assert (again.returncode, again.stdout, again.stderr) == (1, expected.stdout, expected.stderr)


# --- which runs use it -----------------------------------------------------------------------------------------------


def looks(*arguments: str) -> bool:
    """Whether a run looks into any file, rather than only at what is known of it."""
    log = torchlint_(*arguments, python=("-X", "importtime")).stderr
    return "torchlint.engine.findings" in {line.split("|")[-1].strip() for line in log.splitlines()}


@pytest.mark.parametrize("action", ["--fix", "--diff", "--add-noqa"])
def test_what_has_nothing_to_be_done_is_not_looked_at_again(action: str) -> None:
    write("src/a.py", f"{TYPO}p = 1  # noqa\n".replace("False", "False  # noqa") if action == "--add-noqa" else REBIND)
    assert looks("src")
    first = torchlint_(action, "src", "--no-cache")
    assert not looks(action, "src")
    again = torchlint_(action, "src")
    assert (again.stdout, again.stderr, again.returncode) == (first.stdout, first.stderr, first.returncode)


@pytest.mark.parametrize("action", ["--fix", "--diff"])
def test_such_a_run_is_remembered_itself(action: str) -> None:
    write("src/a.py", REBIND)
    assert looks(action, "src")
    assert not looks(action, "src")
    assert not looks("src")


def test_what_can_be_fixed_is_fixed_though_it_is_known() -> None:
    write("src/b.py", REBIND)
    torchlint_("src")
    assert torchlint_("src", "--diff").stdout.startswith("--- src/a.py\n")
    torchlint_("src", "--fix")
    assert (Path("src/a.py").read_text(), Path("src/b.py").read_text()) == (RIGHT, REBIND)
    torchlint_("src", "--fix", "--unsafe-fixes")
    assert Path("src/b.py").read_text() != REBIND


def test_fixes_are_never_taken_from_the_cache() -> None:
    torchlint_("src")
    [shard] = [path for path in Path(".torchlint_cache").rglob("*.json") if b"a.py" in path.read_bytes()]
    payload = shard.read_bytes().partition(b"\n")[2].replace(b'"requires_grad"', b'"os.system(1)"')
    shard.write_bytes(sealed(payload))
    assert "os.system" in torchlint_("src", "--output-format", "json").stdout  # it counts, then
    torchlint_("src", "--fix")
    assert Path("src/a.py").read_text() == RIGHT


def test_a_baseline_is_not_mixed_up_with_what_is_known() -> None:
    write("src/a.py", REBIND)
    torchlint_("src", "--write-baseline", "known.json")
    torchlint_("src", "--fix", "--no-cache", "--baseline", "known.json")
    assert torchlint_("src", "--fix", "--baseline", "known.json").stdout == "No findings.\n"
    assert torchlint_("src", "--output-format", "concise").stdout.startswith("src/a.py:3:1: TPL003")
