"""What no graph has reached on any path: not because it was made without one, but because nothing since has given it one."""

from __future__ import annotations

import ast

from torchlint.fact import Fact, known
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.grad_mode import GradMode
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.invariants import Invariants
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.memory.changes import Changes
from torchlint.semantics.provenance.modules import Modules
from torchlint.semantics.provenance.new_values import NEW_FUNCTIONS, WITHOUT_GRAPH, NewValues
from torchlint.semantics.provenance.numbers import Numbers
from torchlint.semantics.provenance.values import Part, Values, shown

_FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        *("zeros", "ones", "full", "empty", "rand", "randn", "randint", "randperm", "arange", "linspace", "eye", "tensor"),
        *("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "randint_like", "from_numpy"),
    )
)
"""What these make has no graph, whatever they are given, unless they are asked for one."""
_FACTORY_METHODS = frozenset({"new_zeros", "new_ones", "new_empty", "new_tensor"})
_NUMBERS = frozenset({"item", "tolist", "numpy", "size", "dim", "numel", "nelement", "stride", "data_ptr", "is_contiguous"})
_INTEGERS = frozenset({"long", "int", "short", "byte", "char", "bool"})
_FORM = frozenset({"shape", "dtype", "device", "ndim", "is_cuda", "requires_grad", "layout", "grad_fn", "is_leaf", "names"})
_VIEWS = (torch_api.VIEW_METHODS - {"numpy", "as_subclass"}) | torch_api.MAYBE_VIEW_METHODS
"""Methods that may give another look at the same tensor."""
_PARTS = frozenset({"T", "mT", "H", "mH", "real", "imag"})
_READERS = frozenset(
    f"builtins.{name}" for name in ("print", "len", "float", "int", "bool", "str", "repr", "type", "isinstance")
)
"""Functions that read a tensor, and keep nothing of it."""


class Graphless:
    """Tells of values whether they have no graph where they are read.

    Followed are local values that the file makes: by factories, by `.detach()`, by operations on such values, or where autograd
    is off; each use of their names must be one that cannot give them a graph. An argument may carry one, and so may an
    attribute, what is kept in a container, and what other code gets to see.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._values = semantics.of(Values)
        self._tensors = semantics.of(Tensors)
        self._numbers = semantics.of(Numbers)
        self._new = semantics.of(NewValues)
        self._modes = semantics.of(GradMode)
        self._claims = Invariants["Part | tuple[str, Binding]"](self._find)

    def fact(self, node: ast.expr) -> Fact:
        """Whether ``node`` has no graph where it stands, and neither has anything that it is made of or looks at."""
        return known(self.is_graphless(node), f"`{shown(node)}` may carry graph")

    def is_graphless(self, node: ast.expr) -> bool:
        """Whether ``node`` has no graph for certain; numbers have none."""
        return self._holds(node)

    def _holds(self, node: ast.expr, path: tuple[int, ...] = ()) -> bool:
        return self._claims.holds(Part(node, path))

    # --- what makes a value ------------------------------------------------------------------------------------------

    def _find(self, part: Part | tuple[str, Binding]) -> bool:
        if not isinstance(part, Part):
            claim, binding = part
            return self._binds(binding, ()) if claim == "bound" else self._is_untouched(binding)
        taken = self._values.taken(part)
        if taken is None:
            return False
        node, path = taken.node, taken.path
        match node:
            case ast.Name():
                found = self._values.bindings(node)
                return bool(found) and all(
                    self._binds(each, path) and self._claims.holds(("untouched", each)) for each in found
                )
            case ast.Call():
                return self._gives(node, path)
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=1)) if self._gives_indices(call):
                return True
            case ast.Subscript(value=inner):
                return self._holds(inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self._holds(body, path) and self._holds(orelse, path)
            case ast.Constant():
                return True
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return all(map(self._holds, elements))
            case ast.Attribute(value=inner, attr=name) if not path:
                return self._is_attribute(node, inner, name)
        return not path and self._is_computed(node)

    def _is_attribute(self, node: ast.Attribute, inner: ast.expr, name: str) -> bool:
        if name == "data" or name in _FORM:
            return self._tensors.is_tensor(inner)
        if (self._semantics.qualified_name(node) or "").startswith(("torch.", "math.", "numpy.")):
            return True  # `torch.float32`, `math.pi`
        return name in _PARTS and self._holds(inner)

    def _is_computed(self, node: ast.expr) -> bool:
        match node:
            case ast.BinOp(left=left, right=right):
                return self._is_made_of(node, [left, right])
            case ast.UnaryOp(operand=operand):
                return isinstance(node.op, ast.Not) or self._is_made_of(node, [operand])
            case ast.Compare(left=left, comparators=comparators):
                return all(self._tensors.is_tensor(each) or self._numbers.is_number(each) for each in (left, *comparators))
        return False

    def _is_made_of(self, node: ast.expr, operands: list[ast.expr]) -> bool:
        """Whether an operation, which makes a new value, has no graph: none of its operands has one, or autograd is off."""
        if all(map(self._holds, operands)):
            return True
        return self._tensors.is_tensor(node) and self._modes.off(node).is_certain

    def _gives(self, call: ast.Call, path: tuple[int, ...]) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if self._numbers.is_number(call) or (path[:1] == (1,) and self._gives_indices(call)):
            return True
        operands = self._new.operands(call)
        if name in NEW_FUNCTIONS or name in _FACTORIES:
            if operands is None and name != "torch.from_numpy":
                return False
            is_plain = name in _FACTORIES or name.rpartition(".")[2] in WITHOUT_GRAPH
            return is_plain or self._is_off(call) or all(map(self._holds, operands or ()))
        if name == "torch.autograd.Variable":
            return len(call.args) == 1 and not call.keywords
        if not method or name.startswith(("torch.", "numpy.")) or not self._tensors.is_tensor(call.func.value):  # type: ignore[attr-defined]
            return False
        if method == "detach" or method in _NUMBERS or method in _INTEGERS:
            return True
        if operands is not None:
            return method in _FACTORY_METHODS | WITHOUT_GRAPH or self._is_off(call) or all(map(self._holds, operands))
        return method in _VIEWS and not call.keywords and self._holds(call.func.value)  # type: ignore[attr-defined]

    def _gives_indices(self, call: ast.Call) -> bool:
        """Whether what a call gives second is where it found what it gives first: integers, which have no graph."""
        name = self._semantics.qualified_name(call.func) or ""
        is_function = name.startswith("torch.")
        last = name.rpartition(".")[2] if is_function else getattr(call.func, "attr", "")
        arguments = call.args[1:] if is_function else call.args
        dims = [*arguments[:1], *(word.value for word in call.keywords if word.arg == "dim")]
        if last not in torch_api.VALUES_AND_INDICES or any(word.arg in (None, "out") for word in call.keywords) or not dims:
            return False
        if not all(isinstance(dim, (ast.Constant, ast.UnaryOp)) for dim in dims):
            return False  # `torch.max(a, b)` compares two tensors
        return is_function or (isinstance(call.func, ast.Attribute) and self._tensors.is_tensor(call.func.value))

    def _is_off(self, node: ast.expr) -> bool:
        return self._modes.off(node).is_certain

    # --- names -------------------------------------------------------------------------------------------------------

    def _binds(self, binding: Binding, path: tuple[int, ...]) -> bool:
        if binding.form is Form.AUGMENTED:
            is_plain = binding.value is not None and self._holds(binding.value)
            return is_plain and bool(binding.before) and all(self._claims.holds(("bound", each)) for each in binding.before)
        if binding.form is Form.LOOP:
            return self._numbers.binds(binding) or (
                binding.value is not None
                and not binding.path
                and self._tensors.is_tensor(binding.value)
                and self._holds(binding.value)
            )
        value = self._values.assigned(binding)
        return value is not None and self._holds(value.node, value.path + path)

    def _is_untouched(self, binding: Binding) -> bool:
        """Whether nothing that is done through a name, or another look at its value, can give it a graph."""
        for other in self._semantics.of(Changes).augmented(binding):
            if other.value is None or not self._holds(other.value):
                return False
        return all(map(self._leaves_alone, binding.uses))

    def _leaves_alone(self, use: ast.expr) -> bool:
        """Whether what is done with ``use`` where it stands only reads it."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Attribute(attr=name):
                return self._is_quiet_attribute(parent, name)
            case ast.Subscript(value=value, ctx=context) if value is use:
                if isinstance(context, ast.Load):
                    return self._leaves_alone(parent)
                return isinstance(context, ast.Store) and self._is_stored_to(parent)
            case (
                ast.Subscript() | ast.Compare() | ast.BinOp() | ast.UnaryOp() | ast.FormattedValue() | ast.Expr() | ast.Return()
            ):
                return True
            case ast.If() | ast.While() | ast.Assert() | ast.AugAssign():
                return True
            case ast.Call():
                return use in parent.args and self._is_quiet_call(parent)
            case ast.keyword():
                call = self._tree.parent(parent)
                return isinstance(call, ast.Call) and self._new.operands(call) is not None
            case ast.Assign(targets=targets):
                return all(isinstance(target, ast.Name) and self._is_untouched_name(target) for target in targets)
            case ast.Tuple() | ast.List():
                return self._is_operand_in_display(parent)
        return False

    def _is_untouched_name(self, target: ast.Name) -> bool:
        binding = self._semantics.bindings.of(target)
        return binding is not None and self._claims.holds(("untouched", binding))

    def _is_stored_to(self, target: ast.Subscript) -> bool:
        """Whether what is stored at an index of a tensor has no graph."""
        match self._tree.parent(target):
            case ast.Assign(targets=[_], value=value) | ast.AugAssign(value=value):
                return self._holds(value)
        return False

    def _is_quiet_attribute(self, attribute: ast.Attribute, name: str) -> bool:
        if not isinstance(attribute.ctx, ast.Load):
            return False
        call = self._tree.parent(attribute)
        if not (isinstance(call, ast.Call) and call.func is attribute):
            return name in _FORM or name in ("data", "grad") or (name in _PARTS and self._leaves_alone(attribute))
        if name in _NUMBERS or self._new.operands(call) is not None:
            return True
        if name in _VIEWS:
            return name == "detach" or self._leaves_alone(call)
        if name in torch_api.INPLACE_METHODS and name != "requires_grad_":
            given = given_to(call)
            return all(map(self._holds, given)) and self._leaves_alone(call)
        return name in ("backward",)

    def _is_quiet_call(self, call: ast.Call) -> bool:
        if self._new.operands(call) is not None or (self._semantics.qualified_name(call.func) or "") in _READERS:
            return True
        modules = self._semantics.of(Modules)
        return modules.only_read(modules.made(call.func))

    def _is_operand_in_display(self, display: ast.Tuple | ast.List) -> bool:
        """Whether a tuple or list is given to ``torch.cat`` or the like, or returned."""
        parent = self._tree.parent(display)
        if isinstance(parent, ast.Call):
            return display in parent.args and self._new.operands(parent) is not None
        return isinstance(parent, ast.Return)
