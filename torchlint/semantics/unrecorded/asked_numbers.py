"""Values of which nothing but a number is asked, at once or under names: ``gap = a.data - b.data``, then ``gap.item()``."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics, Type

_REDUCES = frozenset({"mean", "sum", "max", "min", "std", "var", "median", "norm"})
"""Methods and functions that give one number of a tensor, unless an axis is named."""
_KEEPS = frozenset(
    {"abs", "exp", "sqrt", "sigmoid", "log", "pow", "cpu", "cuda", "to", "float", "double", "clone", "detach"}
    | {"squeeze", "view", "reshape", "flatten", "contiguous", "numpy"}
)
"""Methods between a tensor and its one number, and behind it."""
_ELEMENTWISE = frozenset({"abs", "exp", "sqrt", "sigmoid", "log"})
_TO_NUMBERS = frozenset(f"builtins.{name}" for name in ("float", "int", "round", "bool"))
_SHOWS = frozenset({"builtins.print", "builtins.str", "builtins.repr", "builtins.format"})
_LOGS_NUMBERS = frozenset({"add_scalar", "add_scalars", "scalar_summary", "log_value", "log_scalar", "log_metric"})
"""Methods that put one number into a log."""
_LOGS = _LOGS_NUMBERS | {"info", "debug", "warning", "write"}
"""Methods that show numbers, or put them into a log."""


class AskedNumbers:
    """Tells of values whether all that becomes of them, by arithmetic and under names, are numbers of Python's or of a text."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._named: dict[tuple[Binding, bool], bool] = {}
        """Of each name that was asked for, as one number or as more, whether numbers are all that is asked of it."""

    def are_all(self, value: ast.expr) -> bool:
        """Whether one number is computed of a value that texts, logs and Python's own numbers are made of alone."""
        return self._ends(value, is_one=False, named=False)

    def _ends(self, node: ast.expr, *, is_one: bool, named: bool) -> bool:
        """Whether a value, which ``is_one`` number or more, goes where a number is asked for; it may be ``named`` before."""
        while True:
            parent = self._tree.parent(node)
            match parent:
                case ast.Attribute(attr="item"):
                    return True
                case ast.Attribute(attr="data"):
                    node = parent
                case ast.Attribute(attr=method):
                    call = self._tree.parent(parent)
                    if not isinstance(call, ast.Call) or call.func is not parent:
                        return False
                    is_reduced = method in _REDUCES and not call.args and not call.keywords
                    if not (is_reduced or method in _KEEPS):
                        return False
                    is_one, node = is_one or is_reduced, call
                case ast.BinOp(op=ast.Mod(), left=text, right=right) if right is node and self._is_text(text):
                    return is_one
                case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                    node = parent
                case ast.Subscript(value=value) if value is node:
                    node = parent
                case ast.Compare() | ast.FormattedValue():
                    return is_one
                case ast.keyword() | ast.Tuple():
                    return is_one and self._is_shown(parent)
                case ast.Call(func=ast.Name(id="enumerate"), args=[walked]) if walked is node:
                    loop = self._tree.parent(parent)
                    match loop:
                        case ast.For(target=ast.Tuple(elts=[_, ast.Name() as item])) if loop.iter is parent:
                            return self._are_taken_one_by_one(item)
                    return False
                case ast.Call() if node in parent.args:
                    following = self._computed(parent)
                    if following is None:
                        return self._takes_number(parent, named=named) or (is_one and self._shows(parent))
                    is_one, node = is_one or following, parent
                case ast.Assign(targets=[ast.Name() as name], value=value) if value is node:
                    return self._is_named_for_number(name, is_one)
                case ast.For(target=target, iter=walked) | ast.comprehension(target=target, iter=walked) if walked is node:
                    return isinstance(target, ast.Name) and self._are_taken_one_by_one(target)
                case ast.Dict(values=figures) if node in figures:
                    return self._is_logged(parent, is_one=is_one)
                case _:
                    return False

    def _computed(self, call: ast.Call) -> bool | None:
        """Whether a function of torch gives one number of its only argument; ``None`` where it is none of these."""
        library, _, name = (self._semantics.qualified_name(call.func) or "").rpartition(".")
        if library not in ("torch", "torch.linalg") or len(call.args) != 1 or call.keywords:
            return None
        return name in _REDUCES if name in _REDUCES | _ELEMENTWISE else None

    # --- where numbers are asked for ---------------------------------------------------------------------------------

    def _is_shown(self, part: ast.AST) -> bool:
        """Whether an argument by name, or a tuple, is of a call that shows numbers, or of a text."""
        while isinstance(parent := self._tree.parent(part), (ast.keyword, ast.Tuple)):
            part = parent
        match parent:
            case ast.BinOp(op=ast.Mod(), left=text, right=right) if right is part:
                return self._is_text(text)
            case ast.Call():
                return self._shows(parent)
        return False

    def _shows(self, call: ast.Call) -> bool:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "format":
            return self._is_text(function.value)
        is_logged = isinstance(function, ast.Attribute) and function.attr in _LOGS
        return is_logged or (self._semantics.qualified_name(function) or "") in _SHOWS

    def _takes_number(self, call: ast.Call, *, named: bool) -> bool:
        """Whether a call makes one of Python's numbers of what it is given, or logs what has a name as one."""
        name = self._semantics.qualified_name(call.func) or ""
        is_log = isinstance(call.func, ast.Attribute) and call.func.attr in _LOGS_NUMBERS
        return name in _TO_NUMBERS or name.startswith("math.") or (named and is_log)

    def _is_text(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.STRING

    def _is_logged(self, figures: ast.Dict, *, is_one: bool) -> bool:
        """Whether a dictionary is gone through to log its numbers: ``for tag, value in info.items(): log(tag, value)``."""
        match self._tree.parent(figures):
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is figures:
                binding = self._semantics.bindings.of(name)
                uses = binding.uses if binding is not None else ()
                return bool(uses) and all(self._is_logged_by_items(use, is_one=is_one) for use in uses)
        return False

    def _is_logged_by_items(self, use: ast.Name, *, is_one: bool) -> bool:
        items = self._tree.called(use, frozenset({"items"}))
        match loop := self._tree.parent(items) if items is not None else None:
            case ast.For(target=ast.Tuple(elts=[_, ast.Name() as figure])) if loop.iter is items:
                binding = self._semantics.bindings.of(figure)
                uses = binding.uses if binding is not None else ()
                return bool(uses) and all(self._ends(each, is_one=is_one, named=True) for each in uses)
        return False

    def _are_taken_one_by_one(self, item: ast.Name) -> bool:
        """Whether of each item that a loop takes a number is asked: ``for w in row.data.flatten(): kept.append(w.item())``."""
        binding = self._semantics.bindings.of(item)
        uses = binding.uses if binding is not None else ()
        return bool(uses) and all(self._ends(use, is_one=False, named=True) for use in uses)

    # --- under names -------------------------------------------------------------------------------------------------

    def _is_named_for_number(self, name: ast.Name, is_one: bool) -> bool:
        binding = self._semantics.bindings.of(name)
        if binding is None or binding.form is not Form.ASSIGNMENT:
            return False
        key = binding, is_one
        if key not in self._named:
            self._named[key] = False  # while its uses are looked at: what is added up is kept
            uses = binding.uses
            self._named[key] = bool(uses) and all(self._ends(use, is_one=is_one, named=True) for use in uses)
        return self._named[key]
