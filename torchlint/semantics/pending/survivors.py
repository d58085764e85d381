"""What outlives a place in a program and may hold a graph that a later backward goes through."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.scopes import Scope
from torchlint.semantics.code.tree import FUNCTIONS, Function, given_to
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.observers.callers import Callers
from torchlint.semantics.observers.libraries import KEEPING_NOTHING
from torchlint.semantics.observers.programs import Programs
from torchlint.semantics.pending.library_functions import computes, is_of_python, keeps_nothing
from torchlint.semantics.pending.still_values import StillValues

_READS = frozenset({"item", "detach", "data", "shape", "size", "tolist", "numpy", "dim", "numel", "requires_grad", "grad_fn"})
"""What is read of a tensor and leads to no backward through it."""
_READING = frozenset({"builtins.float", "builtins.int", "builtins.print", "builtins.str", "builtins.len", "builtins.round"})
_PUTS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft", "put", "register_buffer"})
_MOVES = frozenset({"cuda", "to", "train", "eval", "double", "half", "add_module"})
_DECORATORS = frozenset(f"builtins.{name}" for name in ("staticmethod", "classmethod", "property"))
_KEEPS = frozenset(
    {
        *("setattr", "exec", "globals", "locals", "register_forward_hook", "register_hook", "register_full_backward_hook"),
        *("register_forward_pre_hook", "register_post_accumulate_grad_hook", "__setattr__"),
    }
)
_CONTEXTS = ("torch.", "tqdm.", "builtins.open", "contextlib.suppress", "contextlib.nullcontext", "warnings.")
"""Managers of contexts that run nothing of the program's at their end."""
_KEEP_NOTHING = ("torch.", "torchvision.", "numpy.", "matplotlib.")
_TAKES = frozenset(
    {"add_scalar", "add_scalars", "add_image", "set_postfix", "set_description", "step", "format", "item", "load_state_dict"}
)
"""Methods that take what was computed and keep nothing of it."""
_TEXT = frozenset({"find", "startswith", "endswith", "lower", "upper", "format", "split"})


class Survivors:
    """Tells of places in a program whether a graph from before them may be back-propagated behind them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._flow = semantics.control_flow
        self._callers = semantics.of(Callers)
        self._values = semantics.of(StillValues)
        self._known: dict[ast.AST, Fact] = {}
        self._computing: dict[Function, bool] = {}
        self._recorded: dict[Scope, list[tuple[Binding, list[Binding]]]] = {}
        """Of each scope that was asked for, what may be the result of a recorded operation, with all that its name is given."""

    def fact(self, place: ast.AST) -> Fact:
        """Whether no graph that was built before ``place`` can be back-propagated behind it.

        So it is where nothing outlives the place that may be the result of a recorded operation, but for what is only read as
        a number behind it: all callers are in sight, and each name that is used behind it holds data, modules or optimizers.
        """
        key = self._tree.statement(place)
        if key not in self._known:
            self._known[key] = unknown("the function calls itself")
            self._known[key] = self._find(place)
        return self._known[key]

    def _find(self, place: ast.AST) -> Fact:
        function = self._tree.function(place)
        if function is not None and not (callers := self._callers.fact(function)).is_certain:
            return callers
        if function is None and self._semantics.of(Programs).runs and self._is_beginning(place):
            return CERTAIN
        calls = self._callers.calls(function) if isinstance(function, FUNCTIONS) else []
        is_idle = isinstance(function, FUNCTIONS) and not self._is_computing(function)
        if calls and is_idle and all(self._tree.function(call) is None and self._is_beginning(call) for call in calls):
            return CERTAIN
        if not self.kept.is_certain:
            return self.kept
        here = self._around(place)
        if not here.is_certain:
            return here
        if isinstance(self._flow.scope(place), ast.ClassDef) or isinstance(function, ast.Lambda):
            return unknown("it is not shown when this runs")
        if function is None:
            return CERTAIN  # what is made here is known nowhere else, and all else is imported from libraries
        for call in calls:
            callers &= self._is_whole(call) & self.fact(call)
        return callers

    def _is_whole(self, call: ast.Call) -> Fact:
        """Whether a call is all of its statement, so that there are no values but those that have names."""
        match self._tree.parent(call):
            case ast.Expr() | ast.Assign() | ast.Return():
                return CERTAIN
        return unknown("a call is part of a computation that may be back-propagated")

    # --- names -------------------------------------------------------------------------------------------------------

    def _around(self, place: ast.AST) -> Fact:
        """Whether nothing that has a name, or is worked through by a loop around ``place``, is back-propagated behind it."""
        for loop in self._tree.ancestors(place):
            if isinstance(loop, FUNCTIONS):
                break
            if isinstance(loop, (ast.For, ast.AsyncFor)) and not self._values.is_still(loop.iter):
                return unknown(f"`{shortened(loop.iter)}` may keep what was computed")
            if isinstance(loop, (ast.With, ast.AsyncWith)):
                for item in loop.items:
                    name = self._semantics.qualified_name(getattr(item.context_expr, "func", item.context_expr)) or ""
                    if not name.startswith(_CONTEXTS):
                        return unknown(f"`{shortened(item.context_expr)}` may run a backward at its end")
        scope = self._semantics.bindings.scope_of(self._tree.statement(place))
        if scope not in self._recorded:
            self._recorded[scope] = [
                (binding, bindings)
                for bindings in scope.bindings.values()
                for binding in bindings
                if not self._values.is_still(binding)
            ]
        for binding, bindings in self._recorded[scope]:
            if self._is_propagated(place, binding, bindings):
                return unknown(f"`{binding.name}` may be back-propagated behind it, through what it saved")
        return CERTAIN

    def _is_propagated(self, place: ast.AST, binding: Binding, bindings: list[Binding]) -> bool:
        """Whether a value that was given to a name before ``place`` may be used behind it, other than as a number."""
        is_from_before = binding.form is Form.PARAMETER or self._flow.may_follow(binding.node, place)
        if not is_from_before and binding.form is not Form.IMPORT:
            return False
        others = [each.node for each in bindings if each.form is not Form.PARAMETER]
        for use in binding.uses:
            is_elsewhere = self._flow.scope(use) is not self._flow.scope(place)
            if (is_elsewhere or self._flow.may_follow(place, use, others)) and not self._is_read(use):
                return True
        return False

    def _is_read(self, use: ast.expr) -> bool:
        """Whether a use of a tensor reads its values or its form, so that there is no backward through it."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Attribute(attr=attribute):
                return attribute in _READS and not self._values.is_own(attribute)
            case ast.Call(func=function) if use is not function:
                return self._semantics.qualified_name(function) in _READING
            case ast.FormattedValue() | ast.Compare() | ast.Delete():
                return True
        return False

    # --- what is kept elsewhere --------------------------------------------------------------------------------------

    @cached_property
    def kept(self) -> Fact:
        """Whether the file puts nothing with graph into an object, where no name tells of it."""
        if self._callers.foreign:
            return unknown(f"`{self._callers.foreign}` is imported; it may keep a graph for a later backward")
        for node in self._tree.nodes:
            doubt = self._doubt(node)
            if doubt is not None:
                return unknown(doubt)
        return CERTAIN

    # --- the beginning of a program ----------------------------------------------------------------------------------

    def _is_beginning(self, place: ast.AST) -> bool:
        """Whether nothing before ``place``, at the top level, computes anything: data and modules are made, and no more."""
        if self._constructors_compute or self._callers.takes_values:
            return False
        for node in self._top_level:
            if isinstance(node, (ast.Call, ast.BinOp)) and node is not place and self._flow.may_follow(node, place):
                if self._computes(node):
                    return False
        return True

    def _computes(self, node: ast.Call | ast.BinOp) -> bool:
        """Whether an operation, or what a call runs, may build a graph."""
        if isinstance(node, ast.Call):
            run = [node.func, *node.args] if _is_applied(node) else [node.func]
            for function in (found for each in run if (found := self._run(each)) is not None):
                if function not in self._computing:
                    self._computing[function] = False  # meanwhile: what calls itself computes nothing by that
                    self._computing[function] = self._is_computing(function)
                if self._computing[function]:
                    return True
            if self._run(node.func) is not None:
                return not all(map(self._values.is_still, given_to(node)))
        return not self._values.is_still(node) and not self._is_preparation(node)

    def _run(self, function: ast.expr) -> Function | None:
        """The function or method of the file that ``function`` names."""
        match function:
            case ast.Name() if isinstance(definition := self._semantics.facts.definition(function), FUNCTIONS):
                return definition
            case ast.Attribute(value=receiver, attr=name):
                owner = self._semantics.facts.self_class(receiver)
                return self._semantics.facts.method(owner, name) if owner is not None else None
        return None

    def _is_computing(self, function: Function | ast.Lambda) -> bool:
        nodes = list(ast.walk(function))
        calls = (node for node in nodes if isinstance(node, (ast.Call, ast.BinOp)))
        return any(self._doubt(node) is not None for node in nodes) or any(map(self._computes, calls))

    @cached_property
    def _top_level(self) -> list[ast.AST]:
        """What the top level runs, the defaults and decorators of functions, too."""
        found = [node for node in self._tree.nodes if isinstance(self._flow.scope(node), ast.Module)]
        for function in self._tree.nodes:
            if isinstance(function, (*FUNCTIONS, ast.Lambda)) and self._tree.function(function) is None:
                found += [part for each in _defaults(function) for part in ast.walk(each)]
        return found

    @cached_property
    def _constructors_compute(self) -> bool:
        """Whether a class of the file may compute something that carries graph where nobody calls a method of it by name.

        That is when it is made, entered, iterated over, or used in an operation.
        """
        for owner, facts in self._semantics.facts.classes.items():
            is_data = self._semantics.facts.derives_from(owner, "torch.utils.data.")
            for name, method in facts.methods.items():
                is_special = name.startswith("__") and name not in (("__getitem__", "__len__") if is_data else ("__len__",))
                if (is_special or method.decorator_list) and self._is_computing(method):
                    return True
        return False

    def _is_preparation(self, node: ast.AST) -> bool:
        """Whether a call prepares something and computes nothing: of a library, or a method that hands modules about."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")))) | ast.Call(func=ast.Name(id="super")):
                return True
            case ast.Call(func=ast.Attribute(value=receiver, attr="apply"), args=[ast.Name()]):
                return self._values.is_still(receiver)
            case ast.Call(func=ast.Attribute(value=receiver, attr=method), args=arguments) if method in _PUTS | _MOVES:
                return self._values.is_still(receiver) and all(self._values.is_still(argument) for argument in arguments)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                if isinstance(function, ast.Attribute) and function.attr in _TEXT and not self._values.is_own(function.attr):
                    return True
                root = name.partition(".")[0]
                return (
                    (root in KEEPING_NOTHING - {"torch"} and (not computes(name) or all(map(self._is_idle, given_to(node)))))
                    or name.startswith("torch.nn.init.")
                    or name.startswith(("torch.manual_seed", "torch.cuda.", "torch.backends."))
                )
        return False

    def _is_idle(self, given: ast.expr) -> bool:
        """Whether what a function calls, or computes with, leads to no graph."""
        function = given if isinstance(given, ast.Lambda) else self._run(given)
        return not self._is_computing(function) if function is not None else self._values.is_plain(given)

    def _doubt(self, node: ast.AST) -> str | None:
        match node:
            case ast.Global() | ast.Nonlocal():
                return f"`{node.names[0]}` may hold what was computed"
            case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.GeneratorExp():
                return "a generator may keep what was computed"
            case ast.Raise(exc=ast.Call() as raised) if not all(map(self._values.is_still, given_to(raised))):
                return f"`{shortened(raised)}` may carry what was computed"
            case ast.Lambda() if doubt := self._doubt_of_closure(node):
                return doubt
            case ast.keyword(arg="create_graph" | "keep_vars" | "differentiable", value=value):
                return None if isinstance(value, ast.Constant) and not value.value else "a graph is kept for another backward"
            case ast.Attribute(ctx=ast.Store(), attr=attribute):
                return None if self._is_stored_still(node) else f"`{attribute}` may hold what was computed"
            case ast.Subscript(ctx=ast.Store()) if not self._is_stored_still(node):
                return f"`{shortened(node)}` may hold what was computed"
            case ast.AugAssign(target=ast.Name(), value=ast.List() as value) if self._values.is_still(value):
                return None
            case ast.AugAssign(target=ast.Name(id=name), value=value) if not self._values.is_plain(value):
                return None if self._leaves_no_graph(node.target) else f"`{name}` may hold what was computed"
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._doubt_of_function(node)
            case ast.Call():
                return self._doubt_of_call(node)
        return None

    def _doubt_of_function(self, function: Function) -> str | None:
        """Why a function may hand out what it has kept: a decorator may, and what iterates over an object or takes an item."""
        if doubt := self._doubt_of_closure(function):
            return doubt
        for decorator in function.decorator_list:
            name = self._semantics.qualified_name(getattr(decorator, "func", decorator)) or ""
            if not name.startswith("torch.") and name not in _DECORATORS:
                return f"`{function.name}` may keep what was computed"
        if function.name in ("__iter__", "__next__", "__getitem__"):
            for value in self._semantics.facts.returned(function):
                if value is not None and not self._values.is_still(value):
                    return f"`{function.name}` may give what was computed before"
        return None

    def _doubt_of_closure(self, function: Function | ast.Lambda) -> str | None:
        """Why a function may hold what was computed: as a default, or as a name of the function around it."""
        for default in _defaults(function):
            if not self._values.is_still(default):
                return f"`{shortened(default)}` may hold what was computed"
        around = self._tree.function(function)
        if around is None or self._is_only_called(function):
            return None
        for name in (part for part in ast.walk(function) if isinstance(part, ast.Name)):
            for binding in self._semantics.bindings.reaching(name):
                home = binding.scope.node
                is_outer = not isinstance(home, ast.Module) and not self._tree.inside(home, function)
                if is_outer and not self._values.is_still(binding):
                    return f"`{name.id}` may be kept by a function that uses it"
        return None

    def _is_only_called(self, function: Function | ast.Lambda) -> bool:
        """Whether an inner function is called where it was defined, and handed on to nobody."""
        binding = self._semantics.bindings.of(function) if not isinstance(function, ast.Lambda) else None
        uses = binding.uses if binding is not None else []
        return bool(uses) and all(
            isinstance(call := self._tree.parent(use), ast.Call)
            and call.func is use
            and self._tree.function(use) is self._tree.function(function)
            for use in uses
        )

    def _doubt_of_call(self, call: ast.Call) -> str | None:
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
        if name in _KEEPS:
            return f"`{name}` may keep what was computed"
        arguments = given_to(call)
        if not self._is_taken(call) and not all(map(self._values.is_still, arguments)):
            return f"`{shortened(function)}` may keep what was computed"
        changes = name in _PUTS or name in torch_api.INPLACE_METHODS - {"requires_grad_"}
        if isinstance(function, ast.Attribute) and changes and not self._leaves_no_graph(function.value):
            if not all(self._values.is_still(argument) for argument in arguments):
                return f"`{shortened(function.value)}` may hold what was computed"
        return None

    def _is_taken(self, call: ast.Call) -> bool:
        """Whether what is called is known to keep nothing, or is looked at itself."""
        name = self._semantics.qualified_name(call.func) or ""
        if is_of_python(name):
            return keeps_nothing(name)
        if name.startswith(_KEEP_NOTHING):
            return True
        if self._semantics.facts.definition(call.func) is not None or self._is_module(call.func):
            return True
        match call.func:
            case ast.Call(func=ast.Name(id="super")):
                return True
            case ast.Attribute(value=receiver, attr=method):
                is_of_tensor = method in torch_api.TENSOR_METHODS or method in torch_api.INPLACE_METHODS
                is_known = method in _PUTS | _MOVES | _TAKES | _TEXT or self._values.is_own(method)
                return is_of_tensor or is_known or self._is_module(receiver)
        return False

    def _is_module(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.MODULE or (
            self._values.is_still(node) and not isinstance(node, ast.Attribute)
        )

    def _leaves_no_graph(self, changed: ast.expr) -> bool:
        """Whether a change of ``changed`` is none that autograd records: of a `.data`, or where autograd is off."""
        while isinstance(changed, (ast.Subscript, ast.Call, ast.Attribute)):
            match changed:
                case ast.Attribute(attr="data") | ast.Call(func=ast.Attribute(attr="detach")):
                    return True
                case ast.Call(func=inner) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                    changed = inner
        return self._semantics.no_grad.block(changed)

    def _is_stored_still(self, target: ast.Attribute | ast.Subscript) -> bool:
        """Whether what is stored in an attribute or an item holds no graph."""
        if self._leaves_no_graph(target):
            return True
        statement = self._tree.statement(target)
        value = getattr(statement, "value", None)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or value is None:
            return False
        if self._values.is_still(value) and not isinstance(statement, ast.AugAssign):
            return True
        return self._values.is_plain(value)


def _defaults(function: Function | ast.Lambda) -> list[ast.expr]:
    """What is worked out when a function is defined."""
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return [*function.args.defaults, *filter(None, function.args.kw_defaults), *decorators]


def _is_applied(call: ast.Call) -> bool:
    """Whether a call hands a function on, ``net.apply(f)``."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "apply"
