from __future__ import annotations

import ast
import re

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.options import DEFAULTS, Options
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Semantics
from torchlint.semantics.shapes.layout import Layout, Size
from torchlint.semantics.shapes.layouts import Layouts
from torchlint.semantics.shapes.sizes import unpacked
from torchlint.target import TorchVersion
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

_RESHAPING = frozenset({"view", "reshape"})
_BACK = frozenset({"view", "reshape", "view_as", "reshape_as"})


_MODULE_NAME = re.compile(rb"\b(?:nn|F)[\s\\)]*[.#]")


def _may_hold_tensors(data: bytes) -> bool:
    """Whether a file shows that it is about tensors: arrays are reshaped, too."""
    return any(word in data for word in (b"torch", b".view(", b".size(")) or _MODULE_NAME.search(data) is not None


class ViewAsTranspose(AstRule):
    """
    ## What it does
    Finds `view` and `reshape` that ask for a tensor's own axes in another order: `x.view(x.size(1), x.size(0), -1)`,
    `b, c, h, w = x.shape` and later `x.reshape(b, h, w, c)`.

    ## Why is this bad
    `view` and `reshape` deal the elements out anew in the order of memory. The result has the shape of the transposed tensor,
    but its rows are made of pieces of several of the old ones: the items of a batch are mixed up, without an error.

    ## Example
    ```python
    def time_first(x):
        return x.view(x.size(1), x.size(0), x.size(2))
    ```

    ## Use instead
    ```python
    def time_first(x):
        return x.permute(1, 0, 2)
    ```

    ## Fix safety
    Unsafe: the elements come in another order, the one that the shape suggests. Where it is unknown how many axes there are,
    or where axes are merged as well, the fix transposes and reshapes then. There is no fix where the new order cannot be
    told.

    A tensor that is sliced or reshaped back after it was dealt out anew is taken to be meant: the relative shift of
    Transformer-XL works like that.

    ## References
    - [torch.permute](https://docs.pytorch.org/docs/stable/generated/torch.permute.html)
    """

    code = "TPL206"
    name = "view-as-transpose"
    since = TorchVersion(0, 4)
    screen = Screen(
        any_of=(b"view", b"reshape"),
        and_any_of=(b".view(", b".reshape("),
        pattern=re.compile(rb"\.size\(|\.shape\b"),
        check=_may_hold_tensors,
        names=frozenset({b".view", b".reshape", b".size", b".shape"}),
    )

    def __init__(self, source: Source, semantics: Semantics, suppressions: Suppressions, options: Options = DEFAULTS) -> None:
        super().__init__(source, semantics, suppressions, options)
        self._layouts = Layouts(semantics)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a new shape that has the old axes in another order."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _RESHAPING or node.keywords or len(node.args) < 1:
            return
        sizes = unpacked(node.args)
        if len(sizes) < 2 or any(isinstance(size, (ast.Starred, ast.Slice)) for size in sizes):
            return
        tensor = node.func.value
        layout, shape = self._layouts.view(node, self._layouts.of(tensor))
        if shape is None or (swapped := _swapped_axes(layout, shape)) is None:
            return
        if not self._is_tensor(node.func) or self._is_reinterpreted(node, layout, swapped) or self._restores(tensor, shape):
            return
        one, other = swapped
        text = ast.unparse(tensor)
        message = (
            f"`{node.func.attr}` does not swap axes {one} and {other} of `{text}`: it deals the elements out in the order of "
            "memory; use `permute`"
        )
        self.report(node, message, self._permuting(node, node.func, layout, shape))

    def _is_tensor(self, function: ast.Attribute) -> bool:
        """Whether the value is a tensor; arrays have a ``reshape``, too, but no ``view`` that takes sizes."""
        kind = self.semantics.kind(function.value)
        return kind.is_tensor or (not kind.known and function.attr == "view")

    # --- what is meant as it is --------------------------------------------------------------------------------------

    def _is_reinterpreted(self, call: ast.Call, layout: Layout, swapped: tuple[int, int]) -> bool:
        """Whether the result is cut, or given the old order of axes back."""
        parent = self.semantics.tree.parent(call)
        uses: list[ast.expr] = [call]
        if isinstance(parent, ast.Assign) and parent.value is call:
            bindings = [self.semantics.bindings.of(target) for target in parent.targets]
            uses += [use for binding in bindings if binding is not None for use in binding.uses]
        return any(self._is_cut(use) or self._is_undone(use, layout, swapped) for use in uses)

    def _is_cut(self, use: ast.expr) -> bool:
        """``use[1:]``"""
        parent = self.semantics.tree.parent(use)
        if not isinstance(parent, ast.Subscript) or parent.value is not use:
            return False
        indices = parent.slice.elts if isinstance(parent.slice, ast.Tuple) else [parent.slice]
        return any(isinstance(index, ast.Slice) and (index.lower or index.upper) for index in indices)

    def _is_undone(self, use: ast.expr, layout: Layout, swapped: tuple[int, int]) -> bool:
        """``use.view(…)`` with the two axes in the old order, or in no order that is known."""
        function = self.semantics.tree.parent(use)
        if not isinstance(function, ast.Attribute) or function.attr not in _BACK:
            return False
        call = self.semantics.tree.parent(function)
        if not isinstance(call, ast.Call) or call.func is not function:
            return False
        shape = self._layouts.shape(call.args) or []
        wanted = [axis.size for index in swapped if (axis := layout.axis(index)) is not None]
        return [size for size in shape if size in wanted] in (wanted, [])

    def _restores(self, tensor: ast.expr, shape: list[Size]) -> bool:
        """Whether the tensor was dealt out anew before, and the new shape has the axes as they were then."""
        if isinstance(tensor, ast.Name) and len(bindings := self.semantics.bindings.reaching(tensor)) == 1:
            tensor = bindings[0].value if bindings[0].value is not None and not bindings[0].path else tensor
        match tensor:
            case ast.Call(func=ast.Attribute(value=before, attr=method)) if method in _RESHAPING:
                layout, earlier = self._layouts.view(tensor, self._layouts.of(before))
                return (
                    earlier is not None and _swapped_axes(layout, earlier) is not None and _swapped_axes(layout, shape) is None
                )
        return False

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _permuting(self, call: ast.Call, function: ast.Attribute, layout: Layout, shape: list[Size]) -> Fix | None:
        """Permutes the axes into the order that the shape asks for, and reshapes them then if it merges some."""
        order = _order(layout, shape)
        if order is None:
            return None
        rewriter = Rewriter(self.source, self.semantics)
        if len(order) == len(shape):
            sizes = unpacked(call.args)
            spans = [(self.source.start(size), self.source.end(size)) for size in sizes]
            edits: list[TextEdit] = [(*span, str(index)) for span, index in zip(spans, order)]
            edits.append(rewriter.replace_attribute(function, ".permute"))
            return self.fix("Replace with `permute`", edits, safe=False)
        transposition = f".permute({', '.join(map(str, order))})" if order else ".transpose(0, 1)"
        edit = rewriter.replace_attribute(function, f"{transposition}.reshape")
        return self.fix("Permute the axes before reshaping", [edit], safe=False)


def _places(layout: Layout, shape: list[Size]) -> list[tuple[int, ...] | None]:
    """For each size of the new shape the axes of the tensor that it is made of: the one that has it, or those of a product."""
    return [_factors(size, layout) if shape.count(size) == 1 else None for size in shape]


def _factors(size: Size, layout: Layout) -> tuple[int, ...] | None:
    """The axis of a size that exactly one has; the axes, in their order, whose sizes a product is made of."""
    sizes = [axis.size for axis in layout.front]
    match size:
        case tuple() if sizes.count(size) == 1:
            return (sizes.index(size),)
        case ("Mult", tuple() as one, tuple() as other):
            some, more = _factors(one, layout), _factors(other, layout)
            return tuple(sorted({*some, *more})) if some and more else None
    return None


def _swapped_axes(layout: Layout, shape: list[Size]) -> tuple[int, int] | None:
    """The first two axes of the tensor, smaller index first, that the new shape has in the other order."""
    axes = [axis for place in _places(layout, shape) for axis in place or ()]
    for index, axis in enumerate(axes):
        earlier = [other for other in axes[:index] if other > axis]
        if earlier:
            return axis, earlier[0]
    return None


def _order(layout: Layout, shape: list[Size]) -> list[int] | None:
    """The permutation that gives the axes the order of the new shape.

    It is empty where it swaps the first two of an unknown number of axes. ``None`` where there is no telling.
    """
    places = _places(layout, shape)
    known = [index for place in places if place is not None for index in place]
    if not layout.closed:
        if None not in places and sorted(known) == list(range(len(known))):
            return known
        return [] if places == [(1,), (0,), None] and shape[2] is None else None
    rest = tuple(index for index in range(len(layout.front)) if index not in known)
    order: list[int] = []
    for place, size in zip(places, shape):
        if place is None and size is not None:
            return None
        order += rest if place is None else place
    return order if sorted(order) == list(range(len(layout.front))) else None
