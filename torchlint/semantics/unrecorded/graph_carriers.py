"""Which values may carry a graph, in a file that shows all of its program: all but those on positive lists."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.semantics import Form, Semantics, torch_api
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, Function, Tree, given_to
from torchlint.semantics.observers.libraries import KEEPING_NOTHING

NUMBERS = frozenset(
    {
        *("item", "tolist", "numpy", "detach", "size", "dim", "numel", "nelement", "ndimension", "element_size", "data_ptr"),
        *("is_floating_point", "is_complex", "is_contiguous", "long", "int", "bool", "byte", "short", "char", "get_device"),
    }
    | torch_api.NONDIFFERENTIABLE_METHODS
) - {"detach_"}
"""Methods of a tensor whose results carry no graph, whatever the tensor carries."""
_FORM = frozenset({"shape", "dtype", "device", "ndim", "is_cuda", "layout", "itemsize", "nbytes", "indices", "training"})
_TEXT = frozenset(
    {"format", "join", "strip", "split", "replace", "lower", "upper", "startswith", "endswith", "decode", "encode"}
)
_COUNTING = frozenset(f"builtins.{name}" for name in ("float", "int", "len", "str", "bool", "range", "repr", "format", "type"))
_PASSING = frozenset(
    f"builtins.{name}"
    for name in (
        *(
            "sum",
            "min",
            "max",
            "abs",
            "round",
            "sorted",
            "list",
            "tuple",
            "zip",
            "enumerate",
            "reversed",
            "set",
            "dict",
            "iter",
        ),
        *("next", "pow", "divmod", "any", "all", "map", "filter", "open", "print", "isinstance"),
    )
)
_REFUSING = (
    "numpy.",
    "math.",
    "time.",
    "os.",
    "random.",
    "datetime.",
    "json.",
    "string.",
    "re.",
    "sys.",
    "statistics.",
    "tqdm.",
)
"""Libraries that give nothing with a graph: they refuse a tensor that carries one, or make a number of it."""
FILLING = frozenset({"append", "appendleft", "extend", "insert", "add", "update", "put", "put_nowait", "setdefault"})
_TAKING = frozenset(
    {"keys", "values", "items", "get", "pop", "copy", "index", "count", "most_common", "sort", "reverse", "clear"}
)
_HOLDERS = frozenset(
    {
        "builtins.list",
        "builtins.dict",
        "builtins.set",
        "collections.defaultdict",
        "collections.deque",
        "collections.OrderedDict",
    }
)


class GraphCarriers:
    """Tells of expressions whether they may carry a graph; its answers hold where all code that runs is in the file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._carrying = Beliefs(semantics.bindings, self._find)
        self._compares = any(
            name in facts.methods
            for facts in semantics.facts.classes.values()
            for name in ("__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__", "__contains__")
        )

        self._has_records = any(map(semantics.words.speak_of, ("pack_", "PackedSequence", "namedtuple", "NamedTuple")))
        """Whether ``data`` may be a part of something else than a tensor."""

    def may_carry(self, node: ast.expr) -> bool:
        """Whether it is not certain that ``node``, and all that is in it, has no graph."""
        return self._carrying.hold(node)

    def binds_carrying(self, binding: Binding) -> bool:
        """The same of what a binding gives its name."""
        return self._carrying.hold(binding)

    def stores_carrying(self, store: ast.Attribute) -> bool:
        """The same of what is assigned to an attribute."""
        return self._stores_carrying(store)

    def _any(self, nodes: Iterable[ast.expr | None]) -> bool:
        return any(node is not None and self._carrying.hold(node) for node in nodes)

    def _find(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._binds(value)
            case ast.Constant() | ast.JoinedStr():
                return False
            case ast.Compare():
                return self._compares
            case ast.BinOp(left=ast.Constant(value=str()) | ast.JoinedStr(), op=ast.Mod()):
                return False
            case ast.BinOp(left=left, right=right):
                return self._any([left, right])
            case ast.UnaryOp(op=op, operand=operand):
                return not isinstance(op, ast.Not) and self._any([operand])
            case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self._any(parts)
            case ast.Dict(keys=keys, values=parts):
                return self._any([*keys, *parts])
            case ast.IfExp(body=body, orelse=orelse):
                return self._any([body, orelse])
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
                return self._any([part])
            case ast.DictComp(key=key, value=part):
                return self._any([key, part])
            case ast.NamedExpr(value=inner) | ast.Starred(value=inner):
                return self._any([inner])
            case ast.Subscript(value=inner, slice=ast.Constant(value=1)) if self._gives_indices(inner):
                return False
            case ast.Subscript(value=inner):
                return self._any([inner])
            case ast.Slice():
                return False
            case ast.Name():
                return self._of_name(value)
            case ast.Attribute():
                return self._of_attribute(value)
            case ast.Call():
                return self._of_call(value)
        return True

    # --- names -------------------------------------------------------------------------------------------------------

    def _of_name(self, name: ast.Name) -> bool:
        found = self._semantics.bindings.reaching(name)
        if not found:
            return not (self._semantics.qualified_name(name) or "").startswith("builtins.")
        return any(map(self._carrying.hold, found))

    def _binds(self, binding: Binding) -> bool:
        if self._is_changed(binding):
            return True
        match binding.form:
            case Form.IMPORT:
                return binding.imported.partition(".")[0] not in KEEPING_NOTHING
            case Form.PARAMETER:
                return self._of_parameter(binding)
            case Form.AUGMENTED:
                return any(map(self._carrying.hold, binding.before)) or not binding.before or self._any([binding.value])
            case Form.ASSIGNMENT | Form.LOOP if binding.value is not None:
                return self._of_part(binding.value, binding.path, looped=binding.form is Form.LOOP)
        return True

    def _of_part(self, value: ast.expr, path: tuple[int | None, ...], *, looped: bool) -> bool:
        """Whether the part of a value that a target takes may carry a graph."""
        if not looped and path:
            if isinstance(value, (ast.Tuple, ast.List)) and path[0] is not None and path[0] < len(value.elts):
                if not any(isinstance(part, ast.Starred) for part in value.elts):
                    return self._of_part(value.elts[path[0]], path[1:], looped=False)
            if path == (1,) and self._gives_indices(value):
                return False
        if looped and isinstance(value, ast.Call):
            name = self._semantics.qualified_name(value.func) or ""
            if name == "builtins.enumerate" and path and value.args:
                return path[0] != 0 and self._of_part(value.args[0], path[1:], looped=True)
            if name == "builtins.zip" and path and path[0] is not None and path[0] < len(value.args):
                if not any(isinstance(argument, ast.Starred) for argument in value.args):
                    return self._of_part(value.args[path[0]], path[1:], looped=True)
        return self._any([value])

    def _is_changed(self, binding: Binding) -> bool:
        """Whether a use of what a name has puts something into it that may carry a graph, or hands it to where that happens."""
        holds = _may_hold(binding)
        if holds and binding.form is Form.PARAMETER:
            given = self._given(binding)
            holds = given is None or not all(map(_is_plain, given))
        if (holds and self.is_shared(binding)) or any(self._changes(use, holds=holds) for use in binding.uses):
            return True
        if _is_plain(binding.value):
            return False
        later = [each for each in binding.scope.bindings.get(binding.name, ()) if binding in each.before]
        return self._any(each.value for each in later if each is not binding)  # `total += loss`, of a tensor or a list

    def is_shared(self, binding: Binding) -> bool:
        """Whether one statement gives a value to several names: ``a = b = []``."""
        statement = self._tree.parent(binding.node)
        return isinstance(statement, ast.Assign) and len(statement.targets) > 1

    def _changes(self, use: ast.expr, *, holds: bool) -> bool:
        """Whether the code at ``use`` may put a graph into the value; one that ``holds`` others may get it by another name."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Subscript(value=table, ctx=ast.Store()) if table is use:
                value = _assigned(self._tree.parent(parent))
                return value is None or self._any([value])
            case ast.Subscript(value=value, ctx=ast.Load()) if value is use:
                return self._changes(parent, holds=holds)  # `table[name].append(x)`
            case ast.Assign() | ast.AnnAssign() | ast.Tuple() | ast.List() | ast.Dict() | ast.Starred() | ast.NamedExpr():
                return holds and use.ctx.__class__ is not ast.Store if isinstance(use, (ast.Name, ast.Attribute)) else holds
            case ast.Call(func=function) if function is not use:
                return holds and not self._only_reads(function)
            case ast.keyword():
                call = self._tree.parent(parent)
                return holds and isinstance(call, ast.Call) and not self._only_reads(call.func)
            case ast.Attribute(attr=name, ctx=ast.Load()):
                call = self._tree.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    fills = name in FILLING or name.endswith("_")
                    return fills and self._any(given_to(call))
        return False

    def _only_reads(self, function: ast.expr) -> bool:
        """Whether a function that is given a container puts nothing into it."""
        name = self._semantics.qualified_name(function) or ""
        return name.startswith((*_REFUSING, "torch.")) or name in _COUNTING | _PASSING | _HOLDERS

    def _of_parameter(self, binding: Binding) -> bool:
        """Whether a call in the file may give a parameter a value with a graph."""
        given = self._given(binding)
        return not given or any(value is None or self._carrying.hold(value) for value in given)

    def _given(self, binding: Binding) -> list[ast.expr | None] | None:
        """What the calls of the file give a parameter; ``None`` where there may be others."""
        function, parameter = binding.scope.node, binding.node
        if not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg):
            return None
        if parameter in (function.args.vararg, function.args.kwarg) or self._is_handed_on(function):
            return None
        calls = self._semantics.facts.calls.get(self._called_as(function), [])
        return [self._semantics.facts.argument(call, function, parameter) for call in calls]

    def _called_as(self, function: Function) -> str:
        owner = self._tree.parent(function)
        return owner.name if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function.name

    def _is_handed_on(self, function: Function) -> bool:
        """Whether a function may be called in another way than by its name: a special method, or one that is named alone."""
        owner = self._tree.parent(function)
        if function.decorator_list or (function.name.startswith("__") and function.name != "__init__"):
            return True
        if function.name == "__init__" or function.name == "forward":
            return True
        if isinstance(owner, ast.ClassDef):
            uses: list[ast.expr] = [each for each in self._tree.of_type(ast.Attribute) if each.attr == function.name]
        else:
            binding = self._semantics.bindings.of(function)
            uses = list(binding.uses) if binding is not None else []
        return any(not (isinstance(call := self._tree.parent(use), ast.Call) and call.func is use) for use in uses)

    # --- attributes and calls ----------------------------------------------------------------------------------------

    def _of_attribute(self, node: ast.Attribute) -> bool:
        if node.attr in _FORM and not self._defines(node.attr):
            return False
        if node.attr == "data" and not self._defines("data") and not self._has_records:
            return False
        if (self._semantics.qualified_name(node) or "").partition(".")[0] in KEEPING_NOTHING:
            return False
        classes = self._semantics.facts.classes.values()
        methods = [facts.methods[node.attr] for facts in classes if node.attr in facts.methods]
        same = [each for each in self._tree.of_type(ast.Attribute) if each.attr == node.attr]
        stores = [each for each in same if isinstance(each.ctx, ast.Store)]
        fixed = [value for facts in classes if node.attr in facts.slots for value, _ in facts.slots[node.attr].class_values]
        if not stores and not methods and not fixed:
            return True
        if any(self._stores_carrying(each) for each in stores) or self._any(fixed) or any(map(self._returns_carrying, methods)):
            return True
        return any(
            self._changes(each, holds=_may_hold_any(stores, self._tree)) for each in same if isinstance(each.ctx, ast.Load)
        )

    def _stores_carrying(self, store: ast.Attribute) -> bool:
        statement: ast.AST | None = self._tree.parent(store)
        if isinstance(statement, ast.Tuple) and isinstance(assignment := self._tree.parent(statement), ast.Assign):
            if isinstance(assignment.value, ast.Tuple) and len(assignment.value.elts) == len(statement.elts):
                return self._any([assignment.value.elts[statement.elts.index(store)]])
        value = _assigned(statement)
        return value is None or self._any([value])

    def _defines(self, name: str) -> bool:
        """Whether something of the file may be meant by an attribute of that name."""
        classes = self._semantics.facts.classes.values()
        if any(name in facts.methods or name in facts.slots for facts in classes):
            return True
        return any(each.attr == name and isinstance(each.ctx, ast.Store) for each in self._tree.of_type(ast.Attribute))

    def _returns_carrying(self, function: Function) -> bool:
        if isinstance(function, ast.AsyncFunctionDef) or any(
            isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(function)
        ):
            return True
        return self._any(self._semantics.facts.returned(function))

    def _of_call(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        given = given_to(call)
        asks = {word.arg for word in call.keywords} & {"requires_grad", "out"}
        if asks:
            return True
        if name in torch_api.FACTORIES or name in torch_api.NONDIFFERENTIABLE_FUNCTIONS or name in _COUNTING:
            return False
        if name.startswith(_REFUSING) or name.startswith("torch.cuda."):
            return "dtype" in {word.arg for word in call.keywords} and self._any(given)
        if name in torch_api.FUNCTIONS or name in torch_api.PASSING_FACTORIES or name in _PASSING | _HOLDERS:
            return self._any(given)
        function = self._semantics.facts.definition(call.func)
        if isinstance(function, FUNCTIONS):
            return self._returns_carrying(function)
        if not isinstance(call.func, ast.Attribute):
            return True
        method, receiver = call.func.attr, call.func.value
        if self._defines(method):
            methods = [each.methods[method] for each in self._semantics.facts.classes.values() if method in each.methods]
            return not methods or any(map(self._returns_carrying, methods))
        if method in NUMBERS or method in _TEXT:
            return False
        if method in torch_api.TENSOR_METHODS or method in _TAKING:
            return self._any([receiver, *given])
        return True

    def _gives_indices(self, node: ast.expr) -> bool:
        """Whether the second part of a value is made of indices: ``x.max(1)``, ``torch.topk(x, 3)``."""
        if not isinstance(node, ast.Call):
            return False
        name = self._semantics.qualified_name(node.func) or ""
        if name.startswith("torch."):
            return name.removeprefix("torch.") in torch_api.VALUES_AND_INDICES and _has_dimension(node, node.args[1:])
        if not isinstance(node.func, ast.Attribute) or self._defines(node.func.attr):
            return False
        return node.func.attr in torch_api.VALUES_AND_INDICES and _has_dimension(node, node.args)


def _has_dimension(call: ast.Call, arguments: list[ast.expr]) -> bool:
    """Whether a call is told a dimension, so that it gives values and indices: not ``torch.max(x, y)``."""
    if any(word.arg == "dim" for word in call.keywords):
        return True
    number = arguments[0] if arguments else None
    return isinstance(number.operand if isinstance(number, ast.UnaryOp) else number, ast.Constant)


def _may_hold(binding: Binding) -> bool:
    """Whether what a binding gives may be a container, and not a number or the result of an operation."""
    return binding.form not in (Form.AUGMENTED, Form.IMPORT) and not _is_plain(binding.value)


def _may_hold_any(stores: list[ast.Attribute], tree: Tree) -> bool:
    statements = [tree.parent(store) for store in stores]
    return not all(isinstance(each, ast.AugAssign) or _is_plain(_assigned(each)) for each in statements)


def _is_plain(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant() | ast.BinOp() | ast.Compare() | ast.JoinedStr() | ast.UnaryOp():
            return True
        case ast.Tuple(elts=parts):
            return all(map(_is_plain, parts))
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in NUMBERS - {"tolist", "detach", "numpy"}
        case ast.Call(func=ast.Name(id=name)):
            return f"builtins.{name}" in _COUNTING
    return False


def _assigned(statement: ast.AST | None) -> ast.expr | None:
    match statement:
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.AnnAssign(value=value):
            return value
    return None
