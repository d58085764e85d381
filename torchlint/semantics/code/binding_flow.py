"""What each use of a name may have: one walk through a scope, in the order of execution."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from torchlint.semantics.code.scopes import MANY, Binding, Form, Scope, Scopes
from torchlint.semantics.code.tree import COMPREHENSIONS, LOOPS, Comprehension, Function, Loop, in_body, push_children


def _type_parameters(node: Function | ast.ClassDef) -> list[ast.AST]:
    """The type parameters of a definition, whose bounds and defaults are uses of names."""
    return getattr(node, "type_params", [])


_IN_ORDER_OF_THEIR_OWN = frozenset(
    {ast.Lambda, ast.NamedExpr, ast.ExceptHandler, *ast.pattern.__subclasses__(), *COMPREHENSIONS}
)

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


class BindingFlow:
    """Walks one scope in the order of execution and records what reaches each use of a name."""

    def __init__(self, scopes: Scopes, scope: Scope, reaching: dict[ast.Name, tuple[Binding, ...]]) -> None:
        self._scopes = scopes
        self._reaching = reaching
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
        binding = self._scopes.of(node)
        if binding is None or isinstance(binding.scope.node, COMPREHENSIONS):
            return  # a comprehension's own names are looked up in it
        if binding.form is Form.AUGMENTED:
            binding.before = self._locals.get(binding.name, ()) or self._scopes.latest(binding.name, self._scope)
            if binding.scope is self._scope:
                binding.before = tuple(found for found in binding.before if found is not binding)
        self._set(binding.name, (binding,))

    def _load(self, name: ast.Name) -> None:
        reaching = self._find(name.id)
        self._reaching[name] = reaching
        for binding in reaching:
            binding.uses.append(name)

    def _find(self, name: str) -> tuple[Binding, ...]:
        if self._comprehensions:
            for scope in reversed(self._comprehensions):
                if name in scope.bindings:
                    return tuple(scope.bindings[name])
            if isinstance(self._scope.node, ast.ClassDef):
                return self._scopes.latest(name, self._scope.parent)  # a comprehension does not see the class around it
        if found := self._locals.get(name):
            foreign = self._scope.foreign.get(name)
            return _union((tuple(foreign), found)) if foreign else found
        if isinstance(self._scope.node, ast.ClassDef) and name in self._scope.bindings:
            return self._scopes.latest(name, self._scopes.module)  # a class has a global's value until it has its own
        return self._scopes.latest(name, self._scope)

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
                if node.keywords:
                    stack += [word.value for word in reversed(node.keywords)]
                stack += reversed(node.args)
                push(node.func)
            elif type(node) in _IN_ORDER_OF_THEIR_OWN:
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
        self._comprehensions.append(self._scopes.scopes[node])
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
        changes = {name: self._locals.get(name, ()) for name in self._undo}
        for name, value in self._undo.items():
            self._breaks.changed[name] = None
            if value:
                self._locals[name] = value
            else:
                self._locals.pop(name, None)
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
        continues = self._scopes.continues(loop)
        passed = 0
        for binding in self._scopes.bound_in_loop(loop):
            behind = carried.setdefault(binding.name, [])
            if self._is_certain(binding, loop):
                while passed < len(continues) and _position(continues[passed]) < _position(binding.node):
                    passed += 1
                handed_on = _position(continues[passed - 1]) if passed else (0, 0)
                while behind and _position(behind[-1].node) > handed_on:
                    behind.pop()
            behind.append(binding)
        return {name: tuple(bindings[-MANY:]) for name, bindings in carried.items()}

    def _is_certain(self, binding: Binding, loop: Loop) -> bool:
        """Whether every round of ``loop`` that gets to its end executes a binding."""
        statement = self._scopes.tree.statement(binding.node)
        if isinstance(statement, LOOPS) or not isinstance(binding.node, (ast.Name, ast.alias, ast.stmt)):
            return False
        parent = self._scopes.tree.parent(statement)
        while isinstance(parent, (ast.With, ast.AsyncWith)):
            statement, parent = parent, self._scopes.tree.parent(parent)
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
    return tuple(dict.fromkeys([binding for group in groups for binding in group]))[-MANY:]
