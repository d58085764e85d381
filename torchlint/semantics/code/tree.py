"""The syntax tree with what Python's nodes lack: parents, an order, and the enclosing statement, loop or function."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence, Set
from typing import TypeAlias, TypeVar, cast

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Loop: TypeAlias = ast.For | ast.AsyncFor | ast.While
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
TRIES: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FRAMES = (ast.mod, ast.stmt, ast.ExceptHandler, ast.match_case, ast.Lambda, *COMPREHENSIONS)

_ENTERED_BY_NONE = frozenset({*FUNCTIONS, ast.Lambda, ast.ClassDef})

Node = TypeVar("Node", bound=ast.AST)

_LEAF_FIELDS = frozenset({"ctx", "op", "ops", "id", "attr", "n", "s", "kind", "type_comment", "lineno", "conversion", "simple"})


class _ChildFields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of a node type that may hold nodes, reversed."""

    def __missing__(self, node_type: type[ast.AST]) -> tuple[str, ...]:
        fields = () if node_type is ast.Constant else node_type._fields
        if issubclass(node_type, (ast.ClassDef, *FUNCTIONS)) and "type_params" not in fields:
            fields = (*fields, "type_params")  # before Python 3.12 given by torchlint.text.newer_syntax
        self[node_type] = found = tuple(field for field in reversed(fields) if field not in _LEAF_FIELDS)
        return found


_CHILD_FIELDS = _ChildFields()


def push_children(node: ast.AST, stack: list[ast.AST]) -> None:
    """Puts the parts of ``node`` on a stack, the first on top."""
    for field in _CHILD_FIELDS[type(node)]:
        value = getattr(node, field, None)
        if not value:
            continue
        if type(value) is list:
            for item in reversed(value):
                if isinstance(item, ast.AST):
                    stack.append(item)
        elif isinstance(value, ast.AST):
            stack.append(value)


class Tree:
    """A module's nodes in the order of the text, and the parent of each; contexts and operators are no nodes of it."""

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self.nodes: list[ast.AST] = []
        self._by_type: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._by_types: dict[tuple[type[ast.AST], ...], list[ast.AST]] = {}
        self._parents: dict[ast.AST, ast.AST] = {}
        self._statements: dict[ast.AST, ast.stmt] = {}
        self._frames: dict[ast.AST, tuple[ast.AST, ast.AST]] = {}
        self._index()

    def _index(self) -> None:
        nodes, parents, by_type = self.nodes, self._parents, self._by_type
        stack: list[ast.AST] = [self.module]
        pop, push, append = stack.pop, stack.append, nodes.append
        while stack:
            node = pop()
            append(node)
            node_type = type(node)
            by_type[node_type].append(node)
            for field in _CHILD_FIELDS[node_type]:
                value = getattr(node, field, None)
                if not value:
                    continue
                if type(value) is list:
                    for item in reversed(value):
                        if isinstance(item, ast.AST):
                            parents[item] = node
                            push(item)
                elif isinstance(value, ast.AST):
                    parents[value] = node
                    push(value)

    @property
    def types(self) -> Set[type[ast.AST]]:
        """The types of nodes that there are."""
        return self._by_type.keys()

    def of_type(self, *types: type[Node]) -> list[Node]:
        """The nodes of these types, and of none derived from them, in the order of the text."""
        lists = [found for node_type in types if (found := self._by_type.get(node_type))]
        if len(lists) < 2:
            return cast("list[Node]", lists[0]) if lists else []
        if (known := self._by_types.get(types)) is None:
            known = self._by_types[types] = [node for node in self.nodes if type(node) in types]
        return cast("list[Node]", known)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that ``node`` is a part of; ``None`` for the module."""
        return self._parents.get(node)

    def called(self, node: ast.AST, methods: Collection[str]) -> ast.Call | None:
        """The call of one of ``methods`` on a value."""
        match method := self.parent(node):
            case ast.Attribute(attr=name) if name in methods:
                call = self.parent(method)
                return call if isinstance(call, ast.Call) and call.func is method else None
        return None

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The parent of ``node``, its parent, and so on up to the module."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def frames(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """What `ancestors` gives of statements, clauses, lambdas and comprehensions, each with its part that ``node`` is in.

        Operators and calls are passed over in one step, so that many questions about one deep expression cost no more than
        its length.
        """
        found = self._frame(node)
        while found is not None:
            yield found
            found = self._frame(found[0])

    def _frame(self, node: ast.AST) -> tuple[ast.AST, ast.AST] | None:
        passed: list[ast.AST] = []
        child = node
        while (found := self._frames.get(child)) is None:
            passed.append(child)
            parent = self._parents.get(child)
            if parent is None:
                return None
            if isinstance(parent, _FRAMES):
                found = (parent, child)
                break
            child = parent
        for part in passed:
            self._frames[part] = found
        return found

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that ``node`` is or stands in."""
        passed: list[ast.AST] = []
        current = node
        while not isinstance(current, ast.stmt):
            if (known := self._statements.get(current)) is not None:
                current = known
                break
            passed.append(current)
            current = self._parents[current]
        for part in passed:  # so that many questions about one deep expression cost no more than its length
            self._statements[part] = current
        return current

    def function(self, node: ast.AST) -> Function | ast.Lambda | None:
        """The innermost function or lambda whose body ``node`` stands in."""
        for frame, child in self.frames(node):
            if isinstance(frame, FUNCTIONS) and isinstance(child, ast.stmt):
                return frame
            if isinstance(frame, ast.Lambda) and child is frame.body:
                return frame
        return None

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class whose body, or whose methods' bodies, ``node`` stands in."""
        return next((frame for frame, _ in self.frames(node) if isinstance(frame, ast.ClassDef)), None)

    def loops(self, node: ast.AST) -> Iterator[Loop]:
        """The loops of the same function whose body ``node`` stands in, innermost first."""
        for frame, child in self.frames(node):
            if isinstance(frame, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
                return
            if isinstance(frame, LOOPS) and (in_body(child, frame) or (isinstance(frame, ast.While) and child is frame.test)):
                yield frame

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that ``statement`` is one of."""
        found: list[ast.stmt] = []
        for field in ("body", "orelse", "finalbody"):
            block = getattr(self._parents[statement], field, None)
            if isinstance(block, list) and block and not _starts_before(statement, block[0]):
                found = block
        return found

    def inside(self, node: ast.AST, container: ast.AST) -> bool:
        """Whether ``node`` is ``container`` or a part of it."""
        return node is container or any(parent is container for parent in self.ancestors(node))


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """``node`` and all its parts, in the order of the text; nested functions and classes are not entered."""
    yield node
    stack: list[ast.AST] = []
    push_children(node, stack)
    while stack:
        current = stack.pop()
        yield current
        if type(current) not in _ENTERED_BY_NONE:
            push_children(current, stack)


def all_parts(*nodes: ast.AST) -> list[ast.AST]:
    """``nodes`` and all their parts, in the order of the text, with all that is nested; contexts and operators are left out."""
    return _parts_of(nodes, None)


def own_parts(body: list[ast.stmt]) -> list[ast.AST]:
    """The parts of a list of statements as `walk_body` gives them."""
    return _parts_of(body, [])


def parts_apart(body: list[ast.stmt]) -> tuple[list[ast.AST], list[ast.AST]]:
    """The parts of a list of statements as `walk` gives them, and those of the functions and classes that are nested."""
    nested: list[ast.AST] = []
    own = _parts_of(body, nested)
    return own, all_parts(*(child for node in nested for child in ast.iter_child_nodes(node)))


def _parts_of(nodes: Sequence[ast.AST], left_out: list[ast.AST] | None) -> list[ast.AST]:
    """The parts of nodes; those of definitions only where they are not to be ``left_out``."""
    found: list[ast.AST] = []
    stack, roots = list(reversed(nodes)), set(nodes)
    pop, push, append = stack.pop, stack.append, found.append
    while stack:
        node = pop()
        append(node)
        node_type = type(node)
        if left_out is not None and node_type in _ENTERED_BY_NONE and node not in roots:
            left_out.append(node)
            continue
        for field in _CHILD_FIELDS[node_type]:
            value = getattr(node, field, None)
            if not value:
                continue
            if type(value) is list:
                for item in reversed(value):
                    if isinstance(item, ast.AST):
                        push(item)
            elif isinstance(value, ast.AST):
                push(value)
    return found


def position(node: ast.stmt | ast.expr) -> tuple[int, int]:
    """Where a node starts, its line and its column: of two nodes, that of the first in the text is less."""
    return node.lineno, node.col_offset


def ends_before(one: ast.stmt | ast.expr, other: ast.stmt | ast.expr) -> bool:
    """Whether ``one`` ends before ``other`` starts."""
    return (one.end_lineno or one.lineno, one.end_col_offset or one.col_offset) <= position(other)


def _starts_before(one: ast.stmt, other: ast.stmt) -> bool:
    return position(one) < position(other)


def in_body(part: ast.AST, compound: Loop | ast.If) -> bool:
    """Whether ``part``, a direct part of a loop or an if, is a statement of its body (and not of its else)."""
    return isinstance(part, ast.stmt) and (not compound.orelse or _starts_before(part, compound.orelse[0]))


def walk_body(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The parts of a list of statements as `walk` gives them."""
    for statement in body:
        yield from walk(statement)


def own_returns(function: Function) -> list[ast.Return]:
    """The ``return`` statements of a function; not those of functions within it."""
    own = [statement for statement in function.body if type(statement) not in _ENTERED_BY_NONE]
    return [part for part in walk_body(own) if isinstance(part, ast.Return)]


def given_to(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by place and then by name; of what is unpacked, the list or the dict."""
    return [*call.args, *(word.value for word in call.keywords)]


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of the argument that a call is given by the keyword ``name``; ``None`` where it is given none."""
    return next((word.value for word in call.keywords if word.arg == name), None)


def argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """What a call is given by a keyword, or else at a place; ``None`` where it is given neither."""
    named = keyword(call, name)
    return named if named is not None else call.args[place] if len(call.args) > place else None


def is_none(node: ast.AST | None) -> bool:
    """Whether code is ``None``, as it is written out."""
    return isinstance(node, ast.Constant) and node.value is None


def is_false(node: ast.AST | None) -> bool:
    """Whether code is ``False``, as it is written out."""
    return isinstance(node, ast.Constant) and node.value is False


def is_true(node: ast.AST | None) -> bool:
    """Whether code is ``True``, as it is written out."""
    return isinstance(node, ast.Constant) and node.value is True


def is_self(node: ast.AST | None) -> bool:
    """Whether code is the name ``self``."""
    return isinstance(node, ast.Name) and node.id == "self"


def last_name(node: ast.expr) -> str:
    """The name that a name or a chain of attributes ends in: ``c`` for ``a.b.c``; empty for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def spoken_name(node: ast.expr) -> str:
    """The name that is said of a value where it is used: ``b`` of ``a.b``, ``a`` of ``a[0]`` and of ``a()``."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return last_name(node)


def dotted(node: ast.AST) -> str | None:
    """``a.b.c`` for a chain of attributes on a name; ``None`` for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def chosen_from(function: ast.expr) -> ast.expr | None:
    """What something is chosen from: ``models`` in ``models.__dict__[name]``, ``getattr(models, name)``, ``models[name]``."""
    match function:
        case ast.Subscript(value=ast.Attribute(value=source, attr="__dict__"), slice=index):
            return None if isinstance(index, ast.Slice) else source
        case ast.Subscript(value=ast.Name() | ast.Attribute() as source, slice=index):
            return None if isinstance(index, ast.Slice) else source
        case ast.Call(func=ast.Name("getattr"), args=[ast.Name() | ast.Attribute() as source, name], keywords=[]):
            return None if isinstance(name, ast.Constant) else source
    return None
