"""Whether a file works with tensors of its own making, which look like torch's and are none: `Value`, `mytorch.Tensor`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics.code import Code
from torchlint.semantics.summaries.elsewhere import Elsewhere
from torchlint.semantics.summaries.lookup import ClassElsewhere

_NAMES = ("Tensor", "Value", "Variable", "Var", "Parameter")
"""What such classes are called."""
_ARITHMETIC = frozenset({"__add__", "__mul__", "__matmul__", "__sub__"})


class OwnAutograd:
    """Looks for classes with arithmetic and a ``backward`` of their own, in the file and in what it imports of the project.

    Where there is one, that something is back-propagated, has parameters or is stepped says nothing about torch.
    """

    def __init__(self, code: Code, elsewhere: Elsewhere) -> None:
        self._code = code
        self._elsewhere = elsewhere

    @cached_property
    def are_used(self) -> bool:
        """Whether the file defines such a class, or imports it, or anything from a module that has it."""
        return self._are_defined or (self._elsewhere.is_in_project and any(self._is_own(name) for name in self._imported))

    @property
    def _are_defined(self) -> bool:
        definitions = self._code.definitions
        return any(
            _computes(facts.methods) and not definitions.derives_from(node, "torch.")
            for node, facts in definitions.classes.items()
        )

    @property
    def _imported(self) -> Iterator[str]:
        """The full names that such a class may have in what the file imports, and in the packages around that."""
        modules: dict[str, None] = {}
        named = [alias.name for node in self._code.tree.of_type(ast.Import) for alias in node.names]
        named += ["." * node.level + (node.module or "") for node in self._code.tree.of_type(ast.ImportFrom)]
        modules.update((each, None) for module in named for each in (module, module.partition(".")[0]) if each)
        may_have = (module for module in modules if self._elsewhere.may_have(module, _NAMES))
        return (_joined(module, name) for module in may_have for name in _NAMES)

    def _is_own(self, name: str) -> bool:
        found = self._elsewhere.imported(name)
        if not isinstance(found, ClassElsewhere):
            return False
        bases = list(self._elsewhere.lookup.bases(found))
        if not all(
            isinstance(base, ClassElsewhere) or (base is not None and not base.name.startswith("torch.")) for base in bases
        ):
            return False
        return _computes(method for base in bases if isinstance(base, ClassElsewhere) for method in base.summary.methods)


def _computes(methods: Iterable[str]) -> bool:
    """Whether a class with these methods is one of values that are computed with and back-propagated."""
    names = set(methods)
    return "backward" in names and not names.isdisjoint(_ARITHMETIC)


def _joined(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
