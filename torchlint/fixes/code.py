"""New code, said as code: ``expression("{loss}.item()", loss=node)`` is the libcst tree of that, with ``node`` itself in it.

As the nodes put in are the same objects, a replacement keeps them as they are written. A field with a dot in it is an API:
``expression("{torch.as_tensor}({data})", data=node)`` spells it as the code around it does, and imports it if nothing has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from string import Formatter
from typing import Any

import libcst as cst

from torchlint.fixes.parentheses import fitting, in_parentheses

_ATOMS = (
    *(cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.Dict, cst.Set, cst.ListComp, cst.SetComp, cst.DictComp),
    *(cst.SimpleString, cst.FormattedString, cst.Float, cst.Imaginary, cst.Ellipsis),
)
"""What a dot or a bracket may follow without parentheses."""
_OPERANDS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    **dict.fromkeys((cst.BinaryOperation, cst.BooleanOperation), ("left", "right")),
    **{cst.UnaryOperation: ("expression",), cst.Await: ("expression",), cst.IfExp: ("test", "body", "orelse")},
    **{cst.Comparison: ("left",), cst.ComparisonTarget: ("comparator",)},
}
_HOLE = "_torchlint_{}"
_DOT = "_of_"
_API_HOLE = re.compile(_HOLE.format(rf"((?:(?!{_HOLE.format('')})\w)+?{_DOT}\w+)"))


class Api(cst.Name):
    """A function, class or constant of a library in new code, by its full name; spelled when the fix is made."""

    def _validate(self) -> None:
        """Lets the name have dots, which no name in code has."""

    def _visit_and_replace_children(self, visitor: cst.CSTVisitorT) -> Api:
        return self


class Quoted(cst.SimpleString):
    """A string with code in it that names APIs; they are spelled when the fix is made."""

    def spelled(self, spelling: Callable[[str], str]) -> cst.SimpleString:
        """The string with the APIs as ``spelling`` has them."""
        value = _API_HOLE.sub(lambda hole: spelling(hole[1].replace(_DOT, ".")), self.value)
        return cst.SimpleString(value, self.lpar, self.rpar)


def in_string(literal: cst.SimpleString, places: Iterable[tuple[int, int]], name: str) -> Quoted:
    """A string with the API ``name`` at some places, each given by where it starts and ends behind the quote."""
    value, opening = literal.value, len(literal.prefix) + len(literal.quote)
    for start, end in sorted(places, reverse=True):
        value = value[: opening + start] + _HOLE.format(name.replace(".", _DOT)) + value[opening + end :]
    return Quoted(value, literal.lpar, literal.rpar)


def expression(template: str, **parts: cst.BaseExpression) -> cst.BaseExpression:
    """The expression that ``template`` is, with ``parts`` for its fields; what needs parentheses there is given them."""
    filled = _parsed_expression(template).visit(_Filling(parts))
    assert isinstance(filled, cst.BaseExpression)
    return filled


def statement(template: str, **parts: cst.BaseExpression) -> cst.BaseSmallStatement:
    """The simple statement that ``template`` is, with ``parts`` for its fields."""
    filled = _parsed_statement(template).visit(_Filling(parts))
    assert isinstance(filled, cst.SimpleStatementLine)
    return filled.body[0]


def compound(template: str, **parts: cst.BaseExpression) -> cst.BaseCompoundStatement:
    """The compound statement that ``template`` is, a loop, say, with ``parts`` for its fields."""
    filled = _parsed_statement(template).visit(_Filling(parts))
    assert isinstance(filled, cst.BaseCompoundStatement)
    return filled


def api(name: str) -> cst.BaseExpression:
    """An API by its full name, such as ``torch.nn.ModuleList``."""
    return Api(name)


def again(node: cst.BaseExpression) -> cst.BaseExpression:
    """The code of a node once more, for a place beside the one that the node itself has in the new code."""
    return node.deep_clone().with_changes(lpar=(), rpar=())


def method_call(attribute: cst.Attribute, name: str, *arguments: cst.BaseExpression) -> cst.Call:
    """The call of a method in the place of an attribute: ``x.detach()`` for an ``x.data``, with the dot as it is written."""
    return cst.Call(attribute.with_changes(attr=cst.Name(name), lpar=(), rpar=()), [cst.Arg(each) for each in arguments])


def after_method(attribute: cst.Attribute, name: str, *arguments: cst.BaseExpression) -> cst.Attribute:
    """An attribute of what a method gives: ``x.detach().cpu`` for an ``x.cpu``, with the first dot where the dot was."""
    return attribute.with_changes(value=method_call(attribute, name, *arguments), dot=cst.Dot())


def argument(call: cst.Call, name: str) -> cst.Arg | None:
    """The argument of ``call`` that is given by the keyword ``name``."""
    return next((each for each in call.args if each.keyword is not None and each.keyword.value == name), None)


def positional(call: cst.Call) -> list[cst.BaseExpression]:
    """The values of the arguments that are given by their place, up to the first ``*args``."""
    values: list[cst.BaseExpression] = []
    for each in call.args:
        if each.star:
            break
        if each.keyword is None:
            values.append(each.value)
    return values


def is_open_ended(call: cst.Call) -> bool:
    """Whether a call unpacks arguments, so that nobody knows which it gives."""
    return any(each.star for each in call.args)


def holds_comment(node: cst.CSTNode) -> bool:
    """Whether a comment stands anywhere in a node."""
    return isinstance(node, cst.Comment) or any(map(holds_comment, node.children))


def keyword(name: str, value: cst.BaseExpression) -> cst.Arg:
    """The argument ``name=value``."""
    bare = cst.SimpleWhitespace("")
    return cst.Arg(value, keyword=cst.Name(name), equal=cst.AssignEqual(bare, bare))


def instead_of(given: cst.Arg, name: str, value: cst.BaseExpression) -> cst.Arg:
    """The argument ``name=value`` in the place of another one, with the comma and the blanks that this has."""
    new = keyword(name, value)
    return given.with_changes(keyword=new.keyword, equal=new.equal, value=value)


def with_argument(call: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call:
    """``call`` with ``name=value``: in the place of the argument of that name, or behind the last one."""
    given = argument(call, name)
    if given is not None:
        return _with_args(call, [each.with_changes(value=value) if each is given else each for each in call.args])
    return _with_last(call, keyword(name, value))


def with_positional(call: cst.Call, value: cst.BaseExpression) -> cst.Call:
    """``call`` with another argument that is given by its place, behind the last one."""
    return _with_last(call, cst.Arg(value))


def _with_last(call: cst.Call, new: cst.Arg) -> cst.Call:
    if not call.args:
        return _with_args(call, [new])
    *others, last = call.args
    if isinstance(last.comma, cst.Comma):  # a trailing comma stays one
        blank = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        return _with_args(call, [*others, last.with_changes(comma=blank), new.with_changes(comma=last.comma)])
    room = last.whitespace_after_arg
    last = last.with_changes(
        comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    return _with_args(call, [*others, last, new.with_changes(whitespace_after_arg=room)])


def without_argument(call: cst.Call, given: cst.Arg) -> cst.Call:
    """``call`` without one of its arguments, and the comma that goes with it; comments stay, on lines of their own."""
    index = next(place for place, each in enumerate(call.args) if each is given)
    args = [*call.args[:index], *call.args[index + 1 :]]
    is_last = index == len(args)
    before = _behind(call.args[index - 1]) if index else call.whitespace_before_args
    blank = _joined(before, _behind(given), last=is_last)
    if not index:
        if not args and not _holds_comment(blank):
            blank = cst.SimpleWhitespace("")
        return call.with_changes(args=args, whitespace_before_args=blank)
    comma = given.comma if is_last else args[index - 1].comma  # the last one's, if any, is now that of the one before
    if isinstance(comma, cst.Comma):
        args[index - 1] = args[index - 1].with_changes(comma=comma.with_changes(whitespace_after=blank))
    else:
        args[index - 1] = args[index - 1].with_changes(comma=comma, whitespace_after_arg=blank)
    return _with_args(call, args)


def _behind(given: cst.Arg) -> cst.BaseParenthesizableWhitespace:
    """What stands between an argument, with its comma, and what follows."""
    return given.comma.whitespace_after if isinstance(given.comma, cst.Comma) else given.whitespace_after_arg


def _joined(
    before: cst.BaseParenthesizableWhitespace, behind: cst.BaseParenthesizableWhitespace, *, last: bool
) -> cst.BaseParenthesizableWhitespace:
    """What is left of the two blanks around an argument that went: the comments of both."""
    if not _holds_comment(behind):
        return _ending_as(before, behind) if last else before
    assert isinstance(behind, cst.ParenthesizedWhitespace)
    if not isinstance(before, cst.ParenthesizedWhitespace):
        return behind
    line = cst.EmptyLine(before.indent, before.last_line, behind.first_line.comment, behind.first_line.newline)
    lines = [line, *behind.empty_lines] if line.comment is not None else behind.empty_lines
    return _ending_as(before.with_changes(empty_lines=[*before.empty_lines, *lines]), behind)


def _holds_comment(blank: cst.BaseParenthesizableWhitespace) -> bool:
    if not isinstance(blank, cst.ParenthesizedWhitespace):
        return False
    return blank.first_line.comment is not None or any(line.comment is not None for line in blank.empty_lines)


def _ending_as(
    blank: cst.BaseParenthesizableWhitespace, other: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """The comments of ``blank`` and an end like that of ``other``, so that the bracket behind it stays where it is."""
    if not isinstance(blank, cst.ParenthesizedWhitespace) or not _holds_comment(blank):
        return other
    if not isinstance(other, cst.ParenthesizedWhitespace):
        return blank
    return blank.with_changes(indent=other.indent, last_line=other.last_line)


def _with_args(call: cst.Call, args: Sequence[cst.Arg]) -> cst.Call:
    return call.with_changes(args=args)


@lru_cache(maxsize=1024)
def _parsed_expression(template: str) -> cst.BaseExpression:
    return cst.parse_expression(_with_holes(template))


@lru_cache(maxsize=1024)
def _parsed_statement(template: str) -> cst.BaseStatement:
    return cst.parse_statement(_with_holes(template))


def _with_holes(template: str) -> str:
    pieces = Formatter().parse(template)
    return "".join(text + (_HOLE.format(name.replace(".", _DOT)) if name else "") for text, name, _, _ in pieces)


class _Filling(cst.CSTTransformer):
    def __init__(self, parts: dict[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._parts = {_HOLE.format(name): part for name, part in parts.items()}

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        hole = updated_node.value
        if hole in self._parts:
            return self._parts[hole]
        if hole.startswith(_HOLE.format("")) and _DOT in hole:
            return Api(hole.removeprefix(_HOLE.format("")).replace(_DOT, "."))
        return updated_node

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Gives parts that come to stand beside an operator the parentheses that they need there."""
        filled: Any = super().on_leave(original_node, updated_node)
        for field in _OPERANDS.get(type(original_node), ()):
            before = getattr(original_node, field)
            if isinstance(before, cst.Name) and before.value in self._parts:
                filled = filled.with_changes(**{field: fitting(getattr(filled, field), filled, field)})
        return filled

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        return updated_node.with_changes(value=as_operand(updated_node.value))

    def leave_Subscript(self, original_node: cst.Subscript, updated_node: cst.Subscript) -> cst.Subscript:
        return updated_node.with_changes(value=as_operand(updated_node.value))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Makes the parentheses of a call's only argument those of the call."""
        call = updated_node.with_changes(func=as_operand(updated_node.func))
        match updated_node.args:
            case [cst.Arg(value=value, keyword=None, star="") as only] if only.value is not original_node.args[0].value:
                if isinstance(value, (cst.Tuple, cst.Yield, cst.NamedExpr)) and not value.lpar:
                    return call.with_changes(args=[only.with_changes(value=in_parentheses(value))])
                if value.lpar and not isinstance(value, (cst.Tuple, cst.Yield)):
                    bare = value.with_changes(lpar=value.lpar[1:], rpar=value.rpar[:-1])
                    inner = only.with_changes(value=bare, whitespace_after_arg=value.rpar[-1].whitespace_before)
                    return call.with_changes(args=[inner], whitespace_before_args=value.lpar[0].whitespace_after)
        return call


def as_operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression as the thing that an attribute, an item or a call is taken of: in parentheses if it needs them."""
    return node if isinstance(node, _ATOMS) or node.lpar else in_parentheses(node)
