"""Which values in a constructor may be the parts that it has just made, or hold them."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.certainty.layers import Layers
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, given_to
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.observers.callers import Callers

_NUMBERS = frozenset(f"builtins.{name}" for name in ("int", "float", "len", "str", "bool", "range", "isinstance", "hasattr"))
_NUMERIC = ("math.", "numpy.", "random.", "os.", "itertools.product")
_GIVE_NUMBERS = frozenset(
    {"size", "dim", "numel", "nelement", "item", "tolist", "find", "startswith", "endswith", "index", "calculate_gain"}
)
_NUMBER_TYPES = frozenset({"int", "float", "str", "bool", "List[int]", "list[int]", "List[str]", "list[str]"})
_OF_LAYERS = frozenset(
    {
        *(
            "in_features",
            "out_features",
            "in_channels",
            "out_channels",
            "kernel_size",
            "stride",
            "padding",
            "dilation",
            "groups",
        ),
        *("num_features", "embedding_dim", "num_embeddings", "padding_idx", "input_size", "hidden_size", "num_layers"),
    }
)
"""Attributes of the layers of torch that are numbers."""
_REACHES_IN = frozenset(
    {"setattr", "add_module", "register_module", "register_parameter", "__dict__", "_parameters", "_modules"}
)
"""Words of code that makes parts otherwise than by assignment."""


class Parts:
    """Tells of the values in a constructor, and in what it runs, which of them may be the object, a part of it, or made there.

    What is given from outside is none of these: the arguments of the constructor, what is imported, and what functions that
    are not in sight make of such things.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._callers = semantics.of(Callers)
        self._layers = semantics.of(Layers)
        self._beliefs = Beliefs(semantics.bindings, self._find)

    def may_be(self, value: Value) -> bool:
        """Whether a value may be such a part, or hold one; a number and a text are not."""
        return self._beliefs.hold(value)

    def _find(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._is_bound(value)
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return False
            case ast.Name():
                is_self = self._facts.self_class(value) is not None
                return is_self or any(map(self.may_be, self._semantics.bindings.reaching(value)))
            case ast.Attribute(value=inner, attr=name):
                if (owner := self._facts.self_class(inner)) is not None:
                    return self._is_slot(owner, name)
                if name in _OF_LAYERS and isinstance(inner, ast.Name) and self._layers.is_layer(value, inner):
                    return False
                return self._is_no_number(value) and self.may_be(inner)
            case ast.Subscript(value=inner) | ast.Starred(value=inner) | ast.UnaryOp(operand=inner):
                return self._is_no_number(value) and self.may_be(inner)
            case ast.NamedExpr(value=inner):
                return self.may_be(inner)
            case ast.BinOp(left=left, right=right):
                return self._is_no_number(value) and (self.may_be(left) or self.may_be(right))
            case ast.IfExp(body=body, orelse=orelse):
                return self.may_be(body) or self.may_be(orelse)
            case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return any(map(self.may_be, parts))
            case ast.Dict(values=parts):
                return any(map(self.may_be, parts))
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part):
                return self.may_be(part)
            case ast.Call():
                return self._is_no_number(value) and self._is_given(value)
            case ast.Slice():
                return False
        return True

    def _is_no_number(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type not in (Type.NUMBER, Type.STRING)

    # --- calls -------------------------------------------------------------------------------------------------------

    def _is_given(self, call: ast.Call) -> bool:
        """Whether a call gives a part: it makes one, or may hand on what it is given."""
        name = self._semantics.qualified_name(call.func) or ""
        if isinstance(call.func, ast.Attribute) and self._semantics.kind(call.func.value).type is Type.STRING:
            return False
        if name in _NUMBERS or name.startswith(_NUMERIC) or name == "torch.nn.init.calculate_gain":
            return False
        if name.startswith("torch."):
            return True
        definition = self._facts.definition(call.func)
        if isinstance(definition, FUNCTIONS):
            return self._gives(definition)
        if isinstance(definition, ast.ClassDef):
            return True
        given = given_to(call)
        if isinstance(call.func, ast.Attribute):
            if call.func.attr in _GIVE_NUMBERS:
                return False
            owner = self._facts.self_class(call.func.value)
            method = self._facts.method(owner, call.func.attr) if owner is not None else None
            if method is not None:
                return self._gives(method)
            given.append(call.func.value)
        return any(map(self.may_be, given))

    def _gives(self, function: Function) -> bool:
        return any(value is not None and self.may_be(value) for value in self._facts.returned(function))

    # --- names and attributes ----------------------------------------------------------------------------------------

    def _is_slot(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether an attribute of ``self`` may hold a part; what a base that is not in sight has made is none made here."""
        stores = [store for slot in self._facts.slots(owner, name) for store in slot.stores]
        if not stores or self._semantics.words.all & _REACHES_IN:
            return bool(self._semantics.words.all & _REACHES_IN) or self._is_of_layer(owner)
        for store in stores:
            statement = self._semantics.tree.statement(store)
            value = getattr(statement, "value", None)
            if not isinstance(value, ast.expr) or self.may_be(value):
                return True
        return False

    def _is_of_layer(self, owner: ast.ClassDef) -> bool:
        """Whether a class derives from a layer of torch, which makes parts of its own."""
        bases = [base for each in self._facts.bases(owner) for base in each.bases]
        names = {self._semantics.qualified_name(base) or "" for base in bases}
        return any(name.startswith("torch.") and name != "torch.nn.Module" for name in names)

    def _is_bound(self, binding: Binding) -> bool:
        match binding.form:
            case Form.IMPORT | Form.FUNCTION | Form.CLASS:
                return False
            case Form.PARAMETER:
                return self._is_parameter(binding)
            case Form.AUGMENTED:
                return any(map(self.may_be, binding.before)) or binding.value is None or self.may_be(binding.value)
        if isinstance(binding.scope.node, ast.Module):
            return False
        return binding.value is None or self.may_be(binding.value)

    def _is_parameter(self, binding: Binding) -> bool:
        """Whether an argument is a part: of a function of the file that is given one, or may be."""
        function = binding.scope.node
        if binding.annotation is not None and ast.unparse(binding.annotation) in _NUMBER_TYPES:
            return False
        if not isinstance(function, FUNCTIONS) or not isinstance(binding.node, ast.arg):
            return True
        arguments = function.args
        calls = list(self._callers.mentions(function))
        if function.name == "__init__":
            calls = [call for call in calls if call is not None]  # a class that is named elsewhere is made by others
        elif None in calls:
            return True
        if binding.node in (arguments.vararg, arguments.kwarg):
            return any(map(self.may_be, (each for call in calls if call for each in given_to(call))))
        return any(self._gives_part(call, function, binding.node) for call in calls if call is not None)

    def given(self, parameter: Binding) -> list[ast.expr | None]:
        """What the calls in sight give for a parameter."""
        function = parameter.scope.node
        if not isinstance(function, FUNCTIONS) or not isinstance(parameter.node, ast.arg):
            return []
        calls = (call for call in self._callers.mentions(function) if call is not None)
        return [self._argument(call, function, parameter.node) for call in calls]

    def _gives_part(self, call: ast.Call, function: Function, parameter: ast.arg) -> bool:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "apply" and function.name != "apply":
            return True
        given = self._argument(call, function, parameter)
        if given is None:
            return any(map(self.may_be, given_to(call)))
        return self.may_be(given)

    def _argument(self, call: ast.Call, function: Function, parameter: ast.arg) -> ast.expr | None:
        if function.name != "__init__" or isinstance(call.func, ast.Attribute):
            return self._facts.argument(call, function, parameter)
        positional = [*function.args.posonlyargs, *function.args.args][1:]
        if any(isinstance(each, ast.Starred) for each in call.args) or any(word.arg is None for word in call.keywords):
            return None
        found = dict(zip((each.arg for each in positional), call.args)) | {str(w.arg): w.value for w in call.keywords}
        return found.get(parameter.arg, self._facts.default(function, parameter))
