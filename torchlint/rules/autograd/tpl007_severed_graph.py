from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen, given
from torchlint.semantics import Basis, Binding, Form, Grad, Kind, Type, torch_api
from torchlint.semantics.autograd.loss_terms import LossTerms, Term
from torchlint.semantics.code.definitions import Slot
from torchlint.semantics.code.tree import dotted

_VARIABLE = "torch.autograd.Variable"
_COPYING = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.Tensor", "torch.FloatTensor"})
"""Functions that make a new tensor of what they are given, without its graph where they do not return the very thing."""
_ARRAYS = frozenset({"numpy.array", "numpy.asarray", "builtins.float"})
_CUTS = frozenset({"detach", "numpy", "item", "tolist"})
_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous", "detach"})
_DATA = re.compile(r"numpy\.(random|zeros|ones|full|linspace|arange|array|asarray)|random\.|torch\.(rand|randn|randint|normal)")
_Variable: TypeAlias = Binding | Slot


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A new leaf made of a value: the expression that makes it, and the value."""

    node: ast.Call
    value: ast.expr
    asks_for_grad: bool


class SeveredGraph(AstRule):
    """
    ## What it does
    Finds computed values that are made new leaves on the way to `backward`: `loss = Variable(loss, requires_grad=True)`,
    `torch.tensor(loss.item(), requires_grad=True)`, `loss.requires_grad = True`, a model's output taken through NumPy and
    wrapped again.

    ## Why is this bad
    The backward pass ends at a leaf. It runs without an error, for there is something that requires grad, but no parameter
    gets a gradient: the model is never trained. `requires_grad=True` does not mend "element 0 of tensors does not require
    grad", it hides it.

    ## Example
    ```python
    output = model(x)
    loss = criterion(output, y)
    loss = Variable(loss, requires_grad=True)
    loss.backward()
    ```

    ## Use instead
    ```python
    output = model(x)
    loss = criterion(output, y)
    loss.backward()
    ```

    ## Fix safety
    Unsafe: with the graph whole again, gradients flow where there were none; and where `requires_grad = True` hid that a loss
    has no graph at all, the backward pass raises without it. There is no fix where the value went through something that is
    not a tensor's, or through an operation without a gradient such as `argmax`.

    ## References
    - [torch.Tensor.requires_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad.html)
    - [torch.Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
    """

    code = "TPL007"
    name = "severed-graph"
    screen = Screen(
        any_of=(b"requires_grad", b"Variable"),
        and_any_of=(b"backward", b"training_step", b"autograd", b"forward", b"loss", b"Loss"),
        pattern=re.compile(given(b"requires_grad", b"True") + rb"|requires_grad_\b|Variable"),
    )

    @cached_property
    def _terms(self) -> LossTerms:
        return LossTerms(self.semantics)

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def finish(self) -> None:
        """Reports the leaves that a backward pass ends at, each once."""
        found: dict[ast.Call, _Leaf] = {}
        for term in self._terms.terms:
            leaf = self._leaf(term.node)
            if leaf is not None and self._is_severed(leaf, term):
                found.setdefault(leaf.node, leaf)
        for term in self._terms.outputs:
            leaf = self._leaf(term.node)
            if leaf is not None and term.whole and self._is_severed_output(leaf):
                found.setdefault(leaf.node, leaf)
        for term in self._terms.losses:
            leaf = self._leaf(term.node)
            if leaf is not None and term.whole and self._is_severed_loss(leaf):
                found.setdefault(leaf.node, leaf)
        for leaf in found.values():
            self._report_leaf(leaf)

    # --- flags that are set on the loss ------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        """`loss.requires_grad = True` before `loss.backward()`."""
        match node:
            case ast.Assign(
                targets=[ast.Attribute(attr="requires_grad", value=(ast.Name() | ast.Attribute()) as value) as target],
                value=ast.Constant(value=True),
            ) if self._is_loss(value) and self._may_be_computed(value):
                self._report_flag(node, target, value)

    def visit_Expr(self, node: ast.Expr) -> None:
        """`loss.requires_grad_()` before `loss.backward()`, where the loss has no graph."""
        match node.value:
            case ast.Call(
                func=ast.Attribute(attr="requires_grad_", value=(ast.Name() | ast.Attribute()) as value),
                args=[] | [ast.Constant(value=True)],
                keywords=[],
            ) if self._is_loss(value) and self._has_lost_graph(value):
                self._report_flag(node, node.value, value)

    def _is_loss(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether what a name refers to is back-propagated as it is, behind ``node``."""
        return any(
            self._terms.variables.get(variable, False) and not self._reads_gradient(variable)
            for variable in self._variables(node)
        )

    def _variables(self, node: ast.Name | ast.Attribute) -> list[_Variable]:
        if isinstance(node, ast.Name):
            return list(self.semantics.bindings.reaching(node))
        owner = self.semantics.facts.self_class(node.value)
        return list(self.semantics.facts.slots(owner, node.attr)) if owner is not None else []

    def _may_be_computed(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether the value is neither data nor a leaf of the author's own."""
        values = self._values(node)
        return bool(values) and all(not self._is_data(value) for value in values)

    def _values(self, node: ast.Name | ast.Attribute) -> list[ast.expr]:
        values: list[ast.expr] = []
        for variable in self._variables(node):
            if isinstance(variable, Binding):
                if variable.path or variable.form not in (Form.ASSIGNMENT, Form.AUGMENTED) or variable.value is None:
                    return []
                values.append(variable.value)
            else:
                parents = [self.semantics.tree.parent(store) for store in variable.stores]
                values += [parent.value for parent in parents if isinstance(parent, ast.Assign)]
        return [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]

    def _has_lost_graph(self, node: ast.Name | ast.Attribute) -> bool:
        values = self._values(node)
        return bool(values) and all(
            self.semantics.kind(value).is_tensor
            and self.semantics.kind(value).grad is Grad.NONE
            and not self._is_data(value)
            and self._source(value) is not None
            for value in values
        )

    def _report_flag(self, statement: ast.stmt, place: ast.expr, value: ast.expr) -> None:
        text, written = ast.unparse(value), ast.unparse(statement)
        message = f"`{written}` makes a leaf of a computed value: `{text}.backward()` runs, but no parameter gets a gradient"
        fix = self.fix("Leave the flag alone", [self._rewriter.delete_statement(statement)], safe=False)
        self.report(place, message, fix)

    # --- new leaves --------------------------------------------------------------------------------------------------

    def _leaf(self, node: ast.expr) -> _Leaf | None:
        """The new leaf that a term is, if it is one."""
        if not isinstance(node, ast.Call):
            return None
        name = self.semantics.qualified_name(node.func)
        flag = _flag(node)
        if name == _VARIABLE and node.args and len(node.args) + len(node.keywords) <= 2:
            return _Leaf(node, node.args[0], flag is True) if flag is not None else None
        if name == "torch.tensor" and node.args and flag is True:
            return _Leaf(node, node.args[0], True)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_" and flag is not None:
            made = node.func.value
            return _Leaf(node, made, True) if self.semantics.kind(made).grad is Grad.NONE else None
        return None

    def _is_severed(self, leaf: _Leaf, term: Term) -> bool:
        if self._is_data(leaf.value) or self._is_wanted(leaf):
            return False
        source = self._source(leaf.value)
        if not leaf.asks_for_grad:
            return source is leaf.value and (term.whole or term.judged)
        if term.whole:
            return True
        if source is None:
            return False
        return term.judged or not self._is_cut_on_purpose(leaf.value)

    def _is_severed_output(self, leaf: _Leaf) -> bool:
        """Whether a module returns a leaf that it made of what it computed: nothing behind it can ever be trained."""
        if self._is_data(leaf.value) or self._is_wanted(leaf) or self.semantics.no_grad.covers(leaf.node):
            return False
        kind = self.semantics.kind(leaf.value)
        if not leaf.asks_for_grad:
            return kind.carries_graph
        computed = isinstance(leaf.value, (ast.BinOp, ast.Name, ast.Call)) and not self._is_cut_on_purpose(leaf.value)
        return computed and kind.is_tensor and kind.grad is not Grad.NONE and not self._is_parameter(leaf.value)

    def _is_severed_loss(self, leaf: _Leaf) -> bool:
        """Whether a loss function returns a leaf that it made of what it computed."""
        if not leaf.asks_for_grad or self._is_data(leaf.value) or self._is_wanted(leaf) or self._is_parameter(leaf.value):
            return False
        kind = self.semantics.kind(leaf.value)
        if self.semantics.qualified_name(leaf.node.func) == _VARIABLE:
            return not self._is_cut_on_purpose(leaf.value)
        return kind.is_tensor or self._source(leaf.value) is not None

    def _is_parameter(self, node: ast.expr) -> bool:
        """Whether a name is just what the function was given."""
        if not isinstance(node, ast.Name):
            return False
        return any(binding.form is Form.PARAMETER for binding in self.semantics.bindings.reaching(node))

    def _is_data(self, value: ast.expr, depth: int = 0) -> bool:
        """Whether a value is not computed from anything: a number, a new tensor, an item of a loader."""
        match value:
            case ast.Constant() | ast.Lambda() | ast.Compare():
                return True
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return bool(elements) and all(self._is_data(element, depth) for element in elements)  # an empty one is filled
            case ast.UnaryOp(operand=operand):
                return self._is_data(operand, depth)
            case ast.BinOp(left=left, right=right):
                return self._is_data(left, depth) and self._is_data(right, depth)
            case ast.Call() if self._makes_data(value, depth):
                return True
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if method in _MOVES:
                return self._is_data(receiver, depth)
            case ast.Name() if depth < 4:
                bindings = self.semantics.bindings.reaching(value)
                if not bindings or any(binding.form in (Form.LOOP, Form.CONTEXT) for binding in bindings):
                    return True
                return all(
                    binding.form is Form.ASSIGNMENT
                    and not binding.path
                    and binding.value is not None
                    and self._is_data(binding.value, depth + 1)
                    for binding in bindings
                )
        return self.semantics.kind(value).basis is Basis.BATCH

    def _makes_data(self, call: ast.Call, depth: int) -> bool:
        name = self.semantics.qualified_name(call.func) or ""
        if _DATA.match(name) or name in torch_api.FACTORIES or name == _VARIABLE:
            return all(self._is_data(argument, depth) for argument in call.args)
        return False

    def _is_wanted(self, leaf: _Leaf) -> bool:
        """Whether the leaf is there on purpose: its gradient is read, or it is given to an optimizer or a module."""
        statement = self.semantics.tree.statement(leaf.node)
        if not isinstance(statement, ast.Assign):
            return False
        for target in statement.targets:
            if isinstance(target, ast.Attribute):
                return any(self._reads_gradient(slot) for slot in self._variables(target))
            binding = self.semantics.bindings.of(target)
            if binding is not None and self._is_used_as_leaf(binding):
                return True
        return False

    def _is_used_as_leaf(self, binding: Binding, depth: int = 0) -> bool:
        if self._reads_gradient(binding) or any(self._is_given(use) for use in binding.uses):
            return True
        aliases = [self._alias(use) for use in binding.uses] if depth < 3 else []
        return any(alias is not None and self._is_used_as_leaf(alias, depth + 1) for alias in aliases)

    def _alias(self, use: ast.Name) -> Binding | None:
        """The binding of another name for the same value: ``first = x``."""
        match self.semantics.tree.parent(use):
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is use:
                return self.semantics.bindings.of(target)
        return None

    def _reads_gradient(self, variable: _Variable) -> bool:
        parents = [self.semantics.tree.parent(use) for use in variable.uses]
        return any(isinstance(parent, ast.Attribute) and parent.attr in ("grad", "register_hook") for parent in parents)

    def _is_given(self, use: ast.expr) -> bool:
        """Whether a leaf is handed to an optimizer, to `autograd.grad`, or to a module that is no criterion."""
        call = next((parent for parent in self.semantics.tree.ancestors(use) if isinstance(parent, (ast.Call, ast.stmt))), None)
        if not isinstance(call, ast.Call) or self.semantics.tree.inside(use, call.func):
            return False
        name = self.semantics.qualified_name(call.func) or ""
        if name.startswith(("torch.optim.", "torch.autograd.")):
            return True
        kind = self.semantics.kind(call.func)
        return kind.type is Type.MODULE and kind.name not in torch_api.LOSS_MODULES

    def _is_cut_on_purpose(self, value: ast.expr) -> bool:
        """Whether the last thing done to a value says that its graph is to be left behind."""
        match value:
            case ast.Attribute(attr="data"):
                return True
            case ast.Call(func=ast.Attribute(attr=method)):
                return method == "detach"
        return False

    # --- where the value is from -------------------------------------------------------------------------------------

    def _source(self, value: ast.expr) -> ast.expr | None:
        """The expression with a graph that ``value`` is made of, behind all that cuts it off."""
        seen: set[ast.expr] = set()
        while value not in seen:
            seen.add(value)
            if self._carries_graph(value):
                return value
            match value:
                case ast.Attribute(attr="data", value=inner) | ast.Subscript(value=inner):
                    value = inner
                case ast.List(elts=[inner]):
                    value = inner
                case ast.Call(func=ast.Attribute(value=inner)) as call if not self._is_api(call):
                    value = inner
                case ast.Call(args=[inner, *_]) as call if self._wraps(call):
                    value = inner
                case ast.UnaryOp(operand=inner):
                    value = inner
                case ast.Name() as name if (origin := self._origin(name)) is not None:
                    value = origin
                case _:
                    return None
        return None

    def _origin(self, name: ast.Name) -> ast.expr | None:
        bindings = self.semantics.bindings.reaching(name)
        if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path:
            return None
        value = bindings[0].value
        mentions = value is not None and any(isinstance(part, ast.Name) and part.id == name.id for part in ast.walk(value))
        return None if mentions else value

    def _carries_graph(self, node: ast.expr) -> bool:
        """Whether a value carries graph by what it is made of, not only because it is back-propagated."""
        if isinstance(node, ast.Name):
            return self._is_bound_to_graph(node)
        return self.semantics.kind(node).carries_graph

    def _is_bound_to_graph(self, name: ast.Name) -> bool:
        for binding in self.semantics.bindings.reaching(name):
            kinds: list[Kind] = []
            if binding.form is Form.AUGMENTED or binding.path:
                kinds = [self.semantics.inference.binding_kind(binding)]
            elif binding.form is Form.ASSIGNMENT and binding.value is not None:
                kinds = [self.semantics.kind(binding.value)]
            if any(kind.carries_graph for kind in kinds):
                return True
        return False

    def _is_api(self, call: ast.Call) -> bool:
        name = self.semantics.qualified_name(call.func)
        return name is not None and not name.startswith("builtins.")

    def _wraps(self, call: ast.Call) -> bool:
        name = self.semantics.qualified_name(call.func)
        return name in _COPYING or name in _ARRAYS or name == _VARIABLE

    # --- reports and fixes -------------------------------------------------------------------------------------------

    def _report_leaf(self, leaf: _Leaf) -> None:
        text = ast.unparse(leaf.node)
        made = f"`{text}`" if len(text) <= 60 else f"`{ast.unparse(leaf.node.func)}(…)`"
        if leaf.asks_for_grad:
            message = (
                f"{made} makes a new leaf of a computed value: the backward pass ends there, and no parameter gets a gradient"
            )
        else:
            message = f"{made} cuts the graph on the way to the backward pass: no parameter gets a gradient"
        self.report(leaf.node, message, self._reconnect(leaf))

    def _reconnect(self, leaf: _Leaf) -> Fix | None:
        """Uses the value itself; where nothing is left of the statement, removes it."""
        whole = self._without_cuts(leaf.value)
        statement = self.semantics.tree.statement(leaf.node)
        if whole is None or "#" in self.source.segment(leaf.node):
            return None
        message = "Keep the graph"
        if isinstance(statement, ast.Assign) and statement.value is leaf.node and len(statement.targets) == 1:
            if dotted(statement.targets[0]) == whole:
                return self.fix(message, [self._rewriter.delete_statement(statement)], safe=False)
        return self.fix(message, [(self.source.start(leaf.node), self.source.end(leaf.node), whole)], safe=False)

    def _without_cuts(self, value: ast.expr) -> str | None:
        """The text of a value less all that cuts it off from its graph; ``None`` where that is no tensor's."""
        match value:
            case ast.Call(func=ast.Attribute(attr="cpu", value=inner)):
                return self._without_cuts(inner)  # a stop on the way to NumPy
            case _ if self._is_whole(value):
                return self._rewriter.operand(value)
            case ast.Attribute(attr="data", value=inner):
                return self._without_cuts(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) as call if not self._is_api(call):
                return self._without_cuts(inner) if method in _CUTS | _MOVES else None
            case ast.Call(args=[inner]) as call if self._wraps(call):
                return self._without_cuts(inner)
            case ast.Subscript(value=inner, slice=index):
                whole = self._without_cuts(inner)
                return f"{whole}[{self.source.segment(index)}]" if whole is not None else None
        return None

    def _is_whole(self, value: ast.expr) -> bool:
        """Whether a value is a tensor that may have its graph, or a name that Variable would take for nothing else."""
        if self._carries_graph(value):
            return True
        kind = self.semantics.kind(value)
        if kind.known or not isinstance(value, ast.Name):
            return kind.is_tensor and kind.grad is not Grad.NONE
        parent = self.semantics.tree.parent(value)
        return isinstance(parent, ast.Call) and self.semantics.qualified_name(parent.func) == _VARIABLE


def _flag(call: ast.Call) -> bool | None:
    """Whether a call asks for `requires_grad`; ``None`` where that is not written out."""
    flag = next((word.value for word in call.keywords if word.arg == "requires_grad"), None)
    if flag is None and len(call.args) == 2:
        flag = call.args[1]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
        flag = call.args[0] if call.args else ast.Constant(True)
    if flag is None:
        return False
    return flag.value if isinstance(flag, ast.Constant) and isinstance(flag.value, bool) else None
