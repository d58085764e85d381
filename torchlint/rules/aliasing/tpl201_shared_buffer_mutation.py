from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from torchlint.diagnostic import Fix
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.copying import Copying
from torchlint.rules.screens import ARRAY_METHODS, WRITES, WRITES_OF_ARRAYS, Screen, is_about_torch
from torchlint.semantics import Binding, Type
from torchlint.semantics.memory.changes import Change, Changes
from torchlint.semantics.memory.links import Link, Links, Sharing
from torchlint.semantics.memory.places import Place, Places

_CONVERTS = (b"from_numpy(", b"as_tensor(", b"asarray(", b".numpy(", b"from_dlpack(", b"Tensor(")
_CONVERTING = frozenset({b"from_numpy", b"as_tensor", b"asarray", b".numpy", b"from_dlpack"})
_WRITES = re.compile(WRITES + rb"|copyto|" + WRITES_OF_ARRAYS)
_CROSSINGS = frozenset({"from_numpy", "as_tensor", "asarray", "numpy", "from_dlpack"})
_MANY = 30
"""So many changes of one buffer are looked at: if none of these matters, the others hardly do."""
_DTYPES = {
    "torch.Tensor": "float32",
    "torch.FloatTensor": "float32",
    "torch.DoubleTensor": "float64",
    "torch.LongTensor": "int64",
    "torch.IntTensor": "int32",
    "torch.HalfTensor": "float16",
    "torch.ByteTensor": "uint8",
}
"""What an array has to be of for these constructors to share its memory; another one is copied."""
_MADE_TO_BE_FILLED = frozenset({"numpy.empty", "numpy.empty_like", "torch.empty", "torch.empty_like"})


class SharedBufferMutation(AstRule):
    """
    ## What it does
    Finds an array and a tensor over one buffer, of which one is changed in place while the other is still used:
    `b = torch.from_numpy(a)` and later `b.add_(1)` or `a[0] = 5`. `torch.as_tensor`, `tensor.numpy()` and, for an array of
    the same element type, `torch.FloatTensor(a)` share memory as well.

    ## Why is this bad
    Both change. Nothing at the place of the change tells so, and it depends on the way of the conversion, on the element
    type and on the device whether they do.

    ## Example
    ```python
    a = np.zeros(3)
    b = torch.from_numpy(a)
    b.add_(1)  # a is changed as well
    print(a.sum(), b.sum())
    ```

    ## Use instead
    ```python
    a = np.zeros(3)
    b = torch.from_numpy(a).clone()
    b.add_(1)  # a is changed as well
    print(a.sum(), b.sum())
    ```

    ## Fix safety
    Unsafe: the change no longer reaches the other side, which may be what the code relied on.

    ## References
    - [torch.from_numpy](https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html)
    - [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
    """

    code = "TPL201"
    name = "shared-buffer-mutation"
    screen = Screen(
        any_of=(b"torch", b"nn"),
        check=is_about_torch,
        and_any_of=_CONVERTS,
        pattern=_WRITES,
        names=frozenset({*_CONVERTING, *(name.rpartition(".")[2].encode() for name in _DTYPES), *ARRAY_METHODS}),
    )
    yields_to = ("TPL001", "TPL008", "TPL203")

    def visit_Assign(self, node: ast.Assign) -> None:
        """Looks at a conversion that gets a name."""
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return
        target, binding = node.targets[0], self.semantics.bindings.of(node.targets[0])
        links = self._conversion(node.value)
        place = self.semantics.of(Places).place(links[-1].source) if links else None
        if binding is None or place is None or place.root.id == target.id or self._is_made_to_be_filled(place):
            return
        change = self._change_of_result(target, binding, place) or self._change_of_source(target, binding, place)
        if change is not None:
            self._found[change.node] = (change, place, target, node.value, links)

    @cached_property
    def _found(self) -> dict[ast.expr, tuple[Change, Place, ast.Name, ast.expr, list[Link]]]:
        """What to report, by the place of the change: of several conversions in a row the last one."""
        return {}

    def finish(self) -> None:
        """Reports what was found."""
        for found in self._found.values():
            self._report(*found)

    # --- the conversion ----------------------------------------------------------------------------------------------

    def _conversion(self, value: ast.expr) -> list[Link]:
        """The chain of an expression that leads from a tensor to an array or back, over shared memory."""
        links = self.semantics.of(Links).chain(value)
        if not any(self._crosses(link) for link in links) or any(link.name in ("detach", "data") for link in links):
            return []
        if any(link.sharing is not Sharing.ALWAYS and not self._is_of_same_type(link) for link in links):
            return []
        return links

    def _crosses(self, link: Link) -> bool:
        """Whether a link leads from one world to the other."""
        if link.name in ("as_tensor", "asarray") and self.semantics.kind(link.source).is_tensor:
            return self.semantics.qualified_name(getattr(link.node, "func", link.node)) == "numpy.asarray"
        return link.name in _CROSSINGS or link.name.endswith("Tensor")

    def _is_of_same_type(self, link: Link) -> bool:
        """Whether a legacy constructor surely gets an array of its own element type."""
        needed = _DTYPES.get(self.semantics.qualified_name(getattr(link.node, "func", link.node)) or "")
        return needed is not None and self._element_type(link.source) == needed

    def _element_type(self, array: ast.expr) -> str | None:
        """The element type that an array is made with, where that is written out."""
        if isinstance(array, ast.Name):
            values = [binding.value for binding in self.semantics.bindings.reaching(array)]
            types = {self._element_type(value) if isinstance(value, ast.Call) else None for value in values}
            return types.pop() if len(types) == 1 else None
        match array:
            case ast.Call(func=ast.Attribute(attr="astype"), args=[given, *_]):
                return self._type_name(given)
            case ast.Call(func=function, keywords=keywords):
                given_types = [word.value for word in keywords if word.arg == "dtype"]
                if given_types:
                    return self._type_name(given_types[0])
                name = self.semantics.qualified_name(function) or ""
                return "float64" if name in ("numpy.zeros", "numpy.ones", "numpy.empty") and len(array.args) == 1 else None
        return None

    def _type_name(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant):
            return str(node.value)
        name = self.semantics.qualified_name(node) or ""
        return name.removeprefix("numpy.") if name.startswith("numpy.") else {"builtins.float": "float64"}.get(name)

    def _is_made_to_be_filled(self, place: Place) -> bool:
        """Whether the source is made empty: to be filled by way of what shares its memory."""
        bindings = self.semantics.bindings.reaching(place.root)
        return any(
            isinstance(binding.value, ast.Call) and self.semantics.qualified_name(binding.value.func) in _MADE_TO_BE_FILLED
            for binding in bindings
        )

    # --- the change --------------------------------------------------------------------------------------------------

    def _change_of_result(self, target: ast.Name, binding: Binding, place: Place) -> Change | None:
        """A change of what the conversion gave, behind which its source is still used."""
        places = self.semantics.of(Places)
        changes = {change.node: change for change in self.semantics.of(Changes).changes_of(binding)}
        for node in islice(places.following(target, changes, ()), _MANY):
            if places.is_read_after(place, node):
                return changes[node]
        return None

    def _change_of_source(self, target: ast.Name, binding: Binding, place: Place) -> Change | None:
        """A change of the source, behind which the result of the conversion, made before, is still used."""
        places = self.semantics.of(Places)
        result = places.place(target)
        uses = [use for use in binding.uses if places.reads_values(use)]
        if result is None or not uses:
            return None
        again = places.rebound(result)
        changes = {change.node: change for change in self._changes(place)}
        for node in islice(places.following(target, changes, [*places.rebound(place), *again]), _MANY):
            if next(places.following(node, uses, again), None) is not None:
                return changes[node]
        return None

    def _changes(self, place: Place) -> Iterator[Change]:
        if isinstance(place.node, ast.Name):
            for binding in self.semantics.bindings.reaching(place.node):
                yield from self.semantics.of(Changes).changes(binding)

    # --- report ------------------------------------------------------------------------------------------------------

    @cached_property
    def _copying(self) -> Copying:
        return Copying(self.source, self.semantics)

    def _report(self, change: Change, place: Place, target: ast.Name, value: ast.expr, links: list[Link]) -> None:
        changed = ast.unparse(change.node.func if isinstance(change.node, ast.Call) else change.node)
        root = ast.unparse(change.through)
        other = place.spelling if not re.match(rf"{re.escape(place.spelling)}\b", root) else target.id
        shared = f"`{ast.unparse(value)}` shares the memory"
        self.report(change.node, f"`{changed}` changes `{other}`, too: {shared}; make a copy", self._fix(value, links))

    def _fix(self, value: ast.expr, links: list[Link]) -> Fix:
        gives_array = self.semantics.kind(value).type is Type.ARRAY or links[0].name == "numpy"
        return self.fix("Make a copy", self._copying.copy_tensor(value, detached=not gives_array), safe=False)
