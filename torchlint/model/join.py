"""Joins the libcst tree of a statement, or of a module, to its `ast` by structure alone: no position is looked at.

Both trees are of the same text, so they are walked in step. What libcst has and `ast` lacks (an ``Arg``, an ``AssignTarget``)
gets the twin of what it holds; what `ast` folds together (``a and b and c``, neighbouring strings) is unfolded.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import libcst as cst


class JoinError(Exception):
    """The trees are not of the same text, or hold a node that is not known here."""


Twins: TypeAlias = dict[cst.CSTNode, ast.AST]


class Join:
    """The twins of the nodes of one libcst tree, in the order of the text, parents first; and the way back."""

    def __init__(self, *, bodies: bool) -> None:
        self.twins: Twins = {}
        self.concrete: dict[ast.AST, cst.CSTNode] = {}
        self.bodies = bodies
        """Whether the bodies of compound statements are joined, or but their headers."""

    def node(self, node: cst.CSTNode | None, twin: ast.AST | None) -> None:
        """Joins ``node`` and all below it."""
        if node is None and twin is None:
            return
        if node is None or twin is None:
            raise JoinError(f"{type(node).__name__} and {type(twin).__name__}")
        fields = _FIELDS.get(type(node))
        special = _SPECIAL.get(type(node))
        if fields is None and special is None:
            raise JoinError(f"{type(node).__name__} and {type(twin).__name__}")
        self.twins[node] = twin
        self.concrete[twin] = node
        for mine, its in fields or ():
            self.node(getattr(node, mine), getattr(twin, its))
        if special is not None:
            special(self, node, twin)

    def nodes(self, nodes: Sequence[cst.CSTNode], twins: Sequence[ast.AST]) -> None:
        """Joins one by one."""
        for node, twin in _zip(nodes, twins):
            self.node(node, twin)

    def holder(self, node: cst.CSTNode, twin: ast.AST) -> None:
        """Gives ``node``, which `ast` has no node for, the twin of what it holds."""
        self.twins[node] = twin

    # --- statements --------------------------------------------------------------------------------------------------

    def module(self, node: cst.Module, twin: ast.Module) -> None:
        """Joins a whole module."""
        self.twins[node] = twin
        self.nodes(list(_flat(node.body)), twin.body)

    def body(self, node: cst.BaseSuite, twins: Sequence[ast.stmt]) -> None:
        """Joins the statements of a block, if bodies are joined."""
        if self.bodies:
            self.nodes(list(_flat(node.body)), twins)

    def orelse(self, node: cst.Else | cst.If | None, twins: Sequence[ast.stmt]) -> None:
        """Joins what follows ``else``; an ``elif`` is a statement of its own in both trees."""
        if node is None or not self.bodies:
            return
        if isinstance(node, cst.If):
            self.nodes([node], twins)
        else:
            self.body(node.body, twins)


def _zip(nodes: Sequence[cst.CSTNode], twins: Sequence[ast.AST | None]) -> Iterator[tuple[Any, Any]]:
    if len(nodes) != len(twins):
        raise JoinError(f"{len(nodes)} and {len(twins)} parts")
    return zip(nodes, twins)


def _flat(body: Sequence[cst.BaseStatement | cst.BaseSmallStatement]) -> Iterator[cst.CSTNode]:
    for statement in body:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from statement.body
        else:
            yield statement


# --- what needs more than fields -------------------------------------------------------------------------------------


def _arguments(join: Join, given: Sequence[cst.Arg], items: Sequence[ast.expr | ast.keyword]) -> None:
    for node, twin in _zip(given, items):
        if isinstance(twin, ast.keyword):
            join.twins[node] = twin
            join.concrete[twin] = node
            join.node(node.value, twin.value)
        else:
            join.holder(node, twin)
            join.node(node.value, twin.value if isinstance(twin, ast.Starred) else twin)


def _start(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _call(join: Join, node: cst.Call, twin: ast.Call) -> None:
    items: list[ast.expr | ast.keyword] = [*twin.args, *twin.keywords]
    if twin.keywords and any(isinstance(each, ast.Starred) for each in twin.args):
        items.sort(key=_start)  # `f(a=1, *b)`: the one place where the ast does not keep the order
    _arguments(join, node.args, items)


def _elements(join: Join, node: cst.Tuple | cst.List | cst.Set, twin: ast.Tuple | ast.List | ast.Set) -> None:
    for element, value in _zip(node.elements, twin.elts):
        join.holder(element, value)
        join.node(element.value, value.value if isinstance(element, cst.StarredElement) else value)


def _dict(join: Join, node: cst.Dict, twin: ast.Dict) -> None:
    for element, (key, value) in zip(node.elements, zip(twin.keys, twin.values, strict=True), strict=True):
        if isinstance(element, cst.DictElement):
            join.node(element.key, key)
        join.node(element.value, value)


def _subscript(join: Join, node: cst.Subscript, twin: ast.Subscript) -> None:
    parts = node.slice
    is_tuple = len(parts) > 1 or isinstance(parts[0].comma, cst.Comma) or getattr(parts[0].slice, "star", None)
    twins = twin.slice.elts if is_tuple and isinstance(twin.slice, ast.Tuple) else [twin.slice]
    for part, each in _zip(parts, twins):
        join.holder(part, each)
        if isinstance(part.slice, cst.Index):
            join.holder(part.slice, each)
            join.node(part.slice.value, each.value if isinstance(each, ast.Starred) else each)
        else:
            join.node(part.slice, each)


def _boolean(join: Join, node: cst.BooleanOperation, twin: ast.BoolOp) -> None:
    join.nodes(list(_operands(node, node)), twin.values)


def _operands(node: cst.BaseExpression, whole: cst.BooleanOperation) -> Iterator[cst.BaseExpression]:
    """What one kind of operator joins: ``a and b and c`` is one node of the ast, and two of libcst."""
    pending = [node]
    while pending:
        part = pending.pop()
        is_part = isinstance(part, cst.BooleanOperation) and type(part.operator) is type(whole.operator)
        if is_part and (part is whole or not part.lpar):
            assert isinstance(part, cst.BooleanOperation)
            pending += [part.right, part.left]
        else:
            yield part


def _comparison(join: Join, node: cst.Comparison, twin: ast.Compare) -> None:
    for target, comparator in _zip(node.comparisons, twin.comparators):
        join.holder(target, comparator)
        join.node(target.comparator, comparator)


def _comprehension(join: Join, node: Any, twin: Any) -> None:
    clause = node.for_in
    for generator in twin.generators:
        join.twins[clause] = generator
        join.concrete[generator] = clause
        join.node(clause.target, generator.target)
        join.node(clause.iter, generator.iter)
        for condition, test in _zip(clause.ifs, generator.ifs):
            join.node(condition.test, test)
        clause = clause.inner_for_in


def _yield(join: Join, node: cst.Yield, twin: ast.Yield | ast.YieldFrom) -> None:
    join.node(node.value.item if isinstance(node.value, cst.From) else node.value, twin.value)


def _lambda(join: Join, node: cst.Lambda, twin: ast.Lambda) -> None:
    _parameters(join, node.params, twin.args)


def _string(join: Join, node: cst.CSTNode, twin: ast.AST) -> None:
    """Strings side by side are one node of the ast; what is in the braces of all of them are its fields."""
    _string_fields(join, [field for piece in _pieces(node) for field in _fields_of(piece.parts)], twin)


def _pieces(node: cst.CSTNode) -> Iterator[Any]:
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, cst.ConcatenatedString):
            pending += [part.right, part.left]
        elif not isinstance(part, cst.SimpleString):
            yield part


def _fields_of(parts: Sequence[cst.CSTNode]) -> list[Any]:
    return [part for part in parts if hasattr(part, "expression")]


def _string_fields(join: Join, fields: Sequence[Any], twin: ast.AST | None) -> None:
    values = [value for value in getattr(twin, "values", ()) if not isinstance(value, ast.Constant)]
    for field, value in _zip(fields, values):
        join.twins[field] = value
        join.concrete[value] = field
        join.node(field.expression, value.value)
        if field.format_spec is not None:
            _string_fields(join, _fields_of(field.format_spec), value.format_spec)


def _parameters(join: Join, node: cst.Parameters, twin: ast.arguments) -> None:
    plain = _zip([*node.posonly_params, *node.params], [*twin.posonlyargs, *twin.args])
    keyword = _zip(node.kwonly_params, twin.kwonlyargs)
    starred = [(node.star_arg, twin.vararg), (node.star_kwarg, twin.kwarg)]
    for parameter, argument in [*plain, *keyword, *starred]:
        if argument is not None:
            join.twins[parameter] = argument
            join.concrete[argument] = parameter
            _annotation(join, parameter.annotation, argument.annotation)
    defaults = [each.default for each in [*node.posonly_params, *node.params] if each.default is not None]
    join.nodes(defaults, twin.defaults)
    for parameter, default in _zip(node.kwonly_params, twin.kw_defaults):
        join.node(parameter.default, default)


def _annotation(join: Join, node: cst.Annotation | None, twin: ast.expr | None) -> None:
    if node is not None and twin is not None:
        value = node.annotation
        join.node(value, twin.value if isinstance(twin, ast.Starred) else twin)


def _assign(join: Join, node: cst.Assign, twin: ast.Assign) -> None:
    for target, each in _zip(node.targets, twin.targets):
        join.holder(target, each)
        join.node(target.target, each)
    join.node(node.value, twin.value)


def _annotated(join: Join, node: cst.AnnAssign, twin: ast.AnnAssign) -> None:
    join.node(node.target, twin.target)
    _annotation(join, node.annotation, twin.annotation)
    join.node(node.value, twin.value)


def _delete(join: Join, node: cst.Del, twin: ast.Delete) -> None:
    if len(twin.targets) == 1 and not (isinstance(node.target, cst.Tuple) and not node.target.lpar):
        join.node(node.target, twin.targets[0])
    elif isinstance(node.target, cst.Tuple):
        join.nodes([element.value for element in node.target.elements], twin.targets)


def _raise(join: Join, node: cst.Raise, twin: ast.Raise) -> None:
    join.node(node.exc, twin.exc)
    join.node(node.cause.item if node.cause is not None else None, twin.cause)


def _import(join: Join, node: cst.Import | cst.ImportFrom, twin: ast.Import | ast.ImportFrom) -> None:
    if not isinstance(node.names, cst.ImportStar):
        for alias, each in _zip(node.names, twin.names):
            join.twins[alias] = each
            join.concrete[each] = alias


def _type_parameters(join: Join, node: cst.FunctionDef | cst.ClassDef, twin: ast.AST) -> None:
    """The bounds in ``def f[T: Bound]()``."""
    parameters = node.type_parameters.params if node.type_parameters is not None else ()
    for parameter, each in zip(parameters, getattr(twin, "type_params", ())):
        if isinstance(parameter.param, cst.TypeVar):
            join.node(parameter.param.bound, getattr(each, "bound", None))


def _function(join: Join, node: cst.FunctionDef, twin: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    join.nodes([each.decorator for each in node.decorators], twin.decorator_list)
    _type_parameters(join, node, twin)
    _parameters(join, node.params, twin.args)
    _annotation(join, node.returns, twin.returns)
    join.body(node.body, twin.body)


def _class(join: Join, node: cst.ClassDef, twin: ast.ClassDef) -> None:
    join.nodes([each.decorator for each in node.decorators], twin.decorator_list)
    _type_parameters(join, node, twin)
    given = [*node.bases, *node.keywords]
    given.sort(key=lambda each: each.keyword is not None or each.star == "**")
    _arguments(join, given, [*twin.bases, *twin.keywords])
    join.body(node.body, twin.body)


def _with(join: Join, node: cst.With, twin: ast.With | ast.AsyncWith) -> None:
    for item, each in _zip(node.items, twin.items):
        join.twins[item] = each
        join.concrete[each] = item
        join.node(item.item, each.context_expr)
        join.node(item.asname.name if item.asname is not None else None, each.optional_vars)
    join.body(node.body, twin.body)


def _block(join: Join, node: Any, twin: Any) -> None:
    """The blocks of an ``if`` or a loop."""
    join.body(node.body, twin.body)
    join.orelse(node.orelse, twin.orelse)


def _try(join: Join, node: cst.Try | cst.TryStar, twin: Any) -> None:
    join.body(node.body, twin.body)
    if join.bodies:
        join.nodes(node.handlers, twin.handlers)
        join.orelse(node.orelse, twin.orelse)
        if node.finalbody is not None:
            join.body(node.finalbody.body, twin.finalbody)


def _handler(join: Join, node: cst.ExceptHandler | cst.ExceptStarHandler, twin: ast.ExceptHandler) -> None:
    join.node(node.type, twin.type)
    join.body(node.body, twin.body)


def _match(join: Join, node: cst.Match, twin: ast.Match) -> None:
    join.node(node.subject, twin.subject)
    if join.bodies:
        join.nodes(node.cases, twin.cases)


def _case(join: Join, node: cst.MatchCase, twin: ast.match_case) -> None:
    join.node(node.guard, twin.guard)  # patterns are left out: nothing in them is computed
    join.body(node.body, twin.body)


_LEAF: tuple[tuple[str, str], ...] = ()
_FIELDS: dict[type[cst.CSTNode], tuple[tuple[str, str], ...]] = {
    **dict.fromkeys((cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.Ellipsis), _LEAF),
    **dict.fromkeys((cst.Pass, cst.Break, cst.Continue, cst.Global, cst.Nonlocal, cst.TypeAlias), _LEAF),
    cst.Attribute: (("value", "value"),),
    cst.Call: (("func", "func"),),
    cst.Subscript: (("value", "value"),),
    cst.Slice: (("lower", "lower"), ("upper", "upper"), ("step", "step")),
    cst.BinaryOperation: (("left", "left"), ("right", "right")),
    cst.UnaryOperation: (("expression", "operand"),),
    cst.Comparison: (("left", "left"),),
    cst.IfExp: (("test", "test"), ("body", "body"), ("orelse", "orelse")),
    cst.Lambda: (("body", "body"),),
    cst.ListComp: (("elt", "elt"),),
    cst.SetComp: (("elt", "elt"),),
    cst.GeneratorExp: (("elt", "elt"),),
    cst.DictComp: (("key", "key"), ("value", "value")),
    cst.Await: (("expression", "value"),),
    cst.NamedExpr: (("target", "target"), ("value", "value")),
    cst.Expr: (("value", "value"),),
    cst.AugAssign: (("target", "target"), ("value", "value")),
    cst.Return: (("value", "value"),),
    cst.Assert: (("test", "test"), ("msg", "msg")),
    cst.If: (("test", "test"),),
    cst.While: (("test", "test"),),
    cst.For: (("target", "target"), ("iter", "iter")),
    cst.StarredElement: (("value", "value"),),  # of no sequence, `x = *a`: Python parses it, and refuses to compile it
}
"""What is joined field by field: libcst's name for it, and `ast`'s."""

_SPECIAL: dict[type[cst.CSTNode], Callable[[Join, Any, Any], None]] = {
    cst.Call: _call,
    cst.Tuple: _elements,
    cst.List: _elements,
    cst.Set: _elements,
    cst.Dict: _dict,
    cst.Subscript: _subscript,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.ListComp: _comprehension,
    cst.SetComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.DictComp: _comprehension,
    cst.Yield: _yield,
    cst.Lambda: _lambda,
    cst.FormattedString: _string,
    cst.TemplatedString: _string,
    cst.ConcatenatedString: _string,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.Del: _delete,
    cst.Raise: _raise,
    cst.Import: _import,
    cst.ImportFrom: _import,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.With: _with,
    cst.If: _block,
    cst.For: _block,
    cst.While: _block,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.ExceptHandler: _handler,
    cst.ExceptStarHandler: _handler,
    cst.Match: _match,
    cst.MatchCase: _case,
}
