from __future__ import annotations

import ast
import re
from functools import cached_property
from itertools import islice

from torchlint.diagnostic import Fix
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.copying import Copying
from torchlint.rules.screens import ARRAY_METHODS, WRITES, WRITES_OF_ARRAYS, Screen
from torchlint.semantics import Binding, Form, Grad
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.memory.changes import Change, Changes
from torchlint.semantics.memory.links import Link, Links, Sharing, is_assigned
from torchlint.semantics.memory.places import Place, Places

_WRITES = re.compile(WRITES + rb"|" + WRITES_OF_ARRAYS)


_MANY = 30
"""So many changes of one alias are looked at: if none of these matters, the others hardly do."""


class DetachedAliasMutation(AstRule):
    """
    ## What it does
    Finds in-place changes of a `.detach()` of a tensor that is used again: `c = out.detach()` and later `c.zero_()`,
    `image = x.detach().cpu().numpy()` and later `image -= image.min()`.

    ## Why is this bad
    `.detach()` gives another tensor over the same memory, and so does `.numpy()`. The change goes through to the tensor
    that was detached: the weights change, or the backward pass raises because a value that it needs was modified. By way
    of an array autograd does not even notice. Where there is a `.cpu()` in between, all this happens on the CPU only.

    ## Example
    ```python
    out = x.sigmoid()
    mask = out.detach()
    mask[mask < 0.5] = 0  # changes out
    loss = (out * mask).sum()
    ```

    ## Use instead
    ```python
    out = x.sigmoid()
    mask = out.detach().clone()
    mask[mask < 0.5] = 0  # changes out
    loss = (out * mask).sum()
    ```

    ## Fix safety
    Unsafe: the change no longer reaches the tensor that was detached, which may be what the code relied on. Where the
    change is made without a name for the alias, there is no fix.

    ## References
    - [torch.Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
    """

    code = "TPL008"
    name = "detached-alias-mutation"
    screen = Screen(
        any_of=(b"detach", b"numpy"),
        and_any_of=(b".detach(", b".data"),
        pattern=_WRITES,
        check=lambda data: b".detach(" in data or b".numpy(" in data,
        names=frozenset({b".detach", b".numpy", b".data", *ARRAY_METHODS}),
    )
    yields_to = ("TPL001", "TPL203")

    def visit_Assign(self, node: ast.Assign) -> None:
        """Looks at an alias that gets a name."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._look_at(node.targets[0], node.value)

    def visit_Call(self, node: ast.Call) -> None:
        """Looks at a change that is made to the alias itself: ``x.detach().numpy()[0] = 1``."""
        match node:
            case ast.Call(func=ast.Attribute(attr="numpy")):
                change = self.semantics.of(Changes).change(node)
                found = self._detached(node)
                if change is not None and found is not None and self._may_be_live(found[0], change):
                    self._report(change, node, found, None)

    def _look_at(self, target: ast.Name, value: ast.expr) -> None:
        found = self._detached(value)
        binding = self.semantics.bindings.of(target)
        if found is None or binding is None:
            return
        changes = {change.node: change for change in self.semantics.of(Changes).changes_of(binding)}
        for node in islice(self.semantics.of(Places).following(target, changes, ()), _MANY):
            if self._may_be_live(found[0], changes[node], replaced=found[0].root.id == target.id):
                self._report(changes[node], value, found, self._copy(value))
                return

    # --- the alias ---------------------------------------------------------------------------------------------------

    def _detached(self, value: ast.expr) -> tuple[Place, list[Link]] | None:
        """The tensor that a chain with a ``.detach()`` starts from, and the chain."""
        links = self.semantics.of(Links).chain(value)
        names = {link.name for link in links}
        through_array = "data" in names and "numpy" in names
        if not (through_array or ("detach" in names and "data" not in names)):
            return None  # changes through `.data` alone are another rule's
        if any(link.sharing is Sharing.PERHAPS for link in links):
            return None
        place = self.semantics.of(Places).place(links[-1].source)
        if place is None or (any(link.sharing is Sharing.ON_CPU for link in links) and self._is_on_cuda(place)):
            return None
        return place, links

    def _is_on_cuda(self, place: Place) -> bool:
        """Whether a tensor was surely moved to a GPU, so that ``.cpu()`` copies it."""
        bindings = self.semantics.bindings.reaching(place.root)
        values = [binding.value for binding in bindings if binding.value is not None]
        return bool(values) and all(_moves_to_cuda(value) for value in values)

    # --- whether the change matters ----------------------------------------------------------------------------------

    def _may_be_live(self, place: Place, change: Change, *, replaced: bool = False) -> bool:
        """Whether the tensor that was detached is used again after the change: here, by the caller, or as a weight.

        ``replaced`` tells that its name is now that of the alias.
        """
        if self.semantics.kind(place.node).grad is Grad.LEAF and not self._is_by_mistake(change):
            return False
        if self._is_weight(place) or (not replaced and self.semantics.of(Places).is_read_after(place, change.node)):
            return True
        return self._is_the_callers(place)

    def _is_weight(self, place: Place) -> bool:
        return isinstance(place.node, ast.Attribute) and self.semantics.kind(place.node).grad is Grad.LEAF

    def _is_by_mistake(self, change: Change) -> bool:
        """Whether the change of a leaf is none on purpose: made where autograd is on, to an alias that is read later."""
        if self.semantics.no_grad.covers(change.node):
            return False
        root = change.through
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        place = self.semantics.of(Places).place(root)
        return place is not None and self.semantics.of(Places).is_read_after(place, change.node)

    def _is_the_callers(self, place: Place) -> bool:
        """Whether the tensor is an argument that a caller still has: not where all callers in the file pass new values."""
        parameters = self._parameters(place.node, set()) if isinstance(place.node, ast.Name) else None
        if not parameters:
            return False
        function, parameter = parameters[0].scope.node, parameters[0].node
        if not isinstance(function, FUNCTIONS) or function.name.endswith("_") or not isinstance(parameter, ast.arg):
            return False
        given = [
            self.semantics.facts.argument(call, function, parameter) for call in self.semantics.inference.call_sites(function)
        ]
        return not given or any(isinstance(argument, (ast.Name, ast.Attribute)) for argument in given)

    def _parameters(self, name: ast.Name, seen: set[Binding]) -> list[Binding] | None:
        """The parameters that a name is, or is a view of; ``None`` where it may be something else."""
        found: list[Binding] = []
        for binding in self.semantics.bindings.reaching(name):
            if binding in seen:
                continue
            seen.add(binding)
            if binding.form is Form.PARAMETER:
                found.append(binding)
                continue
            links = self.semantics.of(Links).chain(binding.value) if binding.value is not None and is_assigned(binding) else []
            source = links[-1].source if links and all(link.sharing is Sharing.ALWAYS for link in links) else None
            inner = self._parameters(source, seen) if isinstance(source, ast.Name) else None
            if inner is None:
                return None
            found += inner
        return found

    # --- report ------------------------------------------------------------------------------------------------------

    @cached_property
    def _copying(self) -> Copying:
        return Copying(self.source, self.semantics)

    def _copy(self, value: ast.expr) -> Fix:
        return self.fix("Copy what is changed", self._copying.copy_tensor(value), safe=False)

    def _report(self, change: Change, alias: ast.expr, found: tuple[Place, list[Link]], fix: Fix | None) -> None:
        place, links = found
        changed = ast.unparse(change.node.func if isinstance(change.node, ast.Call) else change.node)
        where = " (on the CPU)" if any(link.sharing is Sharing.ON_CPU for link in links) else ""
        what = f"`{place.spelling}`"
        if ast.unparse(change.through).partition("[")[0] == place.spelling:
            what = f"the `{place.spelling}` of the caller"
        self.report(
            change.node,
            f"`{changed}` changes {what}, too{where}: `{ast.unparse(alias)}` shares its memory; change a copy",
            fix,
        )


def _moves_to_cuda(value: ast.expr) -> bool:
    """Whether a value is made by ``.cuda()`` or on a device that is written out, somewhere on its way."""
    for part in ast.walk(value):
        match part:
            case ast.Call(func=ast.Attribute(attr="cuda")):
                return True
            case (
                ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value=str(device)), *_])
                | ast.keyword(arg="device", value=ast.Constant(value=str(device)))
            ):
                return device.startswith("cuda")
    return False
