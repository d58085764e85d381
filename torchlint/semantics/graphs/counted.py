"""Where it makes no difference that two tensors over the same memory share a version counter: `.detach()` and not `.data`.

Autograd raises in a backward pass where what was saved for it has been changed in place since, by the counter. So there are two
ways to tell the two apart: the tensor is changed while the alias is saved, or the alias is changed while the tensor is.
"""

from __future__ import annotations

import ast

from torchlint.fact import Fact, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.grad_mode import GradMode
from torchlint.semantics.certainty.tensors import Tensors, gives_tensor
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.invariants import Invariants
from torchlint.semantics.graphs.graphless import Graphless
from torchlint.semantics.graphs.operations import Operations
from torchlint.semantics.memory.changes import Changes
from torchlint.semantics.observers.transforms import Transforms
from torchlint.semantics.provenance.modules import Made, Modules, works_in_place
from torchlint.semantics.provenance.new_values import NewValues
from torchlint.semantics.provenance.numbers import Numbers
from torchlint.semantics.provenance.values import Part, Values, shown

MAY_GIVE_THEIR_INPUT = ("Dropout", "Flatten", "Unflatten", "Pad", "Upsample", "Shuffle", "Softshrink")
"""Words in the names of layers that may give their input itself, or a view of it."""
_NUMBERS = frozenset(
    {"item", "tolist", "numpy", "size", "dim", "numel", "nelement", "stride", "data_ptr", "is_contiguous", "new"}
)
_FORM = frozenset({"shape", "dtype", "device", "ndim", "is_cuda", "layout", "requires_grad"})
_VIEWS = (torch_api.VIEW_METHODS - {"numpy", "as_subclass"}) | torch_api.MAYBE_VIEW_METHODS
_READERS = frozenset(
    {
        *(
            f"builtins.{name}"
            for name in ("print", "len", "float", "int", "bool", "str", "repr", "type", "isinstance", "round")
        ),
        *("torch.save", "copy.deepcopy", "numpy.array", "numpy.asarray", "torchvision.utils.save_image", "torch.equal"),
        *("torch.allclose", "torch.is_tensor", "torch.numel"),
    }
)
"""Functions that read a tensor, and change and keep nothing of it."""
_JOINING = frozenset({"torch.cat", "torch.stack", "torch.add", "torch.sub"})
"""Functions that save nothing of what they are given for the backward pass."""
_SAVING_NOTHING = frozenset(
    {"add_", "sub_", "copy_", "add", "sub", "type_as", "view_as", "expand_as", "reshape_as", "to", "fill_", "resize_as_"}
)
"""Methods that save nothing of their argument for the backward pass, and do not hand it on."""
LEAVING = torch_api.LOSS_FUNCTIONS - {
    *("torch.nn.functional.triplet_margin_with_distance_loss", "torch.nn.functional.ctc_loss"),
}
LEAVING_MODULES = torch_api.LOSS_MODULES - {
    *("torch.nn.TripletMarginWithDistanceLoss", "torch.nn.CTCLoss", "torch.nn.NLLLoss2d", "torch.nn.LinearCrossEntropyLoss"),
}
"""Losses that do not save what they give (run on torch 2.13)."""


class Counted:
    """Tells of reads of ``x.data`` whether ``x.detach()`` in their place can make no difference, changes in place included."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._tensors = semantics.of(Tensors)
        self._graphless = semantics.of(Graphless)
        self._modes = semantics.of(GradMode)
        self._modules = semantics.of(Modules)
        self._new = semantics.of(NewValues)
        self._numbers = semantics.of(Numbers)
        self._operations = semantics.of(Operations)
        self._spent = Invariants[ast.expr](self._find_spent)
        self._bindings = Invariants[tuple[str, Binding]](self._find_bound)

    def fact(self, node: ast.Attribute) -> Fact:
        """Whether ``node``, an ``x.data`` where ``x`` is a tensor, can be ``x.detach()``."""
        is_equal = (
            self._spent.holds(node)
            or self._is_held_by_nobody(node.value)
            or self._is_never_saved(node.value)
            or (self._is_never_changed(node.value) and self._keeps(node))
        )
        return self._semantics.of(Transforms).are_unused if is_equal else unknown(self._doubt(node))

    def goes_into_new_value(self, node: ast.expr) -> bool:
        """Whether the values of ``node`` go into a new tensor right where it stands, and nothing else is done with it."""
        parent = self._tree.parent(node)
        match parent:
            case ast.BinOp(left=left, right=right):
                is_computed = self._is_number_or_tensor(right if left is node else left)
            case ast.Compare():
                is_computed = self._operations.compares_values(parent)
            case ast.Attribute() if isinstance(call := self._tree.parent(parent), ast.Call) and call.func is parent:
                is_computed = self._new.operands(call) is not None
            case ast.Call():
                is_computed = self._is_operand(parent, node)
            case _:
                is_computed = False
        return is_computed and self._spent.holds(node)

    # --- values that are read on the spot ----------------------------------------------------------------------------

    def _find_spent(self, node: ast.expr) -> bool:
        """Whether a tensor without graph is only read: what is made of it is new, and nothing of it is saved or changed."""
        parent = self._tree.parent(node)
        match parent:
            case ast.Attribute(ctx=ast.Load()):
                return self._is_spent_method(parent)
            case ast.Subscript(value=value, ctx=ast.Load()) if value is node:
                return self._spent.holds(parent)
            case ast.Subscript(value=base, ctx=ast.Load()):
                return self._saves_nothing(parent, [base])
            case ast.BinOp(left=left, right=right):
                other = right if left is node else left
                return self._is_spent_in_operation(parent, other)
            case ast.Compare():
                return self._operations.are_others_numbers_or_tensors(parent, node)
            case ast.NamedExpr(target=target):
                return self._is_spent_name(target) and self._spent.holds(parent)
            case ast.Starred():
                call = self._tree.parent(parent)
                return isinstance(call, ast.Call) and self._name(call.func) == "builtins.print"
            case ast.UnaryOp() | ast.FormattedValue() | ast.Expr() | ast.If() | ast.While() | ast.Assert():
                return True
            case ast.BoolOp() | ast.IfExp(test=_):
                return self._is_only_tested(node, parent)
            case ast.Call():
                return self._is_spent_argument(parent, node)
            case ast.keyword():
                call = self._tree.parent(parent)
                return isinstance(call, ast.Call) and self._is_operand(call, node)
            case ast.Tuple() | ast.List():
                return self._is_joined(parent)
            case ast.Assign(targets=targets):
                return all(map(self._takes_values, targets))
            case ast.AugAssign(op=ast.Add() | ast.Sub(), target=target, value=value) if value is node:
                return self._is_number_or_tensor(target)
            case ast.comprehension(iter=iterable, target=ast.Name() as target) if iterable is node:
                return self._is_spent_name(target)
            case ast.For(iter=iterable, target=ast.Name() as target) if iterable is node:
                return self._is_spent_name(target)
            case ast.ListComp(elt=element) if element is node:
                return self._is_joined(parent)
        return False

    def _takes_values(self, target: ast.expr) -> bool:
        """Whether what is assigned to is a place in a tensor or its ``.data``, or a name of which only values are read."""
        match target:
            case ast.Name():
                return self._is_spent_name(target)
            case ast.Subscript(value=base) | ast.Attribute(value=base, attr="data"):
                return self._tensors.is_tensor(base)
        return False

    def _is_joined(self, display: ast.expr) -> bool:
        """Whether a list is given to ``torch.cat`` or ``torch.stack``."""
        call = self._tree.parent(display)
        if not isinstance(call, ast.Call) or display not in call.args[:1]:
            return False
        return self._name(call.func) in _JOINING and self._new.operands(call) is not None

    def _is_spent_method(self, attribute: ast.Attribute) -> bool:
        call = self._tree.parent(attribute)
        if not (isinstance(call, ast.Call) and call.func is attribute):
            return attribute.attr in _FORM or (attribute.attr in ("T", "mT", "data") and self._spent.holds(attribute))
        if attribute.attr in _NUMBERS:
            return True
        if (operands := self._new.operands(call)) is not None:
            return self._saves_nothing(call, operands[1:])
        return attribute.attr in _VIEWS and self._spent.holds(call)

    def _is_spent_in_operation(self, operation: ast.BinOp, other: ast.expr) -> bool:
        if isinstance(operation.op, ast.Mod) and isinstance(other, ast.Constant) and isinstance(other.value, str):
            return True
        if isinstance(operation.op, (ast.Add, ast.Sub)) and self._is_number_or_tensor(other):
            return True
        return self._is_number_or_tensor(other) and self._saves_nothing(operation, [other])

    def _is_number_or_tensor(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            binding = self._semantics.bindings.of(node)
            return binding is not None and bool(binding.before) and all(map(self._binds_number_or_tensor, binding.before))
        return self._operations.is_number_or_tensor(node)

    def _binds_number_or_tensor(self, binding: Binding) -> bool:
        return self._numbers.binds(binding) or self._tensors.binds(binding)

    def _is_spent_argument(self, call: ast.Call, node: ast.expr) -> bool:
        if node is call.func:
            return False
        if self._name(call.func) in _READERS or self._is_operand(call, node):
            return True
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _SAVING_NOTHING and self._tensors.is_tensor(function.value):
            return True
        return self._is_spent_by_callee(call, node)

    def _is_operand(self, call: ast.Call, node: ast.expr) -> bool:
        """Whether ``call`` makes a new tensor of ``node``, and needs nothing of it for a backward pass."""
        if node is call.func or self._new.operands(call) is None:
            return False
        name = self._name(call.func)
        if not name.startswith("torch.") and not (
            isinstance(call.func, ast.Attribute) and self._tensors.is_tensor(call.func.value)
        ):
            return False
        return name in _JOINING or self._modes.off(call).is_certain or self._operations.are_others_graphless(call, node)

    def _saves_nothing(self, node: ast.expr, others: list[ast.expr]) -> bool:
        """Whether an operation is not recorded: none of its other operands has a graph, or autograd is off."""
        return self._modes.off(node).is_certain or all(map(self._graphless.is_graphless, others))

    def _is_only_tested(self, node: ast.expr, parent: ast.BoolOp | ast.IfExp) -> bool:
        """Whether only the truth of a value is asked for."""
        if isinstance(parent, ast.IfExp):
            return node is parent.test or self._spent.holds(parent)
        return isinstance(self._tree.parent(parent), (ast.If, ast.While, ast.Assert))

    def _is_spent_name(self, target: ast.Name) -> bool:
        binding = self._semantics.bindings.of(target)
        if binding is None or self._semantics.of(Changes).augmented(binding):
            return False
        return all(self._spent.holds(use) for use in binding.uses)

    def _is_spent_by_callee(self, call: ast.Call, node: ast.expr) -> bool:
        """Whether a function of the file, which the call is of, only reads what it is given here."""
        function = self._semantics.of(Values).called(call)
        if function is None or function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
            return False
        for parameter in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]:
            if self._semantics.facts.argument(call, function, parameter) is node:
                binding = self._semantics.bindings.of(parameter)
                return (
                    binding is not None
                    and not self._semantics.of(Changes).augmented(binding)
                    and all(self._spent.holds(use) for use in binding.uses)
                )
        return False

    # --- tensors that nobody else has --------------------------------------------------------------------------------

    def _is_held_by_nobody(self, node: ast.expr) -> bool:
        """Whether a tensor is new where it stands, so that nothing but its ``.data`` is left of it, and its graph is gone."""
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _VIEWS and not self._name(node.func):
                return self._is_held_by_nobody(inner)
            case ast.Call():
                return self._new.operands(node) is not None or self._is_layer(node)
            case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="T" | "mT"):
                return self._is_held_by_nobody(inner)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare():
                return True
        return False

    def _is_layer(self, call: ast.Call) -> bool:
        """Whether a call is of a loss of torch, which gives a new tensor."""
        made = self._modules.made(call.func)
        return bool(made) and all(each.name in torch_api.LOSS_MODULES for each in made)

    # --- losses ------------------------------------------------------------------------------------------------------

    def _is_never_saved(self, node: ast.expr) -> bool:
        """Whether ``node`` is a local loss that what made it and what uses it neither saves for a backward pass nor changes."""
        if not isinstance(node, ast.Name):
            return False
        found = self._semantics.of(Values).bindings(node)
        return bool(found) and all(map(self._binds_loss, found))

    def _binds_loss(self, binding: Binding) -> bool:
        if binding.form is not Form.ASSIGNMENT or binding.path or isinstance(binding.scope.node, ast.ClassDef):
            return False
        if binding.value is None or self._semantics.of(Changes).augmented(binding):
            return False
        return self._is_loss(binding.value) and all(map(self._leaves_loss, binding.uses))

    def _is_loss(self, value: ast.expr) -> bool:
        """Whether a value is a new tensor that what makes it does not save: a loss, or a sum."""
        match value:
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div()):
                return self._tensors.is_tensor(value)
            case ast.Call():
                made = self._modules.made(value.func)
                of_module = bool(made) and all(each.name in LEAVING_MODULES for each in made) and not self._modules.are_hooked
                return of_module or self._name(value.func) in LEAVING
        return False

    def _leaves_loss(self, use: ast.Name) -> bool:
        """Whether a use of a loss neither saves it nor changes it."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Attribute(attr="data" | "backward" | "item" | "detach" | "requires_grad" | "grad_fn" | "shape"):
                return True
            case ast.Call(func=function) if use in parent.args:
                return self._name(function) in _READERS
            case ast.FormattedValue() | ast.Expr():
                return True
            case ast.AugAssign(op=ast.Add() | ast.Sub(), value=value):
                return value is use
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                return True
            case ast.BinOp(op=ast.Mult() | ast.Div(), left=left, right=right) if left is use:
                return self._numbers.is_number(right)
        return False

    # --- tensors that are never changed ------------------------------------------------------------------------------

    def _is_never_changed(self, node: ast.expr) -> bool:
        """Whether ``node`` is a local value that torch made, that nobody changes in place, and that no other code sees."""
        if not isinstance(node, ast.Name):
            return False
        found = self._semantics.of(Values).bindings(node)
        return bool(found) and all(
            self._bindings.holds(("private", each)) and self._bindings.holds(("unchanged", each)) for each in found
        )

    def _find_bound(self, claim: tuple[str, Binding]) -> bool:
        return self._is_private(claim[1]) if claim[0] == "private" else self._is_unchanged(claim[1])

    def _is_private(self, binding: Binding) -> bool:
        """Whether what a name is bound to was made for it: nobody else has it, or a part of its memory."""
        value = self._semantics.of(Values).assigned(binding)
        if value is None or isinstance(binding.scope.node, ast.ClassDef):
            return False
        taken = self._semantics.of(Values).taken(value)
        return taken is not None and self._is_made_here(taken)

    def _is_made_here(self, part: Part) -> bool:
        match part.node:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _VIEWS and not self._name(part.node.func):
                return self._is_made_here(Part(inner, exact=part.exact))
            case ast.Call():
                if self._new.operands(part.node) is not None:
                    return True
                made = self._modules.made(part.node.func, exact=part.exact)
                return bool(made) and not self._modules.are_hooked and all(map(self._makes_new, made))
            case ast.Attribute(attr="data", value=ast.Name() as name) if not part.path:
                return self._is_never_changed(name)
            case ast.Name():
                found = self._semantics.of(Values).bindings(part.node)
                return bool(found) and all(
                    self._bindings.holds(("private", each)) and self._is_handed_out(each) for each in found
                )
            case ast.BinOp():
                return self._tensors.is_tensor(part.node)
        return False

    def _makes_new(self, made: Made) -> bool:
        """Whether a module gives tensors that it does not keep, and that are none of those that it is given."""
        if last := self._modules.last_layers(made):
            found = [self._modules.made(layer) for layer in last]
            return all(found) and all(self._makes_new(each) for layers in found for each in layers)
        if made.definition is None:
            is_new = gives_tensor(made) or made.name in torch_api.TUPLE_MODULES
            return is_new and not any(word in made.name for word in MAY_GIVE_THEIR_INPUT) and not works_in_place(made)
        forward = self._modules.forward(made)
        returned = self._semantics.of(Values).returned(forward) if forward is not None else None
        return bool(returned) and all(self._is_made_here(Part(each, exact=True)) for each in returned or ())

    def _is_handed_out(self, binding: Binding) -> bool:
        """Whether a local value is never changed in place, and given to nobody but the caller."""
        if self._semantics.of(Changes).augmented(binding):
            return False
        return all(isinstance(self._tree.parent(use), ast.Return) or self._reads(use) for use in binding.uses)

    def _keeps(self, node: ast.Attribute) -> bool:
        """Whether the alias is only given to names, and these, like the tensor, are never changed."""
        parent = self._tree.parent(node)
        if isinstance(parent, ast.Assign):
            return all(isinstance(target, ast.Name) and self._is_unchanged_name(target) for target in parent.targets)
        return self._reads(node)

    def _is_unchanged_name(self, target: ast.Name) -> bool:
        binding = self._semantics.bindings.of(target)
        return binding is not None and self._bindings.holds(("unchanged", binding))

    def _is_unchanged(self, binding: Binding) -> bool:
        if self._semantics.of(Changes).augmented(binding):
            return False
        return all(map(self._reads, binding.uses))

    def _reads(self, use: ast.expr) -> bool:
        """Whether a use of a tensor neither changes it in place nor hands it to code that might."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Attribute(ctx=ast.Load(), attr=name):
                call = self._tree.parent(parent)
                if not (isinstance(call, ast.Call) and call.func is parent):
                    return name in _FORM or name in ("grad", "grad_fn") or (name in ("T", "mT", "data") and self._keeps(parent))
                if name in _NUMBERS or name == "backward" or self._new.operands(call) is not None:
                    return True
                return (name in _VIEWS or name == "detach") and self._reads(call)
            case ast.Subscript(value=value, ctx=ast.Load()):
                return self._reads(parent) if value is use else True
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                return self._is_number_or_tensor(right if left is use else left)
            case ast.UnaryOp() | ast.FormattedValue() | ast.Expr() | ast.If() | ast.While() | ast.Assert():
                return True
            case ast.AugAssign(target=target):
                return self._is_number_or_tensor(target)
            case ast.Tuple() | ast.List():
                return self._reads(parent)
            case ast.Assign(targets=targets):
                return all(isinstance(target, ast.Name) and self._is_unchanged_name(target) for target in targets)
            case ast.Call() if use in parent.args:
                return self._is_read_by(parent)
        return False

    def _is_read_by(self, call: ast.Call) -> bool:
        if self._name(call.func) in _READERS or self._new.operands(call) is not None:
            return True
        return self._modules.only_read(self._modules.made(call.func))

    # --- what is said of the others ----------------------------------------------------------------------------------

    def _doubt(self, node: ast.Attribute) -> str:
        tensor = shown(node.value)
        if keeper := self._operations.keeper(node):
            return f"`{shown(keeper.func)}` may keep or change what it is given while autograd needs `{tensor}`"
        return f"`{tensor}` may be changed in place while autograd needs what is made here, or the other way round"

    def _name(self, node: ast.AST) -> str:
        return self._semantics.qualified_name(node) or ""
