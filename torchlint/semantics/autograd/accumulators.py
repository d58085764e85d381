"""What a program does with what it accumulates: whether it only reports it, and whether it wants a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.autograd.paths import evaluates
from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS, Loop, dotted, last_name

_REPORTING_METHODS = frozenset(
    {
        *("item", "tolist", "numpy", "detach", "format", "info", "debug", "warning", "write", "add_scalar", "add_scalars"),
        *("set_postfix", "set_description", "print", "scalar_summary", "line", "plot", "log_metrics", "size", "dim"),
    }
)
"""Methods that take or give plain values: what is passed to them is for people to read."""
_REPORTING_CALLS = frozenset(
    f"builtins.{name}" for name in ("print", "float", "int", "str", "len", "round", "format", "repr", "bool")
)

_COUNTS = frozenset({"range", "len", "zip", "enumerate", "reversed"})


@dataclass(frozen=True, eq=False, slots=True)
class Accumulation:
    """One statement that adds values to an accumulator.

    ``target`` is the accumulator (a name, an attribute, or either behind an index), ``root`` what is left of it without
    indices, ``values`` what is added, ``kept`` whether the accumulator keeps the values themselves (a list, a dict) and
    not their sum. Where it is ``handed``, an object of another file adds it up.
    """

    statement: ast.stmt
    target: ast.expr
    root: ast.Name | ast.Attribute
    values: tuple[ast.expr, ...]
    kept: bool
    handed: bool = False


class Fate:
    """Follows an accumulator to where it is read."""

    def __init__(self, semantics: Semantics) -> None:
        self.semantics = semantics
        self._reported: dict[object, bool] = {}
        self._as_tensor: dict[object, bool] = {}
        self._stores: dict[tuple[ast.ClassDef, str], list[ast.Assign]] = {}
        self._wants: dict[tuple[ast.ClassDef, str, bool, bool], list[ast.expr]] = {}

    def _key(self, found: Accumulation) -> object:
        """What the accumulations into one place share: their fate is looked up once."""
        return (self.semantics.bindings.scope_of(found.root), ast.unparse(found.root), found.kept, found.root is found.target)

    def is_only_reported(self, found: Accumulation) -> bool:
        """Whether all that becomes of the accumulator can be seen, and nothing of it needs the graph."""
        function = self.semantics.tree.function(found.statement)
        owner = self.semantics.tree.enclosing_class(found.statement)
        if owner is not None and self.semantics.facts.is_module(owner):
            return False  # a part of a model: what it computes is its callers'
        if isinstance(function, FUNCTIONS) and evaluates(function):
            return not any(map(self._is_log_probability, found.values))
        if not self.semantics.of(Backpropagated).roots:
            return False  # a file that trains nothing: what the values are for is not known
        if not isinstance(found.root, ast.Name) or isinstance(function, ast.Lambda):
            return False
        key = self._key(found)
        if key not in self._reported:
            uses = [use for use in self._reads(found) if not self.semantics.tree.inside(use, found.statement)]
            self._reported[key] = bool(uses) and all(self._reports(use, found, 0) for use in uses)
        return self._reported[key]

    def _is_log_probability(self, value: ast.expr) -> bool:
        """Whether a value is the logarithm of the probability of what a distribution drew: a policy's gradient begins there."""
        bindings = self.semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        values = [value, *(binding.value for binding in bindings if binding.value is not None)]
        calls = [part for each in values for part in ast.walk(each) if isinstance(part, ast.Call)]
        return any(isinstance(call.func, ast.Attribute) and call.func.attr == "log_prob" for call in calls)

    def _reads(self, found: Accumulation) -> list[ast.Name]:
        """Every read that the accumulated value may reach: not those behind another value for the name."""
        assert isinstance(found.root, ast.Name)
        stored = self.semantics.bindings.of(found.root)
        filled = {stored} if stored is not None else set(self.semantics.bindings.reaching(found.root))
        uses = self._uses(found.root)
        return [use for use in uses if not filled.isdisjoint(self.semantics.bindings.reaching(use))]

    def _uses(self, name: ast.Name) -> list[ast.Name]:
        """Every read of the variable that ``name`` stands for."""
        scope = self.semantics.bindings.scope_of(name)
        bindings = self.semantics.bindings.lookup(name.id, scope)
        return list(dict.fromkeys(use for binding in bindings for use in binding.uses))

    def _reports(self, use: ast.expr, found: Accumulation, depth: int) -> bool:
        """Whether a read of the accumulator, or of what is computed from it, ends in something for people to read."""
        if self.semantics.tree.inside(use, found.statement):
            return True
        parent = self.semantics.tree.parent(use)
        match parent:
            case ast.Attribute(attr=attribute):
                call = self.semantics.tree.parent(parent)
                if attribute in _REPORTING_METHODS or attribute in ("data", "shape"):
                    return True
                return isinstance(call, ast.Call) and call.func is parent and self._reports(call, found, depth)
            case ast.Call(func=function):
                return self._is_reporting_call(function) or (
                    self._is_computation(function) and self._reports(parent, found, depth)
                )
            case ast.FormattedValue() | ast.JoinedStr() | ast.Compare() | ast.Expr():
                return True
            case ast.BinOp(op=ast.Mod(), left=left) if left is not use:
                return True
            case (
                ast.BinOp()
                | ast.UnaryOp()
                | ast.Tuple()
                | ast.List()
                | ast.Dict()
                | ast.IfExp()
                | ast.Subscript()
                | ast.Starred()
            ):
                return self._reports(parent, found, depth)
            case ast.Assign(targets=[ast.Name() as target]) if depth < 3:
                binding = self.semantics.bindings.of(target)
                return binding is not None and all(self._reports(later, found, depth + 1) for later in binding.uses)
            case ast.AugAssign(value=value, target=ast.Name()) if value is use:
                return True
            case ast.Return():
                return self._callers_report(parent, found, depth)
        return False

    def _is_reporting_call(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Attribute) and function.attr in _REPORTING_METHODS:
            return True
        name = self.semantics.qualified_name(function) or ""
        return name in _REPORTING_CALLS or name.startswith(("numpy.", "math.", "logging."))

    def _is_computation(self, function: ast.expr) -> bool:
        name = self.semantics.qualified_name(function) or ""
        return (name.startswith("torch.") and name.islower()) or name in (
            "builtins.sum",
            "builtins.max",
            "builtins.min",
            "builtins.abs",
        )

    def _callers_report(self, statement: ast.Return, found: Accumulation, depth: int) -> bool:
        function = self.semantics.tree.function(statement)
        calls = self.semantics.facts.call_sites(function) if function is not None else []
        if not calls or depth >= 2 or not isinstance(function, FUNCTIONS) or function.name == "forward":
            return False
        return all(self._reports(call, found, depth + 1) for call in calls)

    # --- tensor or number ----------------------------------------------------------------------------------------------

    def is_used_as_tensor(self, found: Accumulation) -> bool:
        """Whether the accumulator is a tensor, is used as one, or is handed to code that may use it as one."""
        key = self._key(found)
        if key not in self._as_tensor:
            self._as_tensor[key] = self._may_need_tensor(found)
        return self._as_tensor[key]

    def _may_need_tensor(self, found: Accumulation) -> bool:
        if isinstance(found.root, ast.Name):
            scope = self.semantics.bindings.scope_of(found.root)
            bindings = self.semantics.bindings.lookup(found.root.id, scope)
            starts = [binding for binding in bindings if binding.form is not Form.AUGMENTED]
            if any(binding.form is Form.PARAMETER or self._starts_as_tensor(binding, found) for binding in starts):
                return True
            return any(self._needs_tensor(use, found, 0) for use in self._uses(found.root))
        owner = self.semantics.facts.self_class(found.root.value)
        if owner is None:
            return True
        if any(statement is not found.statement for statement in self._tensor_stores(owner, found.root.attr)):
            return True
        uses = (use for slot in self.semantics.facts.slots(owner, found.root.attr) for use in slot.uses)
        if all(self.semantics.tree.inside(use, found.statement) for use in uses):
            return True
        return any(self._needs_tensor(use, found, 0) for use in self._wanting(owner, found.root.attr, found))

    def _starts_as_tensor(self, binding: Binding, found: Accumulation) -> bool:
        if binding.value is None or self.semantics.tree.inside(binding.node, found.statement):
            return False
        if mentions(binding.value, binding.name):
            return False  # another accumulation
        kind = self.semantics.kind(binding.value)
        for step in binding.path:
            kind = kind.items[step] if kind.items is not None and step is not None and step < len(kind.items) else kind
        return kind.is_tensor or (kind.element is not None and kind.element.is_tensor and not found.kept)

    def _tensor_stores(self, owner: ast.ClassDef, attribute: str) -> list[ast.Assign]:
        """The assignments of tensors to an attribute of a class's instances."""
        if (owner, attribute) not in self._stores:
            stores = (store for slot in self.semantics.facts.slots(owner, attribute) for store in slot.stores)
            statements = [each for store in stores if isinstance(each := self.semantics.tree.statement(store), ast.Assign)]
            self._stores[owner, attribute] = [each for each in statements if self.semantics.kind(each.value).is_tensor]
        return self._stores[owner, attribute]

    def _wanting(self, owner: ast.ClassDef, attribute: str, found: Accumulation) -> list[ast.expr]:
        """The reads of an attribute that may need a tensor, for whatever adds to it in the same way as ``found``."""
        key = (owner, attribute, found.kept, found.root is found.target)
        if key not in self._wants:
            anywhere = replace(found, statement=ast.Pass())
            uses = (use for slot in self.semantics.facts.slots(owner, attribute) for use in slot.uses)
            self._wants[key] = [use for use in uses if self._needs_tensor(use, anywhere, 0)]
        return self._wants[key]

    def _needs_tensor(self, use: ast.expr, found: Accumulation, depth: int) -> bool:
        """Whether a read of the accumulator may need a tensor: a tensor's method is called on it, or it goes out of sight."""
        if self.semantics.tree.inside(use, found.statement):
            return False
        parent = self.semantics.tree.parent(use)
        match parent:
            case ast.Attribute(attr=attribute):
                return attribute in torch_api.TENSOR_ATTRIBUTES and not (
                    found.kept and attribute in ("append", "index", "sort")
                )
            case ast.Call(func=function):
                if self._is_reporting_call(function):
                    return False
                name = self.semantics.qualified_name(function) or ""
                if name.startswith("builtins."):
                    return name not in ("builtins.sorted", "builtins.enumerate") and self._needs_tensor(parent, found, depth)
                return True
            case ast.FormattedValue() | ast.JoinedStr() | ast.Compare() | ast.Expr() | ast.Delete():
                return False
            case ast.AugAssign(target=target) | ast.Assign(targets=[target]) if target is use:
                return False
            case ast.BinOp(op=ast.Mod(), left=left) if left is not use:
                return False
            case ast.Subscript(value=value) if value is use:
                return (not found.kept and found.root is found.target) or self._needs_tensor(parent, found, depth)
            case ast.BinOp() | ast.UnaryOp() | ast.Tuple() | ast.List() | ast.Dict() | ast.IfExp() | ast.Subscript():
                return self._needs_tensor(parent, found, depth)
            case ast.Assign(targets=[ast.Name() as target]) if depth < 3:
                binding = self.semantics.bindings.of(target)
                return binding is None or any(self._needs_tensor(later, found, depth + 1) for later in binding.uses)
            case (
                ast.For(iter=value, target=ast.Name() as target) | ast.comprehension(iter=value, target=ast.Name() as target)
            ) if value is use:
                binding = self.semantics.bindings.of(target)
                return binding is None or any(self._needs_tensor(later, found, depth + 1) for later in binding.uses)
            case ast.AugAssign(value=value, target=ast.Name() as target) if value is use:
                return any(self._needs_tensor(later, found, depth + 1) for later in self._uses(target)) if depth < 3 else True
            case ast.Return() if depth < 2:
                return self._callers_need_tensor(parent, found, depth)
        return not isinstance(parent, COMPREHENSIONS)

    def _callers_need_tensor(self, statement: ast.Return, found: Accumulation, depth: int) -> bool:
        function = self.semantics.tree.function(statement)
        calls = self.semantics.facts.call_sites(function) if function is not None else []
        if not calls or not isinstance(function, FUNCTIONS):
            return True
        return any(self._needs_tensor(call, found, depth + 1) for call in calls)


class KeptLosses:
    """Tells of lists whether each round back-propagates what it has just put in, and the rest is only looked at.

    Then the graphs of all earlier rounds are kept for nothing: ``losses.append(f(x))``, ``losses[-1].backward()``.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._last: dict[tuple[frozenset[Binding], Loop], list[ast.expr]] = {}

    def are_kept(self, found: Accumulation) -> bool:
        """Whether a list keeps the graphs of what is back-propagated in it, one after the other."""
        loop = next(self._tree.loops(found.statement), None)
        if loop is None or not isinstance(found.root, ast.Name) or found.target is not found.root:
            return False
        key = frozenset(self._semantics.bindings.reaching(found.root)), loop
        if key not in self._last:
            self._last[key] = self._propagated(*key)
        flow = self._semantics.control_flow
        return any(flow.may_follow(found.statement, root) for root in self._last[key])

    def _propagated(self, bindings: Iterable[Binding], loop: Loop) -> list[ast.expr]:
        """The last items of a list that a loop back-propagates, if no others are and the rest is only looked at."""
        uses = [use for binding in bindings for use in binding.uses]
        around = {part for use in uses for part in (use, *self._tree.ancestors(use))}
        roots = [root for root in around if root in self._semantics.of(Backpropagated).every_root]
        are_last = all(_is_last(root) and self._tree.inside(root, loop) for root in roots)
        return roots if are_last and all(self._is_looked_at(use) for use in uses) else []

    def _is_looked_at(self, use: ast.Name) -> bool:
        """Whether a list is filled or counted where it is named, or one of its items is compared, printed or propagated."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Attribute(attr="append") | ast.Call(func=ast.Name(id="len")):
                return True
            case ast.Subscript(value=value, slice=ast.Constant() | ast.UnaryOp()) if value is use:
                return self._is_item_looked_at(parent)
        return False

    def _is_item_looked_at(self, item: ast.expr) -> bool:
        child, parent = item, self._tree.parent(item)
        while isinstance(parent, (ast.BinOp, ast.UnaryOp)):
            child, parent = parent, self._tree.parent(parent)
        match parent:
            case ast.Attribute(attr="backward" | "item" | "detach" | "data"):
                return child is item or parent.attr != "backward"
            case ast.Compare() | ast.FormattedValue():
                return True
            case ast.Assign(targets=[ast.Name() as target]):
                return child is not item and not self._semantics.of(Backpropagated).name(target)
        return False


def _is_last(node: ast.expr) -> bool:
    """Whether an expression takes the last item of a list."""
    match node:
        case ast.Subscript(value=ast.Name(), slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))):
            return True
    return False


def root_of(target: ast.expr) -> ast.Name | ast.Attribute | None:
    """The variable or attribute that an accumulator is in: ``stats`` of ``stats["loss"]``."""
    while isinstance(target, ast.Subscript):
        target = target.value
    if isinstance(target, ast.Name) or (isinstance(target, ast.Attribute) and dotted(target) is not None):
        return target
    return None


def summands(node: ast.expr) -> Iterator[ast.expr]:
    """The terms of a sum, in the order of the text."""
    pending = [node]
    while pending:
        term = pending.pop()
        if isinstance(term, ast.BinOp) and isinstance(term.op, (ast.Add, ast.Sub)):
            pending += (term.right, term.left)
        else:
            yield term


def mentions(node: ast.expr, name: str) -> bool:
    """Whether a variable, an attribute or an entry that is spelled ``name`` is a part of ``node``."""
    if name.isidentifier():
        return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))
    spelled = ast.Subscript if name.endswith("]") else ast.Attribute
    return any(isinstance(part, spelled) and ast.unparse(part) == name for part in ast.walk(node))


def step_loops(semantics: Semantics, statement: ast.stmt) -> Iterator[Loop]:
    """The loops around a statement, innermost first, but for those through the few results of one call of a model."""
    return (loop for loop in semantics.tree.loops(statement) if not _walks_results(semantics, loop))


def _walks_results(semantics: Semantics, loop: Loop) -> bool:
    """Whether a loop goes through what one call of a model gave: `_, layers = model(x)`, `for i in range(len(layers))`."""
    walked = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else None
    while isinstance(walked, ast.Call) and last_name(walked.func) in _COUNTS and walked.args:
        walked = walked.args[0]
    bindings = semantics.bindings.reaching(walked) if isinstance(walked, ast.Name) else ()
    return bool(bindings) and all(
        each.form is Form.ASSIGNMENT
        and isinstance(each.value, ast.Call)
        and semantics.kind(each.value.func).type is Type.MODULE
        for each in bindings
    )


def _is_multiple(node: ast.expr, name: str) -> bool:
    """Whether a summand is what a target has been so far, or that times a factor: not what a function makes of it."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript() if ast.unparse(node) == name:
            return True
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return _is_multiple(left, name) or _is_multiple(right, name)
        case ast.UnaryOp(operand=inner) | ast.Call(func=ast.Attribute(value=inner)) | ast.Attribute(value=inner):
            return _is_multiple(inner, name)
    return False


def added_to(name: str, value: ast.expr) -> tuple[ast.expr, ...] | None:
    """What a sum adds to a target that is spelled ``name``; `None`, if it is no sum of what that has been so far."""
    operands = list(summands(value))
    if not any(_is_multiple(operand, name) for operand in operands):
        return None
    return tuple(operand for operand in operands if not mentions(operand, name))
