"""Tensors that a loop computes for itself, and whose last one is still there when the memory is needed."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.fact import CERTAIN, Fact, all_of, unknown
from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Loop, walk_body
from torchlint.semantics.kinds.results import LOSS_MODULES

Node = TypeVar("Node")

_HEAVY = frozenset({"torch.matmul", "torch.bmm", "torch.einsum", "torch.mm", "torch.baddbmm", "torch.cdist"})
_READERS = frozenset(
    {
        *("locals", "vars", "eval", "exec", "dir", "globals", "currentframe", "_getframe", "f_locals"),
        *("weakref", "__del__", "getrefcount", "get_referrers"),
    }
)
"""What reads names that are not written, or sees that an object is gone."""
_AT_ONCE = frozenset({"sum", "any", "all", "min", "max", "list", "tuple", "set", "frozenset", "dict", "sorted"})
"""Functions that go through a generator before they return."""
_VIEWS = torch_api.VIEW_METHODS | torch_api.MAYBE_VIEW_METHODS


@dataclass(frozen=True, eq=False, slots=True)
class Lingering(Generic[Node]):
    """A tensor that stays in memory while the call ``later`` runs; deleted behind ``last_use``, a statement, it would not.

    ``unseen`` is whether nobody would notice that its name is gone.
    """

    later: Node
    last_use: Node | None
    unseen: Fact


class Lifetimes:
    """Tells how long the tensors of loops live."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def lingering(self) -> dict[ast.Name, Lingering[ast.AST]]:
        """The names that are bound in a loop to a tensor that lingers behind it."""
        tree = self._semantics.tree
        loops: list[Loop] = [*tree.of_type(ast.For), *tree.of_type(ast.While)]
        return dict(found for loop in loops for found in self._look(loop))

    def _look(self, loop: Loop) -> Iterator[tuple[ast.Name, Lingering[ast.AST]]]:
        places: dict[ast.AST | None, int] = {statement: place for place, statement in enumerate(loop.body)}
        for statement in loop.body:
            match statement:
                case ast.Assign(targets=[ast.Name() as target], value=ast.Call() as value):
                    binding = self._semantics.bindings.of(target)
                    if binding is None or not self._is_only_of(loop, places, binding):
                        continue
                    if self._is_activation(binding, value) and (later := self._hungry_call(loop, binding)) is not None:
                        yield target, Lingering(later, self._last_use(loop, binding), self._is_unseen(binding))

    def _is_unseen(self, binding: Binding) -> Fact:
        """Whether a name is read where it is written, and nowhere else."""
        outside = unknown(f"`{binding.name}` belongs to the module, where other files can read it")
        readers = sorted(self._semantics.words.all & _READERS)
        if any(isinstance(call.func, ast.Name) for call in self._semantics.facts.calls.get("id", ())):
            readers.append("id")  # which a later object may have as well
        return all_of(
            CERTAIN if isinstance(binding.scope.node, FUNCTIONS) else outside,
            CERTAIN if not readers else unknown(f"`{readers[0]}` may look at what is there"),
        )

    def _last_use(self, loop: Loop, binding: Binding) -> ast.stmt | None:
        """The statement of the loop's body that uses a name last, unless it ends the round."""
        statements = [self._statement_in(use, loop) for use in binding.uses]
        last = loop.body[max(loop.body.index(statement) for statement in statements if isinstance(statement, ast.stmt))]
        return None if isinstance(last, (ast.Continue, ast.Break, ast.Return, ast.Raise)) else last

    # --- what the loop keeps for itself ------------------------------------------------------------------------------

    def _is_only_of(self, loop: Loop, places: dict[ast.AST | None, int], binding: Binding) -> bool:
        """Whether a value is read in the loop only, behind the statement that makes it, and kept by nothing else."""
        if not binding.uses or isinstance(binding.scope.node, ast.ClassDef) or binding.name in binding.scope.outer_names:
            return False
        if self._is_given_otherwise(binding):
            return False
        place = places[self._semantics.tree.statement(binding.node)]
        used = (self._statement_in(use, loop) for use in binding.uses)
        return all(places.get(statement, -1) > place for statement in used) and not any(map(self._is_kept, binding.uses))

    def _is_given_otherwise(self, binding: Binding) -> bool:
        """Whether the name is a parameter, say, or the value is the one that an augmented assignment goes on with."""
        key = (binding.scope.node, binding.name)
        if key not in self._names:
            bindings = binding.scope.bindings.get(binding.name, [])
            is_other = any(other.form in (Form.PARAMETER, Form.OTHER) for other in bindings)
            self._names[key] = (is_other, {before for other in bindings for before in other.before})
        is_other, changed = self._names[key]
        return is_other or binding in changed

    @cached_property
    def _names(self) -> dict[tuple[ast.AST, str], tuple[bool, set[Binding]]]:
        """For each variable, whether it is more than assigned to, and what augmented assignments go on with."""
        return {}

    def _statement_in(self, node: ast.AST, loop: Loop) -> ast.AST | None:
        """The statement of the loop's body that ``node`` stands in, unless a function or a comprehension is in between."""
        child = node
        for parent in self._semantics.tree.ancestors(node):
            if parent is loop:
                return child
            if isinstance(parent, (*FUNCTIONS, ast.Lambda, ast.ClassDef)) or self._is_run_later(parent):
                return None
            child = parent
        return None

    def _is_run_later(self, node: ast.AST) -> bool:
        """Whether a generator is not gone through where it is written: it reads its names when it is."""
        if not isinstance(node, ast.GeneratorExp):
            return False
        match self._semantics.tree.parent(node):
            case ast.Call(func=ast.Name(id=name)) if name in _AT_ONCE:
                return False
            case ast.Call(func=ast.Attribute(attr="join")):
                return False
        return True

    def _is_kept(self, use: ast.Name) -> bool:
        """Whether a use hands the tensor on to something that outlives it: a container, another name, a view of it."""
        node: ast.AST = use
        parent = self._semantics.tree.parent(node)
        while isinstance(parent, (ast.Attribute, ast.Subscript, ast.Call)) and self._is_view(parent, node):
            node, parent = parent, self._semantics.tree.parent(parent)
        if isinstance(parent, ast.Attribute) and isinstance(call := self._semantics.tree.parent(parent), ast.Call):
            return parent.attr in ("append", "register_hook", "backward") and call.func is parent
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
            return parent.func.attr in ("append", "extend", "put", "add", "insert", "update", "appendleft")
        return isinstance(
            parent,
            (
                ast.Assign,
                ast.AnnAssign,
                ast.NamedExpr,
                ast.Return,
                ast.Yield,
                ast.List,
                ast.Tuple,
                ast.Dict,
                ast.Set,
                ast.IfExp,
                ast.For,
                ast.comprehension,
                ast.Starred,
                ast.YieldFrom,
            ),
        )

    def _is_view(self, parent: ast.AST, node: ast.AST) -> bool:
        """Whether ``parent`` is a view of the tensor ``node``, or the method that makes one."""
        match parent:
            case ast.Attribute(attr=attribute):
                return attribute in _VIEWS | torch_api.VIEW_PROPERTIES
            case ast.Subscript(value=value):
                return value is node
            case ast.Call(func=function) if function is node:
                return True
            case ast.Call(func=function, args=[given, *_]) if given is node:
                name = self._semantics.qualified_name(function) or ""
                return name.startswith("torch.") and name.removeprefix("torch.") in _VIEWS
        return False

    def _is_activation(self, binding: Binding, value: ast.Call) -> bool:
        """Whether a value is a tensor that a module or function computed, and that no graph holds on to."""
        kind = self._semantics.inference.binding_kind(binding)
        if kind.known and (not kind.is_tensor or kind.scalar):
            return False
        if not kind.known:
            return self._is_plain_call(value) and self._is_summed_up(binding)
        if not self._semantics.no_grad.covers(value):
            return False
        called = self._semantics.kind(value.func)
        name = self._semantics.qualified_name(value.func) or ""
        if called.type is Type.MODULE:
            return called.name not in LOSS_MODULES
        return isinstance(called.definition, FUNCTIONS) or name in _HEAVY or name.startswith("torch.nn.functional.")

    def _is_plain_call(self, call: ast.Call) -> bool:
        """Whether a function is called that the file does not bind: ``f(x)`` in a snippet."""
        return (
            isinstance(call.func, ast.Name)
            and not self._semantics.bindings.reaching(call.func)
            and _is_no_builtin(call.func.id)
        )

    def _is_summed_up(self, binding: Binding) -> bool:
        """Whether all that is done with a value is ``result += g(value)``."""
        for use in binding.uses:
            call = self._semantics.tree.parent(use)
            if not isinstance(call, ast.Call) or not self._is_plain_call(call):
                return False
            if not isinstance(self._semantics.tree.parent(call), ast.AugAssign):
                return False
        return True

    # --- what comes later --------------------------------------------------------------------------------------------

    def _hungry_call(self, loop: Loop, binding: Binding) -> ast.Call | None:
        """A call behind the loop that works on what the loop made of the values, while the last one is still there."""
        results = self._results(loop, binding)
        if not results:
            return None
        gone = [other.node for other in binding.scope.bindings.get(binding.name, []) if other is not binding]
        flow = self._semantics.control_flow
        for part in self._behind(loop):
            match part:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if _mentions(value, results):
                    results.add(name)
            if isinstance(part, ast.Call) and self._is_hungry(part) and any(_mentions(item, results) for item in part.args):
                if flow.may_follow(binding.node, part, avoiding=gone):
                    return part
        return None

    def _results(self, loop: Loop, binding: Binding) -> set[str]:
        """The sums and lists that what is computed of the values goes into: ``result`` of ``result += g(value)``."""
        results: set[str] = set()
        pending, seen = [binding], {binding}
        while pending:
            for use in pending.pop().uses:
                match self._semantics.tree.statement(use):
                    case ast.AugAssign(target=ast.Name(id=name)):
                        results.add(name)
                    case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"))):
                        results.add(name)
                    case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
                        made = self._semantics.bindings.of(target)
                        if isinstance(value, ast.BinOp) and _mentions(value, {name}):
                            results.add(name)
                        elif made is not None and made not in seen and self._semantics.tree.inside(target, loop):
                            seen.add(made)
                            pending.append(made)
        own = {other.name for other in seen}
        return {name for name in results if name not in own and self._outlives(name, binding, loop)}

    def _outlives(self, name: str, binding: Binding, loop: Loop) -> bool:
        """Whether a name is one that the loop adds to, rather than one that it makes anew in each round."""
        others = [other for other in binding.scope.bindings.get(name, []) if other.form is not Form.AUGMENTED]
        return not others or any(not self._semantics.tree.inside(other.node, loop) for other in others)

    def _behind(self, loop: Loop) -> Iterator[ast.AST]:
        """The parts of the statements that follow the loop, in its block and the blocks around it."""
        statement: ast.stmt = loop
        while True:
            block = self._semantics.tree.block(statement)
            if statement not in block:
                return
            yield from walk_body(block[block.index(statement) + 1 :])
            parent = self._semantics.tree.parent(statement)
            if not isinstance(parent, ast.stmt) or isinstance(parent, (*FUNCTIONS, ast.ClassDef)):
                return
            statement = parent

    def _is_hungry(self, call: ast.Call) -> bool:
        """Whether a call runs a module, a function of the file, or one that is heavy."""
        called = self._semantics.kind(call.func)
        if called.type is Type.MODULE:
            return called.name not in LOSS_MODULES
        name = self._semantics.qualified_name(call.func) or ""
        heavy = name in _HEAVY or name.startswith("torch.nn.functional.")
        return heavy or isinstance(called.definition, FUNCTIONS) or self._is_plain_call(call)


def _is_no_builtin(name: str) -> bool:
    return not hasattr(builtins, name)


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))
