"""Layers that a module keeps in a collection, told by what its ``forward`` does with them: their classes are out of sight."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, given_to
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.registration.collections import Collection

_LOOPING = frozenset({"builtins.enumerate", "builtins.zip", "builtins.reversed", "builtins.list", "builtins.tuple"})
_VIEWS = frozenset({"values", "items"})
_NO_LAYERS = frozenset({"builtins", "numpy", "np", "scipy", "sklearn", "cv2", "PIL", "pandas", "albumentations", "tokenizers"})
"""Packages whose callable objects are no modules, beside those that Python comes with."""
_NO_MODULE_BASES = ("builtins.", "abc.", "typing.", "enum.", "collections.", "dataclasses.", "torch.")
_NO_LAYER_NAMES = (
    *("Loss", "Criterion", "Metric", "Transform", "Transforms", "Compose", "Augmentation", "Processor", "Preprocessor"),
    *("Tokenizer", "Sampler", "Scheduler", "Config", "Function", "Evaluator", "Dataset", "Callback", "Hook", "Error"),
)
"""How classes are called whose objects are often called by ``forward``, and need be no modules, or have no weights."""
_VALUES = frozenset({Type.NUMBER, Type.STRING, Type.MAPPING, Type.ARRAY, Type.NONE})


class CalledLayers:
    """Looks at what the methods of one file's modules do with what is in their collections."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def are_called(self, found: Collection) -> bool:
        """Whether ``forward`` gives what is in a collection something to compute with, and goes on with the result."""
        return any(self._is_run(use) and self._is_item_called(use) for use in found.uses)

    def may_be_layer(self, item: ast.expr) -> bool:
        """Whether an item that is called so can be taken for a module.

        It is made of a class from another file, or of one of this file with a base from another; or it is known to be a
        module that was handed in.
        """
        match item:
            case ast.Call(func=ast.Name() | ast.Attribute() as function):
                definition = self._semantics.facts.definition(function)
                if isinstance(definition, ast.ClassDef):
                    return self._has_foreign_base(definition)
                return definition is None and self._is_foreign_class(self._semantics.qualified_name(function) or "")
            case ast.Name():
                bindings = self._semantics.bindings.reaching(item)
                if any(binding.form is Form.ASSIGNMENT for binding in bindings):
                    values = [binding.value for binding in bindings if binding.form is Form.ASSIGNMENT and not binding.path]
                    return len(values) == len(bindings) and all(
                        value is not None and not isinstance(value, ast.Name) and self.may_be_layer(value) for value in values
                    )
                return self._semantics.kind(item).type is Type.MODULE and all(map(self._is_handed_in, bindings))
        return False

    def _is_handed_in(self, binding: Binding) -> bool:
        """Whether a loop takes a name's value out of a list that the constructor is given and keeps nowhere else."""
        if binding.form is not Form.LOOP or not isinstance(binding.value, ast.Name):
            return False
        given = self._semantics.bindings.reaching(binding.value)
        return all(
            each.form is Form.PARAMETER
            and isinstance(each.scope.node, FUNCTIONS)
            and each.scope.node.name == "__init__"
            and all(map(self._is_only_read, each.uses))
            for each in given
        )

    def _is_only_read(self, use: ast.Name) -> bool:
        """Whether a list is looped over, counted or compared where it is named."""
        match self._tree.parent(use):
            case ast.For(iter=iterable) | ast.comprehension(iter=iterable):
                return iterable is use
            case ast.Call(func=function):
                return (self._semantics.qualified_name(function) or "") in _LOOPING | {"builtins.len", "builtins.isinstance"}
            case ast.Compare() | ast.If() | ast.Subscript():
                return True
        return False

    def _is_foreign_class(self, name: str) -> bool:
        """Whether a dotted name is that of a class which is imported from somewhere, and may be a layer."""
        root, _, rest = name.partition(".")
        last = rest.rpartition(".")[2]
        if not last[:1].isupper() or last.isupper() or last.endswith(_NO_LAYER_NAMES):
            return False
        return root not in _NO_LAYERS and root not in sys.stdlib_module_names and not name.startswith("torch.")

    def _has_foreign_base(self, definition: ast.ClassDef) -> bool:
        """Whether objects of a class of the file can be called for what they have from a base that is out of sight."""
        facts = self._semantics.facts
        if facts.method(definition, "__call__") is not None or definition.name.endswith(_NO_LAYER_NAMES):
            return False
        outside = [base for each in facts.bases(definition) for base in each.bases if facts.definition(base) is None]
        names = [self._semantics.qualified_name(base) or "" for base in outside]
        return any(name.rpartition(".")[2][:1].isupper() and not name.startswith(_NO_MODULE_BASES) for name in names)

    # --- what is done with it ----------------------------------------------------------------------------------------

    def _is_run(self, use: ast.expr) -> bool:
        """Whether a use stands in ``forward``, or in a method that it calls."""
        method = self._method_around(use)
        if method is None:
            return False
        if method.name == "forward":
            return True
        return any(
            (caller := self._method_around(call)) is not None and caller.name == "forward"
            for call in self._semantics.facts.call_sites(method)
        )

    def _method_around(self, node: ast.AST) -> Function | None:
        for outer in self._tree.ancestors(node):
            if isinstance(outer, FUNCTIONS) and isinstance(self._tree.parent(outer), ast.ClassDef):
                return outer
        return None

    def _is_item_called(self, use: ast.expr) -> bool:
        """Whether an item of the collection that is used here is called like a layer."""
        parent = self._tree.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use and not isinstance(parent.slice, ast.Slice):
            return self._is_called(parent)
        return any(self._is_called(name) for name in self._taken(use))

    def _taken(self, use: ast.expr) -> Iterator[ast.Name]:
        """Where the names are used that a loop over the collection binds."""
        iterated, parent = use, self._tree.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use:
            iterated, parent = parent, self._tree.parent(parent)
        if isinstance(parent, ast.Attribute) and parent.attr in _VIEWS:
            call = self._tree.parent(parent)
            if isinstance(call, ast.Call):
                iterated, parent = call, self._tree.parent(call)
        while isinstance(parent, ast.Call) and self._semantics.qualified_name(parent.func) in _LOOPING:
            iterated, parent = parent, self._tree.parent(parent)
        if not isinstance(parent, (ast.For, ast.comprehension)) or parent.iter is not iterated:
            return
        for part in ast.walk(parent.target):
            if isinstance(part, ast.Name) and (binding := self._semantics.bindings.of(part)) is not None:
                yield from binding.uses

    def _is_called(self, item: ast.expr) -> bool:
        """Whether an expression is called with something that may be a tensor, and what it gives is used."""
        call = self._tree.parent(item)
        if not isinstance(call, ast.Call) or call.func is not item or isinstance(self._tree.parent(call), ast.Expr):
            return False
        given = given_to(call)
        return (
            bool(given)
            and not isinstance(given[0], (ast.Constant, ast.JoinedStr))
            and (self._semantics.kind(given[0]).type not in _VALUES)
        )
