from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.options import DEFAULTS, Options
from torchlint.rules import Rule, Screen
from torchlint.rules.accumulators import Accumulation, Fate, mentions, root_of, summands
from torchlint.rules.rewriting import TextEdit
from torchlint.semantics import Binding, Form, Grad, Semantics, Type
from torchlint.semantics.autograd.paths import connected
from torchlint.semantics.code.bindings import Scope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Loop
from torchlint.target import TorchVersion
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

_ADDING_METHODS = frozenset({"append", "appendleft", "insert"})
_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous"})
_CUTTING = frozenset({"item", "detach", "data", "numpy", "tolist"})
_LOSS_NAME = re.compile(r"(?!.*_(val|value|item|np|num|str|avg)$).*(loss|mse|entropy|nll|bce|kld?($|_)|penalty)", re.IGNORECASE)
_STEP_HOOKS = frozenset({"training_step"})


class GraphAccumulation(Rule):
    """
    ## What it does
    Finds values that carry the autograd graph and are added to something that outlives the loop: `total_loss += loss`,
    `total = total + loss * n`, `losses.append(loss)`, `history[k] = loss`.

    ## Why is this bad
    The sum, or the list, holds the graph of every step. Memory grows with the number of steps until it runs out, though
    only the number was wanted.

    ## Example
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total_loss += loss
    ```

    ## Use instead
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total_loss += loss.item()
    ```

    ## Fix safety
    Safe: what is accumulated is not back-propagated, so its value is all that counts. `.item()` is used where the
    accumulator is a number; `.detach()` where it is used as a tensor or handed to code that the file does not show. Unsafe
    where the value is only likely a tensor (a model's output, a loss that an imported function returned), which may have
    neither method. There is no fix for a dict that holds the loss, nor where the value may be a tuple.

    ## References
    - [My model reports "cuda runtime error(2): out of memory"](https://docs.pytorch.org/docs/stable/notes/faq.html)
    """

    code = "TPL004"
    name = "graph-accumulation"
    since = TorchVersion(0, 4)
    screen = Screen(
        any_of=(b"backward", b"training_step", b"autograd", b"eval"),
        and_any_of=(b"backward", b"training_step", b"autograd", b".eval("),
        names=frozenset({b".eval"}),
    )

    def __init__(self, source: Source, semantics: Semantics, suppressions: Suppressions, options: Options = DEFAULTS) -> None:
        super().__init__(source, semantics, suppressions, options)
        self._fate = Fate(semantics)
        self._fresh: dict[tuple[Loop, str], list[ast.stmt]] = {}
        self._leaks: list[tuple[Accumulation, list[ast.expr]]] = []

    # --- the forms ---------------------------------------------------------------------------------------------------

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`total += loss`, `stats["loss"] += loss`."""
        if isinstance(node.op, (ast.Add, ast.Sub)) and (root := root_of(node.target)) is not None:
            self._consider(Accumulation(node, node.target, root, (node.value,), kept=False))

    def visit_Assign(self, node: ast.Assign) -> None:
        """`total = total + loss`, `history[k] = loss`."""
        if len(node.targets) != 1 or (root := root_of(node.targets[0])) is None:
            return
        target = node.targets[0]
        if isinstance(node.value, ast.BinOp):
            name = ast.unparse(target)
            operands = list(summands(node.value))
            others = tuple(operand for operand in operands if not mentions(operand, name))
            if len(others) < len(operands):
                self._consider(Accumulation(node, target, root, others, kept=False))
                return
        if isinstance(target, ast.Subscript) and self._varies(target):
            self._consider(Accumulation(node, target, root, (node.value,), kept=True))

    def visit_Expr(self, node: ast.Expr) -> None:
        """`losses.append(loss)`."""
        match node.value:
            case ast.Call(func=ast.Attribute(value=target, attr=method), args=[*_, value], keywords=[]) if (
                method in _ADDING_METHODS
            ):
                root = root_of(target)
                if root is not None and self._is_list(target, method):
                    self._consider(Accumulation(node, target, root, (value,), kept=True))

    def _is_list(self, target: ast.expr, method: str) -> bool:
        kind = self.semantics.kind(target)
        if kind.type is Type.SEQUENCE:
            return not self._is_bounded(target)
        return kind.type is Type.UNKNOWN and method == "append"

    def _is_bounded(self, target: ast.expr) -> bool:
        """Whether a deque forgets its oldest items."""
        bindings = self.semantics.bindings.reaching(target) if isinstance(target, ast.Name) else ()
        values = [binding.value for binding in bindings]
        if isinstance(target, ast.Attribute) and (owner := self.semantics.facts.self_class(target.value)) is not None:
            stores = [store for slot in self.semantics.facts.slots(owner, target.attr) for store in slot.stores]
            values = [getattr(self.semantics.tree.parent(store), "value", None) for store in stores]
        return any(isinstance(value, ast.Call) and any(word.arg == "maxlen" for word in value.keywords) for value in values)

    def _varies(self, target: ast.Subscript) -> bool:
        """Whether an index differs from round to round, so that the store keeps what the last round stored."""
        if self.semantics.kind(target.value).type not in (Type.MAPPING, Type.SEQUENCE):
            return False
        loop = next(self.semantics.tree.loops(target), None)
        if loop is None:
            return False
        bound = {binding.name for binding in self.semantics.bindings.bound_in_loop(loop)}
        return any(isinstance(part, ast.Name) and part.id in bound for part in ast.walk(target.slice))

    # --- the decision ------------------------------------------------------------------------------------------------

    def _consider(self, found: Accumulation) -> None:
        values = [value for value in found.values if self._has_graph(value)]
        if not values or self._is_reset_each_round(found) or self.semantics.backpropagated.name(found.root):
            return
        if not found.kept and self.semantics.no_grad.covers(found.statement):
            return
        used = any(self._is_backpropagated(value) for value in values)
        if self._outlives(found, used) and (used or self._fate.is_only_reported(found)):
            self._leaks.append((found, values))

    def finish(self) -> None:
        """Reports the leaks, but for those that are only one because of another."""
        sums = {ast.unparse(found.root) for found, _ in self._leaks if not found.kept}
        for found, values in self._leaks:
            if not all(self._follows_from(value, sums, found) for value in values):
                self._report(found, values)

    def _follows_from(self, value: ast.expr, sums: set[str], found: Accumulation) -> bool:
        """Whether ``value`` carries graph only because a sum that is reported does: ``epochs.append(total_loss / n)``."""
        carrying = [
            part
            for part in connected(value, self.semantics.names)
            if isinstance(part, (ast.Name, ast.Attribute)) and self._has_graph(part)
        ]
        return bool(carrying) and all(
            ast.unparse(part) in sums and ast.unparse(part) != ast.unparse(found.root) for part in carrying
        )

    # --- the values --------------------------------------------------------------------------------------------------

    def _has_graph(self, node: ast.expr) -> bool:
        if isinstance(node, (ast.Tuple, ast.List)):
            return any(self._has_graph(element) for element in node.elts)
        kind = self.semantics.kind(node)
        if not kind.known:
            return self._is_likely_loss(node)
        of_loss = kind.is_tensor and bool(kind.scalar) and kind.grad is Grad.UNKNOWN
        return kind.carries_graph or (of_loss and self.semantics.backpropagated.expression(node))

    def _is_likely_loss(self, value: ast.expr) -> bool:
        """Whether a value of unknown kind is a loss by what is done beside it.

        It is called one, and is back-propagated through other names (``loss = sum(losses); loss.backward()``) or was
        unpacked beside what is (``loss, mse = f(x)``); or it is the dict whose loss is (``out["loss"].backward()``).
        """
        if self._holds_loss(value):
            return True
        for part in connected(value, self.semantics.names):
            if isinstance(part, ast.Name) and _LOSS_NAME.match(part.id) and not self.semantics.kind(part).known:
                if self.semantics.backpropagated.name(part) or self._is_beside_loss(part):
                    return True
        return False

    def _holds_loss(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Name) or self.semantics.kind(value).known:
            return False
        bindings = set(self.semantics.bindings.reaching(value))
        for root in self.semantics.backpropagated.roots:
            match root:
                case ast.Subscript(value=ast.Name() as container, slice=ast.Constant(value=str())):
                    if bindings & set(self.semantics.bindings.reaching(container)):
                        return True
        return False

    def _is_beside_loss(self, name: ast.Name) -> bool:
        for binding in self.semantics.bindings.reaching(name):
            others = [other for other in self._unpacked_with(binding) if not other.name.startswith(f"{binding.name}_")]
            if binding.path and any(self._is_loss(other) for other in others):
                return True  # but `loss, loss_node = f(x)` gives the number and the tensor
        return False

    def _is_loss(self, binding: Binding) -> bool:
        kind = self.semantics.inference.binding_kind(binding)
        return self.semantics.backpropagated.binding(binding) and (kind.carries_graph or not kind.known)

    def _unpacked_with(self, binding: Binding) -> Iterator[Binding]:
        for others in binding.scope.bindings.values():
            yield from (other for other in others if other is not binding and other.value is binding.value)

    def _is_backpropagated(self, value: ast.expr) -> bool:
        """Whether what carries the graph in ``value`` is itself back-propagated: the sum of such values never is again."""
        if self._is_likely_loss(value):
            return True
        for part in connected(value, self.semantics.names):
            if isinstance(part, (ast.Name, ast.Attribute)) and self._has_graph(part):
                if self.semantics.backpropagated.name(part) or self._is_given_loss(part):
                    return True
        return False

    def _is_given_loss(self, part: ast.expr) -> bool:
        """Whether a parameter is given a back-propagated value by a call in the file: ``meter.update(loss)``."""
        for binding in self.semantics.bindings.reaching(part) if isinstance(part, ast.Name) else ():
            for argument in self._arguments(binding):
                if self.semantics.kind(argument).carries_graph and self.semantics.backpropagated.expression(argument):
                    return True
        return False

    def _arguments(self, binding: Binding) -> list[ast.expr]:
        """What the calls in the file give for a parameter."""
        function = binding.scope.node
        if binding.form is not Form.PARAMETER or not isinstance(function, FUNCTIONS) or not isinstance(binding.node, ast.arg):
            return []
        calls = self.semantics.inference.call_sites(function)
        given = [self.semantics.facts.argument(call, function, binding.node) for call in calls]
        return [argument for argument in given if argument is not None]

    def _is_reset_each_round(self, found: Accumulation) -> bool:
        """Whether each round of the innermost loop starts the accumulator afresh."""
        loop = next(self.semantics.tree.loops(found.statement), None)
        if loop is None:
            return False
        key = (loop, ast.unparse(found.root))
        if key not in self._fresh:
            self._fresh[key] = self._resets(found.root, loop)
        return any(statement is loop or self._is_fresh(statement, found, loop) for statement in self._fresh[key])

    def _resets(self, root: ast.Name | ast.Attribute, loop: Loop) -> list[ast.stmt]:
        """The statements in a loop, itself among them, that give an accumulator a value without the graph of its own."""
        tree, name = self.semantics.tree, ast.unparse(root)
        if isinstance(root, ast.Name):
            scope = self.semantics.bindings.scope_of(root)
            bindings = self._bound_in_loops(root.id, scope).get(loop, ())
            statements = [tree.statement(binding.node) for binding in bindings if binding.form is not Form.AUGMENTED]
        else:
            owner = self.semantics.facts.self_class(root.value)
            slots = self.semantics.facts.slots(owner, root.attr) if owner is not None else []
            stores = [store for slot in slots for store in slot.stores if tree.inside(store, loop)]
            statements = [statement for store in stores if isinstance(statement := tree.statement(store), ast.Assign)]
        return [s for s in statements if not (isinstance(s, ast.Assign) and mentions(s.value, name)) or _cuts(s.value, name)]

    def _bound_in_loops(self, name: str, scope: Scope) -> dict[ast.AST, list[Binding]]:
        """The bindings of a variable that stand in each loop."""
        if (name, scope.node) not in self._in_loops:
            found = self._in_loops[name, scope.node] = dict[ast.AST, list[Binding]]()
            for binding in self.semantics.bindings.lookup(name, scope):
                for parent in self.semantics.tree.ancestors(binding.node):
                    if isinstance(parent, LOOPS):
                        found.setdefault(parent, []).append(binding)
        return self._in_loops[name, scope.node]

    @cached_property
    def _in_loops(self) -> dict[tuple[str, ast.AST], dict[ast.AST, list[Binding]]]:
        return {}

    def _is_fresh(self, statement: ast.stmt, found: Accumulation, loop: Loop) -> bool:
        """Whether ``statement`` gives the accumulator a new value each round, or as often as values are added."""
        if statement is found.statement:
            return False
        conditions = [
            parent
            for parent in self.semantics.tree.ancestors(statement)
            if isinstance(parent, (ast.If, ast.For, ast.While, ast.Try))
        ]
        return all(
            condition is loop
            or self.semantics.tree.inside(loop, condition)
            or self.semantics.tree.inside(found.statement, condition)
            for condition in conditions
        )

    def _outlives(self, found: Accumulation, used: bool) -> bool:
        """Whether the accumulator lives on while more values are added: round a loop, or from call to call."""
        if next(self.semantics.tree.loops(found.statement), None) is not None:
            return True
        function = self.semantics.tree.function(found.statement)
        if not isinstance(function, FUNCTIONS):
            return False
        if isinstance(found.root, ast.Attribute):
            return self.semantics.facts.self_class(found.root.value) is not None and (used or function.name in _STEP_HOOKS)
        scope = self.semantics.bindings.scope_of(found.statement)
        return used and found.root.id in scope.outer_names

    # --- the report --------------------------------------------------------------------------------------------------

    def _report(self, found: Accumulation, values: list[ast.expr]) -> None:
        as_number = self.options.accumulate_with == "item" and not self._fate.is_used_as_tensor(found)
        as_number = as_number and all(self._is_scalar(value) for value in values)
        method = "item" if as_number else "detach"
        parts = [part for value in values for part in self._parts(value, move=not as_number)]
        value = ast.unparse(values[0]) if values[0].lineno == values[0].end_lineno else "the value"
        target = ast.unparse(found.target)
        verb = "keeps" if found.kept else "sums"
        message = f"`{target}` {verb} `{value}` with its autograd graph: memory grows with every step; use `.{method}()`"
        self.report(found.statement, message, self._fix(parts, method))

    def _is_scalar(self, value: ast.expr) -> bool:
        kinds = [self.semantics.kind(part) for part in self._parts(value, move=False)]
        return all(kind.scalar and not kind.loose for kind in kinds)

    def _fix(self, parts: list[ast.expr], method: str) -> Fix | None:
        if any(self._holds_loss(part) or self._may_be_tuple(part) or self._may_be_dict(part) for part in parts):
            return None
        edits = [edit for part in parts for edit in self._edits(part, method)]
        safe = all(self._is_certainly_tensor(part) for part in parts)
        return self.fix(f"Add `.{method}()`", edits, safe=safe)

    def _may_be_tuple(self, part: ast.expr) -> bool:
        """Whether the file asks if the value is a list or tuple."""
        return any(
            isinstance(call.func, ast.Name) and call.args and ast.unparse(call.args[0]) == ast.unparse(part)
            for call in self.semantics.facts.calls.get("isinstance", ())
        )

    def _may_be_dict(self, part: ast.expr) -> bool:
        """Whether the value is a module's output that is never used as a tensor itself."""
        if not (isinstance(part, ast.Name) and self.semantics.kind(part).loose):
            return False
        uses = [use for binding in self.semantics.bindings.reaching(part) for use in binding.uses]
        return not any(self._is_operand(use) for use in uses)

    def _is_operand(self, use: ast.expr) -> bool:
        """Whether a value is computed with: in an operation, or as the first argument of a loss or a function of torch."""
        parent = self.semantics.tree.parent(use)
        if isinstance(parent, ast.Call) and use in parent.args[:1]:
            return self.semantics.kind(parent).carries_graph
        return isinstance(parent, (ast.BinOp, ast.UnaryOp))

    def _is_certainly_tensor(self, part: ast.expr) -> bool:
        kind = self.semantics.kind(part)
        if not kind.is_tensor or kind.loose:
            return False
        names = [name for name in ast.walk(part) if isinstance(name, ast.Name)]
        bindings = [binding for name in names for binding in self.semantics.bindings.reaching(name)]
        return all(
            self.semantics.kind(argument).is_tensor
            for binding in bindings
            for argument in self._arguments(binding)
            if name_of(part) == binding.name
        )

    def _parts(self, value: ast.expr, *, move: bool) -> list[ast.expr]:
        """The smallest parts of ``value`` that the graph hangs on; behind a move to another device only if ``move``."""
        match value:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return [part for element in elements if self._has_graph(element) for part in self._parts(element, move=move)]
            case ast.BinOp(left=left, right=right):
                carrying = [operand for operand in (left, right) if self._has_graph(operand)]
                if len(carrying) == 1:
                    return self._parts(carrying[0], move=move)
            case ast.UnaryOp(operand=operand):
                return self._parts(operand, move=move)
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if (
                move and method in _MOVES and self._has_graph(receiver)
            ):
                return self._parts(receiver, move=move)
        return [value]

    def _edits(self, part: ast.expr, method: str) -> list[TextEdit]:
        start, end = self.source.start(part), self.source.end(part)
        if isinstance(part, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            return [(end, end, f".{method}()")]
        return [(start, start, "("), (end, end, f").{method}()")]


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


def name_of(node: ast.expr) -> str | None:
    """The name that an expression is, if it is one."""
    return node.id if isinstance(node, ast.Name) else None
