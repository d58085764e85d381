"""Whether a tensor may give its place to the same tensor on another device: nobody has hold of the one that was there."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.fact import CERTAIN, Fact, all_of, known, shortened, unknown
from torchlint.semantics import Binding, Form, Grad, Semantics, torch_api
from torchlint.semantics.certainty.passing_uses import PassingUses
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.certainty.torch_objects import TorchObjects
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.kinds.kind import Type

_FACTORIES = torch_api.FACTORIES - {"torch.from_numpy", "torch.frombuffer", "torch.from_dlpack", "torch.from_file"}
_FLAGS = frozenset({None, "requires_grad", "out"})
_TO_WORDS = frozenset({"device", "non_blocking"})
_SHARING = frozenset({"numpy", "detach", "data", "view", "unsqueeze", "to", "cuda", "cpu", "tolist", "contiguous"})
"""What may give another object over the memory, which stays where the tensor was."""


class Replaceable:
    """Tells of tensors whether what a method computes of them may take their place."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._uses = semantics.of(PassingUses)

    def moved(self, call: ast.Call, tensor: ast.expr) -> Fact:
        """Whether ``tensor = call`` moves a tensor to a device and does nothing else.

        Where the tensor is there already, it gives itself (ran); elsewhere, what has hold of the old one would not see what
        is written to the new.
        """
        return self._only_moves(call, tensor) & self.fact(call, tensor)

    def fact(self, node: ast.expr, tensor: ast.expr) -> Fact:
        """Whether the place of ``tensor`` may be given, at ``node``, to a tensor with the same values."""
        if isinstance(tensor, ast.Subscript):
            return self._item(tensor)
        is_tensor = self._semantics.of(Tensors).fact(tensor)
        if not is_tensor.is_certain:
            return is_tensor
        if self._semantics.kind(tensor).grad is Grad.LEAF:
            return unknown(f"`{shortened(tensor)}` is a leaf, and what takes its place is none")
        match tensor:
            case ast.Name():
                return self._local(node, tensor)
            case ast.Attribute(value=owner, attr=name):
                return self._own(node, tensor, owner, name)
        return unknown(f"nothing shows who else has `{shortened(tensor)}`")

    def _only_moves(self, call: ast.Call, tensor: ast.expr) -> Fact:
        name, words = last_name(call.func), {word.arg: word.value for word in call.keywords}
        if not isinstance(call.func, ast.Attribute) or call.func.value is not tensor or name not in ("to", "cuda", "cpu"):
            return unknown("what is computed from it changes")
        if name == "to":
            given = [*call.args[:1], *(word for name, word in words.items() if name == "device")]
            if len(given) != 1 or len(call.args) > 1 or not words.keys() <= _TO_WORDS:
                return unknown("what is computed from it may change its type")
            return self._semantics.of(TorchObjects).device(given[0])
        is_plain = words.keys() <= _TO_WORDS and len(call.args) <= 1
        return known(is_plain, "what is computed from it may be laid out in another way")

    # --- who has it --------------------------------------------------------------------------------------------------

    def _local(self, node: ast.expr, name: ast.Name) -> Fact:
        bindings, scope = self._semantics.bindings.reaching(name), self._semantics.bindings.scope_of(name)
        if not bindings or any(each.scope is not scope for each in bindings):
            return unknown(f"`{name.id}` belongs to an enclosing scope")
        uses = dict.fromkeys(use for each in bindings for use in each.uses if use is not name)
        if any(self._semantics.bindings.scope_of(use) is not scope for use in uses):
            return unknown(f"`{name.id}` is used by other functions as well")
        flow, stores = self._semantics.control_flow, [each.node for each in bindings]
        before = [use for use in uses if flow.may_follow(use, node, stores)]
        for use in uses:
            if not (self._is_read(use) if use in before else self._is_read(use) or self._is_given(use)):
                if use in before or not all(map(self._is_fresh, bindings)):
                    return unknown(f"`{self._shown_use(use)}` may rely on which tensor `{name.id}` is")
        later = [each for each in scope.bindings.get(name.id, ()) if not set(each.before).isdisjoint(bindings)]
        if later and not all(map(self._is_fresh, bindings)):
            return unknown(f"`{name.id}` is changed in place, and may be in use elsewhere as well")
        return CERTAIN if all(map(self._is_bound_alone, bindings)) else unknown(f"`{name.id}` may be in use elsewhere as well")

    def _shown_use(self, use: ast.Name) -> str:
        parent = self._tree.parent(use)
        return shortened(parent if isinstance(parent, ast.expr) else use)

    def _is_bound_alone(self, binding: Binding) -> bool:
        """Whether a binding is a plain one: the loop's batch, an argument, what an assignment of one name gives."""
        if binding.form is not Form.ASSIGNMENT:
            return binding.form in (Form.PARAMETER, Form.LOOP)
        statement = self._tree.statement(binding.node)
        return not isinstance(statement, ast.Assign) or len(statement.targets) == 1

    def _is_fresh(self, binding: Binding) -> bool:
        return binding.form is Form.ASSIGNMENT and not binding.path and self._makes_new(binding.value)

    def _makes_new(self, value: ast.expr | None) -> bool:
        """Whether an expression makes a tensor that nobody else has, and that is no leaf that requires grad."""
        if not isinstance(value, ast.Call) or {word.arg for word in value.keywords} & _FLAGS:
            return False
        if self._semantics.qualified_name(value.func) in _FACTORIES:
            return True
        return self._semantics.of(TorchObjects).layer(value.func).is_certain

    def _is_read(self, use: ast.expr) -> bool:
        parent = self._tree.parent(use)
        if isinstance(parent, ast.Subscript) and parent.slice is use:
            return True
        is_shared = isinstance(parent, ast.Attribute) and parent.attr in _SHARING and not self._is_statement(parent)
        is_sliced = isinstance(parent, ast.Subscript) and not isinstance(self._tree.parent(parent), ast.BinOp)
        return not is_shared and not is_sliced and self._uses.only_read(use)

    def _is_statement(self, method: ast.Attribute) -> bool:
        """Whether what a method gives is thrown away."""
        call = self._tree.parent(method)
        return isinstance(call, ast.Call) and isinstance(self._tree.parent(call), ast.Expr)

    def _is_given(self, use: ast.expr) -> bool:
        """Whether a module is called with a tensor."""
        call = self._tree.parent(use)
        return isinstance(call, ast.Call) and use in call.args and self._semantics.kind(call.func).type is Type.MODULE

    def _is_handed_out(self, use: ast.Name) -> bool:
        """Whether a local name is only read, given to modules, or returned."""
        return self._is_read(use) or self._is_given(use) or isinstance(self._tree.parent(use), ast.Return)

    def _own(self, node: ast.expr, tensor: ast.Attribute, owner: ast.expr, name: str) -> Fact:
        """An attribute of ``self`` that the class sets once, to a new tensor, and of which nothing but the tensor is asked."""
        facts = self._semantics.facts
        doubt = unknown(f"`{shortened(tensor)}` may be in use elsewhere as well, or refuse to be assigned")
        definition = facts.self_class(owner)
        if definition is None:
            return doubt
        stores = [store for slot in facts.slots(definition, name) for store in slot.stores]
        values = [value for slot in facts.slots(definition, name) for value, _ in slot.class_values]
        if len(stores) != 1 or values or name in facts.classes[definition].methods:
            return doubt
        statement = self._tree.parent(stores[0])
        is_plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1 and self._makes_new(statement.value)
        others = [each for each in self._tree.of_type(ast.Attribute) if each.attr == name and each not in (tensor, stores[0])]
        return doubt if not is_plain else all_of(*(known(self._is_passed(each, node), doubt.doubt) for each in others))

    def _is_passed(self, use: ast.Attribute, node: ast.expr) -> bool:
        """Whether an attribute is only read, or has a local name, behind ``node``, that is given to modules."""
        if self._semantics.facts.self_class(use.value) is None:
            return False
        if self._is_read(use) or self._is_given(use):
            return True
        match self._tree.parent(use):
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is use:
                if self._tree.function(use) is not self._tree.function(node) or self._tree.statement(use).lineno < node.lineno:
                    return False
                binding = self._semantics.bindings.of(name)
                return binding is not None and all(map(self._is_handed_out, binding.uses))
        return False

    def _item(self, tensor: ast.Subscript) -> Fact:
        """The value of a dict that is written out, under a name that is used for nothing but its values."""
        doubt = unknown(f"nothing shows who else has `{shortened(tensor)}`")
        owner = tensor.value
        if not isinstance(owner, ast.Name) or not isinstance(tensor.slice, ast.Constant):
            return doubt
        bindings, scope = self._semantics.bindings.reaching(owner), self._semantics.bindings.scope_of(owner)
        if len(bindings) != 1 or bindings[0].scope is not scope or bindings[0].path:
            return doubt
        [binding] = bindings
        statement, items = self._tree.statement(binding.node), binding.value
        if not isinstance(items, ast.Dict) or not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            return doubt
        keys = [key.value if isinstance(key, ast.Constant) else None for key in items.keys]
        values = [value for key, value in zip(keys, items.values) if key == tensor.slice.value]
        is_plain = len(values) == 1 and None not in keys and self._makes_new(values[0])
        uses = [use for use in binding.uses if use is not owner]
        return CERTAIN if is_plain and self._are_items(uses) else doubt

    def _are_items(self, uses: Iterable[ast.Name]) -> bool:
        for use in uses:
            item = self._tree.parent(use)
            if not isinstance(item, ast.Subscript) or not isinstance(item.ctx, ast.Load) or item.value is not use:
                return False
            if not (self._is_read(item) or self._is_given(item)):
                return False
        return True
