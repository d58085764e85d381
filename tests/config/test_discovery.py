"""Which files a run is about."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import environment
from torchlint.config.discovery import discover


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("x = 1\n")


def files(*paths: str) -> list[str]:
    found = discover(paths)
    assert not found.errors
    return list(found.files)


def errors(*paths: str) -> list[str]:
    return [str(error) for error in discover(paths).errors]


def test_python_files_below_a_directory_in_order() -> None:
    make("src/b.py", "src/a.pyi", "src/deep/down/c.py", "src/.hidden.py", "src/notes.txt", "src/d.ipynb", "src/e.pyc", "top.py")
    assert files("src") == ["src/.hidden.py", "src/a.pyi", "src/b.py", "src/d.ipynb", "src/deep/down/c.py"]
    assert files(".")[-1] == "top.py"


def test_files_that_are_given_are_taken_whatever_they_are_called() -> None:
    make("script", ".venv/a.py")
    assert files("script", ".venv/a.py") == [".venv/a.py", "script"]


@pytest.mark.parametrize(
    "name", [".git", ".venv", "venv", "node_modules", "site-packages", "build", "dist", "__pycache__", ".tox"]
)
def test_excluded_directories_are_left_out_unless_given(name: str) -> None:
    make(f"a/{name}/b.py", f"a/{name}x/c.py")
    assert files("a") == [f"a/{name}x/c.py"]
    assert files(f"a/{name}") == [f"a/{name}/b.py"]


def test_what_is_excluded_by_its_path_is_searched_if_given_and_what_is_excluded_in_it_is_not() -> None:
    make("src/gen/a.py", "src/gen/.venv/b.py", "src/gen/deep/old/c.py", "src/d.py")
    Path("torchlint.toml").write_text('extend-exclude = ["src/gen", "src/**/old/"]\n')
    assert files("src") == ["src/d.py"]
    assert files("src/gen") == ["src/gen/a.py"]
    assert files("src/gen/deep") == []
    assert files("src/gen/deep/old") == ["src/gen/deep/old/c.py"]


def test_a_project_in_a_directory_called_like_an_excluded_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("build/a.py", "build/torchlint.toml", "build/build/b.py")
    Path("build/torchlint.toml").write_text("")
    monkeypatch.chdir(tmp_path / "build")
    assert files(".") == ["a.py"]


def test_default_patterns_need_no_package() -> None:
    make("src/a.py", "src/build/b.py")
    code = (
        "import sys; from torchlint.config.discovery import discover; print(*discover(['.']).files, 'pathspec' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert shown.stdout == "src/a.py False\n"


def test_names_are_relative_below_the_working_directory_and_absolute_elsewhere(tmp_path: Path) -> None:
    make("here/a.py", "there/b.py")
    os.chdir("here")
    assert files(".", str(tmp_path / "here" / "a.py"), "../there") == [str(tmp_path / "there" / "b.py"), "a.py"]


def test_each_file_once() -> None:
    make("src/a.py")
    os.symlink("a.py", "src/link.py")
    assert files("src", "src/a.py", "./src/../src/a.py", "src/link.py", ".") == ["src/a.py"]


def test_links_to_files_are_followed_and_those_to_directories_are_not() -> None:
    make("elsewhere/a.py", "elsewhere/deep/b.py", "src/c.py")
    os.symlink("../elsewhere/a.py", "src/link.py")
    os.symlink("../elsewhere/deep", "src/linked")
    os.symlink(".", "src/loop")
    assert files("src") == ["src/c.py", "src/link.py"]
    assert files("src/linked") == ["src/linked/b.py"]


def test_a_link_is_not_normalised_away() -> None:
    make("a/x.py", "b/deep/y.py", "b/x.py")
    os.symlink("../b/deep", "a/link")
    assert files("a/link/../x.py") == ["b/x.py"]


def test_what_is_missing_or_no_file_is_an_error_and_the_rest_is_found() -> None:
    make("src/a.py")
    os.mkfifo("src/pipe.py")
    os.symlink("nowhere.py", "src/broken.py")
    os.symlink("user@host.4711", "src/.#a.py")  # Emacs' mark that the file is being edited
    found = discover(["src", "nope.py", "src/pipe.py", "/dev/null"])
    assert list(found.files) == ["src/a.py"]
    assert [str(error) for error in found.errors] == [
        "/dev/null: error: not a regular file",
        "nope.py: error: No such file or directory",
        "src/broken.py: error: No such file or directory",
        "src/pipe.py: error: not a regular file",
        "src/pipe.py: error: not a regular file",
    ]


def test_a_directory_called_like_a_python_file_is_a_directory() -> None:
    make("src/package.py/a.py")
    assert files("src") == ["src/package.py/a.py"]


def test_a_path_with_a_null_byte_is_an_error() -> None:
    assert errors("a\0.py") == ["a\\x00.py: error: no file has such a name"]


def test_a_directory_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    make("src/closed/a.py", "src/b.py")
    scan = os.scandir

    def refuse_closed(path: str) -> object:  # in place of a mode that the superuser may disregard
        if path.endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse_closed)
    found = discover(["src"])
    assert list(found.files) == ["src/b.py"]
    assert [str(error) for error in found.errors] == ["src/closed: error: cannot read the directory: Permission denied"]


def test_names_that_are_not_text() -> None:
    name = os.fsdecode(b"src/\xff.py")
    make(name)
    assert files("src") == [name]


def test_a_deep_tree() -> None:
    folder = Path("src")
    for _ in range(120):
        folder /= "d"
    make(f"{folder}/a.py")
    assert files("src") == [f"{folder}/a.py"]
