"""The tensors that a data loader in sight gives: of data sets of torchvision, and of tensors that are in sight themselves."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import is_none
from torchlint.semantics.provenance.loaders import IMAGE_SETS, LOADERS, TENSOR_SETS

_MORE = frozenset({None, "collate_fn", "batch_sampler"})
"""Arguments of a loader that may make anything of its batches, or may be anything."""
_SHOWING = frozenset({"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm"})

_SAMPLED = frozenset({"transform", "target_transform"})


@dataclass(frozen=True, slots=True)
class Item:
    """A tensor of a batch: a new one, with nothing behind it but the rows of the tensor ``of``, if any."""

    of: ast.expr | None


class LoaderItems:
    """Tells which tensors the target of a loop is given.

    It asks for more than `provenance.loaders`, which tells tensors from other things: here they have to be new ones, so that
    one loader is in sight, with nothing that makes anything else of its batches, and with transforms of torchvision alone.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def item(self, binding: Binding) -> Item | None:
        """What the target of a loop over a data loader stands for; ``None`` where that is not all in sight."""
        if binding.form is not Form.LOOP or binding.value is None:
            return None
        loader, path = binding.value, binding.path
        while isinstance(loader, ast.Call) and loader.args and self._name(loader.func) not in LOADERS:
            name = self._name(loader.func)
            if name == "builtins.enumerate" and path[:1] == (1,):
                path = path[1:]
            elif name not in _SHOWING:
                return None
            loader = loader.args[0]
        made = self._made(loader)
        if made is None or len(path) != 1 or path[0] is None or self._name(made.func) not in LOADERS:
            return None
        words = {word.arg: word.value for word in made.keywords}
        if _MORE & words.keys() or len(made.args) > 2 or any(is_none(words.get("batch_size", each)) for each in made.args[1:]):
            return None
        if is_none(words.get("batch_size")):
            return None
        data = words.get("dataset", made.args[0] if made.args else None)
        return self._of_data(data, path[0]) if data is not None else None

    def _of_data(self, data: ast.expr, place: int) -> Item | None:
        made = self._made(data)
        if made is None or any(isinstance(given, ast.Starred) for given in made.args):
            return None
        name = self._name(made.func)
        if name in TENSOR_SETS and not made.keywords and place < len(made.args):
            return Item(made.args[place])
        if name in IMAGE_SETS and place < 2 and len(made.args) < 3:
            words = {word.arg: word.value for word in made.keywords}
            is_known = None not in words and all(map(self._is_transform, (words[each] for each in _SAMPLED & words.keys())))
            return Item(None) if is_known else None
        return None

    def _is_transform(self, node: ast.expr) -> bool:
        """Whether a transform is one of torchvision, made of such."""
        made = self._made(node)
        name = self._name(made.func) if made is not None else ""
        if made is None or not name.startswith("torchvision.transforms.") or name.endswith(".Lambda"):
            return False
        parts = [part for given in made.args for part in (given.elts if isinstance(given, ast.List) else [given])]
        return not name.endswith(".Compose") or (len(made.args) == 1 and all(map(self._is_transform, parts)))

    def _made(self, node: ast.expr) -> ast.Call | None:
        """The call that makes something, right there or for the one name that it has."""
        if isinstance(node, ast.Name):
            value = self._semantics.bindings.assigned(node)
            return value if isinstance(value, ast.Call) else None
        return node if isinstance(node, ast.Call) else None

    def _name(self, node: ast.expr) -> str:
        return self._semantics.qualified_name(node) or ""
