"""Which definition a name refers to: scopes, bindings, and the bindings that reach each use.

Every place that gives a name a value is a `Binding`. `Bindings` walks each scope once, in the order of execution, and
records for each use of a name the bindings that may have given it its value there: branches are joined, what a loop's body
binds may reach its next round, and what holds at a ``break`` holds behind the loop. Names of enclosing scopes (closures,
globals) may have any of their bindings, and so may names that a nested function declares ``global`` or ``nonlocal``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from torchlint.semantics.code.tree import (
    COMPREHENSIONS,
    FUNCTIONS,
    LOOPS,
    Comprehension,
    Function,
    Loop,
    Tree,
    in_body,
    push_children,
)

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
    foreign: dict[str, list[Binding]] = field(default_factory=dict)
    """Of ``bindings``, those that nested functions make of names they declare global or nonlocal."""


class Bindings:
    """The scopes and bindings of a module, and what reaches each use of a name."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.scopes: dict[ast.AST, Scope] = {}
        self._of_node: dict[ast.AST, Binding] = {}
        self._loop_bindings: dict[ast.AST, list[Binding]] = {}
        self._continues: dict[ast.AST, list[ast.Continue]] = {}
        self._standing: dict[ast.AST, Scope] = {}
        self._loops: dict[ast.AST, tuple[Loop, ...]] = {}
        self._indices: dict[ast.AST, dict[ast.AST, int]] = {}
        self._has_loops = any(tree.of_type(*LOOPS))
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
        passed: list[ast.AST] = []
        scope = self.module
        child = node
        for parent in self._tree.ancestors(node):
            passed.append(child)
            if parent in self.scopes and _opens_for(parent, child):
                scope = self.scopes[parent]
                break
            if isinstance(parent, ast.comprehension) and _is_first_iterable(child, parent, self._tree):
                scope = self.scope_of(self._tree.parent(parent) or parent)
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
        return tuple(self._visible(name, scope)[-_MANY:])

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

    def bound_in_loop(self, loop: Loop) -> list[Binding]:
        """The bindings made by the body, test or target of ``loop``, in the order of the text."""
        return self._loop_bindings.get(loop, [])

    def continues(self, loop: Loop) -> list[ast.Continue]:
        """The ``continue`` statements that go on with the next round of ``loop``, in the order of the text."""
        return self._continues.get(loop, [])

    def adopt(self, expression: ast.expr) -> None:
        """Resolves the names of an expression that is not part of the tree, a quoted annotation, as in the module's scope."""
        for node in ast.walk(expression):
            if isinstance(node, ast.Name):
                self._reaching[node] = self.lookup(node.id, self.module)

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
        if isinstance(node, ast.Name) and isinstance(self._tree.parent(node), ast.NamedExpr):
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
        statement = self._tree.statement(node)
        passed: list[tuple[ast.AST, ast.AST]] = []
        child: ast.AST = statement
        for parent in self._tree.ancestors(statement):
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
        arguments = self._tree.parent(node)
        function = self._tree.parent(arguments) if arguments else None
        if function is not None:
            self._bind(node.arg, Form.PARAMETER, node, self.scopes[function], annotation=node.annotation)

    def _import(self, node: ast.AST) -> None:
        assert isinstance(node, ast.alias)
        parent = self._tree.parent(node)
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
                scope.outer_names[name] = self.scopes[self._tree.module]

    def _handler(self, node: ast.AST) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
        if isinstance(name, str):
            self._bind(name, Form.OTHER, node)

    def _target(self, node: ast.Name) -> None:
        path: list[int | None] = []
        child: ast.AST = node
        parent = self._tree.parent(node)
        while isinstance(parent, (ast.Tuple, ast.List, ast.Starred)):
            if isinstance(parent, ast.Starred):
                path.append(None)
            else:
                path.append(self._index_in(parent, child))
            child, parent = parent, self._tree.parent(parent)
        self._bind_target(node, child, parent, tuple(reversed(path)))

    def _index_in(self, display: ast.Tuple | ast.List, child: ast.AST) -> int | None:
        """Where ``child`` is among the items of a target: counted from the end behind a starred one."""
        if display not in self._indices:
            indices = self._indices[display] = {item: index for index, item in enumerate(display.elts)}
            starred = next((index for item, index in indices.items() if isinstance(item, ast.Starred)), len(indices))
            indices.update({item: index - len(indices) for item, index in indices.items() if index > starred})
        return self._indices[display][child]

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
    ast.MatchMapping: Bindings._handler,
    ast.Continue: Bindings._continue,
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


def _type_parameters(node: Function | ast.ClassDef) -> list[ast.AST]:
    """The type parameters of a definition, whose bounds and defaults are uses of names."""
    return getattr(node, "type_params", [])


_IN_ORDER_OF_THEIR_OWN = (ast.Lambda, ast.NamedExpr, ast.ExceptHandler, ast.pattern, *COMPREHENSIONS)

_State: TypeAlias = dict[str, tuple[Binding, ...]]
"""What the names that a piece of code may change are bound to behind it."""


class _Breaks:
    """What names are bound to where a loop is left by ``break``.

    Of each break only what changed since the one before is looked at, so that many of them cost no more than the changes.
    """

    def __init__(self) -> None:
        self.any = False
        self.changed: dict[str, None] = {}
        self._reached: _State = {}
        self._also_unchanged: set[str] = set()

    def note(self, state: _State) -> None:
        """Takes down the state at a break."""
        for name in self.changed:
            value = state.get(name, ())
            if name in self._reached:
                value = _union((self._reached[name], value))
            elif self.any:
                self._also_unchanged.add(name)
            self._reached[name] = value
        self.changed.clear()
        self.any = True

    def joined(self, before: _State) -> _State:
        """What the breaks leave, where ``before`` held in front of the loop's body."""
        for name in self._also_unchanged:
            self._reached[name] = _union((before.get(name, ()), self._reached[name]))
        return self._reached


class _Flow:
    """Walks one scope in the order of execution and records what reaches each use of a name."""

    def __init__(self, bindings: Bindings, scope: Scope) -> None:
        self._bindings = bindings
        self._scope = scope
        self._locals: _State = {}
        self._undo: _State = {}
        self._history: list[tuple[str, tuple[Binding, ...]]] = []
        """Every value that names were given, while a try is being visited."""
        self._tries = 0
        self._breaks = _Breaks()
        self._comprehensions: list[Scope] = []

    def run(self) -> None:
        """Walks the scope from its start to its end."""
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
        for argument in _every_argument(arguments):
            self._store(argument)

    # --- names -------------------------------------------------------------------------------------------------------

    def _set(self, name: str, value: tuple[Binding, ...]) -> None:
        if name not in self._undo:
            self._undo[name] = self._locals.get(name, ())
        self._locals[name] = value
        self._breaks.changed[name] = None
        if self._tries:
            self._history.append((name, value))

    def _store(self, node: ast.AST) -> None:
        binding = self._bindings.of(node)
        if binding is None or isinstance(binding.scope.node, COMPREHENSIONS):
            return  # a comprehension's own names are looked up in it
        if binding.form is Form.AUGMENTED:
            binding.before = self._locals.get(binding.name, ()) or self._bindings.latest(binding.name, self._scope)
            if binding.scope is self._scope:
                binding.before = tuple(found for found in binding.before if found is not binding)
        self._set(binding.name, (binding,))

    def _load(self, name: ast.Name) -> None:
        reaching = self._find(name.id)
        self._bindings._reaching[name] = reaching
        for binding in reaching:
            binding.uses.append(name)

    def _find(self, name: str) -> tuple[Binding, ...]:
        if self._comprehensions:
            for scope in reversed(self._comprehensions):
                if name in scope.bindings:
                    return tuple(scope.bindings[name])
            if isinstance(self._scope.node, ast.ClassDef):
                return self._bindings.latest(name, self._scope.parent)  # a comprehension does not see the class around it
        if found := self._locals.get(name):
            foreign = self._scope.foreign.get(name)
            return _union((tuple(foreign), found)) if foreign else found
        return self._bindings.latest(name, self._scope)

    # --- expressions -------------------------------------------------------------------------------------------------

    def _expression(self, root: ast.AST | None) -> None:
        """Visits an expression in the order of evaluation, which is that of the text but for comprehensions."""
        if root is None:
            return
        stack: list[ast.AST] = [root]
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    self._load(node)
                else:
                    self._store(node)
            elif isinstance(node, ast.Attribute):
                push(node.value)
            elif isinstance(node, ast.Constant):
                pass
            elif isinstance(node, ast.Call):
                for word in reversed(node.keywords):
                    push(word.value)
                stack += reversed(node.args)
                push(node.func)
            elif isinstance(node, _IN_ORDER_OF_THEIR_OWN):
                stack.extend(self._enter(node))
            else:
                push_children(node, stack)

    def _enter(self, node: ast.AST) -> list[ast.AST]:
        """Visits a node whose parts are not just visited in the order of the text; which of them are left, the last first."""
        match node:
            case ast.Lambda(args=arguments):
                return [part for part in (*arguments.defaults, *arguments.kw_defaults) if part is not None]
            case ast.NamedExpr(target=target, value=value):
                return [target, value]
            case ast.ExceptHandler(type=caught):
                self._store(node)
                return [caught] if caught is not None else []
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
                return []
        self._store(node)  # a pattern of a case, which may capture
        parts: list[ast.AST] = []
        push_children(node, parts)
        return parts

    def _comprehension(self, node: Comprehension) -> None:
        self._expression(node.generators[0].iter)
        self._comprehensions.append(self._bindings.scopes[node])
        for part in _comprehension_parts(node):
            self._expression(part)
        self._comprehensions.pop()

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
                return self._if(statement)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(statement)
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    self._expression(item.context_expr)
                    self._expression(item.optional_vars)
                return self._block(statement.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._around([*statement.decorator_list, *_type_parameters(statement)], statement.args, statement.returns)
                self._store(statement)
            case ast.ClassDef():
                keywords = (word.value for word in statement.keywords)
                self._around([*statement.decorator_list, *_type_parameters(statement), *statement.bases, *keywords])
                self._store(statement)
            case ast.Import() | ast.ImportFrom():
                for alias in statement.names:
                    self._store(alias)
            case ast.Match():
                return self._match(statement)
            case ast.Return() | ast.Raise():
                self._expression(statement)
                return False
            case ast.Break():
                self._breaks.note(self._locals)
                return False
            case ast.Continue():
                return False
            case _ if hasattr(statement, "handlers"):
                return self._try(statement)
            case _:
                self._expression(statement)
        return True

    def _around(
        self, parts: Iterable[ast.AST], arguments: ast.arguments | None = None, returns: ast.expr | None = None
    ) -> None:
        for part in parts:
            self._expression(part)
        if arguments is not None:
            for default in [*arguments.defaults, *arguments.kw_defaults]:
                self._expression(default)
            for argument in _every_argument(arguments):
                self._expression(argument.annotation)
        self._expression(returns)

    def _if(self, statement: ast.If) -> bool:
        """Visits a chain of if, elif and else; whether the end of any branch is reached."""
        outcomes: list[_State] = []
        while True:
            self._expression(statement.test)
            self._branch(statement.body, outcomes)
            match statement.orelse:
                case [ast.If() as following]:
                    statement = following
                case last:
                    self._branch(last, outcomes)
                    break
        self._join(outcomes)
        return bool(outcomes)

    def _branch(self, block: list[ast.stmt], outcomes: list[_State], *entered: ast.AST | None) -> None:
        """Visits one of several blocks, and adds what it leaves to the outcomes if its end is reached."""
        changes, alive = self._apart(block, *entered)
        if alive:
            outcomes.append(changes)

    def _apart(self, block: list[ast.stmt], *entered: ast.AST | None) -> tuple[_State, bool]:
        """Visits a block, and what is ``entered`` before it, and takes its changes back.

        Returns the changes, and whether the block's end is reached.
        """
        outer, self._undo = self._undo, {}
        for part in entered:
            self._expression(part)
        alive = self._block(block)
        changes = {name: self._locals[name] for name in self._undo}
        for name, value in self._undo.items():
            self._breaks.changed[name] = None
            if value:
                self._locals[name] = value
            else:
                del self._locals[name]
        self._undo = outer
        return changes, alive

    def _join(self, outcomes: list[_State]) -> None:
        """Lets names have what any of the outcomes gives them, and keep what they have where one leaves them alone."""
        given: dict[str, list[tuple[Binding, ...]]] = {}
        for outcome in outcomes:
            for name, value in outcome.items():
                given.setdefault(name, []).append(value)
        for name, values in given.items():
            if len(values) < len(outcomes):
                values.append(self._locals.get(name, ()))
            self._set(name, _union(values))

    def _loop(self, loop: Loop) -> bool:
        """Visits a loop; whether it may end, by its condition or by a break."""
        if not isinstance(loop, ast.While):
            self._expression(loop.iter)
        for name, bindings in self._carried(loop).items():
            self._set(name, _union((self._locals.get(name, ()), bindings)))
        if isinstance(loop, ast.While):
            self._expression(loop.test)
        outer, self._breaks = self._breaks, _Breaks()
        self._apart(loop.body, None if isinstance(loop, ast.While) else loop.target)
        breaks, self._breaks = self._breaks, outer
        outcomes: list[_State] = []
        if not (isinstance(loop, ast.While) and _is_always_true(loop.test)):
            self._branch(loop.orelse, outcomes)
        if breaks.any:
            outcomes.append(breaks.joined(self._locals))
        self._join(outcomes)
        return bool(outcomes)

    def _carried(self, loop: Loop) -> _State:
        """What a loop's body may hand to its next round: of each name, its last certain binding and those behind it.

        A certain binding hides those before it, but for the ones that a ``continue`` between the two hands on.
        """
        carried: dict[str, list[Binding]] = {}
        continues = self._bindings.continues(loop)
        passed = 0
        for binding in self._bindings.bound_in_loop(loop):
            behind = carried.setdefault(binding.name, [])
            if self._is_certain(binding, loop):
                while passed < len(continues) and _position(continues[passed]) < _position(binding.node):
                    passed += 1
                handed_on = _position(continues[passed - 1]) if passed else (0, 0)
                while behind and _position(behind[-1].node) > handed_on:
                    behind.pop()
            behind.append(binding)
        return {name: tuple(bindings[-_MANY:]) for name, bindings in carried.items()}

    def _is_certain(self, binding: Binding, loop: Loop) -> bool:
        """Whether every round of ``loop`` that gets to its end executes a binding."""
        statement = self._bindings._tree.statement(binding.node)
        if isinstance(statement, LOOPS) or not isinstance(binding.node, (ast.Name, ast.alias, ast.stmt)):
            return False
        parent = self._bindings._tree.parent(statement)
        while isinstance(parent, (ast.With, ast.AsyncWith)):
            statement, parent = parent, self._bindings._tree.parent(parent)
        return parent is loop and in_body(statement, loop)

    def _try(self, statement: ast.stmt) -> bool:
        body: list[ast.stmt] = getattr(statement, "body")
        handlers: list[ast.ExceptHandler] = getattr(statement, "handlers")
        start = len(self._history)
        self._tries += 1
        changes, alive = self._apart([*body, *getattr(statement, "orelse")])
        self._tries -= 1
        outcomes = [changes] if alive else []
        if handlers:
            anywhere: _State = {}
            for name, value in self._history[start:]:
                anywhere[name] = _union((anywhere.get(name, ()), value))
            self._join([{}, anywhere])
        if not self._tries:
            self._history.clear()
        for handler in handlers:
            changes, alive = self._apart(handler.body, handler)
            if handler.name:
                changes[handler.name] = ()  # it is deleted when the handler is left
            if alive:
                outcomes.append(changes)
        self._join(outcomes)
        finally_alive = self._block(getattr(statement, "finalbody"))
        return bool(outcomes) and finally_alive

    def _match(self, statement: ast.Match) -> bool:
        self._expression(statement.subject)
        outcomes: list[_State] = []
        for case in statement.cases:
            self._branch(case.body, outcomes, case.pattern, case.guard)
        if not any(_matches_all(case) for case in statement.cases):
            outcomes.append({})
        self._join(outcomes)
        return bool(outcomes)


def _every_argument(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from arguments.posonlyargs
    yield from arguments.args
    if arguments.vararg is not None:
        yield arguments.vararg
    yield from arguments.kwonlyargs
    if arguments.kwarg is not None:
        yield arguments.kwarg


def _position(node: ast.AST) -> tuple[int, int]:
    line, column = getattr(node, "lineno"), getattr(node, "col_offset")
    return line, column


def _is_always_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _matches_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _comprehension_parts(node: Comprehension) -> Iterator[ast.expr]:
    """What a comprehension evaluates, in this order, once its first iterable is there."""
    for generator in node.generators:
        if generator is not node.generators[0]:
            yield generator.iter
        yield generator.target
        yield from generator.ifs
    if isinstance(node, ast.DictComp):
        yield node.key
        yield node.value
    else:
        yield node.elt


def _union(groups: Iterable[tuple[Binding, ...]]) -> tuple[Binding, ...]:
    return tuple(dict.fromkeys([binding for group in groups for binding in group]))[-_MANY:]
