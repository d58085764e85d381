"""Where things are: which package may import which, that nothing imports in circles, and how large files and folders get.

Only the sources are read. An import counts wherever it stands: in a function, or for type checkers only.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "torchlint"

GROUND = {"diagnostic", "fact", "options", "target"}
"""Values that everything may know."""
MAY_IMPORT = {
    "diagnostic": set[str](),
    "fact": set[str](),
    "target": set[str](),
    "options": {"target"},
    "text": {"diagnostic"},
    "semantics": {"fact"},
    "model": {"semantics", "text", "fact"},
    "fixes": {"model", "semantics", "text", "diagnostic", "fact"},
    "rules": {"model", "fixes", "semantics", "text", *GROUND},
    "project": {"semantics", "text"},
    "engine": {"rules", "fixes", "model", "project", "semantics", "text", *GROUND},
    "reporters": {"rules", "diagnostic"},
    "config": {"rules", "reporters", "text", *GROUND},
    "api": {"engine", "project", "rules", "text", *GROUND},
    "flake8_plugin": {"engine", "project", "rules", "text", *GROUND},
    "proof": {"engine", "rules", "text", *GROUND},
    "server": {"config", "engine", "project", "proof", "rules", "text", *GROUND},
    "cli": {"config", "engine", "project", "reporters", "proof", "server", "rules", "model", "semantics", "text", *GROUND},
    "__main__": {"cli"},
    "": {"api", "diagnostic", "text"},  # what `import torchlint` gives, when it is first asked for
}
"""For each package or module of torchlint, those that it may import besides itself; everything may ask for the version."""

SEMANTICS = (
    "torch_api",
    "code",
    "gpus",
    "summaries",
    "kinds",
    "",
    "purpose",
    "inheritance",
    "shapes",
    "apis",
    "memory",
    "conditions",
    "observers",
    "sequences",
    "provenance",
    "certainty",
    "graphs",
    "unrecorded",
    "pending",
    "autograd",
    "gradients",
    "data",
    "variables",
    "modules",
    "registration",
    "scores",
    "parameters",
    "loading",
    "compiled",
    "distributed",
    "numerics",
    "saving",
    "modes",
    "training",
    "steps",
    "schedules",
    "mixed_precision",
    "aliasing",
    "devices",
)
"""What is below `torchlint.semantics`, itself the one without a name: each may import those before it.

Of the kinds, what is asked for as an analysis knows `Semantics` as well.
"""

TOP_FILES = {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"}
"""The files beside the folders, dotfiles left out; the last is a source distribution's."""

LONGEST_FILE = 450
LONG_FILES = {
    "torchlint/semantics/torch_api.py": "generated from torch",
    "torchlint/rules/index.py": "generated from the rules",
}
"""Longer files, each with the reason."""
MOST_MODULES = 14
LARGE_FOLDERS = {
    "torchlint/model": "a module for each group of questions, beside the joint",
    "torchlint/rules/autograd": "a module for each rule of the hundred",
    "torchlint/semantics/certainty": "a module for each fact that safe fixes rest on",
}
"""Folders of more modules, each with the reason."""

CIRCLES = [{"torchlint.rules.catalogue", "torchlint.rules.comment_rule"}]
"""Modules that import one another: an entry of the catalogue names the types of the rules that it can make."""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    """The modules of the package."""
    return {name_of(path): ast.parse(path.read_bytes()) for path in sorted(PACKAGE.rglob("*.py"))}


def imports(module: str) -> Iterator[str]:
    """What a module imports: modules of torchlint by their full names, others as they are named."""
    for node in ast.walk(modules()[module]):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(origin), names=names, level=0):
                for alias in names:
                    whole = f"{origin}.{alias.name}"
                    yield whole if whole in modules() else origin
            case ast.ImportFrom():
                raise AssertionError(f"{module} has a relative import")


@cache
def graph() -> dict[str, set[str]]:
    """What each module imports of the package."""
    return {module: {name for name in imports(module) if name in modules()} - {module} for module in modules()}


def part(module: str, below: str) -> str:
    """The package or module right below ``below`` that a module is, or is in; nothing for ``below`` itself."""
    return module.removeprefix(below).removeprefix(".").partition(".")[0]


def unwanted(table: dict[str, set[str]], below: str) -> list[str]:
    """The imports between what is right below a package that a table does not list."""
    found = []
    for module in graph():
        if module != below and not module.startswith(f"{below}."):
            continue
        for other in graph()[module]:
            if other != below and not other.startswith(f"{below}."):
                continue
            one, two = part(module, below), part(other, below)
            if one != two and two not in table[one]:
                found.append(f"{module} -> {other}")
    return sorted(found)


def test_packages_import_in_one_direction() -> None:
    table = {name: {*others, ""} for name, others in MAY_IMPORT.items()}
    assert unwanted(table, "torchlint") == []


def test_questions_of_semantics_import_in_one_direction() -> None:
    table = {name: set(SEMANTICS[:place]) for place, name in enumerate(SEMANTICS)}
    table["kinds"].add("")
    assert unwanted(table, "torchlint.semantics") == []


@pytest.mark.parametrize(("package", "library"), [("semantics", "libcst"), ("text", "libcst"), ("reporters", "libcst")])
def test_what_knows_no_concrete_syntax(package: str, library: str) -> None:
    users = {module for module in modules() if part(module, "torchlint") == package and library in tops(module)}
    assert users == set()


def test_only_the_language_server_knows_pygls() -> None:
    users = {part(module, "torchlint") for module in modules() if tops(module) & {"pygls", "lsprotocol"}}
    assert users == {"server"}


def test_rules_know_no_ast() -> None:
    assert {module for module in modules() if part(module, "torchlint") == "rules" and "ast" in tops(module)} == set()


def tops(module: str) -> set[str]:
    """The packages that a module imports."""
    return {name.partition(".")[0] for name in imports(module)}


def test_nothing_imports_in_circles() -> None:
    assert sorted(map(sorted, circles())) == sorted(map(sorted, CIRCLES))


def circles() -> list[set[str]]:
    """The groups of modules each of which imports, through others, all of its group."""
    reached = {module: reachable(module) for module in graph()}
    found: list[set[str]] = []
    for module in graph():
        circle = {other for other in reached[module] if module in reached[other]}
        if circle and circle not in found:
            found.append(circle)
    return found


def reachable(module: str) -> set[str]:
    """All modules that importing one leads to."""
    seen: set[str] = set()
    pending = list(graph()[module])
    while pending:
        other = pending.pop()
        if other not in seen:
            seen.add(other)
            pending.extend(graph()[other])
    return seen


def test_nothing_lies_about_at_the_top() -> None:
    files = {path.name for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")}
    assert files - TOP_FILES == set()


def test_files_can_be_read_in_one_go() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_bytes().splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {name for name, length in lengths.items() if length > LONGEST_FILE} == set(LONG_FILES)


def test_folders_can_be_taken_in_at_a_glance() -> None:
    """A folder's ``__init__`` says what is in it, and is not counted."""
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py") if path.stem != "__init__")
    assert {folder for folder, count in counts.items() if count > MOST_MODULES} == set(LARGE_FOLDERS)


def test_tests_are_collected_without_torch() -> None:
    tests = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "tests").rglob("conftest.py")]
    libraries = {test: {name.split(".")[0] for name in imported(ast.parse(test.read_bytes()))} for test in tests}
    assert [str(test) for test in tests if "torch" in libraries[test]] == []


def imported(module: ast.Module) -> Iterator[str]:
    """The modules that its statements import where they stand in no other statement: what importing it needs."""
    for statement in module.body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield statement.module or ""
