"""What patterns in .gitignore files and in the configuration match, those with many stars above all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from torchlint.config.patterns import Patterns, read_patterns

MANY_STARS = "a*" * 12 + "b"
LONG_NAME = "a" * 200
LONG = 60
"""Seconds that a match takes a tiny part of; with a way back to each star it would take years."""


@pytest.mark.parametrize(
    ("line", "matched", "others"),
    [
        ("*a*b*c", ["abc", "xaxbxc", "aabbcc", "dir/abc", "abc/x.py"], ["acb", "abcd", "ab/c", "a/b/c"]),
        ("a*a*a", ["aaa", "abaca", "aaaa"], ["aa", "aab", "a/a/a"]),
        ("a**b*c", ["abc", "axxbxxc"], ["ab", "a/b/c", "acb"]),
        ("a?*?*?b", ["axxxb", "aaaabb"], ["axxb", "ab"]),
        ("*[ab]*[cd]*.py", ["ac.py", "xaxdx.py", "dir/bd.py"], ["ca.py", "ab.py", "ac.pyc"]),
        ("/a*b*c*", ["abc", "axbxcx"], ["dir/abc", "ab"]),
        ("a*b*c*/", ["abc/", "abc/x.py", "dir/abcd/"], ["abc"]),
        ("**/a/**/b", ["a/b", "x/a/y/z/b", "a/b/b"], ["a", "b", "ab", "xa/b", "a/xb"]),
        ("a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/b/b/c/c"], ["a/c/b", "x/a/b/c", "a/b", "a/bc"]),
        ("**/a*b*/**/c*d*e", ["ab/cde", "x/axbx/y/cxdxe", "ab/ab/cde"], ["ab", "cde/ab", "ab/ced"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py", "lib/src/a.py", "src/a.txt"]),
        ("a/**/b/**", ["a/b/c", "a/x/b/c/d"], ["a/c", "b/c"]),
        (r"\*a*b*c", ["*abc", "*axbxc"], ["abc", "xabc"]),
        (MANY_STARS, ["a" * 12 + "b", "ax" * 12 + "b"], ["a" * 11 + "b", LONG_NAME]),
    ],
)
def test_stars_match_what_git_has_them_match(line: str, matched: list[str], others: list[str]) -> None:
    spec = read_patterns([line])
    assert [path for path in [*matched, *others] if spec.check_file(path).include] == matched


_PARTS = st.lists(st.sampled_from(["a", "b", "*", "?", "[ab]", r"\*", "a*"]), min_size=1, max_size=4).map("".join)
_LINES = st.lists(st.one_of(st.just("**"), _PARTS), min_size=1, max_size=4).map("/".join)
_PATHS = st.lists(st.text("ab*.", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@given(st.lists(st.tuples(st.sampled_from(["", "!", "/"]), _LINES, st.sampled_from(["", "/"])).map("".join)), _PATHS)
def test_what_is_matched_is_what_pathspec_alone_matches(lines: list[str], path: str) -> None:
    alone = GitIgnoreSpec.from_lines(lines, backend="simple")
    for each in (path, f"{path}/"):
        assert read_patterns(lines).check_file(each).include == alone.check_file(each).include


def test_later_lines_overrule_earlier_ones() -> None:
    spec = read_patterns(["*a*b*c*", "!*a*b*c*d"])
    assert [path for path in ("abc", "abcd", "abcde") if spec.check_file(path).include] == ["abc", "abcde"]


def test_what_git_takes_for_no_pattern_is_passed_over() -> None:
    spec = read_patterns(["!", "odd\\", "[z-a]", "x[", "*" * 20_000, "good"])
    assert [path for path in ("odd", "z", "x[", "else", "good") if spec.check_file(path).include] == ["good"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (MANY_STARS, LONG_NAME),
        ("*a" * 30 + "?[x]b*", LONG_NAME),
        ("**/a/" * 12 + "b", "a/" * 50 + "a"),
        ("**/*a*a*a*/" * 12 + "b", "aaaaaaaa/" * 50 + "a"),
    ],
)
def test_hostile_gitignore_files_cost_no_time(line: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x = 1\n")
    (tmp_path / ".gitignore").write_text(f"{line}\n")
    command = [sys.executable, "-m", "torchlint", "--show-files", "."]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LONG, check=True)
    assert shown.stdout == f"{name}.py\n"


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("*a*b*c", ["/r/abc", "/r/x/axbxc"], ["/r/acb", "/r/abcd"]),
        (MANY_STARS, [f"/r/{'a' * 12}b"], [f"/r/{LONG_NAME}", "/r/ab"]),
        ("src/*a*a*/b", ["/r/src/aa/b"], ["/r/aa/b", "/r/src/a/b", "/r/src/x/aa/b"]),
        ("*a" * 40 + "?[x]b*", [f"/r/{'a' * 41}xb"], [f"/r/{LONG_NAME}"]),
        ("a/**/m.py", ["/r/a/m.py", "/r/a/b/c/m.py"], ["/r/m.py", "/r/x/a/m.py", "/r/a/mm.py"]),
        ("scripts/**", ["/r/scripts/a", "/r/scripts/b/c"], ["/r/scripts", "/r/x/scripts/a"]),
        ("old", ["/r/old", "/r/x/old", "/elsewhere/old"], ["/r/older", "/r/x/old.py", "/old/x.py"]),
        ("*_pb2.py", ["/r/a_pb2.py", "/r/x/_pb2.py"], ["/r/a_pb2.pyi", "/r/a_pb2.py/x"]),
        ("/m.py", ["/r/m.py"], ["/r/x/m.py", "/m.py/x"]),
        ("/r/src/*.py", ["/r/src/a.py"], ["/r/src/x/a.py", "/r/r/src/a.py"]),
        ("[ab]?.py", ["/r/ax.py", "/r/x/by.py"], ["/r/cx.py", "/r/a.py"]),
    ],
)
def test_patterns_in_the_configuration(pattern: str, matched: list[str], others: list[str]) -> None:
    patterns = Patterns((pattern,), "/r")
    assert [path for path in [*matched, *others] if patterns.match(path)] == matched


def test_a_slash_at_the_end_is_for_directories() -> None:
    patterns = Patterns(("old/",), "/r")
    assert not patterns.match("/r/x/old")
    assert patterns.match("/r/x/old", is_directory=True)
    assert patterns.match_inside("/r/x/old/y/a.py")


def test_later_patterns_overrule_earlier_ones() -> None:
    patterns = Patterns(("gen_*", "*.py", "!gen_kept.py"), "/r")
    assert [name for name in ("gen_a", "a.py", "gen_kept.py", "kept") if patterns.match(f"/r/{name}")] == ["gen_a", "a.py"]


def test_hostile_configuration_costs_no_time(tmp_path: Path) -> None:
    name = f"{LONG_NAME}.py"
    (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "torchlint.toml").write_text(f'exclude = ["{MANY_STARS}"]\n[per-file-ignores]\n"{MANY_STARS}" = ["TPL001"]\n')
    command = [sys.executable, "-m", "torchlint", "--show-files", "."]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LONG, check=True)
    assert shown.stdout == f"{name}\n"
