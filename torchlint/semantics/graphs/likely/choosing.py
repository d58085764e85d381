"""Values by which something is chosen or counted, at once, under a name, or one by one: nothing but integers can choose."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Binding, Semantics
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.graphs.likely.origins import SAME

_COUNTING = frozenset({"numpy.unique", "numpy.bincount", "collections.Counter"})
_OF_CLASSES = re.compile(
    r"(to_?)?one_?hot(_encode)?|to_categorical|(batch_)?decode_(sequence|token|id|caption|word)s?|batch_decode|itos"
    r"|convert_ids_to_tokens|(ids|idx|indices|index)(2|_to_)\w+"
)
"""Names of functions that are given classes, or the words of a text."""
_CHOOSING = (SAME - {"float", "double", "half"}) | {"numpy", "detach", "reshape", "flatten", "tolist"}
"""Methods that keep integers what they are, on the way to where they choose something."""


class Choosing:
    """Tells of values whether something is chosen by them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._known: dict[Binding, bool] = {}

    def is_one(self, node: ast.expr) -> bool:
        """Whether something is chosen or counted by a value, `table[y.cpu().data.numpy(), :]`, `np.unique(y.data.numpy())`.

        Of what a model gives, nobody counts the numbers. So it is where the value has a name first, or a loop goes through it:
        `[[table[n] for n in row] for row in y.data.numpy()]`.
        """
        end = self._end_of_moves(node)
        if (target := self.name_of(node) or self._item_of(end)) is not None:
            binding = self._semantics.bindings.of(target)
            return binding is not None and self._is_any_use(binding)
        match parent := self._tree.parent(end):
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) if part is end:
                return self.is_one(parent)
            case ast.Call() if end in parent.args:
                name = self._semantics.qualified_name(parent.func) or last_name(parent.func)
                if name in _COUNTING or _OF_CLASSES.fullmatch(name.rpartition(".")[2]) is not None:
                    return True
                return self._gives_part(parent, end) and self.is_one(parent)
        if isinstance(parent, ast.Tuple):
            end, parent = parent, self._tree.parent(parent)
        return isinstance(parent, ast.Subscript) and parent.slice is end

    def _is_any_use(self, binding: Binding) -> bool:
        """Whether something is chosen by a name's value, or by one of its items, wherever the name stands for nothing else."""
        if binding not in self._known:
            self._known[binding] = False  # while it is looked at
            alone = (use for use in binding.uses if self._semantics.bindings.reaching(use) == (binding,))
            self._known[binding] = any(map(self.is_one, alone))
        return self._known[binding]

    def _gives_part(self, call: ast.Call, given: ast.expr) -> bool:
        """Whether a function of the file gives what it is given, or a slice of it: words up to the end of a sentence."""
        facts = self._semantics.facts
        function = facts.called(call)
        if function is None or function.decorator_list:
            return False
        taking = [each for each in function.args.args if facts.argument(call, function, each) is given]
        returned = [
            each.value if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Slice) else each
            for each in facts.returned(function)
        ]
        return bool(taking) and bool(returned) and all(self._is_argument(each, taking[0]) for each in returned)

    def _is_argument(self, value: ast.expr | None, argument: ast.arg) -> bool:
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        return [each.node for each in bindings] == [argument]

    def name_of(self, node: ast.expr) -> ast.Name | None:
        """The name that a value is bound to, moved at most."""
        value = self._end_of_moves(node)
        match self._tree.parent(value):
            case ast.Assign(targets=[ast.Name() as target], value=given) if given is value:
                return target
        return None

    def _item_of(self, value: ast.expr) -> ast.Name | None:
        """The name that a loop gives the items of a value."""
        match self._tree.parent(value):
            case ast.For(target=ast.Name() as target, iter=given) | ast.comprehension(target=ast.Name() as target, iter=given):
                return target if given is value else None
        return None

    def _end_of_moves(self, node: ast.expr) -> ast.expr:
        """What a chain of moves, and of `.data`, makes of a value in the end."""
        while isinstance(method := self._tree.parent(node), (ast.Attribute, ast.Subscript)):
            if isinstance(method, ast.Subscript):
                if method.value is not node:
                    break
                node = method
                continue
            call = self._tree.parent(method)
            if method.attr == "data":
                node = method
            elif method.attr in _CHOOSING and isinstance(call, ast.Call) and call.func is method:
                node = call
            else:
                break
        return node
