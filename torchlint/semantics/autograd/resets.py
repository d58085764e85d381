"""Accumulators that are started afresh as often as values are added to them, so that nothing grows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.autograd.accumulators import Accumulation, mentions, step_loops
from torchlint.semantics.code.bindings import Scope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Loop, last_name

_PARTS = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "named_children"})
_PASSES_ON = frozenset({"enumerate", "filter", "list", "reversed", "zip"})
_CUTTING = frozenset({"item", "detach", "data", "numpy", "tolist"})

FEW = 32
"""So many values are no growth."""


class Resets:
    """Tells of sums and lists whether they are started afresh."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._fresh: dict[tuple[Loop, str], list[ast.stmt]] = {}
        self._sums: dict[int, dict[str, dict[str, tuple[ast.Name, ast.AugAssign]]]] = {}
        self._in_loops: dict[tuple[str, ast.AST], dict[ast.AST, list[Binding]]] = {}
        self._stored: dict[tuple[ast.ClassDef, str], dict[ast.AST, list[ast.Attribute]]] = {}

    def is_each_round(self, found: Accumulation) -> bool:
        """Whether each round of the innermost loop starts the accumulator afresh.

        Loops over a model's few results do not count, nor those over its parameters, of which there are no more each time: a
        variable of a function that goes through the parameters alone is started by each call.
        """
        loops = step_loops(self._semantics, found.statement)
        loop = next((each for each in loops if not _walks_parts(each)), None)
        if loop is None:
            return self._is_of_call(found)
        key = (loop, ast.unparse(found.root))
        if key not in self._fresh:
            self._fresh[key] = self._found(found.root, loop)
        return any(statement is loop or self._is_fresh(statement, found, loop) for statement in self._fresh[key])

    def _is_of_call(self, found: Accumulation) -> bool:
        """Whether a sum in a loop over parameters is a variable of the function around, which each call starts afresh."""
        bindings, loops = self._semantics.bindings, self._semantics.tree.loops(found.statement)
        if found.kept or not isinstance(found.root, ast.Name) or not any(map(_walks_parts, loops)):
            return False
        scope = bindings.scope_of(found.statement)
        started = [each for each in bindings.lookup(found.root.id, scope) if each.form is not Form.AUGMENTED]
        return bool(started) and all(
            each.form is Form.ASSIGNMENT and each.scope is scope and isinstance(scope.node, FUNCTIONS) for each in started
        )

    def are_few(self, statement: ast.stmt) -> bool:
        """Whether a statement runs once for each of a few epochs, as they are written out, behind the loop that trains."""
        loops = list(self._semantics.tree.loops(statement))
        if len(loops) != 1 or not isinstance(loops[0], ast.For) or not self._is_short(loops[0].iter):
            return False
        calls = (part for inner in loops[0].body if isinstance(inner, LOOPS) for part in ast.walk(inner))
        return any(isinstance(call, ast.Call) and last_name(call.func) == "backward" and not call.keywords for call in calls)

    def _is_short(self, gone_through: ast.expr) -> bool:
        """Whether a loop goes over a range of a few numbers, as it is written out, or the name of the count is bound to."""
        match gone_through:
            case ast.Call(func=ast.Name(id="range"), args=[*_, count]):
                if isinstance(count, ast.Name):
                    bindings = self._semantics.bindings.reaching(count)
                    values = [each.value if each.form is Form.ASSIGNMENT and not each.path else None for each in bindings]
                else:
                    values = [count]
                numbers = [each.value for each in values if isinstance(each, ast.Constant)]
                return len(numbers) == len(values) == 1 and isinstance(numbers[0], int) and numbers[0] <= FEW
        return False

    def is_of_each_model(self, found: Accumulation) -> bool:
        """Whether a dictionary that the function makes gets one entry for each of several models, and no caller keeps more.

        ``for agent in agents: …; means[agent] = actors[agent](x)``: the next call makes another one in its place.
        """
        match found.target:
            case ast.Subscript(value=ast.Name() as made, slice=ast.Name(id=key)):
                pass
            case _:
                return False
        loop = next(self._semantics.tree.loops(found.statement), None)
        function = self._semantics.tree.function(found.statement)
        if not (isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and loop.target.id == key):
            return False
        if not isinstance(function, FUNCTIONS) or list(self._semantics.tree.loops(loop)):
            return False
        values = [(each.scope.node, each.value) for each in self._semantics.bindings.reaching(made)]
        if not values or not all(scope is function and _is_written_out(value) for scope, value in values):
            return False
        sites = self._semantics.facts.call_sites(function)
        return _chooses_models(loop, key) and not any(map(self._is_kept_by, sites))

    def _is_kept_by(self, site: ast.Call) -> bool:
        """Whether the caller keeps more of what a call gives than the last: it appends it, stores it or adds it up."""
        statement = self._semantics.tree.statement(site)
        if not isinstance(statement, (ast.Assign, ast.Expr)) or statement.value is not site:
            return not isinstance(statement, ast.Return)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        if any(isinstance(part, (ast.Subscript, ast.Attribute)) for target in targets for part in ast.walk(target)):
            return True
        bindings = (self._semantics.bindings.of(name) for name in names)
        return any(self._adds(use) for binding in bindings if binding is not None for use in binding.uses)

    def _adds(self, use: ast.expr) -> bool:
        match parent := self._semantics.tree.parent(use):
            case ast.Call(func=ast.Attribute(attr="append" | "extend" | "update" | "insert")):
                return use in parent.args
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.AugAssign():
                return parent.value is use
        return False

    def is_beside_loss(self, found: Accumulation, is_loss: Callable[[ast.expr], bool]) -> bool:
        """Whether another sum is started and added to beside this one, and is back-propagated: it keeps the same graphs.

        ``total += loss`` and ``weighted += w * loss``, with ``weighted.backward()`` behind the loop.
        """
        if found.kept or not isinstance(found.root, ast.Name):
            return False
        names = {name for value in found.values for name in _names(value)}
        beside = self._sums_beside(found.statement).get(min(names), {}) if names else {}
        return any(
            names <= set(_names(sum_.value)) and is_loss(root) and self._start_together(found.root, root)
            for name, (root, sum_) in beside.items()
            if name != found.root.id
        )

    def _sums_beside(self, statement: ast.stmt) -> dict[str, dict[str, tuple[ast.Name, ast.AugAssign]]]:
        """What is added up in the block of a statement, by the names in what is added; of each sum the first that has one."""
        block = self._semantics.tree.block(statement)
        if (known := self._sums.get(id(block))) is not None:
            return known
        found: dict[str, dict[str, tuple[ast.Name, ast.AugAssign]]] = {}
        for other in block:
            match other:
                case ast.AugAssign(target=ast.Name() as root, op=ast.Add() | ast.Sub(), value=value):
                    for name in _names(value):
                        found.setdefault(name, {}).setdefault(root.id, (root, other))
        self._sums[id(block)] = found
        return found

    def _start_together(self, one: ast.Name, other: ast.Name) -> bool:
        """Whether two variables are given their first values in the same block, and none but sums anywhere else."""
        bindings, tree = self._semantics.bindings, self._semantics.tree
        found = [bindings.lookup(name.id, bindings.scope_of(name)) for name in (one, other)]
        first, second = ([each for each in all_of if each.form is not Form.AUGMENTED] for all_of in found)
        if not len(first) == len(second) == 1:
            return False
        return tree.statement(second[0].node) in tree.block(tree.statement(first[0].node))

    def _found(self, root: ast.Name | ast.Attribute, loop: Loop) -> list[ast.stmt]:
        """The statements in a loop, itself among them, that give an accumulator a value without the graph of its own."""
        tree, name = self._semantics.tree, ast.unparse(root)
        if isinstance(root, ast.Name):
            scope = self._semantics.bindings.scope_of(root)
            bindings = self._bound_in_loops(root.id, scope).get(loop, ())
            statements = [tree.statement(binding.node) for binding in bindings if binding.form is not Form.AUGMENTED]
        else:
            owner = self._semantics.facts.self_class(root.value)
            stores = self._stored_in_loops(owner, root.attr).get(loop, ()) if owner is not None else ()
            statements = [statement for store in stores if isinstance(statement := tree.statement(store), ast.Assign)]
        return [s for s in statements if not (isinstance(s, ast.Assign) and mentions(s.value, name)) or _cuts(s.value, name)]

    def _bound_in_loops(self, name: str, scope: Scope) -> dict[ast.AST, list[Binding]]:
        """The bindings of a variable that stand in each loop."""
        if (name, scope.node) not in self._in_loops:
            found = self._in_loops[name, scope.node] = dict[ast.AST, list[Binding]]()
            for binding in self._semantics.bindings.lookup(name, scope):
                for parent in self._semantics.tree.ancestors(binding.node):
                    if isinstance(parent, LOOPS):
                        found.setdefault(parent, []).append(binding)
        return self._in_loops[name, scope.node]

    def _stored_in_loops(self, owner: ast.ClassDef, attribute: str) -> dict[ast.AST, list[ast.Attribute]]:
        """The places that store an attribute of a class's instances, for each loop that they stand in."""
        if (owner, attribute) not in self._stored:
            found = self._stored[owner, attribute] = dict[ast.AST, list[ast.Attribute]]()
            for store in (store for slot in self._semantics.facts.slots(owner, attribute) for store in slot.stores):
                for parent in self._semantics.tree.ancestors(store):
                    if isinstance(parent, LOOPS):
                        found.setdefault(parent, []).append(store)
        return self._stored[owner, attribute]

    def _is_fresh(self, statement: ast.stmt, found: Accumulation, loop: Loop) -> bool:
        """Whether ``statement`` gives the accumulator a new value each round, each addition or each update."""
        if statement is found.statement:
            return False
        conditions = [
            parent
            for parent in self._semantics.tree.ancestors(statement)
            if isinstance(parent, (ast.If, ast.For, ast.While, ast.Try))
        ]
        return all(
            condition is loop
            or self._semantics.tree.inside(loop, condition)
            or self._semantics.tree.inside(found.statement, condition)
            or _is_of_update(condition)
            for condition in conditions
        )


def _walks_parts(loop: Loop) -> bool:
    """Whether a loop goes through the parameters or modules of a model: `for name, p in model.named_parameters()`."""
    walked = loop.iter if isinstance(loop, ast.For) else None
    while isinstance(walked, ast.Call) and walked.args and last_name(walked.func) in _PASSES_ON:
        walked = walked.args[-1]
    return isinstance(walked, ast.Call) and isinstance(walked.func, ast.Attribute) and walked.func.attr in _PARTS


def _chooses_models(loop: ast.For, key: str) -> bool:
    """Whether a loop calls the models, or steps with the optimizers, that its variable chooses."""
    for call in (part for part in ast.walk(loop) if isinstance(part, ast.Call)):
        match call.func:
            case ast.Subscript(slice=ast.Name(id=name)) if name == key:
                return True
            case ast.Attribute(value=ast.Subscript(slice=ast.Name(id=name)), attr="step" | "zero_grad") if name == key:
                return True
    return False


def _is_written_out(value: ast.expr | None) -> bool:
    """Whether a value is a dictionary that is written out, or several."""
    return isinstance(value, ast.Dict) or (isinstance(value, ast.Tuple) and all(map(_is_written_out, value.elts)))


def _names(value: ast.expr) -> Iterator[str]:
    return (part.id for part in ast.walk(value) if isinstance(part, ast.Name))


def _is_of_update(condition: ast.AST) -> bool:
    """Whether code stands under the condition of an optimizer's step: after the few rounds that gradients are gathered in."""
    if not isinstance(condition, ast.If):
        return False
    if any(isinstance(part, ast.Attribute) and part.attr == "sync_gradients" for part in ast.walk(condition.test)):
        return True
    called = {
        part.value.func.attr
        for part in condition.body
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and isinstance(part.value.func, ast.Attribute)
    }
    return {"step", "zero_grad"} <= called


def _cuts(value: ast.expr, name: str) -> bool:
    """Whether ``value`` is what ``name`` holds, without its graph: ``total.detach()``, ``total.data[0]``, ``float(total)``."""
    cut = False
    while ast.unparse(value) != name:
        match value:
            case ast.Call(func=ast.Name(id="float"), args=[argument], keywords=[]):
                cut, value = True, argument
            case ast.Attribute(value=inner, attr=attribute):
                cut, value = cut or attribute in _CUTTING, inner
            case ast.Call(func=inner) | ast.Subscript(value=inner):
                value = inner
            case _:
                return False
    return cut
