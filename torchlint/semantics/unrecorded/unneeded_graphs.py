"""Whether code computes the same, and leaves the same behind, where autograd is off in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Form, Semantics, Type, torch_api
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.code.tree import FUNCTIONS, TRIES, Function, given_to, walk_body
from torchlint.semantics.graphs.fresh_starts import FreshStarts
from torchlint.semantics.graphs.kept_values import TELLING
from torchlint.semantics.observers.callers import Callers
from torchlint.semantics.observers.libraries import KEEPING_NOTHING
from torchlint.semantics.unrecorded.closed_files import ClosedFiles
from torchlint.semantics.unrecorded.graph_carriers import FILLING, NUMBERS, GraphCarriers
from torchlint.semantics.unrecorded.noticed.noticed_graphs import NoticedGraphs
from torchlint.semantics.unrecorded.reached_code import ReachedCode

_OF_GRAPHS = TELLING | {"apply_", "map_", "zero_grad", "no_grad", "enable_grad"}
"""Attributes and methods that ask for a graph, or change what carries one."""
_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in (
        *("print", "len", "int", "float", "str", "bool", "abs", "sum", "min", "max", "round", "range", "enumerate", "zip"),
        *("sorted", "list", "tuple", "dict", "set", "isinstance", "type", "repr", "format", "reversed", "iter", "next", "any"),
        *("all", "map", "filter", "open", "divmod", "pow", "super", "slice", "ord", "chr", "callable", "input", "exit"),
        *("ValueError", "RuntimeError", "TypeError", "KeyError", "NotImplementedError", "AssertionError", "StopIteration"),
    )
)
_OF_TORCH = (
    torch_api.FUNCTIONS.keys() | torch_api.FACTORIES | torch_api.PASSING_FACTORIES | torch_api.MODULES | torch_api.OPTIMIZERS
) | {
    *("torch.device", "torch.no_grad", "torch.manual_seed", "torch.autograd.Variable", "torch.nn.Parameter", "torch.load"),
    *("torch.nn.Module.__init__", "torch.Size", "torch.nn.utils.rnn.pack_padded_sequence", "torch.Generator"),
}
_PARTS_OF_TORCH = ("torch.utils.data.", "torch.cuda.", "torch.distributions.", "torch.nn.utils.rnn.", "torch.nn.init.")
_TAKING_GRAPHS = ("numpy.", "math.", "torchvision.utils.", "tqdm.", "itertools.", "logging.")
"""Libraries that refuse values with a graph, or compute the same of them and keep nothing."""
_OF_MODULES = frozenset(
    {
        *(
            "eval",
            "train",
            "to",
            "cuda",
            "cpu",
            "float",
            "double",
            "half",
            "parameters",
            "named_parameters",
            "modules",
            "__init__",
        ),
        *(
            "named_modules",
            "children",
            "named_children",
            "state_dict",
            "load_state_dict",
            "buffers",
            "named_buffers",
            "forward",
        ),
        *("log_prob", "entropy", "sample", "rsample", "apply"),
    }
)
_OF_TEXT = frozenset(
    {"format", "join", "strip", "split", "replace", "lower", "upper", "startswith", "endswith", "rstrip", "ljust"}
)
_OF_CONTAINERS = frozenset({"keys", "values", "items", "get", "pop", "copy", "index", "count", "sort", "reverse", "clear"})
_OF_OUTPUT = frozenset(
    {
        *("write", "flush", "close", "read", "readline", "readlines", "set_description", "set_postfix", "add_scalar", "info"),
        *(
            "add_argument",
            "plot",
            "savefig",
            "show",
            "title",
            "mkdir",
            "exists",
            "debug",
            "warning",
            "append",
            "update",
            "extend",
        ),
    }
)
"""Methods that are given numbers and text."""
_METHODS = torch_api.TENSOR_METHODS.keys() | NUMBERS | _OF_MODULES | _OF_TEXT | _OF_CONTAINERS


class UnneededGraphs:
    """Tells of evaluations whether anybody could notice that they were run without a graph."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._carriers = semantics.of(GraphCarriers)
        self._fresh = semantics.of(FreshStarts)

    def of_function(self, function: Function) -> Fact:
        """Whether a function can be decorated: it is only called by its name, does the same, and hands out no graph."""
        closed = self._semantics.of(ClosedFiles).fact
        if not closed.is_certain:
            return closed
        called = self._semantics.of(Callers).fact(function)
        return called & self._alike(function.body) & self._returned(function)

    def of_statements(self, statements: list[ast.stmt]) -> Fact:
        """Whether statements can be put under ``no_grad``: they do the same, and what they bind carries no graph later."""
        closed = self._semantics.of(ClosedFiles).fact
        return closed & self._alike(statements) & self._read_later(statements) if closed.is_certain else closed

    # --- what is run -------------------------------------------------------------------------------------------------

    def _alike(self, statements: list[ast.stmt]) -> Fact:
        """Whether all that the statements run does the same without a graph, and keeps none."""
        if is_awaited(self._tree, statements[0]):
            return unknown("an error is awaited there")
        noticed = self._semantics.of(NoticedGraphs)
        if noticed.by_name:
            return unknown(noticed.by_name)
        for code in (*statements, *self._semantics.of(ReachedCode).from_(list(statements))):
            for part in ast.walk(code):
                if doubt := self._doubt(part, statements) or noticed.doubt(part):
                    return unknown(doubt)
        return CERTAIN

    def _doubt(self, part: ast.AST, region: list[ast.stmt]) -> str:
        match part:
            case ast.Call():
                return self._doubt_of_call(part, region)
            case ast.Attribute(attr=name) if name in _OF_GRAPHS:
                is_torch = (self._semantics.qualified_name(part) or "") == "torch.no_grad"
                return "" if is_torch else f"`{shortened(part)}` asks for a graph"
            case ast.Attribute(ctx=ast.Store()):
                return f"`{shortened(part)}` keeps what may carry a graph" if self._carriers.stores_carrying(part) else ""
            case ast.Subscript(ctx=ast.Store()):
                return self._doubt_of_item(part, region)
            case ast.AugAssign(target=ast.Name() as target, value=value):
                return self._doubt_of_sum(target, value, region)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                return self._doubt_of_outer(part, names)
            case ast.Yield(value=value):
                carries = value is not None and self._carriers.may_carry(value)
                return f"`{shortened(part)}` hands out what may carry a graph" if carries else ""
            case ast.YieldFrom() | ast.Await():
                return f"`{shortened(part)}` runs other code"
            case _ if isinstance(part, TRIES) and part.handlers:
                return "an error is awaited there"
        return ""

    def _doubt_of_call(self, call: ast.Call, region: list[ast.stmt]) -> str:
        shown = shortened(call.func)
        given = given_to(call)
        carries = any(map(self._carriers.may_carry, given))
        name = self._semantics.qualified_name(call.func) or ""
        if {word.arg for word in call.keywords} & {"requires_grad", "out"}:
            return f"`{shown}` is asked for a graph, or writes into something"
        if isinstance(self._semantics.facts.definition(call.func), (ast.ClassDef, *FUNCTIONS)):
            return ""
        if name.startswith("torch."):
            is_known = (name in _OF_TORCH and not name.endswith("_")) or name.startswith(_PARTS_OF_TORCH)
            return "" if is_known and not name.endswith("grad") else f"`{shown}` may work otherwise without a graph"
        if name.startswith("builtins."):
            return "" if name in _BUILTINS else f"`{shown}` may need the graph"
        if name.partition(".")[0] in KEEPING_NOTHING:
            kept = carries and not name.startswith(_TAKING_GRAPHS)
            return f"`{shown}` gets what may carry a graph" if kept else ""
        match call.func:
            case ast.Attribute(value=receiver, attr=method):
                return self._doubt_of_method(receiver, method, region, shown=shown, carries=carries)
        return ""  # a model, a criterion, a function of the file: all of these are looked at

    def _doubt_of_method(self, receiver: ast.expr, method: str, region: list[ast.stmt], *, shown: str, carries: bool) -> str:
        if method in FILLING and carries and not self._is_own(receiver, region):
            return f"`{shown}` hands out what may carry a graph"
        if self._is_of_file(method) or method in FILLING:
            return ""
        if method.endswith("_") and not method.endswith("__"):
            changes = carries or (self._carriers.may_carry(receiver) and not self._is_own(receiver, region))
            return f"`{shown}` changes what may carry a graph" if changes or method not in _METHODS else ""
        if method in _METHODS or (method in _OF_OUTPUT and not carries):
            return ""
        return f"`{shown}` may need the graph, or keep it"

    def _is_of_file(self, name: str) -> bool:
        """Whether a method or an attribute of that name is one of the file, where what it runs is looked at."""
        classes = self._semantics.facts.classes.values()
        return any(name in facts.methods or name in facts.slots for facts in classes)

    # --- what is changed ---------------------------------------------------------------------------------------------

    def _doubt_of_item(self, item: ast.Subscript, region: list[ast.stmt]) -> str:
        """``table[key] = value``, where the table is not one that was made in the code itself."""
        statement = self._tree.parent(item)
        value = statement.value if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else None
        is_own = self._is_own(item.value, region)
        if not is_own and (value is None or self._carriers.may_carry(value) or self._carriers.may_carry(item.value)):
            return f"`{shortened(item)}` keeps what may carry a graph"
        return ""

    def _doubt_of_sum(self, target: ast.Name, value: ast.expr, region: list[ast.stmt]) -> str:
        """``total += loss`` changes a tensor in place that others may have."""
        binding = self._semantics.bindings.of(target)
        before = binding.before if binding is not None else ()
        if not self._carriers.may_carry(value) and not any(map(self._carriers.binds_carrying, before)):
            return ""
        pending, seen = list(before), set(before)
        while pending:
            each = pending.pop()
            if each.form is Form.AUGMENTED:
                pending += [earlier for earlier in each.before if earlier not in seen]
                seen.update(each.before)
            elif not self._is_made_here(each, target, region) and not isinstance(each.value, ast.Constant):
                return f"`{target.id}` may be a tensor of others"
        return ""

    def _doubt_of_outer(self, statement: ast.Global | ast.Nonlocal, names: list[str]) -> str:
        function = self._tree.function(statement)
        for part in ast.walk(function) if function is not None else ():
            if isinstance(part, ast.Name) and part.id in names and not isinstance(part.ctx, ast.Load):
                binding = self._semantics.bindings.of(part)
                if binding is None or self._carriers.binds_carrying(binding):
                    return f"`{part.id}` keeps what may carry a graph"
        return ""

    def _is_own(self, container: ast.expr, region: list[ast.stmt]) -> bool:
        """Whether a container is a local variable that the code itself has made, so that nobody else has it."""
        while isinstance(container, ast.Subscript):
            container = container.value
        if not isinstance(container, ast.Name):
            return False
        found = self._semantics.bindings.reaching(container)
        return bool(found) and all(self._is_made_here(each, container, region) for each in found)

    def _is_made_here(self, binding: Binding, use: ast.Name, region: list[ast.stmt]) -> bool:
        function = self._tree.function(use)
        if self._tree.function(binding.node) is not function or binding.name in binding.scope.foreign:
            return False
        if self._carriers.is_shared(binding):
            return False
        in_region = any(self._tree.inside(use, statement) for statement in region)
        if in_region and not any(self._tree.inside(binding.node, statement) for statement in region):
            return False
        if binding.form is Form.AUGMENTED:
            return all(self._is_made_here(each, use, region) for each in binding.before if each is not binding)
        return (
            binding.form is Form.ASSIGNMENT
            and binding.value is not None
            and (
                self._fresh.is_fresh(binding.value)
                or (
                    (isinstance(binding.value, ast.Tuple) and bool(binding.path))
                    and all(map(self._fresh.is_fresh, binding.value.elts))
                )
            )
        )

    # --- what is handed out ------------------------------------------------------------------------------------------

    def _returned(self, function: Function) -> Fact:
        for part in walk_body(function.body):
            if isinstance(part, ast.Return) and part.value is not None and self._carriers.may_carry(part.value):
                return unknown(f"`{shortened(part.value)}` is returned, and may carry a graph")
        return CERTAIN

    def _read_later(self, statements: list[ast.stmt]) -> Fact:
        """Whether nothing that the statements bind is read outside of them with a graph that it got there."""
        for binding in self._bound(statements):
            later = [use for use in binding.uses if not any(self._tree.inside(use, each) for each in statements)]
            if later and self._carriers.binds_carrying(binding) and not all(map(self._is_read_for_values, later)):
                return unknown(f"`{binding.name}` is read afterwards, and may carry a graph")
        for statement in statements:
            for part in ast.walk(statement):
                if isinstance(part, ast.Return) and part.value is not None and self._carriers.may_carry(part.value):
                    return unknown(f"`{shortened(part.value)}` is returned, and may carry a graph")
        return CERTAIN

    def _is_read_for_values(self, use: ast.Name) -> bool:
        """Whether all that is made of a variable there has no graph: ``output.data``, ``criterion(x, y).item()``."""
        node: ast.expr = use
        while True:
            parent = self._tree.parent(node)
            match parent:
                case ast.Attribute(attr=name, ctx=ast.Load()) if name not in _OF_GRAPHS:
                    pass
                case ast.Subscript(ctx=ast.Load()) | ast.BinOp() | ast.UnaryOp() | ast.Compare():
                    pass
                case ast.Call(func=ast.Attribute(attr=method) as function) if function is node:
                    if method not in torch_api.TENSOR_METHODS or method.endswith("_") or self._is_of_file(method):
                        return False
                case ast.Call(func=function):
                    kind = self._semantics.kind(function)
                    is_layer = kind.type is Type.MODULE and kind.definition is None and kind.name in torch_api.MODULES
                    if not is_layer and (self._semantics.qualified_name(function) or "") not in torch_api.FUNCTIONS:
                        return False
                case _:
                    return False
            node = parent
            if not self._carriers.may_carry(node):
                return True

    def _bound(self, statements: list[ast.stmt]) -> Iterator[Binding]:
        for statement in statements:
            for part in ast.walk(statement):
                binding = self._semantics.bindings.of(part)
                if binding is not None:
                    yield binding
