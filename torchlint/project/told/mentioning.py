"""Whether a file may use what is called by a name in another file, be it not by a call: told from its ast alone."""

from __future__ import annotations

import ast
import re

from torchlint.semantics.code.tree import FUNCTIONS, all_parts, dotted

_OTHERS = frozenset({"torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "matplotlib", "os", "sys", "typing"})
"""What gives no name of a project's."""
_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr", "vars", "dir", "eval", "globals", "locals", "compile"})
"""Functions that get at names by text."""


def may_use(module: ast.Module, name: str, stems: frozenset[str]) -> bool:
    """Whether a file may use another one's ``name``, which it gets by way of files and packages called by some ``stems``.

    It does where it imports the name, reads it from an import, or has it by importing everything; and it may where it hands
    one of these files on, as a value, or asks one for a name that is computed.
    """
    return _Uses(all_parts(module), name, stems).are_possible()


def does_use(module: ast.Module, name: str, file: str, user: str) -> bool:
    """Whether a file, ``user``, surely uses the ``name`` of another ``file``: both are paths from the root of the project.

    It imports it from there, takes it from the file that it imports, or has it by importing everything of that and no more.
    """
    nodes = all_parts(module)
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    files, everything, bound = set[str](), False, _bound(nodes)
    for node in imports:
        source = _source(node, user) if isinstance(node, ast.ImportFrom) else None
        for alias in node.names:
            if source is not None and source and _is_of(file, source):
                everything |= alias.name == "*"
                if alias.name == name:
                    return True
            bound |= {alias.asname or alias.name}
            if _is_of(file, [*(source or []), *alias.name.split(".")]):
                files.add(alias.asname or alias.name)
    for part in nodes:
        match part:
            case ast.Attribute(value=owner, attr=attribute) if attribute == name and dotted(owner) in files:
                return True
            case ast.Name(id=read) if read == name and everything and name not in bound:
                return sum(alias.name == "*" for each in imports for alias in each.names) == 1
    return False


def _source(node: ast.ImportFrom, user: str) -> list[str]:
    """What an import takes its names from: a path from the root, behind ``/`` if it is told from the file's own folder."""
    parts = node.module.split(".") if node.module else []
    if not node.level:
        return parts
    folders = user.split("/")[: -node.level]
    return ["/", *folders, *parts]


def _is_of(file: str, parts: list[str]) -> bool:
    """Whether the parts of a dotted name lead to a file."""
    path = file.removesuffix(".py").removesuffix("/__init__").split("/")
    if parts[:1] == ["/"]:
        return path == parts[1:]
    return path[-len(parts) :] == parts


class _Uses:
    def __init__(self, nodes: list[ast.AST], name: str, stems: frozenset[str]) -> None:
        self._nodes = nodes
        self._name = name
        self._stems = stems
        self._imported: set[str] = set()
        """The names that imports bind, of what may be of the project."""
        self._files: set[str] = set()
        """Those of them that may be files or packages."""
        self._has_all = False
        self._is_named = False

    def are_possible(self) -> bool:
        for node in self._nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._take(node)
        if self._is_named:
            return True
        own = _bound(self._nodes)
        based = {id(node.value) for node in self._nodes if isinstance(node, ast.Attribute)}
        based |= {id(node.func) for node in self._nodes if isinstance(node, ast.Call)}  # what is called is no file
        return any(self._is_use(node, own, based) for node in self._nodes)

    def _take(self, node: ast.Import | ast.ImportFrom) -> None:
        source = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if isinstance(node, ast.ImportFrom) and not node.level and source.partition(".")[0] in _OTHERS:
            return
        for alias in node.names:
            first, _, rest = alias.name.partition(".")
            if isinstance(node, ast.Import) and first in _OTHERS:
                continue
            if alias.name == "*":
                self._has_all = True
                continue
            bound = alias.asname or first
            self._imported.add(bound)
            if {first, *rest.split(".")} & self._stems:
                self._files.add(bound)
            self._is_named = self._is_named or self._name in alias.name.split(".")

    def _is_use(self, node: ast.AST, own: set[str], based: set[int]) -> bool:
        match node:
            case ast.Attribute(attr=attribute):
                root = _root(node)
                is_imported = root is None or root in self._imported or (self._has_all and root not in own)
                if attribute == self._name:
                    return is_imported
                return attribute in self._stems and id(node) not in based and root in self._imported
            case ast.Name(id=name):
                if name == self._name:
                    return self._has_all or name in self._imported
                is_file = name in self._files or (self._has_all and name in self._stems and name not in own)
                return is_file and id(node) not in based
            case ast.Constant(value=str(text)) if "import" in text:
                return bool(re.search(rf"\b{re.escape(self._name)}\b", text))
            case ast.Call(func=ast.Name(id=function), args=args) if function in _BY_NAME:
                if not args:
                    return bool(self._imported) or self._has_all
                return function in ("eval", "compile") or _root(args[0]) in self._imported
        return False


def _bound(nodes: list[ast.AST]) -> set[str]:
    """The names that a file gives values itself."""
    found = set[str]()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ClassDef(name=name):
                found.add(name)
            case _ if isinstance(node, FUNCTIONS):
                found.add(node.name)
    return found


def _root(node: ast.expr) -> str | None:
    """The name that a chain of attributes starts with; empty where that is a call, or an item, of a local name."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None if isinstance(node, ast.Call) else ""
