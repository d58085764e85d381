"""Changes in place that can be made in another way for certain: of a tensor that nobody else has, or of a leaf."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, known, shortened, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.passing_uses import PassingUses
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.gradients.leaf_changes import LeafChange
from torchlint.semantics.gradients.saved.changes import OutOfPlace, SavedChange
from torchlint.semantics.graphs.sure_graphs import SureGraphs
from torchlint.semantics.observers.free_errors import FreeErrors
from torchlint.semantics.observers.other_code import OtherCode
from torchlint.semantics.observers.programs import Programs
from torchlint.semantics.observers.reflection import Reflection

_NEW = frozenset(
    {"sigmoid", "tanh", "exp", "softmax", "log_softmax", "sqrt", "log", "relu", "pow", "mul", "matmul", "mm", "norm"}
)
"""Methods, and functions of torch, that compute something over memory of its own."""
_VIEWS = frozenset({"view", "reshape", "flatten", "unsqueeze", "squeeze", "t", "transpose", "permute"})
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult)
_HOOKS = frozenset(
    {"register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_module_forward_hook"}
)
_MEMORY = frozenset({"_version", "data_ptr", "storage", "untyped_storage", "is_set_to"})
"""Words of code that sees a change in place without a look at the values: the result out of place has memory of its own."""
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})

Saved = SavedChange[ast.expr, ast.expr | ast.stmt]
Leaf = LeafChange[ast.expr, ast.expr | ast.stmt]


class OwnChanges:
    """Tells of the changes in place whether the program means the same without them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    # --- what an operation has saved ---------------------------------------------------------------------------------

    def saved(self, change: Saved) -> Fact:
        """Whether nobody can tell a change out of place from the one in place, whether or not a backward pass raises."""
        if change.given:
            return unknown("the caller may rely on the change of its argument")
        together = self._semantics.of(FreeErrors).fact & self._keeps_type(change) & self._is_own(change) & self._is_unseen
        if change.module is not None:
            together &= self._only_here(change.module)
        elif isinstance(change.target, ast.Name):
            together &= self._semantics.of(Reflection).reads_no_variables
        return together

    def in_sequence(self, layer: ast.expr) -> Fact:
        """Whether only the layers of a sequence see what one of them changes in place."""
        calls = self._semantics.facts.calls
        if not _HOOKS.isdisjoint(calls):
            return unknown("a hook may see the tensor that is changed in place")
        sequence = self._tree.parent(layer)
        match self._tree.parent(sequence) if sequence is not None else None:
            case ast.Assign(targets=[target]) if (name := dotted(target)) is not None:
                nodes: list[ast.Name | ast.Attribute] = [*self._tree.of_type(ast.Name), *self._tree.of_type(ast.Attribute)]
                nodes = [each for each in nodes if dotted(each) == name]
                plain = all(self._is_called(each) for each in nodes if isinstance(each.ctx, ast.Load))
                last = name.rpartition(".")[2]
                doubt = unknown(f"a layer of `{name}` may be used on its own")
                elsewhere = self._semantics.of(OtherCode).reads_nothing(last)
                return (CERTAIN if plain else doubt) & elsewhere & self._semantics.of(FreeErrors).fact
        return unknown("a layer of the sequence may be used on its own")

    def _is_called(self, node: ast.expr) -> bool:
        match self._tree.parent(node):
            case ast.Call(func=function):
                return function is node
            case ast.Attribute(attr=name):
                return name in ("parameters", "train", "eval", "zero_grad", "state_dict", "load_state_dict")
        return False

    def _keeps_type(self, change: Saved) -> Fact:
        """Whether the result out of place has the type and shape of the one in place: it is made with numbers alone."""
        match change.instead, change.node:
            case OutOfPlace.OPERATION, ast.AugAssign(value=value):
                given = [value]
            case OutOfPlace.METHOD, ast.Call(args=arguments, keywords=words):
                given = [*arguments, *(word.value for word in words)]
            case _:
                return CERTAIN
        others = [each for each in given if not _is_number(each)]
        return known(not others, f"`{shortened(others[0])}` may have another type or shape" if others else "it may")

    @cached_property
    def _is_unseen(self) -> Fact:
        """Whether the code asks neither where the memory of a tensor is nor how often it was changed."""
        found = sorted(self._semantics.words.all & _MEMORY)
        return CERTAIN if not found else unknown(f"`{found[0]}` may tell that the tensor was not changed in place")

    def _is_own(self, change: Saved) -> Fact:
        """Whether the tensor is computed in sight, and nothing but this variable has it when it is changed."""
        target = change.target
        doubt = unknown(f"code may rely on the change of `{shortened(target)}`, which others may hold")
        if not isinstance(target, ast.Name):
            return CERTAIN if self._is_new(target) else doubt
        pending, found = self._reaching(target), list[Binding]()
        while pending:
            binding = pending.pop()
            if binding not in found:
                found.append(binding)
                pending.extend(binding.before)
        flow = self._semantics.control_flow
        scope = flow.scope(change.node)
        passing = self._semantics.of(PassingUses)
        for binding in found:
            if target.id in binding.scope.outer_names or flow.scope(binding.node) is not scope:
                return doubt
            if binding.scope.parent is None and not self._semantics.of(Programs).trains.is_certain:
                return doubt
            if binding.form is not Form.AUGMENTED:
                if binding.form is not Form.ASSIGNMENT or binding.path or not self._is_new(binding.value):
                    return doubt
                if not isinstance(self._tree.parent(binding.node), (ast.Assign, ast.AnnAssign)) or self._is_chained(binding):
                    return doubt
            for use in binding.uses:
                if use is target or self._tree.inside(use, change.node):
                    continue
                if flow.scope(use) is not scope:
                    return doubt
                if flow.may_follow(use, change.node) and not passing.only_read(use, also_fill=True, lets_go=True):
                    return doubt
        return CERTAIN if found else doubt

    def _is_chained(self, binding: Binding) -> bool:
        statement = self._tree.statement(binding.node)
        return isinstance(statement, ast.Assign) and len(statement.targets) != 1

    def _reaching(self, target: ast.Name) -> list[Binding]:
        if isinstance(target.ctx, ast.Load):
            return list(self._semantics.bindings.reaching(target))
        binding = self._semantics.bindings.of(target)
        return [binding] if binding is not None else []

    def _is_new(self, node: ast.expr | None) -> bool:
        """Whether an expression computes a tensor over memory that nothing else has."""
        match node:
            case ast.BinOp(op=op) if isinstance(op, _OPERATORS):
                return self._semantics.of(Tensors).is_tensor(node)
            case ast.Call(func=function, keywords=words) if not {word.arg for word in words} & {None, "out", "inplace"}:
                name = self._semantics.qualified_name(function) or ""
                if name.startswith("torch."):
                    return name.rpartition(".")[2] in _NEW and name.rpartition(".")[0] in ("torch", "torch.nn.functional")
                match function:
                    case ast.Attribute(value=inner, attr=method) if method in _VIEWS:
                        return self._is_new(inner)
                    case ast.Attribute(value=inner, attr=method) if method in _NEW:
                        return self._semantics.of(Tensors).is_tensor(inner)
        return False

    def _only_here(self, module: ast.expr) -> Fact:
        """Whether a module that works in place is called once, with no hook."""
        name = dotted(module)
        doubt = unknown(f"`{shortened(module)}` may be used elsewhere for its change in place")
        if name is None or not _HOOKS.isdisjoint(self._semantics.facts.calls):
            return doubt
        last = name.rpartition(".")[2]
        nodes: list[ast.Name | ast.Attribute] = [each for each in self._tree.of_type(ast.Attribute) if each.attr == last]
        nodes += [each for each in self._tree.of_type(ast.Name) if each.id == last]
        used = [each for each in nodes if isinstance(each.ctx, ast.Load)]
        return (CERTAIN if used == [module] else doubt) & self._semantics.of(OtherCode).reads_nothing(last)

    # --- leaves ------------------------------------------------------------------------------------------------------

    def leaf(self, change: Leaf) -> Fact:
        """Whether the target certainly is a leaf that requires grad, so that its change does nothing but raise."""
        free = self._semantics.of(FreeErrors).fact
        graphs = self._semantics.of(SureGraphs)
        doubt = unknown(f"`{shortened(change.target)}` may be no leaf that requires grad where it is changed")
        if isinstance(change.target, ast.Name) and graphs.is_leaf(change.target):
            return free & (CERTAIN if self._is_plain(change) else graphs.unchanged)
        return free & (CERTAIN if self._is_just_made(change) else doubt)

    def _is_plain(self, change: Leaf) -> bool:
        """Whether numbers alone go into a leaf."""
        match change.node:
            case ast.AugAssign(value=value):
                return _is_number(value)
            case ast.Call(args=arguments, keywords=words):
                return all(map(_is_number, [*arguments, *(word.value for word in words)]))
        match self._tree.statement(change.node):
            case ast.Assign(value=value):
                return _is_number(value)
        return False

    def _is_just_made(self, change: Leaf) -> bool:
        """Whether the statements before, in the same block, make the parameter, or its layer, and do nothing else with it."""
        name = dotted(change.target)
        statement = self._tree.statement(change.node)
        block = self._tree.block(statement)
        if name is None:
            return False
        for earlier in reversed(block[: block.index(statement)]):
            match earlier:
                case ast.Assign(targets=[target], value=ast.Call() as made) if dotted(target) is not None:
                    called = self._semantics.qualified_name(made.func) or ""
                    if dotted(target) == name:
                        return called in _PARAMETERS and len(made.args) == 1 and not made.keywords
                    owner, _, last = name.rpartition(".")
                    if dotted(target) == owner:
                        return last in torch_api.PARAMETER_ATTRIBUTES.get(called, ())
                    if not self._mentions(made, name):
                        continue
                case ast.Assign(targets=[target], value=ast.Constant()):
                    continue
                case _ if isinstance(earlier, ast.Expr) and not self._mentions(earlier, name):
                    continue
            return False
        return False

    def _mentions(self, statement: ast.AST, name: str) -> bool:
        """Whether a statement does anything with what the name is a part of."""
        parts = {dotted(each) for each in ast.walk(statement) if isinstance(each, (ast.Name, ast.Attribute))}
        return any(".".join(name.split(".")[: count + 1]) in parts for count in range(name.count(".") + 1))


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_number(operand)
    return False
