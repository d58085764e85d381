"""Tensors that the code has for itself: new objects without a graph, which nobody else refers to."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.certainty.arrays import Arrays
from torchlint.semantics.certainty.loader_items import LoaderItems
from torchlint.semantics.certainty.passing_uses import FILLING, NEW_METHODS, PassingUses
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.scopes import MANY, Scope
from torchlint.semantics.code.tree import given_to, walk_body
from torchlint.semantics.observers.programs import Programs

_FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        *("zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "arange", "range", "linspace", "logspace"),
        *("eye", "tensor", "from_numpy"),
    )
)
"""Functions that give a new `torch.Tensor` without a graph, whatever they are given."""
_LIKE = frozenset(f"torch.{name}_like" for name in ("zeros", "ones", "empty", "full", "rand", "randn", "randint"))
_COMPUTING = frozenset(
    {
        *("cat", "stack", "exp", "log", "sqrt", "abs", "sigmoid", "tanh", "softmax", "log_softmax", "sum", "mean", "clone"),
        *("bernoulli", "normal", "floor", "ceil", "round", "sign", "cos", "sin", "cumsum", "matmul", "mm", "bmm"),
    }
)
_VIEWING = frozenset({"view", "unsqueeze", "squeeze", "transpose", "permute", "t", "expand", "narrow", "select", "reshape"})
"""Methods whose result is another object, a view of the tensor or a new one."""
_CASTING = frozenset({"to", "type", "cuda", "cpu", "float", "double", "half", "long", "int", "short", "byte", "contiguous"})
"""Methods that give the tensor itself, or a new one."""
_SIZED = frozenset({"repeat", "flip", "sum", "mean", "cumsum"})
"""Methods that are told sizes or axes, which have no graph to give."""
_LISTS = (ast.List, ast.Tuple, ast.ListComp)
_INTEGERS = frozenset({"long", "int", "short", "byte"})
_PLACING = frozenset({"scatter_", "index_fill_"})
"""Methods that put a number into places, in place: told an axis, the places and the number."""
_NEW = frozenset({"new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"})
_CLASSES = frozenset(name for name in torch_api.PASSING_FACTORIES if name.endswith("Tensor"))
_INTEGER_CLASSES = frozenset(name for name in _CLASSES if name.rpartition(".")[2][:-6] in ("Long", "Int", "Short", "Byte"))
_SUBCLASSING = frozenset(
    {"as_subclass", "_make_subclass", "_make_wrapper_subclass", "__torch_function__", "__torch_dispatch__"}
)
_DEEP = 40
_MANY_USES = 48
"""What is used in more places is not looked into: the effort would grow with the square of them."""


@dataclass(frozen=True, slots=True)
class Own:
    """What is known of a tensor of the class `torch.Tensor` itself, besides that it is one.

    ``new``: nothing else refers to the object. ``bare``: it has no graph and does not require grad. ``view``: it may be one
    of another tensor, which autograd treats otherwise where it is changed in place (ran: under ``no_grad``; ``detach_``).
    ``integer``: its dtype is, so that all that is of no matter.
    """

    new: bool = False
    bare: bool = False
    view: bool = False
    integer: bool = False


_NOT_OWN = Own()


class OwnTensors:
    """Tells of expressions what is known of the tensors that they give."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._uses = semantics.of(PassingUses)
        self._tensors = semantics.of(Tensors)
        self._arrays = semantics.of(Arrays)
        self._items = semantics.of(LoaderItems)
        self._open: set[ast.expr] = set()
        self._found: dict[ast.expr, Own | None] = {}

    def of(self, node: ast.expr) -> Own | None:
        """What is known of the tensor that ``node`` gives; ``None`` where it may be none, or one of a class derived from it."""
        if node in self._open or len(self._open) > _DEEP:
            return None
        if node not in self._found:
            self._open.add(node)
            self._found[node] = self._find(node) or self._declared(node)
            self._open.discard(node)
        return self._found[node]

    def is_plain(self, node: ast.expr) -> Fact:
        """Whether ``node`` gives a tensor, and of the class `torch.Tensor` itself."""
        if self.of(node) is not None:
            return CERTAIN
        fact = self._tensors.fact(node)
        return unknown("this file has tensors of other classes than `torch.Tensor`") if fact.is_certain else fact

    def is_bare(self, node: ast.expr) -> Fact:
        """Whether ``node`` gives a tensor that has no graph and does not require grad."""
        own = self.of(node)
        if own is None:
            return self.is_plain(node)
        return CERTAIN if own.bare else unknown(f"`{shortened(node)}` may carry a graph")

    def is_own(self, node: ast.expr) -> Fact:
        """Whether ``node`` gives a tensor without a graph that nothing else refers to, nor is a view of, from there on."""
        own = self.of(node)
        if own is None or not own.bare:
            return self.is_bare(node)
        if not own.new:
            return unknown(f"`{shortened(node)}` may be in use under another name as well")
        return CERTAIN if own.integer or not own.view else unknown(f"`{shortened(node)}` is a view")

    def _declared(self, node: ast.expr) -> Own | None:
        """What is known of what is a tensor for other reasons: not of what operators compute, nor of what may be ``None``."""
        if self._has_subclasses or not isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            return None
        if isinstance(node, ast.Name) and self._may_be_foreign(node):
            return None
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        values = [node, *(binding.value for binding in bindings if binding.value is not None)]
        may_be_none = any(isinstance(value, ast.Call) and self._is_of_file(value.func) for value in values)
        return _NOT_OWN if not may_be_none and self._tensors.is_tensor(node) else None

    def _is_of_file(self, function: ast.expr) -> bool:
        return self._semantics.kind(function).type is Type.FUNCTION and self._semantics.qualified_name(function) is None

    @cached_property
    def _has_subclasses(self) -> bool:
        """Whether the file has to do with tensors of classes derived from `torch.Tensor`."""
        if _SUBCLASSING & self._semantics.words.all:
            return True
        return any(self._semantics.facts.derives_from(each, "torch.Tensor") for each in self._semantics.facts.classes)

    # --- expressions -------------------------------------------------------------------------------------------------

    def _find(self, node: ast.expr) -> Own | None:
        match node:
            case ast.Name():
                return self._named(node)
            case ast.Call():
                return self._called(node)
            case ast.BinOp(left=left, right=right):
                return self._computed([left, right])
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
                return self._computed([operand])
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                is_of_values = not isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn))
                return Own(new=True, bare=True) if is_of_values and self._computed([left, right]) is not None else None
            case ast.Subscript(value=ast.Call(func=ast.Attribute(value=inner, attr=method))) if (
                method in torch_api.VALUES_AND_INDICES
            ):
                return Own(new=True) if self.of(inner) is not None else None
            case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="T"):
                return self._viewed(inner)
            case ast.Attribute(value=inner, attr="data"):
                own = self.of(inner)
                return replace(own, new=True, bare=True, view=False) if own is not None else None
            case ast.IfExp(body=body, orelse=orelse):
                return _either([self.of(body), self.of(orelse)])
        return None

    def _computed(self, operands: list[ast.expr]) -> Own | None:
        """What operators and functions compute of these: a new tensor where one of them is one, and all others are numbers."""
        found = [self.of(operand) for operand in operands]
        if not any(found) or any(own is None and not self._uses.is_plain(part) for own, part in zip(found, operands)):
            return None
        return Own(new=True, bare=all(own.bare for own in found if own is not None))

    def _viewed(self, node: ast.expr) -> Own | None:
        own = self.of(node)
        return replace(own, new=True, view=True) if own is not None else None

    # --- calls -------------------------------------------------------------------------------------------------------

    def _called(self, call: ast.Call) -> Own | None:
        words = {word.arg: word.value for word in call.keywords}
        if None in words or "out" in words or "inplace" in words:
            return None
        name = self._semantics.qualified_name(call.func) or ""
        own = self._made_by(name, call) if name.startswith("torch.") else self._made_otherwise(call)
        if own is not None and "requires_grad" in words and not _is_false(words["requires_grad"]):
            return replace(own, bare=False)
        return own

    def _made_by(self, name: str, call: ast.Call) -> Own | None:
        """What a function of torch makes."""
        last = name.rpartition(".")[2]
        if name == "torch.autograd.Variable":  # whatever it is given: otherwise it raises (ran)
            return Own(new=True, bare=all(map(_is_false, call.args[1:2])))
        if name in _CLASSES:
            return self._constructed(call, is_integer=name in _INTEGER_CLASSES)
        if name in _FACTORIES:
            has_dtype = any(word.arg == "dtype" for word in call.keywords)
            return Own(new=True, bare=True, integer=last in ("randint", "randperm") and not has_dtype)
        if name in _LIKE and call.args:
            is_plain = self.of(call.args[0]) is not None or (not self._has_subclasses and self._tensors.is_tensor(call))
            return Own(new=True, bare=True) if is_plain else None
        if name == f"torch.{last}" and last in _VIEWING and call.args:
            return self._viewed(call.args[0])
        if name == f"torch.{last}" and last in _COMPUTING and call.args:
            return self._computed(_operands(call))
        return None

    def _constructed(self, call: ast.Call, *, is_integer: bool) -> Own:
        """What a legacy constructor makes: of a tensor it is a view, with its graph."""
        match call.args:
            case [ast.Starred()]:
                is_made_anew = False
            case [only]:
                is_made_anew = self._is_list(only) or self._uses.is_plain(only) or self._arrays.is_array(only)
            case _:
                is_made_anew = True
        return Own(new=True, bare=is_made_anew or is_integer, view=not is_made_anew, integer=is_integer)

    def _is_list(self, node: ast.expr) -> bool:
        """Whether a list or a tuple is written out, or all that a name may stand for is."""
        if not isinstance(node, ast.Name):
            return isinstance(node, _LISTS)
        bindings = self._semantics.bindings.reaching(node)
        return bool(bindings) and all(
            each.form is Form.ASSIGNMENT and not each.path and isinstance(each.value, _LISTS) for each in bindings
        )

    def _made_otherwise(self, call: ast.Call) -> Own | None:
        """What a class under another name makes, a function of the file, or a method."""
        if (chosen := self._chosen_classes(call.func)) is not None:
            return self._constructed(call, is_integer=chosen <= _INTEGER_CLASSES)
        definition = self._semantics.facts.definition(call.func)
        if isinstance(definition, ast.FunctionDef):
            return self._returned(definition)
        if isinstance(call.func, ast.Attribute) and (own := self.of(call.func.value)) is not None:
            return self._by_method(call, call.func.attr, own)
        return None

    def _chosen_classes(self, function: ast.expr) -> set[str] | None:
        """The classes of tensors that a name stands for: ``torch.cuda.FloatTensor if cuda else torch.FloatTensor``."""
        if not isinstance(function, ast.Name):
            return None
        chosen: set[str] = set()
        for binding in self._semantics.bindings.reaching(function):
            if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
                return None
            value = binding.value
            ways = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            chosen |= {self._semantics.qualified_name(way) or "" for way in ways}
        return chosen if chosen and chosen <= _CLASSES else None

    def _returned(self, function: ast.FunctionDef) -> Own | None:
        values = self._semantics.facts.returned(function)
        is_plain = not function.decorator_list and not any(
            isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk_body(function.body)
        )
        if not values or not is_plain or self._may_fall_through(function):
            return None
        return _either([self.of(value) if value is not None else None for value in values])

    def _may_fall_through(self, function: ast.FunctionDef) -> bool:
        """Whether a function may end without a ``return``."""
        returns = [part for part in walk_body(function.body) if isinstance(part, ast.Return)]
        return self._semantics.control_flow.may_pass(function, avoiding=returns)

    def _by_method(self, call: ast.Call, method: str, own: Own) -> Own | None:
        given = [] if method in _SIZED else _operands(call)
        if method in _VIEWING:
            return replace(own, new=True, view=True)
        if method == "type_as":
            return replace(own, integer=False)
        if method in _CASTING:
            return self._cast(method, given, own)
        if method in FILLING or method in ("resize_", "resize_as_"):
            given = given if method in FILLING else []
            takes_numbers = method == "random_" or own.integer
            return replace(own, bare=own.bare and (takes_numbers or all(map(self._is_graphless, given))))
        if method in _PLACING and len(given) == 3 and self._uses.is_plain(given[-1]):
            return own  # the index has no graph to give, nor has the number that is put there
        if method in _NEW:
            return Own(new=True, bare=True)
        if method == "new":
            return self._constructed(call, is_integer=own.integer)
        if method in ("clone", "detach"):
            return replace(own, new=True, bare=own.bare or method == "detach", view=False)
        if method in NEW_METHODS and torch_api.TENSOR_METHODS[method] == "tensor":
            is_bare = method in torch_api.NONDIFFERENTIABLE_METHODS or (own.bare and all(map(self._is_graphless, given)))
            return Own(new=True, bare=is_bare)
        return None

    def _cast(self, method: str, given: list[ast.expr], own: Own) -> Own | None:
        if method == "type" and len(given) != 1:
            return None  # it tells the name of the type
        classes = {self._semantics.qualified_name(part) or "" for part in given} if method in ("to", "type") else set()
        if method == "type" and (chosen := self._chosen_classes(given[0])) is not None:
            classes = chosen
        if method in _INTEGERS or (classes and classes <= _INTEGER_CLASSES | {"torch.long", "torch.int64", "torch.int"}):
            return replace(own, bare=True, integer=True)
        keeps = method in ("cuda", "cpu", "contiguous") or (method == "to" and "torch.device" in classes)
        return replace(own, integer=own.integer and keeps)

    def _is_graphless(self, node: ast.expr) -> bool:
        own = self.of(node)
        return own.bare if own is not None else self._uses.is_plain(node)

    # --- names -------------------------------------------------------------------------------------------------------

    def _named(self, name: ast.Name) -> Own | None:
        """What is known of a variable: of all that it may have been given, and by all that is done with it."""
        bindings = self._semantics.bindings
        scope = bindings.scope_of(name)
        lineage = _with_earlier(bindings.reaching(name))
        if not lineage or len(lineage) >= MANY or any(binding.scope is not scope for binding in lineage):
            return None
        own = _either([self._bound(binding) for binding in lineage])
        if own is None or self._may_be_foreign(name):
            return None
        handed_on = self._handed_on(lineage)
        renewing = [
            binding.node for binding in lineage if binding.form is not Form.AUGMENTED and binding not in handed_on.values()
        ]
        uses = {use for binding in lineage for use in binding.uses if use is not name} - handed_on.keys()
        if len(uses) > _MANY_USES or any(bindings.scope_of(use) is not scope for use in uses):
            return _NOT_OWN
        flow = self._semantics.control_flow
        if any(not self._uses.only_read(use, also_fill=True) and flow.may_follow(use, name, renewing) for use in uses):
            return _NOT_OWN
        statement = self._semantics.tree.statement(name)
        is_last = not any(self._semantics.tree.statement(use) is statement for use in uses) and not hasattr(statement, "body")
        stores = [binding.node for binding in scope.bindings.get(name.id, ())]
        is_last = is_last and not flow.leads_to_any(name, sorted(uses, key=_position), stores)
        is_last = is_last and not flow.may_follow(name, name, renewing)
        return replace(own, new=own.new and is_last and (_rebinds(statement, name) or not self._is_seen(scope)))

    def is_kept(self, node: ast.expr, *, apart_from: Collection[ast.expr]) -> bool:
        """Whether the tensor of a variable is only read in its own function, apart from the uses in some expressions."""
        if not isinstance(node, ast.Name):
            return False
        scope = self._semantics.bindings.scope_of(node)
        lineage = _with_earlier(self._semantics.bindings.reaching(node))
        uses = [use for binding in lineage for use in binding.uses if self._semantics.tree.parent(use) not in apart_from]
        is_own = bool(lineage) and all(binding.form is Form.ASSIGNMENT and binding.scope is scope for binding in lineage)
        return (
            is_own and all(self._semantics.bindings.scope_of(use) is scope for use in uses) and self._uses.all_only_read(uses)
        )

    def _is_seen(self, scope: Scope) -> bool:
        """Whether the variables of a scope may be looked at from outside: those of a class, and of a module but a program."""
        if isinstance(scope.node, ast.Module):
            return not self._semantics.of(Programs).trains.is_certain
        return isinstance(scope.node, ast.ClassDef)

    def _may_be_foreign(self, name: ast.Name) -> bool:
        """Whether a variable of a module may have a value that the file does not give it, as by an import of everything."""
        module, bindings = self._semantics.tree.module, self._semantics.bindings
        if bindings.scope_of(name).node is not module:
            return False
        return self._semantics.control_flow.may_start_with(module, name, [binding.node for binding in bindings.reaching(name)])

    def _handed_on(self, lineage: tuple[Binding, ...]) -> dict[ast.Name, Binding]:
        """The uses of a variable by which its object may become its next value, with that: ``x = x.cuda()``."""
        found: dict[ast.Name, Binding] = {}
        for binding in lineage:
            statement = self._semantics.tree.statement(binding.node)
            value = _part_of(statement.value, binding.path) if isinstance(statement, ast.Assign) else None
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                value = value.func.value
            if isinstance(value, ast.Name) and any(value in earlier.uses for earlier in lineage):
                found[value] = binding
        return found

    def _bound(self, binding: Binding) -> Own | None:
        statement = self._semantics.tree.statement(binding.node)
        match binding.form, statement:
            case Form.ASSIGNMENT, ast.Assign(targets=[_], value=value) | ast.AnnAssign(value=ast.expr() as value):
                part = _part_of(value, binding.path)
                return self.of(part) if part is not None else None
            case Form.AUGMENTED, ast.AugAssign(value=value):
                return Own(new=True, bare=self._is_graphless(value))  # as to the object, what it was before counts
            case Form.LOOP, ast.For():
                item = self._items.item(binding)
                if item is None or item.of is None:
                    return Own(new=True, bare=True) if item is not None else None
                own = self.of(item.of)
                return replace(own, new=True, view=False) if own is not None else None
        return None


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _with_earlier(bindings: tuple[Binding, ...]) -> tuple[Binding, ...]:
    """Bindings, and those before of which they are augmented."""
    found = dict.fromkeys(bindings)
    pending = list(bindings)
    while pending and len(found) < MANY:
        for earlier in pending.pop().before:
            if earlier not in found:
                found[earlier] = None
                pending.append(earlier)
    return tuple(found)


def _part_of(value: ast.expr, path: tuple[int | None, ...]) -> ast.expr | None:
    """What stands at a place in a value that is written out."""
    for step in path:
        if step is None or not isinstance(value, (ast.Tuple, ast.List)) or step >= len(value.elts):
            return None
        if any(isinstance(part, ast.Starred) for part in value.elts):
            return None
        value = value.elts[step]
    return value


def _either(ways: list[Own | None]) -> Own | None:
    """What is known of a value that is one of several."""
    known = [own for own in ways if own is not None]
    if not known or len(known) < len(ways):
        return None
    return Own(
        new=all(own.new for own in known),
        bare=all(own.bare for own in known),
        view=any(own.view for own in known),
        integer=all(own.integer for own in known),
    )


def _operands(call: ast.Call) -> list[ast.expr]:
    """What a function is given, the elements of a list or tuple each for itself."""
    found: list[ast.expr] = []
    for given in given_to(call):
        found += given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
    return found


def _rebinds(statement: ast.stmt, name: ast.Name) -> bool:
    """Whether a statement gives the variable ``name``, which it uses, another value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(part, ast.Name) and part.id == name.id for target in targets for part in ast.walk(target))


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value
