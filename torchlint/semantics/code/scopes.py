"""The scopes of a file, and every place that gives a name a value: a `Binding`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS, LOOPS, Comprehension, Function, Loop, Tree, in_body

ScopeNode: TypeAlias = ast.Module | ast.ClassDef | Function | ast.Lambda | Comprehension

MANY = 24
"""A use that more bindings than this reach keeps the latest of them: what is beyond says nothing definite anyway."""


class Form(Enum):
    """How a binding comes to its value."""

    IMPORT = auto()
    ASSIGNMENT = auto()
    AUGMENTED = auto()
    ANNOTATION = auto()  # `x: T` without a value
    LOOP = auto()  # the target of a for, also in a comprehension
    CONTEXT = auto()  # `with … as x`
    PARAMETER = auto()
    FUNCTION = auto()
    CLASS = auto()
    OTHER = auto()  # except … as, del, match, type parameters


@dataclass(eq=False, slots=True)
class Binding:
    """One place that gives ``name`` a value.

    ``value`` is the expression that it comes from (the iterable of a loop, the context manager of a with); ``path`` leads
    into it where the target is one of several: ``(1, 0)`` is the first part of the second part.
    """

    name: str
    form: Form
    node: ast.AST
    scope: Scope
    value: ast.expr | None = None
    path: tuple[int | None, ...] = ()
    annotation: ast.expr | None = None
    imported: str = ""
    uses: list[ast.Name] = field(default_factory=list)
    before: tuple[Binding, ...] = ()
    """For an augmented assignment, the bindings that its target had."""


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class, function, lambda or comprehension, and what it binds."""

    node: ScopeNode
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer_names: dict[str, Scope | None] = field(default_factory=dict)
    """Names declared global or nonlocal, with the scope they belong to."""
    foreign: dict[str, list[Binding]] = field(default_factory=dict)
    """Of ``bindings``, those that nested functions make of names they declare global or nonlocal."""

    def forget(self) -> None:
        """Breaks the circles of a scope and its bindings."""
        for bindings in self.bindings.values():
            for binding in bindings:
                binding.before = ()
        for names in (self.bindings, self.outer_names, self.foreign):
            names.clear()


class Scopes:
    """The scopes of a module, and all bindings that stand in each."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.scopes: dict[ast.AST, Scope] = {}
        self._of_node: dict[ast.AST, Binding] = {}
        self._loop_bindings: dict[ast.AST, list[Binding]] = {}
        self._continues: dict[ast.AST, list[ast.Continue]] = {}
        self._standing: dict[ast.AST, Scope] = {}
        self._loops: dict[ast.AST, tuple[Loop, ...]] = {}
        self._indices: dict[ast.AST, dict[ast.AST, int]] = {}
        self._has_loops = any(tree.of_type(*LOOPS))
        self.module = self._collect(tree)

    def of(self, node: ast.AST) -> Binding | None:
        """The binding that ``node`` makes: a name that is stored to, a parameter, an import's alias, a def, a class."""
        return self._of_node.get(node)

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope that ``node`` stands in."""
        passed: list[ast.AST] = []
        scope = self.module
        child = node
        for parent in self.tree.ancestors(node):
            passed.append(child)
            if parent in self.scopes and _opens_for(parent, child):
                scope = self.scopes[parent]
                break
            if isinstance(parent, ast.comprehension) and _is_first_iterable(child, parent, self.tree):
                scope = self.scope_of(self.tree.parent(parent) or parent)
                break
            if (known := self._standing.get(parent)) is not None:
                scope = known
                break
            child = parent
        for part in passed:
            self._standing[part] = scope
        return scope

    def lookup(self, name: str, scope: Scope | None) -> tuple[Binding, ...]:
        """All bindings of ``name`` in the scope that a use of it in ``scope`` refers to."""
        return tuple(self._visible(name, scope))

    def latest(self, name: str, scope: Scope | None) -> tuple[Binding, ...]:
        """The last of these bindings: as many of them as a use may have."""
        return tuple(self._visible(name, scope)[-MANY:])

    def _visible(self, name: str, scope: Scope | None) -> list[Binding]:
        first = True
        while scope is not None:
            if name in scope.outer_names:
                owner = scope.outer_names[name]
                return owner.bindings.get(name, []) if owner else []
            if name in scope.bindings and (first or not isinstance(scope.node, ast.ClassDef)):
                return scope.bindings[name]
            scope = scope.parent
            first = False
        return []

    def visible_from(self, scope: Scope) -> Iterator[Scope]:
        """The scopes whose names code in ``scope`` sees, innermost first; of the classes around it, only its own."""
        current: Scope | None = scope
        while current is not None:
            if current is scope or not isinstance(current.node, ast.ClassDef):
                yield current
            current = current.parent

    def bound_in_loop(self, loop: Loop) -> list[Binding]:
        """The bindings made by the body, test or target of ``loop``, in the order of the text."""
        return self._loop_bindings.get(loop, [])

    def continues(self, loop: Loop) -> list[ast.Continue]:
        """The ``continue`` statements that go on with the next round of ``loop``, in the order of the text."""
        return self._continues.get(loop, [])

    # --- collecting --------------------------------------------------------------------------------------------------

    def _collect(self, tree: Tree) -> Scope:
        self.module = module = Scope(tree.module, None)
        self.scopes[tree.module] = module
        for node in tree.nodes:
            if isinstance(node, ast.Name):  # most nodes are, and most of these are only read
                if not isinstance(node.ctx, ast.Load):
                    self._target(node)
            elif (collect := _COLLECTORS.get(type(node))) is not None:
                collect(self, node)
        for scope in self.scopes.values():
            for name, owner in scope.outer_names.items():
                scope.outer_names[name] = owner or _nonlocal_owner(scope, name)
            for name in scope.outer_names:
                self._hand_over(scope, name)
        return module

    @staticmethod
    def _hand_over(scope: Scope, name: str) -> None:
        """Gives the bindings of a name that ``scope`` declares global or nonlocal to the scope it belongs to."""
        owner = scope.outer_names[name]
        bindings = scope.bindings.get(name)
        if owner is not None and owner is not scope and bindings:
            del scope.bindings[name]
            for binding in bindings:
                binding.scope = owner
            owner.bindings.setdefault(name, []).extend(bindings)
            owner.foreign.setdefault(name, []).extend(bindings)

    def _open(self, node: ast.AST) -> None:
        assert isinstance(node, (ast.ClassDef, ast.Lambda, *FUNCTIONS, *COMPREHENSIONS))
        self.scopes[node] = Scope(node, self.scope_of(node))

    def _bind(self, name: str, form: Form, node: ast.AST, scope: Scope | None = None, **facts: object) -> None:
        scope = scope or self.scope_of(node)
        if isinstance(node, ast.Name) and isinstance(self.tree.parent(node), ast.NamedExpr):
            while isinstance(scope.node, COMPREHENSIONS) and scope.parent is not None:
                scope = scope.parent  # a walrus binds in the function around the comprehension
        binding = Binding(name, form, node, scope, **facts)  # type: ignore[arg-type]
        scope.bindings.setdefault(name, []).append(binding)
        self._of_node[node] = binding
        if form is not Form.PARAMETER and not isinstance(scope.node, (ast.Lambda, *COMPREHENSIONS)):
            for loop in self._loops_around(node):
                self._loop_bindings.setdefault(loop, []).append(binding)

    def _loops_around(self, node: ast.AST) -> tuple[Loop, ...]:
        """The loops of the same scope whose body, test or target ``node`` stands in, innermost first."""
        if not self._has_loops:
            return ()
        statement = self.tree.statement(node)
        passed: list[tuple[ast.AST, ast.AST]] = []
        child: ast.AST = statement
        for parent in self.tree.ancestors(statement):
            if child in self._loops or isinstance(parent, (ast.ClassDef, *FUNCTIONS)):
                break
            passed.append((child, parent))
            child = parent
        loops = self._loops.get(child, ())
        for child, parent in reversed(passed):
            if isinstance(parent, LOOPS) and in_body(child, parent):
                loops = (parent, *loops)
            self._loops[child] = loops
        return (statement, *loops) if isinstance(statement, LOOPS) else loops

    def _continue(self, node: ast.AST) -> None:
        assert isinstance(node, ast.Continue)
        for loop in self._loops_around(node)[:1]:
            self._continues.setdefault(loop, []).append(node)

    def _function(self, node: ast.AST) -> None:
        assert isinstance(node, (*FUNCTIONS, ast.ClassDef))
        form = Form.CLASS if isinstance(node, ast.ClassDef) else Form.FUNCTION
        self._bind(node.name, form, node)
        self._open(node)

    def _parameter(self, node: ast.AST) -> None:
        assert isinstance(node, ast.arg)
        arguments = self.tree.parent(node)
        function = self.tree.parent(arguments) if arguments else None
        if function is not None:
            assert isinstance(arguments, ast.arguments)
            is_one = node is not arguments.vararg and node is not arguments.kwarg  # others are annotated as what is in them
            annotation = node.annotation if is_one else None
            self._bind(node.arg, Form.PARAMETER, node, self.scopes[function], annotation=annotation)

    def _import(self, node: ast.AST) -> None:
        assert isinstance(node, ast.alias)
        parent = self.tree.parent(node)
        if isinstance(parent, ast.ImportFrom):
            prefix = "." * parent.level + (f"{parent.module}." if parent.module else "")
            if node.name != "*":
                self._bind(node.asname or node.name, Form.IMPORT, node, imported=prefix + node.name)
        elif node.asname:
            self._bind(node.asname, Form.IMPORT, node, imported=node.name)
        else:
            top = node.name.partition(".")[0]
            self._bind(top, Form.IMPORT, node, imported=top)

    def _declare(self, node: ast.AST) -> None:
        assert isinstance(node, (ast.Global, ast.Nonlocal))
        scope = self.scope_of(node)
        for name in node.names:
            scope.outer_names[name] = None
            if isinstance(node, ast.Global):
                scope.outer_names[name] = self.scopes[self.tree.module]

    def _handler(self, node: ast.AST) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
        if isinstance(name, str):
            self._bind(name, Form.OTHER, node)

    def _target(self, node: ast.Name) -> None:
        path: list[int | None] = []
        child: ast.AST = node
        parent = self.tree.parent(node)
        while isinstance(parent, (ast.Tuple, ast.List, ast.Starred)):
            if isinstance(parent, ast.Starred):
                path.append(None)
            else:
                path.append(self._index_in(parent, child))
            child, parent = parent, self.tree.parent(parent)
        self._bind_target(node, parent, tuple(reversed(path)))

    def _index_in(self, display: ast.Tuple | ast.List, child: ast.AST) -> int | None:
        """Where ``child`` is among the items of a target: counted from the end behind a starred one."""
        if display not in self._indices:
            indices = self._indices[display] = {item: index for index, item in enumerate(display.elts)}
            starred = next((index for item, index in indices.items() if isinstance(item, ast.Starred)), len(indices))
            indices.update({item: index - len(indices) for item, index in indices.items() if index > starred})
        return self._indices[display][child]

    def _bind_target(self, node: ast.Name, parent: ast.AST | None, path: tuple[int | None, ...]) -> None:
        match parent:
            case ast.Assign(value=value):
                self._bind(node.id, Form.ASSIGNMENT, node, value=value, path=path)
            case ast.NamedExpr(value=value):
                self._bind(node.id, Form.ASSIGNMENT, node, value=value)
            case ast.AnnAssign(value=None, annotation=annotation):
                self._bind(node.id, Form.ANNOTATION, node, annotation=annotation)
            case ast.AnnAssign(value=value, annotation=annotation):
                self._bind(node.id, Form.ASSIGNMENT, node, value=value, annotation=annotation)
            case ast.AugAssign(value=value):
                self._bind(node.id, Form.AUGMENTED, node, value=value)
            case ast.For(iter=value) | ast.AsyncFor(iter=value):
                self._bind(node.id, Form.LOOP, node, value=value, path=path)
            case ast.comprehension(iter=value):
                comprehension = self.tree.parent(parent)
                assert comprehension is not None
                self._bind(node.id, Form.LOOP, node, self.scopes[comprehension], value=value, path=path)
            case ast.withitem(context_expr=value):
                self._bind(node.id, Form.CONTEXT, node, value=value, path=path)
            case _:
                self._bind(node.id, Form.OTHER, node)


_COLLECTORS = {
    ast.FunctionDef: Scopes._function,
    ast.AsyncFunctionDef: Scopes._function,
    ast.ClassDef: Scopes._function,
    ast.Lambda: Scopes._open,
    ast.ListComp: Scopes._open,
    ast.SetComp: Scopes._open,
    ast.DictComp: Scopes._open,
    ast.GeneratorExp: Scopes._open,
    ast.arg: Scopes._parameter,
    ast.alias: Scopes._import,
    ast.Global: Scopes._declare,
    ast.Nonlocal: Scopes._declare,
    ast.ExceptHandler: Scopes._handler,
    ast.MatchAs: Scopes._handler,
    ast.MatchStar: Scopes._handler,
    ast.MatchMapping: Scopes._handler,
    ast.Continue: Scopes._continue,
}


def _opens_for(scope: ast.AST, child: ast.AST) -> bool:
    """Whether ``child``, a direct part of ``scope``'s node, is evaluated inside the scope, not around it."""
    if isinstance(scope, (ast.ClassDef, *FUNCTIONS)):
        return isinstance(child, ast.stmt)
    if isinstance(scope, ast.Lambda):
        return child is scope.body
    return True


def _is_first_iterable(node: ast.AST, generator: ast.comprehension, tree: Tree) -> bool:
    """Whether ``node`` is what a comprehension iterates over first, which is evaluated outside of it."""
    comprehension = tree.parent(generator)
    return node is generator.iter and isinstance(comprehension, COMPREHENSIONS) and comprehension.generators[0] is generator


def _nonlocal_owner(scope: Scope, name: str) -> Scope | None:
    """The function around ``scope`` that a name declared nonlocal there belongs to."""
    outer = scope.parent
    while outer is not None:
        if isinstance(outer.node, (ast.Lambda, *FUNCTIONS)) and name in outer.bindings and name not in outer.outer_names:
            return outer
        outer = outer.parent
    return None
