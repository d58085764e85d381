"""Which definition a name refers to: scopes, bindings, and the bindings that reach each use.

Every place that gives a name a value is a `Binding`. `Bindings` walks each scope once, in the order of execution, and
records for each use of a name the bindings that may have given it its value there: branches are joined, and what a loop's
body binds may reach its next round. Names of enclosing scopes (closures, globals) may have any of their bindings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from torchlint.semantics.tree import COMPREHENSIONS, FUNCTIONS, LOOPS, Comprehension, Function, Loop, Tree

ScopeNode: TypeAlias = ast.Module | ast.ClassDef | Function | ast.Lambda | Comprehension

_MANY = 24
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


class Bindings:
    """The scopes and bindings of a module, and what reaches each use of a name."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.scopes: dict[ast.AST, Scope] = {}
        self._of_node: dict[ast.AST, Binding] = {}
        self._loop_bindings: dict[ast.AST, list[Binding]] = {}
        self._reaching: dict[ast.Name, tuple[Binding, ...]] = {}
        self.module = self._collect(tree)
        for scope in list(self.scopes.values()):
            if not isinstance(scope.node, COMPREHENSIONS):
                _Flow(self, scope).run()

    def reaching(self, name: ast.Name) -> tuple[Binding, ...]:
        """The bindings that may have given ``name`` its value there; empty where the file does not bind it."""
        return self._reaching.get(name, ())

    def of(self, node: ast.AST) -> Binding | None:
        """The binding that ``node`` makes: a name that is stored to, a parameter, an import's alias, a def, a class."""
        return self._of_node.get(node)

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope that ``node`` stands in."""
        child = node
        for parent in self._tree.ancestors(node):
            scope = self.scopes.get(parent)
            if scope is not None and _opens_for(parent, child):
                return scope
            child = parent
        return self.module

    def lookup(self, name: str, scope: Scope | None) -> tuple[Binding, ...]:
        """All bindings of ``name`` in the scope that a use of it in ``scope`` refers to."""
        first = True
        while scope is not None:
            if name in scope.outer_names:
                owner = scope.outer_names[name]
                return tuple(owner.bindings.get(name, ())) if owner else ()
            if name in scope.bindings and (first or not isinstance(scope.node, ast.ClassDef)):
                return tuple(scope.bindings[name])
            scope = scope.parent
            first = False
        return ()

    def bound_in_loop(self, loop: Loop) -> list[Binding]:
        """The bindings made by the body, test or target of ``loop``, in the order of the text."""
        return self._loop_bindings.get(loop, [])

    # --- collecting --------------------------------------------------------------------------------------------------

    def _collect(self, tree: Tree) -> Scope:
        module = Scope(tree.module, None)
        self.scopes[tree.module] = module
        for node in tree.nodes:
            collect = _COLLECTORS.get(type(node))
            if collect is not None:
                collect(self, node)
        for scope in self.scopes.values():
            for name in list(scope.outer_names):
                scope.outer_names[name] = self._owner(scope, name)
        return module

    def _owner(self, scope: Scope, name: str) -> Scope | None:
        """The scope that ``name``, declared global or nonlocal in ``scope``, belongs to."""
        outer = scope.parent
        while outer is not None:
            if isinstance(outer.node, ast.Module) or (name in outer.bindings and not isinstance(outer.node, ast.ClassDef)):
                return outer
            outer = outer.parent
        return None

    def _open(self, node: ast.AST) -> None:
        assert isinstance(node, (ast.ClassDef, ast.Lambda, *FUNCTIONS, *COMPREHENSIONS))
        self.scopes[node] = Scope(node, self.scope_of(node))

    def _bind(self, name: str, form: Form, node: ast.AST, scope: Scope | None = None, **facts: object) -> None:
        scope = scope or self.scope_of(node)
        if isinstance(node, ast.Name) and isinstance(self._tree.parent(node), ast.NamedExpr):
            while isinstance(scope.node, COMPREHENSIONS) and scope.parent is not None:
                scope = scope.parent  # a walrus binds in the function around the comprehension
        declared = scope
        if name in scope.outer_names:
            scope = self._owner(scope, name) or scope
        binding = Binding(name, form, node, scope, **facts)  # type: ignore[arg-type]
        scope.bindings.setdefault(name, []).append(binding)
        self._of_node[node] = binding
        self._note_loops(binding, declared)

    def _note_loops(self, binding: Binding, scope: Scope) -> None:
        child = binding.node
        for parent in self._tree.ancestors(binding.node):
            if parent is scope.node:
                return
            if isinstance(parent, LOOPS) and child not in parent.orelse:
                self._loop_bindings.setdefault(parent, []).append(binding)
            child = parent

    def _function(self, node: ast.AST) -> None:
        assert isinstance(node, (*FUNCTIONS, ast.ClassDef))
        form = Form.CLASS if isinstance(node, ast.ClassDef) else Form.FUNCTION
        self._bind(node.name, form, node)
        self._open(node)

    def _parameter(self, node: ast.AST) -> None:
        assert isinstance(node, ast.arg)
        arguments = self._tree.parent(node)
        function = self._tree.parent(arguments) if arguments else None
        if function is not None:
            self._bind(node.arg, Form.PARAMETER, node, self.scopes[function], annotation=node.annotation)

    def _import(self, node: ast.AST) -> None:
        assert isinstance(node, ast.alias)
        parent = self._tree.parent(node)
        if isinstance(parent, ast.ImportFrom):
            module = "." * parent.level + (parent.module or "")
            if node.name != "*":
                self._bind(node.asname or node.name, Form.IMPORT, node, imported=f"{module}.{node.name}".replace("..", ".", 0))
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
                scope.outer_names[name] = self.scopes[self._tree.module]

    def _handler(self, node: ast.AST) -> None:
        name = getattr(node, "name", None)
        if isinstance(name, str):
            self._bind(name, Form.OTHER, node)

    def _target(self, node: ast.AST) -> None:
        assert isinstance(node, ast.Name)
        if isinstance(node.ctx, ast.Load):
            return
        path: list[int | None] = []
        child: ast.AST = node
        parent = self._tree.parent(node)
        while isinstance(parent, (ast.Tuple, ast.List, ast.Starred)):
            if isinstance(parent, ast.Starred):
                path.append(None)
            else:
                path.append(_index_in(parent.elts, child))
            child, parent = parent, self._tree.parent(parent)
        self._bind_target(node, child, parent, tuple(reversed(path)))

    def _bind_target(self, node: ast.Name, child: ast.AST, parent: ast.AST | None, path: tuple[int | None, ...]) -> None:
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
                comprehension = self._tree.parent(parent)
                assert comprehension is not None
                self._bind(node.id, Form.LOOP, node, self.scopes[comprehension], value=value, path=path)
            case ast.withitem(context_expr=value):
                self._bind(node.id, Form.CONTEXT, node, value=value, path=path)
            case _:
                self._bind(node.id, Form.OTHER, node)


_COLLECTORS = {
    ast.Name: Bindings._target,
    ast.FunctionDef: Bindings._function,
    ast.AsyncFunctionDef: Bindings._function,
    ast.ClassDef: Bindings._function,
    ast.Lambda: Bindings._open,
    ast.ListComp: Bindings._open,
    ast.SetComp: Bindings._open,
    ast.DictComp: Bindings._open,
    ast.GeneratorExp: Bindings._open,
    ast.arg: Bindings._parameter,
    ast.alias: Bindings._import,
    ast.Global: Bindings._declare,
    ast.Nonlocal: Bindings._declare,
    ast.ExceptHandler: Bindings._handler,
    ast.MatchAs: Bindings._handler,
    ast.MatchStar: Bindings._handler,
}


def _opens_for(scope: ast.AST, child: ast.AST) -> bool:
    """Whether ``child``, a direct part of ``scope``'s node, is evaluated inside the scope, not around it."""
    match scope:
        case ast.Module():
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return child in scope.body
        case ast.ClassDef():
            return child in scope.body
        case ast.Lambda():
            return child is scope.body
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return True
    return False


def _index_in(items: list[ast.expr], child: ast.AST) -> int | None:
    """Where ``child`` is among ``items``: counted from the end behind a starred one."""
    index = next(position for position, item in enumerate(items) if item is child)
    starred = next((position for position, item in enumerate(items) if isinstance(item, ast.Starred)), None)
    return index - len(items) if starred is not None and index > starred else index


class _Flow:
    """Walks one scope in the order of execution and records what reaches each use of a name."""

    def __init__(self, bindings: Bindings, scope: Scope) -> None:
        self._bindings = bindings
        self._scope = scope
        self._locals: dict[str, tuple[Binding, ...]] = {}
        self._undo: dict[str, tuple[Binding, ...]] = {}
        self._comprehensions: list[Scope] = []

    def run(self) -> None:
        node = self._scope.node
        match node:
            case ast.Lambda():
                self._parameters(node.args)
                self._expression(node.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._parameters(node.args)
                self._block(node.body)
            case ast.Module() | ast.ClassDef():
                self._block(node.body)

    def _parameters(self, arguments: ast.arguments) -> None:
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in [*every, *filter(None, (arguments.vararg, arguments.kwarg))]:
            self._store(argument)

    # --- names -------------------------------------------------------------------------------------------------------

    def _set(self, name: str, value: tuple[Binding, ...]) -> None:
        self._undo.setdefault(name, self._locals.get(name, ()))
        self._locals[name] = value

    def _store(self, node: ast.AST) -> None:
        binding = self._bindings.of(node)
        if binding is None:
            return
        if binding.form is Form.AUGMENTED:
            binding.before = self._locals.get(binding.name, ()) or self._bindings.lookup(binding.name, self._scope)
            if binding.scope is self._scope:
                binding.before = tuple(found for found in binding.before if found is not binding)
        self._set(binding.name, (binding,))

    def _load(self, name: ast.Name) -> None:
        reaching = self._find(name.id)
        self._bindings._reaching[name] = reaching
        for binding in reaching:
            binding.uses.append(name)

    def _find(self, name: str) -> tuple[Binding, ...]:
        for scope in reversed(self._comprehensions):
            if name in scope.bindings:
                return tuple(scope.bindings[name])
        if name in self._locals:
            return self._locals[name]
        return self._bindings.lookup(name, self._scope)

    # --- expressions -------------------------------------------------------------------------------------------------

    def _expression(self, root: ast.AST | None) -> None:
        """Visits an expression in the order of evaluation, which is that of the text but for comprehensions."""
        if root is None:
            return
        stack: list[ast.AST | Scope] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, Scope):
                self._comprehensions.pop()
                continue
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    self._load(node)
                else:
                    self._store(node)
            elif isinstance(node, ast.Lambda):
                stack.extend(filter(None, (*node.args.defaults, *node.args.kw_defaults)))
            elif isinstance(node, COMPREHENSIONS):
                scope = self._bindings.scopes[node]
                self._comprehensions.append(scope)
                stack.append(scope)
                stack.extend(reversed(list(_comprehension_parts(node))))
            elif isinstance(node, ast.NamedExpr):
                stack.append(node.target)
                stack.append(node.value)
            else:
                stack.extend(reversed(list(ast.iter_child_nodes(node))))

    # --- statements --------------------------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt]) -> bool:
        """Visits statements; whether their end is reached (no return, raise, break or continue on the way)."""
        alive = True
        for statement in body:
            alive = self._statement(statement) and alive
        return alive

    def _statement(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign():
                self._expression(statement.value)
                for target in statement.targets:
                    self._expression(target)
            case ast.AugAssign():
                if isinstance(statement.target, ast.Name):
                    self._expression(statement.value)
                    self._expression(statement.target)
                else:
                    self._expression(statement.target)
                    self._expression(statement.value)
            case ast.AnnAssign():
                self._expression(statement.annotation)
                self._expression(statement.value)
                self._expression(statement.target)
            case ast.If():
                self._expression(statement.test)
                return self._branches([statement.body, statement.orelse])
            case ast.For() | ast.AsyncFor() | ast.While():
                self._loop(statement)
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    self._expression(item.context_expr)
                    self._expression(item.optional_vars)
                return self._block(statement.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._around(statement.decorator_list, statement.args, statement.returns)
                self._store(statement)
            case ast.ClassDef():
                self._around([*statement.decorator_list, *statement.bases, *(word.value for word in statement.keywords)])
                self._store(statement)
            case ast.Import() | ast.ImportFrom():
                for alias in statement.names:
                    self._store(alias)
            case ast.Match():
                self._match(statement)
            case ast.Return() | ast.Raise():
                for part in ast.iter_child_nodes(statement):
                    self._expression(part)
                return False
            case ast.Break() | ast.Continue():
                return False
            case _ if hasattr(statement, "handlers"):
                return self._try(statement)
            case _:
                for part in ast.iter_child_nodes(statement):
                    self._expression(part)
        return True

    def _around(self, parts: Iterable[ast.AST], arguments: ast.arguments | None = None, returns: ast.expr | None = None) -> None:
        for part in parts:
            self._expression(part)
        if arguments is not None:
            for default in [*arguments.defaults, *arguments.kw_defaults]:
                self._expression(default)
            for argument in ast.walk(arguments):
                if isinstance(argument, ast.arg):
                    self._expression(argument.annotation)
        self._expression(returns)

    def _branches(self, blocks: list[list[ast.stmt]]) -> bool:
        """Visits blocks of which one is executed, and joins what they leave; whether any of their ends is reached."""
        outcomes: list[dict[str, tuple[Binding, ...]]] = []
        for block in blocks:
            changes, alive = self._apart(block)
            if alive:
                outcomes.append(changes)
        self._join(outcomes)
        return bool(outcomes)

    def _apart(self, block: list[ast.stmt]) -> tuple[dict[str, tuple[Binding, ...]], bool]:
        """Visits a block and takes its changes back: them, and whether its end is reached."""
        outer, self._undo = self._undo, {}
        alive = self._block(block)
        changes = {name: self._locals[name] for name in self._undo}
        for name, value in self._undo.items():
            if value:
                self._locals[name] = value
            else:
                del self._locals[name]
        self._undo = outer
        return changes, alive

    def _join(self, outcomes: list[dict[str, tuple[Binding, ...]]]) -> None:
        for name in dict.fromkeys(name for outcome in outcomes for name in outcome):
            here = self._locals.get(name, ())
            self._set(name, _union(outcome.get(name, here) for outcome in outcomes))

    def _loop(self, loop: Loop) -> None:
        if not isinstance(loop, ast.While):
            self._expression(loop.iter)
        body_names = set(map(id, loop.body))
        carried = self._carried(loop, body_names)
        for name, bindings in carried.items():
            self._set(name, _union((self._locals.get(name, ()), bindings)))
        if isinstance(loop, ast.While):
            self._expression(loop.test)
        else:
            self._expression(loop.target)
        changes, alive = self._apart(loop.body)
        self._join([{}, *([changes] if alive else [])])
        self._block(loop.orelse)

    def _carried(self, loop: Loop, body: set[int]) -> dict[str, tuple[Binding, ...]]:
        """What a loop's body may hand to its next round: of each name, its last certain binding and those behind it."""
        carried: dict[str, list[Binding]] = {}
        for binding in self._bindings.bound_in_loop(loop):
            if isinstance(binding.scope.node, COMPREHENSIONS):
                continue
            certain = id(self._bindings._tree.statement(binding.node)) in body and not isinstance(binding.node, LOOPS)
            if certain:
                carried[binding.name] = [binding]
            else:
                carried.setdefault(binding.name, []).append(binding)
        return {name: tuple(bindings[-_MANY:]) for name, bindings in carried.items()}

    def _try(self, statement: ast.stmt) -> bool:
        body: list[ast.stmt] = getattr(statement, "body")
        handlers: list[ast.ExceptHandler] = getattr(statement, "handlers")
        changes, alive = self._apart([*body, *getattr(statement, "orelse")])
        outcomes = [changes] if alive else []
        self._join([{}, changes])  # a handler may be entered before or after what the body binds
        for handler in handlers:
            self._expression(handler.type)
            self._store(handler)
            handled, handler_alive = self._apart(handler.body)
            if handler_alive:
                outcomes.append(handled)
        self._join(outcomes)
        finally_alive = self._block(getattr(statement, "finalbody"))
        return bool(outcomes) and finally_alive

    def _match(self, statement: ast.Match) -> None:
        self._expression(statement.subject)
        outcomes: list[dict[str, tuple[Binding, ...]]] = [{}]
        for case in statement.cases:
            for part in ast.walk(case.pattern):
                self._store(part)
            self._expression(case.guard)
            changes, alive = self._apart(case.body)
            if alive:
                outcomes.append(changes)
        self._join(outcomes)


def _comprehension_parts(node: Comprehension) -> Iterable[ast.AST]:
    for generator in node.generators:
        yield generator.iter
        yield generator.target
        yield from generator.ifs
    if isinstance(node, ast.DictComp):
        yield node.key
        yield node.value
    else:
        yield node.elt


def _union(groups: Iterable[tuple[Binding, ...]]) -> tuple[Binding, ...]:
    return tuple(dict.fromkeys(binding for group in groups for binding in group))[-_MANY:]
