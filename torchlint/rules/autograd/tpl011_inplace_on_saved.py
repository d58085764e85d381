from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.out_of_place import OPERATORS, OutOfPlace
from torchlint.rules.screens import STORE, Screen, given
from torchlint.semantics import Basis, Binding, Form, Grad, torch_api
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.autograd.paths import connected
from torchlint.semantics.autograd.saved_tensors import SAVING_MODULES, SavedTensors
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted
from torchlint.semantics.memory.inplace import CLASSES, InplaceModules, changed_tensor, inplace_argument, shares_memory

_HARMLESS = frozenset(
    {
        *("requires_grad_", "detach_", "retain_grad_", "share_memory_", "resize_", "resize_as_", "set_", "rename_"),
        *("squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "as_strided_"),
    }
)
"""In-place methods that change no value, or raise for other reasons."""
_WITH_FLAG = tuple(name.encode() for name in CLASSES)
_CHANGING = torch_api.INPLACE_METHODS - _HARMLESS
_INFERENCE = re.compile(r"training|inference|deploy|export|onnx|predict|eval", re.IGNORECASE)
_MOST_SOURCES = 500
"""So many variables that a value is made of are followed; code that has more of them is generated."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A change in place: the node that is reported, what is changed (``x`` of ``x[0].mul_(2)``), and its statement."""

    node: ast.expr | ast.stmt
    target: ast.expr
    statement: ast.stmt


# Of each kind of change what it ends in: patterns that start with a character are found many times faster.
_AUGMENTED = re.compile(rb"=(?<=[-+*/%]=)")  # y *= 2
_ITEM_SET = re.compile(STORE)  # y[0] = 1
_METHOD = re.compile(rb"_\((?<!requires_grad_\()(?<=[a-z0-9]_\()")  # y.mul_(2)
_FLAG = re.compile(given(b"inplace", b"True"))
_LAST_FLAG = re.compile(rb"True(?<!\wTrue)[\s\\,)]*[)#]")
_TARGET = re.compile(rb"[^#\"']*\Z|.*[\])]|.{300}", re.DOTALL)
_BY_STRING = re.compile(rb"\[[\s\\(]*[rbu]?(?:\"[^\"\r\n]*\"|'[^'\r\n]*')[\s\\)]*\]\Z")  # no tensor is indexed so
_METHOD_NAME = re.compile(rb"(?<!init)\.[a-z]\w*_\Z")


_NEEDING = (b"backward", b"training_step", b"requires_grad", b"Parameter")
_FORWARD = re.compile(rb"def[\s\\]+forward")
_PARAMETERS = re.compile(rb"parameters[\s\\)]*[(#]")


def _may_change(data: bytes) -> bool:
    """Whether a file holds what may be a change of a tensor in place, and what may need it."""
    if _FLAG.search(data) is not None:
        return True
    if _LAST_FLAG.search(data) is not None and any(name in data for name in _WITH_FLAG):
        return True
    if not (any(word in data for word in _NEEDING) or _FORWARD.search(data) or _PARAMETERS.search(data)):
        return False
    if any(_TARGET.match(_line_before(data, match.end() - 1)) for match in _AUGMENTED.finditer(data)):
        return True
    if any(not _BY_STRING.search(_line_before(data, match.start() + 1)) for match in _ITEM_SET.finditer(data)):
        return True
    return any(_METHOD_NAME.search(_line_before(data, match.start() + 1)) for match in _METHOD.finditer(data))


def _line_before(data: bytes, end: int) -> bytes:
    """What stands in front of ``end`` on its line, as far as it is looked at."""
    start = max(end - 300, 0)
    return data[max(data.rfind(b"\n", start, end), data.rfind(b"\r", start, end), start - 1) + 1 : end]


class InplaceOnSaved(AstRule):
    """
    ## What it does
    Finds changes in place of a tensor that an operation has saved for the backward pass, `y = x.sigmoid(); y *= mask`, or
    `h = self.fc(x); x += h`, those by modules such as `nn.Dropout(p, inplace=True)` among them, and changes of a leaf that
    requires grad, `w -= lr * w.grad`.

    ## Why is this bad
    The gradient of `sigmoid`, `softmax`, `exp` or `relu` is computed from its result, that of a product or a layer from its
    input. Once the saved tensor is changed, the backward pass raises, far from the line that did it: "one of the variables
    needed for gradient computation has been modified by an inplace operation". A leaf that requires grad cannot be changed in
    place at all, except under `torch.no_grad()`.

    ## Example
    ```python
    x = torch.randn(3, requires_grad=True)
    y = x.sigmoid()
    y *= 2
    y.sum().backward()
    ```

    ## Use instead
    ```python
    x = torch.randn(3, requires_grad=True)
    y = x.sigmoid()
    y = y * 2
    y.sum().backward()
    ```

    ## Fix safety
    Safe: the program raises as it is. The change is made out of place, on a clone where only a part is changed, and under
    `torch.no_grad()` for a leaf. Unsafe where the tensor is an argument of the function, whose caller may rely on its change.
    There is no fix where a leaf is given a value with a graph, which `torch.no_grad()` would cut off.

    ## References
    - [Autograd mechanics: in-place operations](https://docs.pytorch.org/docs/stable/notes/autograd.html)
    """

    code = "TPL011"
    name = "inplace-on-saved"
    screen = Screen(
        any_of=(b"backward", b"training_step", b"forward", b"requires_grad", b"Parameter", b"parameters", b"Sequential"),
        check=_may_change,
        names=frozenset(f".{name}".encode() for name in _CHANGING),
    )

    @cached_property
    def _saved(self) -> SavedTensors:
        return SavedTensors(self.semantics)

    @cached_property
    def _modules(self) -> InplaceModules:
        return InplaceModules(self.semantics)

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    @cached_property
    def _edits(self) -> OutOfPlace:
        return OutOfPlace(self.source, self.semantics, self._rewriter)

    # --- changes in place --------------------------------------------------------------------------------------------

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`y *= 2`, `y[0] += 1`."""
        if type(node.op) in OPERATORS:
            self._consider(_Change(node, changed_tensor(node.target), node))

    def visit_Assign(self, node: ast.Assign) -> None:
        """`y[mask] = 0`."""
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self._consider(_Change(target, changed_tensor(target), node))

    def visit_Call(self, node: ast.Call) -> None:
        """`y.mul_(2)`, `y[0].zero_()`, `F.relu(y, inplace=True)`."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            if shares_memory(node.func.value):
                self._consider(_Change(node, changed_tensor(node.func.value), self.semantics.tree.statement(node)))
        elif node.args and inplace_argument(node) is not None:
            if (self.semantics.qualified_name(node.func) or "").startswith("torch.nn.functional."):
                self._consider(_Change(node, changed_tensor(node.args[0]), self.semantics.tree.statement(node)))
        elif node.args and self._modules.made:
            if self._modules.called(node):
                self._consider_module(_Change(node, changed_tensor(node.args[0]), self.semantics.tree.statement(node)))
            elif self.semantics.qualified_name(node.func) == "torch.nn.Sequential":
                self._consider_sequence(node)

    def _consider(self, change: _Change) -> None:
        if not isinstance(change.target, (ast.Name, ast.Attribute)) or self.semantics.no_grad.covers(change.node):
            return
        if isinstance(change.target, ast.Name):
            bindings = self._before(change)
            if not any(self.semantics.inference.binding_kind(binding).is_tensor for binding in bindings):
                return
            if (saving := self._saving(change, bindings)) is not None:
                self._report_saved(change, saving, bindings)
                return
        if self._is_leaf(change):
            self._report_leaf(change)

    # --- modules that work in place ----------------------------------------------------------------------------------

    def _consider_module(self, change: _Change) -> None:
        """`x = self.dropout(x)`, `self.dropout(scores.softmax(1))`."""
        if self.semantics.no_grad.covers(change.node):
            return
        saving: ast.expr | None = None
        bindings: tuple[Binding, ...] = ()
        if isinstance(change.target, ast.Name):
            bindings = self._before(change)
            saving = self._saving(change, bindings)
        elif isinstance(change.target, ast.Call):
            kept = self._saved.keeping_result(change.target)
            if kept is not None and self._is_needed(change, kept, set(self._bound_to(change.node))):
                saving = kept
        if saving is not None:
            self._report_saved(change, saving, bindings)

    def _consider_sequence(self, call: ast.Call) -> None:
        """`nn.Sequential(…, nn.ReLU(), nn.Dropout(0.5, inplace=True))`."""
        for first, second in zip(call.args, call.args[1:]):
            if isinstance(first, ast.Call) and self.semantics.qualified_name(first.func) in SAVING_MODULES:
                if isinstance(second, ast.Call) and second in self._modules.made:
                    made = f"`{ast.unparse(second)}` changes in place what `{ast.unparse(first)}`"
                    fix = self.fix(
                        "Do not work in place", [self._edits.without_flag(second, self._modules.made[second])], safe=True
                    )
                    self.report(second, f"{made} has saved for the backward pass, which will raise", fix)

    # --- what is changed ---------------------------------------------------------------------------------------------

    def _before(self, change: _Change) -> tuple[Binding, ...]:
        """The bindings whose value is changed."""
        assert isinstance(change.target, ast.Name)
        if isinstance(change.target.ctx, ast.Store):
            binding = self.semantics.bindings.of(change.target)
            return binding.before if binding is not None else ()
        return self.semantics.bindings.reaching(change.target)

    # --- saved tensors -----------------------------------------------------------------------------------------------

    def _saving(self, change: _Change, bindings: tuple[Binding, ...]) -> ast.expr | None:
        """The operation that has saved what is changed, and whose backward pass is still to come."""
        for binding in bindings:
            saving = self._kept_result(binding) or self._kept_operand(binding, change)
            if saving is not None and self._is_differentiated(change, binding, saving):
                return saving
        return None

    def _kept_result(self, binding: Binding) -> ast.expr | None:
        if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
            return None
        return self._saved.keeping_result(binding.value)

    def _kept_operand(self, binding: Binding, change: _Change) -> ast.expr | None:
        """An operation that keeps the binding's value and that is done before the change."""
        flow = self.semantics.control_flow
        operations = self._keeping(binding)
        same_name = binding.scope.bindings.get(binding.name, ()) if operations else ()
        others = tuple(other.node for other in same_name if other is not binding and other.node is not change.target)
        for operation in operations:
            if self.semantics.tree.inside(operation, change.statement):
                if self._is_evaluated_with(operation, change):
                    return operation
            elif flow.may_follow(operation, change.node, others):
                return operation
        return None

    def _keeping(self, binding: Binding) -> list[ast.expr]:
        """The operations that keep a binding's value for the backward pass."""
        if binding not in self._kept:
            uses = [use for use in binding.uses if not self.semantics.no_grad.covers(use)]
            found = [self._saved.keeping_operand(use) for use in uses]
            self._kept[binding] = [operation for operation in found if operation is not None]
        return self._kept[binding]

    @cached_property
    def _kept(self) -> dict[Binding, list[ast.expr]]:
        return {}

    def _is_evaluated_with(self, operation: ast.expr, change: _Change) -> bool:
        """Whether a part of the statement that makes the change is evaluated before it, each time."""
        for parent in self.semantics.tree.ancestors(operation):
            if isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Lambda)):
                return False
            if parent is change.statement:
                return not isinstance(change.node, ast.Call) or self.semantics.tree.inside(operation, change.node)
        return False

    def _is_differentiated(self, change: _Change, binding: Binding, saving: ast.expr) -> bool:
        """Whether the gradient of ``saving`` is computed after the change."""
        return self._is_needed(change, saving, self._results(change, binding, saving))

    def _is_needed(self, change: _Change, saving: ast.expr, results: set[Binding]) -> bool:
        """Whether a backward pass through any of ``results`` may still come."""
        flow = self.semantics.control_flow
        scope = flow.scope(change.node)
        if scope in self._backwards:
            calls = {call for result in results for call in self._backwards[scope].get(result, ())}
            return bool(calls) and flow.leads_to_any(change.node, sorted(calls, key=self.source.start), [saving])
        if any(self.semantics.of(Backpropagated).binding(found) for found in results):
            return True
        function = self.semantics.tree.function(change.node)
        return isinstance(function, FUNCTIONS) and self._is_trained(function, change, results)

    def _results(self, change: _Change, binding: Binding, saving: ast.expr) -> set[Binding]:
        """The variables that what ``saving`` computes goes into."""
        results = set(self._bound_to(saving))
        if self.semantics.tree.inside(saving, self.semantics.tree.statement(binding.node)):
            results.add(binding)
        if self.semantics.tree.inside(saving, change.statement) and isinstance(change.target, ast.Name):
            changed = self.semantics.bindings.of(change.target)
            results.add(changed if changed is not None else binding)
        return results

    def _bound_to(self, saving: ast.expr | ast.stmt) -> list[Binding]:
        """What the result of an operation is bound to, or what it is a part of is."""
        match self.semantics.tree.statement(saving):
            case ast.Assign(targets=[ast.Name() as target]) | ast.AugAssign(target=ast.Name() as target):
                binding = self.semantics.bindings.of(target)
                return [binding] if binding is not None else []
        return []

    @cached_property
    def _backwards(self) -> dict[FlowScope, dict[Binding, list[ast.Call]]]:
        """For each scope that has any, the calls of ``backward``, by the variables that what they are called on is made of."""
        calls = self.semantics.facts.calls
        found: dict[FlowScope, dict[Binding, list[ast.Call]]] = {}
        for call in [*calls.get("backward", ()), *calls.get("manual_backward", ())]:
            of_scope = found.setdefault(self.semantics.control_flow.scope(call), {})
            for binding in self._made_of(call):
                of_scope.setdefault(binding, []).append(call)
        return found

    def _is_trained(self, function: Function, change: _Change, results: set[Binding]) -> bool:
        """Whether the function is a module's ``forward`` that returns what was saved, on a way that training takes."""
        owner = self.semantics.tree.parent(function)
        if function.name != "forward" or not isinstance(owner, ast.ClassDef) or not self.semantics.facts.is_module(owner):
            return False
        for parent in self.semantics.tree.ancestors(change.node):
            if isinstance(parent, (ast.If, ast.IfExp)) and _INFERENCE.search(ast.unparse(parent.test)):
                return False
            if parent is function:
                break
        return not results.isdisjoint(self._made_of(function))

    def _made_of(self, end: ast.Call | Function) -> set[Binding]:
        """The variables that a back-propagated value, or what a function returns, is made of."""
        if end not in self._flows:
            pending: list[ast.expr | None] = []
            if isinstance(end, ast.Call):
                parts = [*end.args, *([end.func.value] if isinstance(end.func, ast.Attribute) else [])]
                pending += [part for part in parts if part in self._roots]
            else:
                pending += self.semantics.facts.returned(end)
            self._flows[end] = self._followed(pending)
        return self._flows[end]

    @cached_property
    def _roots(self) -> set[ast.expr]:
        return set(self.semantics.of(Backpropagated).roots)

    def _followed(self, pending: list[ast.expr | None]) -> set[Binding]:
        found: set[Binding] = set()
        while pending:
            value = pending.pop()
            for part in connected(value, self.semantics.names) if value is not None else ():
                for binding in self.semantics.bindings.reaching(part) if isinstance(part, ast.Name) else ():
                    for source in (binding, *binding.before):
                        if source not in found and len(found) < _MOST_SOURCES:
                            found.add(source)
                            pending.append(source.value)
        return found

    @cached_property
    def _flows(self) -> dict[ast.AST, set[Binding]]:
        return {}

    def _report_saved(self, change: _Change, saving: ast.expr, bindings: tuple[Binding, ...]) -> None:
        name = ast.unparse(change.target)
        operation = ast.unparse(saving)
        how = f"`{operation}`" if len(operation) <= 40 else f"`{_called(saving)}`"
        message = (
            f"`{name}` is changed in place{self._by(change)}, but {how} has saved it for the backward pass, which will raise"
        )
        if change.target is saving:
            message = (
                f"The result of {how} is changed in place{self._by(change)}, but saved for the backward pass, which will raise"
            )
        given = any(binding.form is Form.PARAMETER for binding in bindings)
        edits = self._out_of_place(change)
        fix = self.fix("Make the change out of place", edits, safe=not given) if edits is not None else None
        self.report(change.node, message, fix)

    def _by(self, change: _Change) -> str:
        """Which module makes a change, if it is one that works in place."""
        if isinstance(change.node, ast.Call) and self._modules.called(change.node):
            return f" by `{ast.unparse(change.node.func)}`"
        return ""

    # --- leaves ------------------------------------------------------------------------------------------------------

    def _is_leaf(self, change: _Change) -> bool:
        kind = self.semantics.kind(change.target)
        if isinstance(change.target, ast.Name):
            kinds = [self.semantics.inference.binding_kind(binding) for binding in self._before(change)]
            if not all(found.is_tensor and found.grad is Grad.LEAF for found in kinds):
                return False
            kind = kinds[0]
        known = kind.is_tensor and kind.grad is Grad.LEAF and kind.basis is not Basis.OPTIMIZED
        return known and self._runs_with_grad(change) and not self._is_frozen(change)

    def _runs_with_grad(self, change: _Change) -> bool:
        """Whether autograd is surely on: in a constructor, a training loop, the main program, or where the leaf was made.

        Elsewhere the caller may have turned it off.
        """
        function = self.semantics.tree.function(change.node)
        if not isinstance(function, FUNCTIONS):
            return function is None
        if function.name in ("__init__", "forward", "training_step"):
            return True
        if any(self.semantics.tree.inside(call, function) for call in self._backwards):
            return True
        made = self._before(change) if isinstance(change.target, ast.Name) else ()
        return bool(made) and all(
            isinstance(binding.value, ast.Call) and binding.form is Form.ASSIGNMENT and binding.scope.node is function
            for binding in made
        )

    def _is_frozen(self, change: _Change) -> bool:
        """Whether the file takes `requires_grad` away from the leaf, or makes it depend on something."""
        return dotted(change.target) in self._frozen

    @cached_property
    def _frozen(self) -> set[str | None]:
        owners: list[ast.expr] = []
        for node in self.semantics.tree.nodes:
            match node:
                case ast.Attribute(attr="requires_grad", ctx=ast.Store(), value=owner):
                    owners.append(owner)
                case ast.Call(func=ast.Attribute(attr="requires_grad_", value=owner), args=[_, *_]):
                    owners.append(owner)
        return {dotted(owner) for owner in owners}

    def _report_leaf(self, change: _Change) -> None:
        name = ast.unparse(change.target)
        takes_graph = self._takes_graph(change)
        advice = "make it without `requires_grad`" if takes_graph else "do it under `torch.no_grad()`"
        message = f"`{name}` is a leaf that requires grad: changing it in place raises; {advice}"
        fits = _is_whole(change) and not takes_graph
        edits = self._rewriter.wrap_in_no_grad([change.statement]) if fits else None
        fix = self.fix("Change it under `torch.no_grad()`", edits, safe=True) if edits is not None else None
        self.report(change.node, message, fix)

    def _takes_graph(self, change: _Change) -> bool:
        """Whether what is put into a leaf carries a graph, which `no_grad` would silently cut off."""
        values: list[ast.expr] = []
        match change.statement:
            case ast.Assign(value=value) | ast.AugAssign(value=value):
                values.append(value)
            case ast.Expr(value=ast.Call(args=arguments)):
                values += arguments
        return any(self.semantics.kind(value).carries_graph for value in values)

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _out_of_place(self, change: _Change) -> list[TextEdit] | None:
        name = ast.unparse(change.target)
        if isinstance(change.node, ast.Call):
            if made := self._modules.called(change.node):
                return [self._edits.without_flag(module, self._modules.made[module]) for module in made]
            if (flag := inplace_argument(change.node)) is not None:
                return [self._edits.without_flag(change.node, flag)] if self._replaces(change, name) else None
        return self._edits.edits(change.statement, change.node, name)

    def _replaces(self, change: _Change, name: str) -> bool:
        """Whether the statement gives the name the changed tensor: ``y = F.relu(y, inplace=True)``."""
        match change.statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                return target == name and value is change.node
            case ast.Return():
                return True
        return False


def _called(node: ast.expr) -> str:
    return f"{ast.unparse(node.func)}(…)" if isinstance(node, ast.Call) else ast.unparse(node)


def _is_whole(change: _Change) -> bool:
    """Whether a change is all that its statement does."""
    match change.statement:
        case ast.Expr(value=value):
            return value is change.node
        case ast.Assign(targets=[target]):
            return target is change.node
    return change.statement is change.node
