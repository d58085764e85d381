"""What a constructor does with the parts that it makes, before it changes one: a list of what computes nothing of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.fact import shortened
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS, Function
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.pending.parts import Parts
from torchlint.semantics.pending.still_values import StillValues

HANDS_ON = frozenset(
    {
        *("modules", "named_modules", "children", "named_children", "parameters", "named_parameters", "items", "values"),
        *("keys", "append", "extend", "add_module", "register_module", "register_buffer", "register_parameter", "to", "train"),
        *("eval", "requires_grad_", "insert", "get", "named_buffers", "buffers", "pop", "cuda", "float", "double", "update"),
        *("state_dict", "__init__", "half", "cpu", "detach_", "get_submodule", "get_parameter"),
        "load_state_dict",
    }
)
"""Methods of modules, of lists and of dicts that compute nothing, and may give a part again."""
_READS = frozenset(
    {
        *("shape", "dtype", "device", "ndim", "size", "dim", "numel", "nelement", "requires_grad", "is_leaf", "data_ptr"),
        *("item", "tolist", "is_cuda", "__class__", "__name__", "training", "data", "is_floating_point", "element_size"),
    }
)
"""What is read of a tensor or of a module that leads into no graph; its ``.data`` does not, nor counts it changes with it."""
_FILLS = frozenset({"zero_", "fill_", "normal_", "uniform_", "exponential_", "bernoulli_", "random_", "copy_"})
_TELL = frozenset(
    f"builtins.{name}"
    for name in ("isinstance", "hasattr", "type", "len", "print", "id", "str", "repr", "int", "float", "bool", "issubclass")
)
_GIVE = frozenset(
    f"builtins.{name}"
    for name in ("list", "tuple", "dict", "set", "zip", "enumerate", "reversed", "iter", "next", "sorted", "range", "getattr")
) | {"copy.deepcopy", "copy.copy", "collections.OrderedDict", "builtins.super"}
_KEEPS = torch_api.CONTAINER_MODULES | {"torch.nn.Parameter", "torch.nn.ParameterList", "torch.nn.ParameterDict"}
_TELLING = (ast.Name, ast.Call, ast.Global, ast.Nonlocal)
"""Of code, what tells whether it computes."""
_FOREIGN_METHODS = frozenset(
    {"__setattr__", "__getattr__", "__getattribute__", "__setitem__", "register_parameter", "add_module"}
)


class Untouched:
    """Tells of constructors whether they compute nothing of their parts before a place where one is changed.

    A part may be stored, put into containers, asked for its parts, its form and its ``.data``, and initialised; it may be given
    to functions and classes of the file, which are looked at in turn. Everything else may save it for a backward pass.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._flow = semantics.control_flow
        self._parts = semantics.of(Parts)
        self._values = semantics.of(StillValues)
        self._telling: dict[Function, list[ast.AST]] = {}

    def look(
        self, place: ast.AST, leads: dict[Function, list[ast.AST]], owners: list[ast.ClassDef]
    ) -> tuple[str, set[Function]]:
        """What may have computed with a part before ``place``, in a phrase that is empty if nothing has; and what is run.

        ``leads`` are the functions on the way from the constructors to ``place``, each with what leads there.
        """
        statement = self._tree.statement(place)
        for owner in owners:
            for each in self._facts.bases(owner):
                if found := _FOREIGN_METHODS & self._facts.classes[each].methods.keys():
                    return f"`{min(found)}` may compute with what it is given", set()
        queue = [(function, function.name == "__init__") for function in leads]
        seen: dict[Function, bool] = {}
        while queue:
            function, in_part = queue.pop()
            if not seen.get(function, True) or seen.get(function) is in_part:
                continue
            seen[function] = in_part
            for node in self._nodes(function, leads[function] if in_part else []):
                if self._tree.statement(node) is statement:
                    continue
                if doubt := self._doubt(node):
                    return doubt, set(seen)
                for called in self._runs(node, owners):
                    if isinstance(called, str):
                        return called, set(seen)
                    queue.append((called, False))
        return "", set(seen)

    def _nodes(self, function: Function, ends: list[ast.AST]) -> Iterator[ast.AST]:
        """The parts of a function, where there are ``ends`` those that may be run before one of them."""
        if function not in self._telling:
            parts = (node for statement in function.body for node in ast.walk(statement))
            self._telling[function] = [part for part in parts if isinstance(part, _TELLING)]
        for node in self._telling[function]:
            if self._is_ahead(node, ends):
                yield node

    def _is_ahead(self, node: ast.AST, ends: list[ast.AST]) -> bool:
        if not ends or self._flow.scope(node) is not self._flow.scope(ends[0]):
            return True
        return any(self._tree.statement(node) is self._tree.statement(end) or self._flow.may_follow(node, end) for end in ends)

    # --- what is run -------------------------------------------------------------------------------------------------

    def _runs(self, node: ast.AST, owners: Iterable[ast.ClassDef]) -> Iterator[Function | str]:
        """The functions of the file that a node may run with a part, or why that is not known."""
        if not isinstance(node, ast.Call):
            return
        definition = self._facts.definition(node.func)
        if isinstance(definition, FUNCTIONS):
            yield definition
        for made in [definition] if isinstance(definition, ast.ClassDef) else self._classes(node.func) or ():
            yield from self._initialisers(made)
        match node.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                here = self._tree.enclosing_class(node)
                for base in {base for owner in owners for base in self._facts.bases(owner) if base is not here}:
                    if name in self._facts.classes[base].methods:
                        yield self._facts.classes[base].methods[name]
            case ast.Attribute(value=ast.Name() as named, attr="__init__") if isinstance(
                named_base := self._facts.definition(named), ast.ClassDef
            ):
                yield from self._initialisers(named_base)
            case ast.Attribute(value=receiver, attr=name) if (owner := self._facts.self_class(receiver)) is not None:
                yield from self._overridden(owner, name)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "apply":
            for argument in node.args:
                handed = self._facts.definition(argument)
                if isinstance(argument, ast.Attribute) and (owner := self._facts.self_class(argument.value)) is not None:
                    handed = self._facts.method(owner, argument.attr)
                if isinstance(handed, FUNCTIONS):
                    yield handed
                else:
                    yield f"`{shortened(argument)}` may compute with the parts of the module"

    def _classes(self, function: ast.expr) -> list[ast.ClassDef]:
        """The classes of the file that a name may be for, all of them: a block that is an argument."""
        if isinstance(definition := self._facts.definition(function), ast.ClassDef):
            return [definition]
        found: list[ast.ClassDef] = []
        match function:
            case ast.IfExp(body=body, orelse=orelse):
                values: list[ast.expr | None] = [body, orelse]
            case ast.Name():
                values = []
                for binding in self._semantics.bindings.reaching(function):
                    given = self._parts.given(binding) if binding.form is Form.PARAMETER else [binding.value]
                    if binding.form not in (Form.PARAMETER, Form.ASSIGNMENT) or binding.path or not given:
                        return []
                    values += given
            case _:
                return []
        for value in values:
            classes = self._classes(value) if value is not None and value is not function else []
            if not classes:
                return []
            found += classes
        return found

    def _initialisers(self, definition: ast.ClassDef) -> Iterator[Function]:
        for base in self._facts.bases(definition):
            for name in ("__init__", "__new__", "__post_init__"):
                if name in self._facts.classes[base].methods:
                    yield self._facts.classes[base].methods[name]

    def _overridden(self, owner: ast.ClassDef, name: str) -> Iterator[Function]:
        """The methods of the file that a call on ``self`` may run: those of the class, its bases, and what derives from it."""
        for each in dict.fromkeys((*self._facts.bases(owner), *self._facts.derived(owner))):
            if name in self._facts.classes[each].methods:
                yield self._facts.classes[each].methods[name]

    # --- what is done ------------------------------------------------------------------------------------------------

    def _doubt(self, node: ast.AST) -> str:
        match node:
            case ast.Global(names=[name, *_]) | ast.Nonlocal(names=[name, *_]):
                return f"`{name}` may hold what was computed"
            case ast.Name(ctx=ast.Load()) if self._parts.may_be(node) and not self._is_harmless(node):
                return f"`{shortened(self._whole(node))}` may be computed with before it is changed"
        return ""

    def _whole(self, node: ast.expr) -> ast.expr:
        """The operation or the call that a name is part of."""
        for parent in self._tree.ancestors(node):
            if isinstance(parent, (ast.Call, ast.BinOp)):
                return parent
            if isinstance(parent, ast.stmt):
                break
        return node

    def _is_harmless(self, node: ast.expr) -> bool:
        """Whether what is done with a part computes nothing of it."""
        if node is not None and self._semantics.kind(node).type in (Type.NUMBER, Type.STRING):
            return True
        parent = self._tree.parent(node)
        match parent:
            case ast.BinOp() | ast.UnaryOp(op=ast.USub() | ast.Invert()):
                return self._values.is_plain(parent) or not self._parts.may_be(parent)
            case ast.Attribute():
                return self._is_harmless_attribute(parent)
            case ast.Subscript(value=value):
                return value is not node or not isinstance(parent.ctx, ast.Load) or self._is_harmless_if_part(parent)
            case ast.Call(func=function) if function is node:
                return self._facts.definition(function) is not None
            case ast.Call():
                return self._is_taken(parent)
            case ast.keyword() | ast.Starred() | ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.BoolOp():
                return self._is_harmless(parent) if isinstance(parent, ast.expr) else self._is_taken_word(parent)
            case ast.IfExp(test=test):
                return test is node or self._is_harmless(parent)
            case ast.Assign(targets=targets):
                return all(map(self._is_own_target, targets))
            case ast.AnnAssign(target=target):
                return self._is_own_target(target)
            case ast.AugAssign(target=target, value=value):
                return value is node and isinstance(target, ast.Name) and self._is_listed(node)
            case ast.Compare() | ast.Return() | ast.Expr() | ast.If() | ast.While() | ast.Assert() | ast.Delete():
                return True
            case ast.For(iter=iterable) | ast.comprehension(iter=iterable):
                return iterable is node or isinstance(parent, ast.comprehension)
            case ast.FormattedValue():
                return True
            case ast.UnaryOp(op=ast.Not()):
                return True
        return isinstance(parent, COMPREHENSIONS) and self._is_harmless(parent)

    def _is_harmless_if_part(self, node: ast.expr) -> bool:
        return not self._parts.may_be(node) or self._is_harmless(node)

    def _is_listed(self, node: ast.expr) -> bool:
        return isinstance(node, (ast.List, ast.ListComp, ast.Tuple))

    def _is_own_target(self, target: ast.expr) -> bool:
        """Whether a part is stored where only the constructor finds it: under a local name, or in another part."""
        match target:
            case ast.Name():
                return True
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(map(self._is_own_target, parts))
            case ast.Attribute(value=owner) | ast.Subscript(value=owner) | ast.Starred(value=owner):
                return self._parts.may_be(owner)
        return False

    def _is_harmless_attribute(self, node: ast.Attribute) -> bool:
        if not isinstance(node.ctx, ast.Load) or node.attr in _READS or not self._parts.may_be(node):
            return True
        call = self._tree.parent(node)
        is_called = isinstance(call, ast.Call) and call.func is node
        owner = self._facts.self_class(node.value)
        if owner is not None and self._facts.method(owner, node.attr) is not None:
            if not is_called:
                return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "apply"
            return self._is_harmless_if_part(call) if isinstance(call, ast.expr) else False
        if not is_called or not isinstance(call, ast.Call):
            return self._is_harmless(node)
        if node.attr in _FILLS:
            return isinstance(self._tree.parent(call), ast.Expr)
        if node.attr in HANDS_ON | {"apply"}:
            return self._is_harmless_if_part(call)
        return self._values.is_plain(call)

    def _is_taken_word(self, word: ast.AST) -> bool:
        call = self._tree.parent(word)
        return isinstance(call, ast.Call) and self._is_taken(call)

    def _is_taken(self, call: ast.Call) -> bool:
        """Whether what is called with a part computes nothing of it, or is looked at itself."""
        name = self._semantics.qualified_name(call.func) or ""
        if (
            name in _TELL
            or name.startswith(("math.", "numpy.", "warnings.", "logging."))
            or name == "torch.nn.init.calculate_gain"
        ):
            return True
        if name.startswith("torch.nn.init."):
            return isinstance(self._tree.parent(call), ast.Expr)
        if name in _GIVE or name in _KEEPS or name in torch_api.MODULES:
            return self._is_harmless(call)
        if self._facts.definition(call.func) is not None:
            return self._is_harmless_if_part(call)
        if self._values.is_plain(call) or _is_text(call):
            return True
        if self._classes(call.func):
            return self._is_harmless_if_part(call)
        if isinstance(call.func, ast.Attribute):
            receiver, method = call.func.value, call.func.attr
            owner = self._facts.self_class(receiver)
            if owner is not None and self._facts.method(owner, method) is not None:
                return self._is_harmless_if_part(call)
            if method == "__init__" and (self._semantics.qualified_name(receiver) or "").startswith("torch.nn."):
                return True
            if method in torch_api.INPLACE_METHODS and isinstance(self._tree.parent(call), ast.Expr) and _is_of_data(receiver):
                return True
            if method in HANDS_ON | {"apply"} and (self._parts.may_be(receiver) or self._is_local_list(receiver)):
                return self._is_harmless_if_part(call)
        return False

    def _is_local_list(self, receiver: ast.expr) -> bool:
        """Whether what a part is put into is a list or a dict that was made here."""
        bindings: tuple[Binding, ...] = self._semantics.bindings.reaching(receiver) if isinstance(receiver, ast.Name) else ()
        made = (ast.List, ast.Dict, ast.ListComp, ast.Call)
        return bool(bindings) and all(isinstance(each.value, made) and not each.path for each in bindings)


def _is_of_data(node: ast.expr) -> bool:
    """Whether a chain goes through a ``.data``, so that a change of it is recorded for nothing that is kept."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(node, ast.Attribute) and node.attr == "data":
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def _is_text(call: ast.Call) -> bool:
    """Whether a call is one of a text's methods."""
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, (ast.Constant, ast.JoinedStr))
