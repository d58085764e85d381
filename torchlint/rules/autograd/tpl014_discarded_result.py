from __future__ import annotations

import ast
import re
from bisect import bisect_left
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.rules.ast_rule import AstRule
from torchlint.semantics.code.expected_errors import is_tried
from torchlint.rules.screens import Screen
from torchlint.semantics import Binding, Form, Grad, Type, torch_api
from torchlint.semantics.code.bindings import Scope
from torchlint.semantics.code.tree import dotted, last_name

_EFFECTS = frozenset(
    {"backward", "retain_grad", "register_hook", "record_stream", "module_load", "register_post_accumulate_grad_hook"}
)
"""Methods that are called for what they do."""
_METHODS = (
    frozenset(name for name, result in torch_api.TENSOR_METHODS.items() if result.startswith(("tensor", "tuple", "list")))
    | torch_api.NONDIFFERENTIABLE_METHODS
    | {"to", "type", "cuda", "cpu", "t"}
) - (torch_api.INPLACE_METHODS | _EFFECTS | {"tolist", "item"})
_ASSIGNABLE_METHODS = (
    frozenset(name for name, result in torch_api.TENSOR_METHODS.items() if result == "tensor")
    | {"to", "type", "cuda", "cpu", "t"}
) - (torch_api.SCALAR_REDUCTIONS_METHODS | torch_api.NONDIFFERENTIABLE_METHODS)
"""Methods whose result can take the tensor's place: one tensor, and no sum or comparison."""
_MEANS_THE_SAME = frozenset({"to", "cuda", "cpu", "contiguous", "clone", "pin_memory"})
"""Methods whose result holds the same numbers."""
_USED_BY_OTHERS = frozenset(
    {"expand", "view", "permute", "split", "sort", "index", "max", "min", "sum", "add", "put", "select"}
)
"""Methods that other types have, too: that they are called does not make a value a tensor."""
_OTHER_FUNCTIONS = ("torch.nn.init.", "torch.nn.utils.", "torch.autograd.", "torch.distributed.", "torch.cuda.", "torch.jit.")
_STATEFUL_FUNCTIONS = frozenset({"torch.nn.functional.batch_norm", "torch.batch_norm", "torch.nn.functional.instance_norm"})
_FUNCTIONS = frozenset(
    name
    for name, result in torch_api.FUNCTIONS.items()
    if result.startswith("tensor") and not name.endswith("_") and not name.startswith(_OTHER_FUNCTIONS)
) - (torch_api.FACTORIES | torch_api.LOSS_FUNCTIONS | _STATEFUL_FUNCTIONS)
_LAST_NAMES = _METHODS | {name.rpartition(".")[2] for name in _FUNCTIONS}
_MOVED_IN_PLACE = frozenset({"dgl", "torch_geometric", "transformers"})
"""Libraries whose batches have a `to` or `cuda` that acts in place."""
_MOVES = frozenset({"to", "cuda", "cpu"})
_LOADERS = re.compile(r"load(er)?(_|$)|_iter$|generator|(^|_)dl$", re.IGNORECASE)
"""What a data loader is called; names count only beside other evidence."""
_WRAPPERS = frozenset({"enumerate", "tqdm", "iter", "trange", "track"})
_NOT_THE_OWNERS = frozenset({"items", "values", "parameters", "named_parameters", "buffers", "named_buffers"})
"""Iterables whose elements are held elsewhere too: there, assigning to the loop's variable changes nothing."""
_CLOCKS = frozenset(
    {"time", "perf_counter", "perf_counter_ns", "process_time", "monotonic", "time_ns", "synchronize", "elapsed_time"}
    | {"timeit", "Timer", "blocked_autorange", "profile", "record_function", "max_memory_allocated", "memory_allocated"}
)
"""Calls that measure: beside them, work is done for its own sake."""
_CELL = r"# ?(?:%%|In ?\[|torchlint: cell \d)"
_CELLS = re.compile(rf"^{_CELL}", re.MULTILINE)
_END_OF_CELL = re.compile(rf"(?:[ \t]*(?!{_CELL})(?:#[^\r\n]*)?(?:\r\n?|\n))*[ \t]*(?:{_CELL}|#[^\r\n]*\Z|\Z)")
"""Nothing but comments, up to the next cell of a notebook or of a script with cells."""


_CHAIN = rb"[ \t\f(]*[A-Za-z_.\x80-\xff][\w.\x80-\xff]*(?:\[[^\n]*\][\w.\x80-\xff]*)*[\s\\)]*\("
_FIRST_CALL = re.compile(rb"\n" + _CHAIN)
_LATER_CALL = re.compile(rb"[;:]" + _CHAIN)
_NAME = re.compile(rb"(\w+)[\s\\)]*\($")
_CALL_BEHIND = re.compile(rb"\.(?<=[\s\\)\]]\.)(\w+)\(")
_STRING = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")
_OTHER_STATEMENT = re.compile(rb"[ \t]*(?:return|assert|raise|del|import|from|yield|#)\b|[^(\[{]*[^:=!<>(\[{]=[^=]")
_BYTE_NAMES = frozenset(name.encode() for name in _LAST_NAMES)


def _may_discard(data: bytes) -> bool:
    """Whether a line starts a statement that is the call of a method or function that may give a tensor."""
    data = b"\n" + data.replace(b"\r", b"\n")
    for pattern in (_FIRST_CALL, _LATER_CALL):
        for match in pattern.finditer(data):
            name = _NAME.search(match[0])
            if name is not None and name[1] in _BYTE_NAMES and _may_be_statement(data, match.end() - 1):
                return True
    return any(
        match[1] in _BYTE_NAMES and _is_outermost(data, match.start()) and _may_be_statement(data, match.end() - 1)
        for match in _CALL_BEHIND.finditer(data)
    )


def _is_outermost(data: bytes, dot: int) -> bool:
    """Whether what a dot behind a bracket or a blank takes may be taken by a statement itself, not within a call or a value."""
    start = max(dot - 300, 0)
    line = data.rfind(b"\n", start, dot) + 1
    if not line:
        return True
    before = _STRING.sub(b"", data[line:dot])
    if b"'" in before or b'"' in before:
        return True
    if b"#" in before:
        return False
    depth = sum(
        before.count(opening) - before.count(closing) for opening, closing in ((b"(", b")"), (b"[", b"]"), (b"{", b"}"))
    )
    if depth > len(before) - len(before.lstrip(b" \t(")):
        return False
    return depth < 0 or _OTHER_STATEMENT.match(before) is None


def _may_be_statement(data: bytes, opening: int) -> bool:
    """Whether the call whose parenthesis opens at ``opening`` may be all of a statement, and not an item between commas."""
    end = data.find(b"\n", opening)
    line = data[opening : end if end >= 0 else len(data)]
    if b'"' in line or b"'" in line or b"#" in line or b";" in line:
        return True
    open_ones = line.count(b"(") - line.count(b")")
    if open_ones:
        return open_ones > 0
    return line.rstrip().endswith((b")", b"\\"))


class DiscardedResult(AstRule):
    """
    ## What it does
    Finds statements that compute a tensor and throw it away: `x.to(device)`, `x.cuda()`, `mask.masked_fill(pad, 0)`,
    `F.dropout(x, p)`.

    ## Why is this bad
    A module is moved in place by `model.to(device)`; a tensor is not. `x.to(device)` gives another tensor, and `x` stays
    where and what it was. The same holds for every method that does not end in `_`.

    ## Example
    ```python
    mask = torch.zeros(n, n)
    mask.to(device)
    scores = scores + mask
    ```

    ## Use instead
    ```python
    mask = torch.zeros(n, n)
    mask = mask.to(device)
    scores = scores + mask
    ```

    ## Fix safety
    The result is assigned to the variable or attribute that the method was called on. Safe for `to`, `cuda`, `cpu`,
    `contiguous` and `clone`, which keep the numbers. Unsafe for what computes others (`x.add(1)`, `F.dropout(x, p)`, a cast
    to another type), since the program's results change; for leaves that require grad, since the result is no leaf; and for
    what a loop unpacks from an unknown loader, which may be something else than a tensor.
    There is no fix where assigning would not help: the name is not read afterwards, it belongs to an enclosing scope, the
    attribute is a parameter, or what is computed is of another sort, such as a sum or a pair.

    ## References
    - [torch.Tensor.to](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html)
    """

    code = "TPL014"
    name = "discarded-result"
    screen = Screen(any_of=(b"torch",), check=_may_discard, names=frozenset(b"." + name for name in _BYTE_NAMES))

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call as a statement."""
        call = node.value
        if not isinstance(call, ast.Call) or last_name(call.func) not in _LAST_NAMES:
            return
        if any(word.arg in ("out", "inplace") for word in call.keywords):
            return
        tensor = self._operand(call)
        if tensor is None or "torch" not in self.semantics.names.imported_libraries or is_tried(self.semantics.tree, node):
            return
        if self._is_displayed(node):
            return
        if self._is_measured(node) and not (self._moves(call) and self._may_assign(node, tensor)):
            return
        text, name = ast.unparse(call), ast.unparse(tensor)
        fix = self._fix(node, call, tensor)
        remedy = f"assign it: `{name} = …`" if fix is not None else "use it"
        short = text if len(text) <= 60 else f"{ast.unparse(call.func)}(…)"
        self.report(call, f"`{short}` leaves `{name}` as it is, and its result is thrown away; {remedy}", fix)

    # --- what is computed --------------------------------------------------------------------------------------------

    def _operand(self, call: ast.Call) -> ast.expr | None:
        """The variable, attribute or item whose tensor ``call`` computes another from, without any other effect."""
        name = self.semantics.qualified_name(call.func)
        if name is not None and not name.startswith("builtins."):
            return self._argument(call, name)
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS:
            return None
        root: ast.expr = call
        while isinstance(root, ast.Call) and isinstance(root.func, ast.Attribute):
            if root.func.attr not in _METHODS or any(word.arg == "out" for word in root.keywords):
                return None
            root = root.func.value
        return root if self._is_tensor(root, call) and self._is_tensor(call.func.value, call) else None

    def _argument(self, call: ast.Call, name: str) -> ast.expr | None:
        """The first argument of a function of torch, where that is what it works on."""
        if name not in _FUNCTIONS or not call.args:
            return None
        return call.args[0] if self._is_tensor(call.args[0], call) else None

    def _is_tensor(self, node: ast.expr, call: ast.Call) -> bool:
        """Whether a variable, attribute or item holds a tensor for certain, and not just because of this very call."""
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return False
        kind = self.semantics.kind(node)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if not kind.known or kind.loose:
            return method in _MOVES and self._is_unpacked_tensor(node)
        if not kind.is_tensor:
            return False
        return not (method in _USED_BY_OTHERS and kind.why.startswith(f"its `{method}` is"))

    def _is_unpacked_tensor(self, node: ast.expr) -> bool:
        """Whether a variable is one of several that a loader's item is unpacked into, and used as a tensor is."""
        if not isinstance(node, ast.Name) or _MOVED_IN_PLACE & self.semantics.names.imported_libraries:
            return False
        bindings = self.semantics.bindings.reaching(node)
        if not bindings or not all(self._is_unpacked(binding) for binding in bindings):
            return False
        return any(self._takes_tensor(use) for binding in bindings for use in binding.uses)

    def _is_unpacked(self, binding: Binding) -> bool:
        """Whether a binding is ``x`` of ``for x, y in loader``, or of ``x, y = batch`` in ``for batch in loader``."""
        if binding.form is Form.LOOP and binding.value is not None:
            return len(binding.path) > _depth(binding.value) and self._is_loader(binding.value)
        if binding.form is Form.ASSIGNMENT and binding.path and isinstance(binding.value, ast.Name):
            items = self.semantics.bindings.reaching(binding.value)
            return bool(items) and all(
                item.form is Form.LOOP
                and item.value is not None
                and len(item.path) == _depth(item.value)
                and self._is_loader(item.value)
                for item in items
            )
        return False

    def _is_loader(self, iterable: ast.expr) -> bool:
        """Whether what a loop runs over is a data loader, or an unknown value that is called one."""
        iterable = _unwrapped(iterable)
        kind = self.semantics.kind(iterable)
        return kind.type is Type.LOADER or (not kind.known and _LOADERS.search(last_name(iterable)) is not None)

    def _takes_tensor(self, use: ast.Name) -> bool:
        match self.semantics.tree.parent(use):
            case ast.Call(func=function, args=arguments) if use in arguments:
                name = self.semantics.qualified_name(function) or ""
                return name in torch_api.FUNCTIONS or self.semantics.kind(function).type is Type.MODULE
            case ast.Attribute(attr=name):
                return name in ("shape", "size", "view", "dim", "dtype") or name in torch_api.TENSOR_ONLY
        return False

    @staticmethod
    def _moves(call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES

    def _is_measured(self, node: ast.stmt) -> bool:
        """Whether the function around looks at clocks or at memory."""
        function = self.semantics.tree.function(node)
        return any(
            self.semantics.tree.function(call) is function
            for name in _CLOCKS & self.semantics.facts.calls.keys()
            for call in self.semantics.facts.calls[name]
        )

    def _is_displayed(self, node: ast.stmt) -> bool:
        """Whether a notebook shows the result: that of the last statement of a cell."""
        if not isinstance(self.semantics.tree.parent(node), ast.Module) or not self._has_cells:
            return False
        return _END_OF_CELL.match(self.source.text, self.source.end(node)) is not None

    @cached_property
    def _has_cells(self) -> bool:
        return _CELLS.search(self.source.text) is not None

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _fix(self, node: ast.Expr, call: ast.Call, tensor: ast.expr) -> Fix | None:
        """Assigns the result to what it was computed from, where that makes a difference."""
        if not self._takes_its_place(call) or not self._may_assign(node, tensor):
            return None
        kind = self.semantics.kind(tensor)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        keeps = method in _MEANS_THE_SAME and self._keeps_type(call) and not _is_chain(call)
        start = self.source.start(node)
        name = self.source.segment(tensor)
        edits = [(start, start, f"{name} = ")]
        return self.fix(
            f"Assign the result to `{ast.unparse(tensor)}`", edits, safe=keeps and kind.is_tensor and kind.grad is not Grad.LEAF
        )

    def _takes_its_place(self, call: ast.Call) -> bool:
        """Whether what is computed is of the same sort as what it is computed from."""
        name = self.semantics.qualified_name(call.func) or "builtins."
        if not name.startswith("builtins."):
            in_place = f"{last_name(call.func)}_" in torch_api.INPLACE_METHODS
            return torch_api.FUNCTIONS.get(name) == "tensor" and (in_place or name.startswith("torch.nn.functional."))
        return last_name(call.func) in _ASSIGNABLE_METHODS

    def _keeps_type(self, call: ast.Call) -> bool:
        """Whether ``to`` moves to a device only, as far as its arguments show."""
        for argument in [*call.args, *(word.value for word in call.keywords if word.arg in ("dtype", "other"))]:
            name = dotted(argument) or ""
            if (
                "dtype" in name
                or "type" in name.lower()
                or (self.semantics.qualified_name(argument) or "").startswith("torch.")
            ):
                return False
            if self.semantics.kind(argument).is_tensor:
                return False
        return not any(word.arg in ("dtype", "other", "memory_format") for word in call.keywords)

    def _may_assign(self, node: ast.Expr, tensor: ast.expr) -> bool:
        match tensor:
            case ast.Name():
                return self._is_read_afterwards(node, tensor)
            case ast.Attribute(value=owner):
                if self.semantics.kind(owner).is_tensor:
                    return False  # `x.data`, `x.grad`, `x.T`
                return self.semantics.kind(tensor).grad is not Grad.LEAF and dotted(tensor) is not None
            case ast.Subscript(value=owner):
                return self.semantics.kind(owner).type in (Type.SEQUENCE, Type.MAPPING)
        return False

    def _is_read_afterwards(self, node: ast.Expr, name: ast.Name) -> bool:
        """Whether the variable is one of the function's own, and read once the statement has run."""
        bindings = self.semantics.bindings.reaching(name)
        scope = self.semantics.bindings.scope_of(name)
        if not bindings or any(binding.scope is not scope or _is_held_elsewhere(binding) for binding in bindings):
            return False
        uses, foreign = self._uses_of(bindings)
        start, end = _start(node), _end(node)
        if any(not start <= _start(use) < end for use in foreign):
            return True
        others = uses[: bisect_left(uses, start, key=_start)] + uses[bisect_left(uses, end, key=_start) :]
        return self.semantics.control_flow.leads_to_any(node, others, avoiding=self._stores_of(scope, name.id))

    def _uses_of(self, bindings: tuple[Binding, ...]) -> tuple[list[ast.Name], list[ast.Name]]:
        """The uses of any of some bindings of one scope, in the order of the text: all of them, and those in other scopes."""
        if bindings not in self._uses:
            uses = sorted({use for binding in bindings for use in binding.uses}, key=_start)
            foreign = [use for use in uses if self.semantics.bindings.scope_of(use) is not bindings[0].scope]
            self._uses[bindings] = (uses, foreign)
        return self._uses[bindings]

    @cached_property
    def _uses(self) -> dict[tuple[Binding, ...], tuple[list[ast.Name], list[ast.Name]]]:
        return {}

    def _stores_of(self, scope: Scope, name: str) -> tuple[ast.AST, ...]:
        """Where a scope gives a name another value."""
        if (scope.node, name) not in self._stores:
            stores = (binding.node for binding in scope.bindings.get(name, ()) if isinstance(binding.node, ast.Name))
            self._stores[scope.node, name] = tuple(stores)
        return self._stores[scope.node, name]

    @cached_property
    def _stores(self) -> dict[tuple[ast.AST, str], tuple[ast.AST, ...]]:
        return {}


def _start(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _is_chain(call: ast.Call) -> bool:
    """Whether several methods are called in a row."""
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)


def _unwrapped(iterable: ast.expr) -> ast.expr:
    """``loader`` of ``enumerate(tqdm(loader))``."""
    while True:
        match iterable:
            case ast.NamedExpr(value=value):
                iterable = value
            case ast.Call(func=function, args=[first, *_]) if last_name(function) in _WRAPPERS:
                iterable = first
            case _:
                return iterable


def _depth(iterable: ast.expr) -> int:
    """How deep, in what a loop over ``iterable`` unpacks, its items are: in a pair where it is enumerated."""
    return int(any(isinstance(part, ast.Name) and part.id == "enumerate" for part in ast.walk(iterable)))


def _is_held_elsewhere(binding: Binding) -> bool:
    """Whether a binding is the variable of a loop over what something else owns."""
    if binding.form is not Form.LOOP or not isinstance(binding.value, ast.Call):
        return False
    return last_name(binding.value.func) in _NOT_THE_OWNERS
