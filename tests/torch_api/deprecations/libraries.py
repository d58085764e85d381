"""A release of a library as its files say it is: modules, what they define, and the public names of that; none is imported."""

from __future__ import annotations

import ast
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef"

STUB = ".pyi"
"""What is put behind the name of a module for its stub, where it has both."""
_PACKAGES = {"torch": ("torch", "functorch")}
"""What a wheel holds beside the package of its own name."""
_LEFT_OUT = frozenset({"testing", "experimental", "passes", "datapipes", "hipify", "operations", "_cuda", "benchmark"})
"""Packages of torch whose insides are nobody's API."""
_HOMES = frozenset({"_C", "_functorch", "_internal", "_utils", "_library"})
"""Private packages that define what others show."""


@dataclass(slots=True)
class Module:
    """A module, by its full name; ``names`` is what each of its names stands for: a definition here, or another full name."""

    name: str
    tree: ast.Module
    is_package: bool
    definitions: dict[str, Definition] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    listed: frozenset[str] | None = None
    """What ``__all__`` says, as far as it is written out."""


class Library:
    """One release: ``version`` as in the wheel's name."""

    def __init__(self, name: str, version: str, texts: dict[str, tuple[str, bool]]) -> None:
        self.name = name
        self.version = version
        self._texts = dict(sorted(texts.items()))  # a stub comes behind its module

    @classmethod
    def of_wheel(cls, path: Path) -> Library:
        """The release in a wheel, which is read and not unpacked."""
        name, version = path.name.split("-")[:2]
        texts: dict[str, tuple[str, bool]] = {}
        with zipfile.ZipFile(path) as archive:
            for member in sorted(archive.namelist()):
                _add(texts, name, member, lambda member=member: archive.read(member))
        return cls(name, version.partition("+")[0], texts)

    @classmethod
    def of_folder(cls, folder: Path, version: str) -> Library:
        """The release that is installed in ``folder``."""
        texts: dict[str, tuple[str, bool]] = {}
        for package in _PACKAGES.get(folder.name, (folder.name,)):
            for path in sorted((folder.parent / package).rglob("*.py*")):
                _add(texts, folder.name, path.relative_to(folder.parent).as_posix(), path.read_bytes)
        return cls(folder.name, version.partition("+")[0], texts)

    @cached_property
    def modules(self) -> dict[str, Module]:
        """All modules that can be parsed, by their names."""
        found: dict[str, Module] = {}
        for name, (text, is_package) in self._texts.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(text)
            except (SyntaxError, ValueError):
                continue
            if name.endswith(STUB):
                stub = _module(name.removesuffix(STUB), tree, is_package)
                if (module := found.get(stub.name)) is not None:
                    for each, definition in stub.definitions.items():
                        if each not in module.values and each not in module.imported:
                            module.definitions.setdefault(each, definition)
            else:
                found[name] = _module(name, tree, is_package)
        return found

    def resolved(self, name: str, depth: int = 0) -> tuple[Module, str] | None:
        """The module that defines what a full name stands for, and what it is called there; none for what is not in sight."""
        parts = name.split(".")
        for count in range(len(parts) - 1, 0, -1):
            module = self.modules.get(".".join(parts[:count]))
            if module is not None:
                return self._within(module, parts[count:], depth)
        return None

    def _within(self, module: Module, rest: list[str], depth: int) -> tuple[Module, str] | None:
        first = rest[0]
        if depth > 20:
            return None
        if first in module.definitions or first in module.values:
            return module, ".".join(rest)
        if first in module.imported:
            return self.resolved(".".join([module.imported[first], *rest[1:]]), depth + 1)
        for star in module.stars:
            other = self.modules.get(star)
            hidden = other is None or (other.listed is not None and first not in other.listed) or first.startswith("_")
            if not hidden and (found := self.resolved(".".join([star, *rest]), depth + 1)) is not None:
                return found
        return None

    @cached_property
    def public(self) -> dict[str, tuple[str, str]]:
        """The public names of functions, classes and what is assigned, and where each is defined: module and name there."""
        found: dict[str, tuple[str, str]] = {}
        for module in self.modules.values():
            if not is_public(module.name):
                continue
            for name in sorted(self._names(module)):
                full = f"{module.name}.{name}"
                if is_public(name) and (home := self.resolved(full)) is not None:
                    found[full] = (home[0].name, home[1])
        return found

    def _names(self, module: Module, depth: int = 0) -> set[str]:
        names = {*module.definitions, *module.values, *module.imported}
        for star in module.stars if depth < 10 else ():
            if (other := self.modules.get(star)) is not None:
                names |= set(other.listed) if other.listed is not None else self._names(other, depth + 1)
        return names

    @cached_property
    def spellings(self) -> dict[tuple[str, str], list[str]]:
        """The public names of what is defined somewhere, shortest first."""
        found: dict[tuple[str, str], list[str]] = {}
        for name, home in self.public.items():
            found.setdefault(home, []).append(name)
        return {home: sorted(names, key=lambda name: (name.count("."), name)) for home, names in found.items()}

    def methods(self, module: str, name: str) -> dict[str, Definition]:
        """The methods that the text of a class has."""
        definition = self.modules[module].definitions.get(name)
        if not isinstance(definition, ast.ClassDef):
            return {}
        return {each.name: each for each in definition.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}


def is_public(name: str) -> bool:
    """Whether no part of a dotted name starts with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


def _add(texts: dict[str, tuple[str, bool]], library: str, member: str, read: object) -> None:
    """Keeps the text of a file of the library, under the name of its module."""
    assert callable(read)
    parts = member.split("/")
    if parts[0] not in _PACKAGES.get(library, (library,)) or not member.endswith((".py", ".pyi")):
        return
    if any(part in _LEFT_OUT or (part.startswith("_") and part not in _HOMES) for part in parts[1:-1]):
        return
    stem = parts[-1].rpartition(".")[0]
    name = ".".join(parts[:-1] if stem == "__init__" else [*parts[:-1], stem])
    text = read().decode("utf-8", "replace")
    if member.endswith(".pyi") and name in texts:
        name += STUB
    texts[name] = (text, stem == "__init__")


def _module(name: str, tree: ast.Module, is_package: bool) -> Module:
    module = Module(name, tree, is_package)
    for statement in _at_the_top(tree.body):
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                module.definitions[statement.name] = statement
            case ast.Import(names=names):
                for each in names:
                    module.imported[each.asname or each.name.partition(".")[0]] = (
                        each.name if each.asname else each.name.partition(".")[0]
                    )
            case ast.ImportFrom(names=names):
                origin = source(module, statement)
                for each in names:
                    if each.name == "*":
                        module.stars.append(origin)
                    else:
                        module.imported[each.asname or each.name] = f"{origin}.{each.name}"
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        module.values[target.id] = value
            case ast.AnnAssign(target=ast.Name(id=target), value=value):
                module.values[target] = value or statement.annotation
    if isinstance(listed := module.values.get("__all__"), (ast.List, ast.Tuple)):
        module.listed = frozenset(str(each.value) for each in listed.elts if isinstance(each, ast.Constant))
    for alias, value in list(module.values.items()):
        if isinstance(value, ast.Name) and value.id in module.imported:
            module.imported[alias] = module.imported[value.id]
            del module.values[alias]
    return module


def _at_the_top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under its conditions among them."""
    for statement in body:
        yield statement
        for block in ("body", "orelse", "finalbody"):
            if isinstance(statement, (ast.If, ast.Try, ast.With)):
                yield from _at_the_top(getattr(statement, block, []))
        if isinstance(statement, ast.Try):
            for handler in statement.handlers:
                yield from _at_the_top(handler.body)


def source(module: Module, statement: ast.ImportFrom) -> str:
    """The full name of the module that an import takes names from."""
    if not statement.level:
        return statement.module or ""
    parts = module.name.split(".")
    kept = parts[: len(parts) - statement.level + module.is_package]
    return ".".join([*kept, *([statement.module] if statement.module else [])])
