"""Lists of GPUs that models are wrapped for: their weights lie on the first one."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import last_name

OF_LISTS = re.compile(r"gpu_?ids?$|^device_ids$", re.IGNORECASE)
"""What lists of GPUs are called."""


class GpuLists:
    """Tells of the lists of GPUs that a file has what they are for, and which GPU they begin with."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def go_to_wrappers(self) -> bool:
        """Whether all lists that are called like such go into ``DataParallel`` alone, or to a parameter or attribute of that
        name, and what is wrapped is moved by ``cuda()``: it has to lie on the first GPU of the list, and so that is the one.
        """
        read = (
            node
            for node in self._semantics.tree.nodes
            if (isinstance(node, ast.Attribute) and OF_LISTS.search(node.attr))
            or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and OF_LISTS.search(node.id))
        )
        return all(map(self._is_for_wrapper, read)) and all(map(self._is_moved, self._wrappings))

    def wraps_for_list(self, parallel: ast.AST) -> bool:
        """Whether a model is wrapped for a list that is called like such, and that is what they are for."""
        call = self._semantics.tree.parent(parallel)
        if not isinstance(call, ast.Call) or call.func is not parallel:
            return False
        given = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "device_ids")]
        return bool(given) and all(OF_LISTS.search(last_name(each)) for each in given) and self.go_to_wrappers

    @property
    def _wrappings(self) -> list[ast.Call]:
        """The calls of ``DataParallel`` that are given a model."""
        return [each for each in self._semantics.facts.calls.get("DataParallel", ()) if each.args]

    def _is_moved(self, wrapping: ast.Call) -> bool:
        """Whether what is wrapped is moved by ``cuda()``: before, in the call, at once, or under the name that it gets."""
        function = self._semantics.tree.function(wrapping)
        if (function, ast.unparse(wrapping)) in self._moved or last_name(_called(wrapping.args[0])) == "cuda":
            return True
        names = [wrapping.args[0]]
        match self._semantics.tree.parent(wrapping):
            case ast.Assign(targets=[target]):
                names.append(target)
        return any((function, ast.unparse(each)) in self._moved for each in names)

    @cached_property
    def _moved(self) -> set[tuple[ast.AST | None, str]]:
        """What is moved by ``cuda()``, as it is spelled, with the function in which it is."""
        calls = self._semantics.facts.calls.get("cuda", ())
        moved = ((call, call.func.value) for call in calls if isinstance(call.func, ast.Attribute))
        return {(self._semantics.tree.function(call), ast.unparse(owner)) for call, owner in moved}

    def _is_for_wrapper(self, ids: ast.AST) -> bool:
        """Whether a list of GPUs is given to ``DataParallel``, or stored or handed on by a name of such lists."""
        if isinstance(ids, ast.Attribute) and not isinstance(ids.ctx, ast.Load):
            return True
        match self._semantics.tree.parent(ids):
            case ast.keyword(arg=str(name)):
                return OF_LISTS.search(name) is not None
            case ast.Call(func=function, args=[_, given, *_]):
                return given is ids and last_name(function) == "DataParallel"
            case ast.Assign(targets=[ast.Attribute(attr=name) | ast.Name(id=name)]):
                return OF_LISTS.search(name) is not None
        return False

    def wraps_alone(self, parallel: ast.AST) -> bool:
        """Whether a model is wrapped for all GPUs that there are, or the first few: its weights lie on the first one."""
        match self._semantics.tree.parent(parallel):
            case ast.Call(func=function, args=[_, *ids], keywords=words) if len(ids) < 2:
                return function is parallel and all(map(self._starts_with_first, ids)) and all(map(self.is_first_few, words))
        return False

    def is_first_few(self, word: ast.keyword) -> bool:
        """Whether an argument says which GPUs are meant, from the first one on: ``device_ids=range(count)``."""
        return word.arg == "device_ids" and self._starts_with_first(word.value)

    def _starts_with_first(self, ids: ast.expr) -> bool:
        """Whether a list of GPUs begins with the first one, on every way: there the weights lie."""
        match ids:
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[ast.Call() as given], keywords=[]):
                return self._starts_with_first(given)
            case (
                ast.Call(func=ast.Name(id="range"), args=[_])
                | ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=0), _])
            ):
                return True
            case ast.ListComp(
                elt=ast.Name(id=name), generators=[ast.comprehension(target=ast.Name() as each, iter=given, ifs=[])]
            ):
                return name == each.id and self._starts_with_first(given)
            case ast.List(elts=[ast.Constant(value=first), *_]) | ast.Tuple(elts=[ast.Constant(value=first), *_]):
                return first == 0 and first is not False
            case ast.Name() if not isinstance(ids.ctx, ast.Store):
                bindings = self._semantics.bindings.reaching(ids)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT and not each.path
                    and isinstance(each.value, (ast.Call, ast.List, ast.Tuple, ast.ListComp))
                    and self._starts_with_first(each.value)
                    for each in bindings
                )  # fmt: skip
        return False


def _called(node: ast.expr) -> ast.expr:
    """What is called, if that is what a node does; else the node."""
    return node.func if isinstance(node, ast.Call) else node
