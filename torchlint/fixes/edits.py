"""From a fix to the edits of the text that it is made of."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

import libcst as cst

from torchlint.diagnostic import Applicability, Edit, Fix
from torchlint.fact import CERTAIN, Fact, known
from torchlint.fixes.alignment import Aligned
from torchlint.fixes.changes import (
    Change,
    CodeFix,
    Decorate,
    Empty,
    Insert,
    InsertBelowImports,
    InsertInto,
    Move,
    Remove,
    Rename,
    Replace,
    ReplaceByLines,
    Statement,
    Wrap,
)
from torchlint.fixes.code import Api, Quoted
from torchlint.fixes.fstring_fields import fields_of
from torchlint.fixes.names.imports import TextEdit
from torchlint.fixes.names.renaming import Renaming
from torchlint.fixes.names.spelling import Spelling
from torchlint.fixes.parentheses import fitting_there
from torchlint.fixes.rendering import replacement
from torchlint.fixes.rewriting import Rewriter, combined
from torchlint.model import Model
from torchlint.model.positions import written
from torchlint.semantics.code.tree import FUNCTIONS, Function

_FOR_TOOLS = re.compile(r"#\s*(noqa|type:|pylint|fmt|isort)")
"""Comments that say nothing to people, and nothing at all without the code that they stand behind."""


class Editing:
    """Makes the edits to one file."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._source = model.source
        self._rewriter = Rewriter(model.source, model.semantics)
        self._spelling = Spelling(model.semantics, self._rewriter)
        self._made: dict[CodeFix, Fix | None] = {}
        self._wrapped: set[ast.stmt] = set()
        """What the fix that is being made puts into a block."""
        self._are_names_plain = CERTAIN
        """Whether the names of what it uses mean that where they come to stand."""

    def fix(self, wanted: CodeFix) -> Fix | None:
        """A fix with its edits, or ``None`` where the layout of the code does not allow it.

        One that changes what is printed is unsafe.
        """
        if wanted not in self._made:
            self._made[wanted] = self._fix(wanted)
        return self._made[wanted]

    def _fix(self, wanted: CodeFix) -> Fix | None:
        self._are_names_plain = CERTAIN
        wraps = [change for change in wanted.changes if isinstance(change, Wrap)]
        self._wrapped = {self._statement(each) for change in wraps for each in change.statements}
        groups = [self._edits(change) for change in wanted.changes]
        made = [group for group in groups if group is not None]
        edits = self._apart(combined(*made))
        if not any(isinstance(change, Replace) and change.moves for change in wanted.changes):
            edits = self._aligned(edits)
        if len(made) < len(groups) or not edits:
            return None
        fields = fields_of(self._source, self._model.semantics)
        prints_code = any(fields.prints_code(start, end) for start, end, _ in edits)
        is_unprinted = known(not prints_code, "the f-string prints this code as it is written")
        rests_on = wanted.rests_on & self._are_names_plain & is_unprinted
        if rests_on.is_certain:
            rests_on = self._is_unnoticed(wanted)
        fitting = {(start, end, fields.with_fitting_quotes(start, new)) for start, end, new in edits}
        quoted = [(start, end, new) for start, end, new in fitting if new is not None]
        if len(quoted) < len(fitting):
            return None
        located = (Edit(self._source.location(start), self._source.location(end), new) for start, end, new in sorted(quoted))
        applicability = Applicability.SAFE if rests_on.is_certain else Applicability.UNSAFE
        return Fix(wanted.title, tuple(located), applicability, rests_on.doubt)

    def _aligned(self, edits: list[TextEdit]) -> list[TextEdit]:
        """The edits, with lines below that are aligned with what they move moving along."""
        source = self._source
        by_row: dict[int, list[TextEdit]] = defaultdict(list)
        for start, end, new in edits:
            row = source.location(start).row
            if start == end == source.line_start(row) and not new.strip():
                continue  # the line is indented, and those below it are
            if "\n" not in new and "\r" not in new and end <= source.line_span(row)[1] and len(new) != end - start:
                by_row[row].append((start, end, new))
        replaced = [(start, end) for start, end, _ in edits if start < end]
        moved: list[TextEdit] = []
        for row, changes in by_row.items():
            line = source.line_start(row)
            shifts = self._alignment.shifts(row - 1, [(start - line, end - line, new) for start, end, new in changes])
            for index, shift in shifts.items():
                place = source.line_start(index + 1)
                if any(start <= place < end for start, end in replaced):
                    continue  # the line begins in what goes
                place += 1  # behind where the line is indented, if it is
                moved.append((place, place, " " * shift) if shift > 0 else (place, place - shift, ""))
        return [*edits, *moved]

    @cached_property
    def _alignment(self) -> Aligned:
        return Aligned(self._source.lines)

    def _is_unnoticed(self, wanted: CodeFix) -> Fact:
        """What any fix rests on: that torch's names mean what is torch's, and that nobody looks at the frames that run."""
        decorates = any(isinstance(change, Decorate) for change in wanted.changes)
        return self._model.code.has_own_torch & (self._model.code.sees_no_frames if decorates else CERTAIN)

    def _apart(self, edits: list[TextEdit]) -> list[TextEdit]:
        """The edits, with those that take along what another one changes leaving that: the first in a block, a line break."""
        changed = Counter(start for start, end, _ in edits if start < end)
        return [self._without_lines_break(self._without_last(edit, changed), changed) for edit in edits]

    def _without_last(self, edit: TextEdit, changed: Counter[int]) -> TextEdit:
        start, end, new = edit
        is_changed = changed[end - 1] > (start == end - 1)
        takes_along = start < end and is_changed and new.endswith(self._source.text[end - 1])
        return (start, end - 1, new[:-1]) if takes_along else edit

    def _without_lines_break(self, edit: TextEdit, changed: Collection[int]) -> TextEdit:
        """A deletion of whole lines with the line break before them in the place of the one behind, if that is changed."""
        start, end, new = edit
        if new or start == end:
            return edit
        first, last = self._source.location(start), self._source.location(end - 1).row
        line_end = self._source.line_span(last)[1]
        if first.column > 1 or first.row == 1 or line_end >= end or line_end not in changed:
            return edit
        return (self._source.line_span(first.row - 1)[1], line_end, "")

    def _edits(self, change: Change) -> list[TextEdit] | None:
        match change:
            case Replace(old, new, moves):
                return self._replacement(old, new, moves=moves)
            case ReplaceByLines(old, statements):
                return self._replacement_by_lines(self._statement(old), statements)
            case Remove(node, but_comment):
                return self._removal(node, but_comment=but_comment)
            case Empty(block):
                return self._emptying(block)
            case Move(node, before):
                return self._move(self._statement(node), self._statement(before))
            case Insert(new, beside, behind, alone):
                return self._insertion(new, self._statement(beside), behind=behind, alone=alone)
            case InsertInto(new, function, last, alone):
                return self._insertion_into(new, self._function(function), last=last, alone=alone)
            case InsertBelowImports(new):
                return self._insertion_below_imports(new)
            case Rename(reference, name):
                return self._renaming(reference, name)
            case Decorate(function, decorator):
                return self._decoration(self._function(function), decorator)
            case Wrap(statements, context, first):
                return self._wrapping([self._statement(each) for each in statements], context, first)

    def _statement(self, node: cst.CSTNode) -> ast.stmt:
        twin = self._model.twin(node)
        assert isinstance(twin, ast.stmt), "statements are inserted and wrapped, not their parts"
        return twin

    def _function(self, node: cst.CSTNode) -> Function:
        twin = self._model.twin(node)
        assert isinstance(twin, FUNCTIONS), "only functions are inserted into and decorated"
        return twin

    def _replacement(self, old: cst.CSTNode, new: cst.CSTNode, *, moves: bool = False) -> list[TextEdit] | None:
        parsed = self._model.parsed_with(old)
        if not parsed.is_faithful:
            return None
        twin = self._model.twin(old)
        assert twin is not None
        spelled, imports = self._spelled(new, twin, parsed.spans)
        if isinstance(old, cst.BaseExpression) and isinstance(spelled, cst.BaseExpression):
            spelled = fitting_there(spelled, old, parsed.parents)
        indentation = self._rewriter.indentation(self._model.semantics.tree.statement(twin)) if parsed.is_whole else None
        return [*replacement(old, spelled, parsed, self._source.text, indentation, moves=moves), *imports]

    def _replacement_by_lines(self, old: ast.stmt, new: Iterable[Statement]) -> list[TextEdit] | None:
        if not self._rewriter.stands_alone(old):
            return None
        code, imports = self._lines(new, old)
        code = code[len(self._indentation(old)) :].removesuffix(self._source.newline)
        return [(self._source.start(old), self._source.end(old), code), *imports]

    def _lines(self, new: Iterable[Statement], beside: ast.stmt) -> tuple[str, list[TextEdit]]:
        """New statements on lines of their own, as deep as ``beside``, and the edits that import what they take."""
        rewriter = self._rewriter
        module = cst.Module([], default_indent=rewriter.indent_unit(beside), default_newline=self._source.newline)
        code, imports = "", list[TextEdit]()
        for each in new:
            spelled, taken = self._spelled(each, beside)
            line = cst.SimpleStatementLine([spelled]) if isinstance(spelled, cst.BaseSmallStatement) else spelled
            code += written(line, module, self._indentation(beside))[0]
            imports += taken
        return code, imports

    def _indentation(self, statement: ast.stmt) -> str:
        """What a statement is indented by once it is wrapped, if it is."""
        deeper = self._rewriter.indent_unit(statement) if statement in self._wrapped else ""
        return self._rewriter.indentation(statement) + deeper

    def _removal(self, node: cst.CSTNode, *, but_comment: bool) -> list[TextEdit]:
        twin = self._model.twin(node)
        if isinstance(twin, ast.alias):
            statement = self._model.semantics.tree.parent(twin)
            assert isinstance(statement, (ast.Import, ast.ImportFrom))
            return [self._rewriter.delete_alias(statement, twin)]
        statement = self._statement(node)
        if but_comment and self._rewriter.stands_alone(statement):
            start, end = self._source.start(statement), self._source.end(statement)
            rest = self._source.text[end : self._source.line_span(self._source.location(end).row)[1]]
            comment = rest.lstrip()
            if comment.startswith("#") and not _FOR_TOOLS.match(comment):
                return [(start, end + len(rest) - len(comment), "")]
        return [self._rewriter.delete_statement(statement)]

    def _emptying(self, block: Sequence[cst.CSTNode]) -> list[TextEdit] | None:
        statements = [self._statement(each) for each in block]
        deletion = self._rewriter.delete_else(statements) or self._rewriter.delete_no_grad(statements)
        if deletion is not None:
            return [deletion]
        first, *others = block
        left = self._replacement(first, cst.Pass())
        return None if left is None else [*left, *(edit for each in others for edit in self._removal(each, but_comment=True))]

    def _move(self, statement: ast.stmt, before: ast.stmt) -> list[TextEdit] | None:
        source = self._source
        start, line = source.start(before), source.line_start(before.lineno)
        deletion = self._rewriter.delete_statement(statement)
        if not source.text[line:start].strip(" \t") and self._rewriter.stands_alone(statement):
            moved = source.text[deletion[0] : deletion[1]].rstrip("\r\n") + source.newline
            return [(line, line, moved), deletion]
        if before.lineno != before.end_lineno:
            return None
        return [(start, start, f"{source.segment(statement)}; "), deletion]

    def _insertion(self, new: Statement, beside: ast.stmt, *, behind: bool, alone: bool) -> list[TextEdit] | None:
        source, rewriter = self._source, self._rewriter
        stands_alone = rewriter.stands_alone(beside)
        if not stands_alone and (alone or isinstance(new, cst.BaseCompoundStatement)):
            return None
        lines, imports = self._lines([new], beside)
        code = lines[len(self._indentation(beside)) :].removesuffix(source.newline)
        start, end = source.start(beside), source.end(beside)
        if behind:
            if not stands_alone:
                return [(end, end, f"; {code}"), *imports]
            line_end = source.line_span(beside.end_lineno or beside.lineno)[1]
            return [(line_end, line_end, source.newline + lines.removesuffix(source.newline)), *imports]
        decorators = getattr(beside, "decorator_list", None)
        start = source.text.rindex("@", 0, source.start(decorators[0])) if decorators else start
        row = source.location(start).row
        line = source.line_start(row)
        if source.text[line:start].strip(" \t") or (row > 1 and source.line(row - 1).endswith("\\")):
            return None if hasattr(beside, "body") else [(start, start, f"{code}; "), *imports]
        return _behind_imports((line, line, lines), imports)

    def _insertion_into(
        self, new: cst.BaseSmallStatement, function: Function, *, last: bool, alone: bool
    ) -> list[TextEdit] | None:
        match function.body:
            case [ast.Pass() as only]:
                return self._replacement(self._model.concrete(only), new)
            case [*_, end] if last:
                return self._insertion(new, end, behind=not isinstance(end, ast.Return), alone=alone)
            case [ast.Expr(value=ast.Constant(value=str())) as docstring]:
                return self._insertion(new, docstring, behind=True, alone=alone)
            case [ast.Expr(value=ast.Constant(value=str())), first, *_] | [first, *_]:
                return self._insertion(new, first, behind=False, alone=alone)
        return None

    def _insertion_below_imports(self, new: cst.BaseSmallStatement) -> list[TextEdit] | None:
        source, body = self._source, self._source.tree.body
        imports = [statement for statement in body if isinstance(statement, (ast.Import, ast.ImportFrom))]
        if not imports or not self._rewriter.stands_alone(imports[-1]):
            return None
        spelled, more = self._spelled(new, body[-1])
        place = source.line_start((imports[-1].end_lineno or 0) + 1)
        return _behind_imports((place, place, f"{source.newline}{self._code(spelled)}{source.newline}"), more)

    def _renaming(self, node: cst.CSTNode, name: str) -> list[TextEdit] | None:
        twin = self._model.twin(node)
        assert isinstance(twin, (ast.Name, ast.Attribute)), "what refers to an API is a name or an attribute"
        return Renaming(self._source, self._model.semantics, self._rewriter).edits(twin, self._model.name(node), name)

    def _decoration(self, function: Function, decorator: cst.BaseExpression) -> list[TextEdit]:
        spelled, imports = self._spelled(decorator, function)
        line = self._source.line_start(function.lineno)
        above = f"{self._rewriter.indentation(function)}@{self._code(spelled)}{self._source.newline}"
        return _behind_imports((line, line, above), imports)

    def _wrapping(
        self, statements: list[ast.stmt], context: cst.BaseExpression, first: cst.BaseSmallStatement | None
    ) -> list[TextEdit] | None:
        spelled, imports = self._spelled(context, statements[0])
        before = "" if first is None else self._code(self._spelled(first, statements[0])[0])
        return self._rewriter.wrap(statements, self._code(spelled), imports, before)

    def _code(self, node: cst.CSTNode) -> str:
        return written(node, cst.Module([], default_newline=self._source.newline))[0]

    def _spelled(
        self, new: cst.CSTNode, place: ast.AST, kept: Iterable[cst.CSTNode] = ()
    ) -> tuple[cst.CSTNode, list[TextEdit]]:
        """New code with its APIs as the code around ``place`` spells them, and the edits that import them."""
        spelling = _Spelled(self._spelling, place, kept)
        spelled = new.visit(spelling)
        assert isinstance(spelled, cst.CSTNode)
        self._are_names_plain &= spelling.are_plain
        return spelled, list(dict.fromkeys(spelling.imports))


def _behind_imports(insertion: TextEdit, imports: list[TextEdit]) -> list[TextEdit]:
    """An insertion and the imports that it takes, which come first where both stand at the same place."""
    start, end, code = insertion
    before = [text for place, _, text in imports if place == start]
    others = [edit for edit in imports if edit[0] != start]
    return [(start, end, "".join((*before, code))), *others]


class _Spelled(cst.CSTTransformer):
    """Spells the APIs in new code; what is kept of the old stays the same objects."""

    def __init__(self, spelling: Spelling, place: ast.AST, kept: Iterable[cst.CSTNode]) -> None:
        super().__init__()
        self._spelling = spelling
        self._place = place
        self._kept = kept
        self.imports: list[TextEdit] = []
        self.are_plain = CERTAIN

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node not in self._kept

    def leave_Api(self, original_node: Api, updated_node: Api) -> cst.BaseExpression:
        name = self._name(original_node.value)
        return cst.parse_expression(name).with_changes(lpar=original_node.lpar, rpar=original_node.rpar)

    def leave_Quoted(self, original_node: Quoted, updated_node: cst.SimpleString) -> cst.SimpleString:
        return original_node.spelled(self._name)

    def _name(self, api: str) -> str:
        name, imports = self._spelling.of(api, self._place)
        self.imports += imports
        self.are_plain &= self._spelling.is_plain(api, self._place)
        return name
