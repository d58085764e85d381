"""A first run: what torchlint reports on a folder of repositories, each finding with an id, and the files that hold it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from labels import LabelError, read_table

SUFFIXES = (".py", ".ipynb")
OLD = 2019
"""Code that was last changed before this year is old."""
BEFORE, AFTER, UNKNOWN = "before 2019", "2019 on", "age unknown"

_CODE = re.compile(r"TPL\d{3}")
_FINDINGS = "findings.tsv"
_FIXES = "fixes.json"
_ABOUT = "run.json"


class RunError(Exception):
    """A checkout that does not run, or folders that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class FirstFinding:
    """A finding of a first run; ``line`` and ``column`` are within the ``cell`` of a notebook, empty elsewhere.

    What is ``strict`` is not reported by default, but only where all rules are asked for.
    """

    id: str
    repo: str
    path: str
    cell: str
    line: int
    column: int
    code: str
    message: str
    fix: str
    applicability: str
    strict: str

    @property
    def place(self) -> tuple[str, str, int, int, int, str]:
        """What findings are sorted by, and known by from one run to the next."""
        return self.repo, self.path, int(self.cell or 0), self.line, self.column, self.code


COLUMNS = tuple(field.name for field in fields(FirstFinding))


@dataclass(frozen=True, slots=True)
class Repositories:
    """The repositories of a first run: their folder, each one's commit, and the years of last change that are known.

    The table has the columns ``repo`` and ``commit``, and ``newest`` or ``year``; another one may have the ``year`` of each
    ``path``. A repository ``owner/name`` lies in the folder ``owner+name``.
    """

    folder: Path
    commits: Mapping[str, str]
    years: Mapping[tuple[str, str], int]

    @classmethod
    def read(cls, folder: Path, table: Path, years: Path | None) -> Repositories:
        """The repositories in ``table``; raises `LabelError` or `RunError`."""
        commits: dict[str, str] = {}
        known: dict[tuple[str, str], int] = {}
        for where, row in read_table(table, ("repo", "commit")):
            commits[row["repo"]] = row["commit"]
            year = row.get("newest") or row.get("year")
            if year:
                known[row["repo"], ""] = _year(where, year)
        for where, row in read_table(years, ("repo", "path", "year")) if years else ():
            known[row["repo"], row["path"]] = _year(where, row["year"])
        repositories = cls(folder, commits, known)
        for repo in commits:
            if not repositories.home(repo).is_dir():
                raise RunError(f"{repo} is not in {folder}")
        return repositories

    def home(self, repo: str) -> Path:
        """The folder of one repository."""
        return self.folder / repo.replace("/", "+")

    def year(self, repo: str, path: str) -> int | None:
        """When a file was last changed or, where that is not known, its repository."""
        return self.years.get((repo, path), self.years.get((repo, "")))

    def age(self, repo: str, path: str) -> str:
        """Whether a file is old."""
        return age_of(self.year(repo, path))

    def files(self) -> dict[str, int]:
        """How many files each repository has."""
        return {repo: len(_files(self.home(repo))) for repo in self.commits}


def age_of(year: int | None) -> str:
    """Whether code that was last changed in ``year`` is old."""
    return UNKNOWN if year is None else BEFORE if year < OLD else AFTER


def _year(where: str, text: str) -> int:
    if not re.fullmatch(r"(19|20)\d\d", text):
        raise LabelError(f"{where}: not a year: {text!r}")
    return int(text)


# --- running ---------------------------------------------------------------------------------------------------------


def run(repositories: Repositories, checkout: Path, out: Path, jobs: int) -> str:
    """Runs the default rules, and all rules, of a checkout; writes the findings and their fixes to ``out``.

    The package is copied before it is run, so that the checkout can be edited meanwhile. Nothing in the repositories is run:
    the program works in an empty folder, and neither configuration files nor the folder of a script count.
    """
    if out.resolve().is_relative_to(checkout.resolve()) or out.resolve().is_relative_to(Path(__file__).resolve().parents[3]):
        raise RunError(f"{out} is in the repository, and findings quote code that is not to be there")
    if not (checkout / "torchlint" / "__main__.py").is_file():
        raise RunError(f"{checkout} is no checkout of torchlint")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            checkout / "torchlint", Path(folder, "package", "torchlint"), ignore=shutil.ignore_patterns("__pycache__")
        )
        by_default, errors = _reported(repositories, Path(folder), [], jobs)
        with_all, _ = _reported(repositories, Path(folder), ["--select", "ALL"], jobs)
    files = sum(repositories.files().values())
    known = {place for place, _ in by_default}
    marked = [*((*each, "no") for each in by_default), *((*each, "yes") for each in with_all if each[0] not in known)]
    found, fixes = [], {}
    for number, (place, entry, strict) in enumerate(sorted(marked, key=lambda each: each[0]), 1):
        finding = _finding(f"F{number:05}", place, entry, strict)
        found.append(finding)
        if entry["fix"]:
            fixes[finding.id] = entry["fix"]["edits"]
    out.mkdir(parents=True, exist_ok=True)
    about = {"folder": str(repositories.folder.resolve()), "torchlint": _commit(checkout), "errors": errors}
    (out / _ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    (out / _FIXES).write_text(json.dumps(fixes) + "\n", encoding="utf-8")
    write_table(out / _FINDINGS, COLUMNS, (astuple(each) for each in found))
    default = sum(each.strict == "no" for each in found)
    return (
        f"{len(repositories.commits)} repositories, {files} files, {len(errors)} that could not be read: "
        f"{default} findings by default, {len(found) - default} more with all rules (torchlint {about['torchlint']})"
    )


_SAVED = ".ipynb_checkpoints"
_Place = tuple[str, str, int, int, int, str]


def _reported(
    repositories: Repositories, folder: Path, options: Sequence[str], jobs: int
) -> tuple[list[tuple[_Place, dict[str, Any]]], list[str]]:
    """What a run reports, each with its place, and the files that could not be read."""
    found: list[tuple[_Place, dict[str, Any]]] = []
    errors: list[str] = []
    work = folder / "work"
    work.mkdir(exist_ok=True)
    command = [
        sys.executable,
        "-P",
        "-m",
        "torchlint",
        "check",
        "--isolated",
        "--no-cache",
        "--no-respect-gitignore",
        "--exit-zero",
    ]
    command += ["-j", str(jobs), "--output-format", "json-lines", *options]
    for repo in repositories.commits:
        home = repositories.home(repo).resolve()
        files = _files(home)
        if not files:
            continue
        environment = {"PYTHONPATH": str(folder / "package"), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
        whole = ["--project-root", str(home), "--", *map(str, files)]  # a copy has no mark of its root, as a clone has
        done = subprocess.run([*command, *whole], cwd=work, env=environment, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        if done.returncode not in (0, 1, 2) or (done.returncode == 2 and not lines):
            raise RunError(f"torchlint on {repo}: {done.stderr.strip()[-1000:]}")
        for entry in map(json.loads, lines):
            path = Path(entry["filename"]).relative_to(home).as_posix()
            place = (repo, path, entry["cell"] or 0, entry["location"]["row"], entry["location"]["column"], entry["code"])
            if _CODE.fullmatch(entry["code"]):
                found.append((place, entry))
            else:
                errors.append(f"{repo} {path}:{entry['location']['row']}: {entry['message']}")
    return found, errors


def _files(home: Path) -> list[Path]:
    """The scripts and notebooks of a repository, but for the copies that Jupyter saves, which no run over a folder looks at."""
    found = (path for path in home.rglob("*") if path.suffix in SUFFIXES and _SAVED not in path.relative_to(home).parts)
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def _finding(name: str, place: _Place, entry: Mapping[str, Any], strict: str) -> FirstFinding:
    repo, path, cell, line, column, code = place
    fix = entry["fix"]
    title = "" if fix is None else f"{fix['message']} (unsafe: {fix['reason']})" if fix["reason"] else fix["message"]
    applicability = "" if fix is None else fix["applicability"]
    return FirstFinding(name, repo, path, str(cell or ""), line, column, code, entry["message"], title, applicability, strict)


def _commit(checkout: Path) -> str:
    done = subprocess.run(["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run(["git", "-C", str(checkout), "status", "--porcelain", "torchlint"], capture_output=True, text=True)
    commit = done.stdout.strip()[:10] or "unknown"
    return f"{commit} and changes" if changed.stdout.strip() else commit


# --- files -----------------------------------------------------------------------------------------------------------


def read_findings(out: Path) -> list[FirstFinding]:
    """The findings that `run` wrote; raises `LabelError`."""
    found = []
    for _, row in read_table(out / _FINDINGS, COLUMNS):
        found.append(FirstFinding(**{**row, "line": int(row["line"]), "column": int(row["column"])}))  # type: ignore[arg-type]
    return found


def read_fixes(out: Path) -> dict[str, list[dict[str, Any]]]:
    """The edits of the findings that have a fix."""
    fixes: dict[str, list[dict[str, Any]]] = json.loads((out / _FIXES).read_text(encoding="utf-8"))
    return fixes


def read_about(out: Path) -> dict[str, Any]:
    """What was run: the folder of the repositories, torchlint's commit, and the files that could not be read."""
    about: dict[str, Any] = json.loads((out / _ABOUT).read_text(encoding="utf-8"))
    return about


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Writes a tab-separated file."""
    lines = ("\t".join(_cell(value) for value in row) for row in (columns, *rows))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _cell(value: object) -> str:
    return " ".join(str(value).split())


def texts_of(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The lines of a file or, of a notebook, of each cell, under the cell's number; what is no text is replaced."""
    text = path.read_bytes().decode("utf-8-sig", "replace")
    if path.suffix != ".ipynb":
        yield "", re.split(r"\r\n|\r|\n", text)
        return
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        yield str(number), "".join(cell.get("source", "")).split("\n")
