"""Names of torch in the text, `torch.no_grad()` or `nn.Module`, lead to torch's own page about them."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.ext.intersphinx import InventoryAdapter
from sphinx.transforms.post_transforms import SphinxPostTransform

_NAME = re.compile(r"(?P<name>(?:torch|nn|F|optim)(?:\.\w+)*|Tensor(?:\.\w+)+)(?:\(.*\))?")
_SHORT = {"nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "Tensor": "torch.Tensor"}
"""The names by which everybody imports a module."""


class TorchLinks(SphinxPostTransform):
    """Makes links of inline code that is a name of torch, or a call of it."""

    default_priority = 700

    def run(self, **kwargs: Any) -> None:
        """Looks each name up in the inventory; what torch does not document stays code."""
        inventory = InventoryAdapter(self.env).named_inventory["torch"]
        pages = {
            name: entry.uri for kind, names in inventory.items() if kind.startswith("py:") for name, entry in names.items()
        }
        for literal in list(self.document.findall(nodes.literal)):
            name = full_name(literal.astext())
            if name in pages and not isinstance(literal.parent, (nodes.reference, nodes.title)):
                reference = nodes.reference(
                    "", "", internal=False, refuri=pages[name], reftitle=f"{name}, in PyTorch's documentation"
                )
                reference["classes"].append("torch-name")
                literal.replace_self(reference)
                reference += literal


def full_name(code: str) -> str:
    """The name of torch that a piece of code is; nothing, where it is something else."""
    match = _NAME.fullmatch(code)
    if match is None or "." not in code:
        return ""
    first, dot, rest = match["name"].partition(".")
    return _SHORT.get(first, first) + dot + rest
