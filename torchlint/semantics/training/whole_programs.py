"""Programs that train, save what they have trained, and then load it, one call after the other at the top level of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, argument, position
from torchlint.semantics.saving.files import SavedFiles

_DEEPEST = 4
"""How many calls are followed one behind the other."""


class WholePrograms:
    """Tells of loads whether the program that the file is, as a whole, has saved before what it loads.

    What calls what is told by names: an object that a function is given, ``agent.save()``, has the methods of the file's class.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def has_saved(self, load: ast.Call) -> bool:
        """Whether a load comes, on all ways to it in the file, behind what saves such a file in any case.

        The path is one that the program writes out: what it is told from outside may be of another run.
        """
        path = argument(load, 0, "f")
        if path is None or not self._saving:
            return False
        ways = list(self._ways(load, path, _DEEPEST))
        return bool(ways) and all(way is not None and self._is_behind_saving(*way) for way in ways)

    # --- how a load is reached ---------------------------------------------------------------------------------------

    def _ways(self, node: ast.Call, path: ast.expr, depth: int) -> Iterator[tuple[ast.Call, str] | None]:
        """The calls at the top level that lead to a load, and how the path ends that is loaded; ``None`` for an unknown one."""
        function = self._tree.function(node)
        parameter = self._parameter(path)
        if function is None:
            yield (node, end) if (end := self._end(path)) else None
        elif not isinstance(function, FUNCTIONS) or depth == 0 or self._is_called_elsewhere(function) or parameter is None:
            yield None
        else:
            sites = self._sites(function)
            for site in sites or (None,):
                given = self._semantics.facts.argument(site, function, parameter) if site is not None else None
                if site is None or given is None or given is self._semantics.facts.default(function, parameter):
                    yield None
                else:
                    yield from self._ways(site, given, depth - 1)

    def _parameter(self, path: ast.expr) -> ast.arg | None:
        bindings = self._semantics.bindings.reaching(path) if isinstance(path, ast.Name) else []
        nodes = [binding.node for binding in bindings if binding.form is Form.PARAMETER]
        return nodes[0] if len(nodes) == len(bindings) == 1 and isinstance(nodes[0], ast.arg) else None

    def _is_called_elsewhere(self, function: Function) -> bool:
        callers = self._semantics.elsewhere.callers
        return callers is not None and callers.are_unrecorded(self._semantics.facts.full_name(function)) is not None

    def _sites(self, function: Function) -> list[ast.Call]:
        """The calls that may be of a function, by its name: of methods, those of any object."""
        form = ast.Attribute if isinstance(self._tree.parent(function), ast.ClassDef) else ast.Name
        calls = self._semantics.facts.calls.get(function.name, ())
        return [call for call in calls if isinstance(call.func, form) and self._semantics.qualified_name(call.func) is None]

    def _end(self, path: ast.expr) -> str:
        """The suffix of a file that a path is written out to have."""
        if isinstance(path, ast.Name):
            value = self._semantics.bindings.assigned(path)
            return self._end(value) if isinstance(value, (ast.Constant, ast.JoinedStr)) else ""
        match path:
            case ast.Constant(value=str(text)) | ast.JoinedStr(values=[*_, ast.Constant(value=str(text))]):
                return text.rpartition(".")[2] if "." in text else ""
        return ""

    # --- what saves --------------------------------------------------------------------------------------------------

    def _is_behind_saving(self, node: ast.Call, end: str) -> bool:
        """Whether something that is run in any case before a call at the top level saves a file with that suffix."""
        around = self._statements_around(node)
        return any(
            end in ends and position(call) < position(node) and self._tree.statement(call) in around
            for call, ends in self._saving.items()
        )

    def _statements_around(self, node: ast.Call) -> set[ast.stmt]:
        """The statements of all blocks that a node stands in."""
        around = (each for each in (node, *self._tree.ancestors(node)) if isinstance(each, ast.stmt))
        return {statement for each in around for statement in self._tree.block(each)}

    @cached_property
    def _saving(self) -> dict[ast.Call, set[str]]:
        """The calls at the top level that lead to saves, with the suffixes of the files."""
        found: dict[ast.Call, set[str]] = {}
        reached: dict[Function, set[str]] = {}
        calls: Iterable[ast.Call] = self._semantics.of(SavedFiles).saves
        pending = [(call, end) for call in calls if (end := self._saved_end(call))]
        while pending:
            call, end = pending.pop()
            function = self._tree.function(call)
            if function is None:
                found.setdefault(call, set()).add(end)
            elif isinstance(function, FUNCTIONS) and end not in reached.setdefault(function, set()):
                reached[function].add(end)
                pending += [(site, end) for site in self._sites(function)]
        return found

    def _saved_end(self, save: ast.Call) -> str:
        path = argument(save, 1, "f")
        if isinstance(path, ast.Name):
            bindings = self._semantics.bindings.reaching(path)
            path = bindings[0].value if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT else None
        texts = [part.value for part in ast.walk(path) if isinstance(part, ast.Constant)] if path is not None else []
        written = [text for text in texts if isinstance(text, str) and "." in text]
        return written[-1].rpartition(".")[2] if written else ""
