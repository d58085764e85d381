"""Shows rules the libcst trees of the statements they are triggered by, and places what they find in the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeAlias

import libcst as cst

from torchlint.diagnostic import Diagnostic, FileError, Location
from torchlint.fixes.edits import Editing
from torchlint.model import Model
from torchlint.options import Options
from torchlint.rules.catalogue import Entry
from torchlint.rules.rule import Remark, Rule, visit_methods
from torchlint.semantics import Semantics
from torchlint.semantics.code.units import Unit, place_of
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

_TOO_DEEP = "not looked at: the statement is nested too deeply; the rest of the file is linted"

_Visits: TypeAlias = dict[type[cst.CSTNode], list[Callable[[Any], object]]]


class Looking:
    """One look at one text, which is forgotten when it is left as a context.

    Without ``fixes``, none are made of what rules propose.
    """

    def __init__(
        self, source: Source, semantics: Semantics, suppressions: Suppressions, options: Options, *, fixes: bool = True
    ) -> None:
        self._source = source
        self._elsewhere = semantics.elsewhere
        self._model = Model(source, semantics, suppressions)
        self._editing = Editing(self._model)
        self._options = options
        self._fixes = fixes

    def at(self, shown: Mapping[Unit, Sequence[Entry]]) -> dict[str, list[Diagnostic]]:
        """What the rules find in the statements and clauses that each is shown, by the rules' codes."""
        running = {rule: self._made(rule) for rule in dict.fromkeys(_all(shown.values()))}
        tables: dict[tuple[Entry, ...], _Visits] = {}
        for unit, rules in shown.items():
            key = tuple(rules)
            if key not in tables:
                tables[key] = _visits([running[rule] for rule in key])
            table = tables[key]
            for node in self._nodes(unit):
                visits = table.get(type(node))
                if visits is not None and self._model.is_placed(node):
                    for visit in visits:
                        visit(node)
        return self._placed(running.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._model.let_go()

    def _nodes(self, unit: Unit) -> list[cst.CSTNode]:
        """The nodes of a statement or clause in the order of the text; none where it is nested too deeply, which is noted."""
        try:
            return list(self._model.parsed(unit).join.twins)
        except RecursionError:
            row = place_of(unit)[0]
            error = FileError(self._source.filename, _TOO_DEEP, Location(row, 1))
            self._source.pass_over(error, range(row, (getattr(unit, "end_lineno", None) or row) + 1))
            return []

    def at_everything(self, rules: Iterable[Entry]) -> dict[str, list[Diagnostic]]:
        """What the rules find in the whole file, in libcst's own traversal of it."""
        running = list(map(self._made, rules))
        self._model.whole.visit(_Together(self._model, running))
        return self._placed(running)

    def _made(self, entry: Entry) -> Rule:
        rule = entry.load()
        assert issubclass(rule, Rule)
        return rule(self._model, self._options)

    def _placed(self, rules: Iterable[Rule]) -> dict[str, list[Diagnostic]]:
        return {rule.code: [self._diagnostic(rule, remark) for remark in rule.remarks] for rule in rules}

    def _diagnostic(self, rule: Rule, remark: Remark) -> Diagnostic:
        start, end = (self._source.location(offset) for offset in self._model.span(remark.node))
        is_strict = remark.is_strict or self._model.apis.is_of_python_2(remark.node) or self._elsewhere.is_record
        is_left_out = self._options.leaves_out(rule.code, is_strict)
        return Diagnostic(
            code=rule.code,
            name=rule.name,
            message=remark.message,
            filename=self._source.filename,
            location=start,
            end_location=end,
            fix=self._editing.fix(remark.fix) if self._fixes and remark.fix is not None and not is_left_out else None,
            snippet=self._source.line(start.row),
            declared_url=rule.url,
            severity=remark.severity or rule.severity,
            is_strict=is_strict,
        )


class _Together(cst.CSTVisitor):
    """Rules in one traversal, which takes longer than most of them; of each, libcst finds the method for a node."""

    def __init__(self, model: Model, rules: Sequence[Rule]) -> None:
        super().__init__()
        self._model = model
        self._rules = rules
        self._shown: dict[str, list[Callable[[cst.CSTNode], object]]] = {}

    def on_visit(self, node: cst.CSTNode) -> bool:
        if self._model.is_placed(node):
            for show in self._of(f"visit_{type(node).__name__}"):
                show(node)
        return True

    def _of(self, method: str) -> list[Callable[[cst.CSTNode], object]]:
        """The rules that have something of their own in the place of a method that does nothing."""
        if method not in self._shown:
            nothing = getattr(cst.CSTVisitor, method, None)
            self._shown[method] = [rule.on_visit for rule in self._rules if getattr(type(rule), method, None) is not nothing]
        return self._shown[method]


def _all(rules: Iterable[Sequence[Entry]]) -> Iterable[Entry]:
    return (rule for group in rules for rule in group)


def _visits(rules: Sequence[Rule]) -> _Visits:
    """The methods of the rules by the types of node that they are for."""
    table: _Visits = defaultdict(list)
    for rule in rules:
        for node_type, method in visit_methods(type(rule)):
            table[node_type].append(getattr(rule, method))
    return dict(table)
