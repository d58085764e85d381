from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.options import DEFAULTS, Options
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.kinds.certainty import Certainty
from torchlint.semantics.shapes.sizes import number
from torchlint.target import TorchVersion
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

_SMALL = 1024
"""An array with fewer elements is not worth a word."""
_PLACING = frozenset({"dtype", "device"})


class CopyingConversion(AstRule):
    """
    ## What it does
    Finds conversions of numpy arrays that copy for nothing: `torch.tensor(array)` where the array was made for it and is not
    used again, `torch.from_numpy(np.array(array))`, and `torch.tensor([array, array])`, a list of arrays.

    ## Why is this bad
    `torch.tensor` always copies. Of a list of arrays it reads every single number through Python, which takes ten times as
    long and more.

    ## Example
    ```python
    def load(paths):
        frames = np.stack([read(path) for path in paths])
        return torch.tensor(frames)
    ```

    ## Use instead
    ```python
    def load(paths):
        frames = np.stack([read(path) for path in paths])
        return torch.as_tensor(frames)
    ```

    ## Fix safety
    Unsafe: the tensor shares its memory with the array. That matters where something else still holds the array. A list of
    arrays becomes `torch.from_numpy(np.stack(…))`; there is no fix where `requires_grad` is given, which that does not take.

    Small arrays, and conversions to another `dtype` or `device`, which have to copy, are left alone.

    ## References
    - [torch.as_tensor](https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html)
    """

    code = "TPL208"
    name = "copying-conversion"
    default = False
    since = TorchVersion(0, 4)
    screen = Screen(
        any_of=(b"tensor", b"from_numpy"),
        and_any_of=(b"tensor(", b"from_numpy("),
        pattern=re.compile(rb"\bnp\b|\bnumpy\b"),
        names=frozenset({b"tensor", b"from_numpy"}),
    )

    def __init__(self, source: Source, semantics: Semantics, suppressions: Suppressions, options: Options = DEFAULTS) -> None:
        super().__init__(source, semantics, suppressions, options)
        self._certainty = Certainty(semantics)
        self._rewriter = Rewriter(source, semantics)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a conversion that copies an array for nothing."""
        if len(node.args) != 1:
            return
        name = self.semantics.qualified_name(node.func)
        if name == "torch.tensor":
            if self._is_list_of_arrays(node.args[0]):
                self._report_list(node)
            elif not node.keywords and self._is_copied_for_nothing(node.args[0]):
                self._report_array(node)
        elif name == "torch.from_numpy" and isinstance(node.args[0], ast.Call):
            self._report_second_copy(node, node.args[0])

    # --- one array ---------------------------------------------------------------------------------------------------

    def _is_copied_for_nothing(self, data: ast.expr) -> bool:
        """Whether ``data`` is an array that nobody else has, and that is not used again."""
        if not self._certainty.is_new_array(data) or self._is_small(data):
            return False
        return not isinstance(data, ast.Name) or self._is_last_use(data)

    def _report_array(self, call: ast.Call) -> None:
        message = f"`torch.tensor` copies `{_short(call.args[0])}`, which is not used again; use `torch.as_tensor`"
        self.report(call, message, self.fix("Use `torch.as_tensor`", self._renamed(call, "as_tensor"), safe=False))

    def _renamed(self, call: ast.Call, name: str) -> list[TextEdit]:
        """The edits that call another function of torch."""
        if isinstance(call.func, ast.Attribute):
            return [self._rewriter.replace_attribute(call.func, f".{name}")]
        torch, imports = self._rewriter.torch_name(call)
        return [(self.source.start(call.func), self.source.end(call.func), f"{torch}.{name}"), *imports]

    def _is_small(self, data: ast.expr) -> bool:
        """Whether the array is made of few numbers, as far as these are written out."""
        if isinstance(data, ast.Name):
            bindings = self.semantics.bindings.reaching(data)
            return bool(bindings) and all(binding.value is not None and self._is_small(binding.value) for binding in bindings)
        sizes: list[int] = []
        for part in ast.walk(data):
            match part:
                case ast.List() | ast.Tuple() if all(isinstance(item, ast.Constant) for item in part.elts):
                    written = [number(item) for item in part.elts]
                    sizes.append(
                        math.prod(size for size in written if size is not None) if None not in written else len(written)
                    )
                case ast.Call(func=function, args=args) if (self.semantics.qualified_name(function) or "").startswith("numpy."):
                    numbers = [number(argument) for argument in args]
                    if args and None not in numbers:
                        sizes.append(math.prod(size for size in numbers if size is not None))
                case ast.Name(ctx=ast.Load(), id=name) if not (self.semantics.qualified_name(part) or "").startswith("numpy"):
                    sizes.append(_SMALL if name else 0)
        return bool(sizes) and max(sizes) < _SMALL

    def _is_last_use(self, name: ast.Name) -> bool:
        """Whether the array is neither read nor changed after ``name``, and nothing before may have kept it."""
        bindings = _with_earlier(self.semantics.bindings.reaching(name))
        made = [binding.node for binding in bindings if binding.form is Form.ASSIGNMENT]
        uses: list[ast.AST] = [use for binding in bindings for use in binding.uses]
        uses += [other.node for binding in bindings for other in self._changes(binding)]
        flow = self.semantics.control_flow
        for use in uses:
            if flow.scope(use) is not flow.scope(name) or flow.may_follow(name, use, avoiding=made):
                return False
            if use is not name and isinstance(use, ast.Name) and self._may_be_kept(use):
                return False
        return True

    def _changes(self, binding: Binding) -> list[Binding]:
        """The augmented assignments to what ``binding`` binds."""
        return [other for other in binding.scope.bindings.get(binding.name, ()) if binding in other.before]

    def _may_be_kept(self, use: ast.Name) -> bool:
        """Whether the array may live on in what a use gives it to; not in numpy's functions and its own methods and items."""
        parent = self.semantics.tree.parent(use)
        if isinstance(parent, ast.Call) and use in parent.args:
            return not (self.semantics.qualified_name(parent.func) or "").startswith(
                ("numpy.", "builtins.len", "builtins.print")
            )
        return not isinstance(parent, (ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare, ast.UnaryOp, ast.AugAssign))

    # --- lists of arrays ---------------------------------------------------------------------------------------------

    def _is_list_of_arrays(self, data: ast.expr) -> bool:
        match data:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return bool(elements) and all(self._certainty.is_array(element) for element in elements)
            case ast.ListComp(elt=element):
                return self._certainty.is_array(element)
            case ast.Name():
                bindings = self.semantics.bindings.reaching(data)
                return bool(bindings) and all(self._binds_arrays(binding) for binding in bindings)
        return False

    def _binds_arrays(self, binding: Binding) -> bool:
        """Whether a name is bound to a list that arrays, and nothing else, are put into."""
        value = binding.value
        if binding.form is not Form.ASSIGNMENT or binding.path or value is None:
            return False
        if not isinstance(value, ast.List) or value.elts:
            return not isinstance(value, ast.Name) and self._is_list_of_arrays(value)
        added: list[ast.expr] = []
        for use in binding.uses:
            parent = self.semantics.tree.parent(use)
            if isinstance(parent, ast.Attribute):
                call = self.semantics.tree.parent(parent)
                if parent.attr != "append" or not isinstance(call, ast.Call) or len(call.args) != 1:
                    return False
                added.append(call.args[0])
        return bool(added) and all(self._certainty.is_array(item) for item in added)

    def _report_list(self, call: ast.Call) -> None:
        message = f"`torch.tensor` reads the arrays in `{_short(call.args[0])}` number by number; stack them with `np.stack`"
        words = {word.arg for word in call.keywords}
        if not words <= _PLACING:
            self.report(call, message)
            return
        numpy, imports = self._numpy_name()
        start, end = self._rewriter.argument_span(call, call.args[0])
        wrapping: list[TextEdit] = [(start, start, f"{numpy}.stack("), (end, end, ")")]
        edits = [*self._renamed(call, "as_tensor" if words else "from_numpy"), *wrapping, *imports]
        self.report(call, message, self.fix("Stack the arrays with numpy", edits, safe=False))

    def _numpy_name(self) -> tuple[str, list[TextEdit]]:
        """How the file spells numpy, with the edits that import it where nothing does."""
        for name, bindings in self.semantics.bindings.module.bindings.items():
            if len(bindings) == 1 and bindings[0].form is Form.IMPORT and bindings[0].imported == "numpy":
                return name, []
        if any(isinstance(node, ast.Name) and node.id == "np" for node in self.semantics.tree.nodes):
            return "np", []
        return "np", [self._rewriter.add_import("import numpy as np")]

    # --- an array of an array ----------------------------------------------------------------------------------------

    def _report_second_copy(self, call: ast.Call, made: ast.Call) -> None:
        """``torch.from_numpy(np.array(array))``"""
        if self.semantics.qualified_name(made.func) != "numpy.array" or len(made.args) != 1 or made.keywords:
            return
        data = made.args[0]
        if not self._is_copied_for_nothing(data):
            return
        message = f"`np.array` copies `{_short(data)}`, which is an array already and not used again; use it as it is"
        start, end = self._rewriter.argument_span(made, data)
        edits: list[TextEdit] = [(self.source.start(made), start, ""), (end, self.source.end(made), "")]
        between = self.source.text[self.source.start(made) : start] + self.source.text[end : self.source.end(made)]
        self.report(call, message, None if "#" in between else self.fix("Leave out `np.array`", edits, safe=False))


def _short(node: ast.expr) -> str:
    """The text of an array, cut where it is long."""
    text = ast.unparse(node)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _with_earlier(bindings: Iterable[Binding]) -> list[Binding]:
    """Bindings, and those whose values their augmented assignments change."""
    found: dict[Binding, None] = {}
    pending = list(bindings)
    while pending:
        binding = pending.pop()
        if binding not in found:
            found[binding] = None
            pending.extend(binding.before)
    return list(found)
