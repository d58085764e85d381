"""Whether code that the file does not show may take notice: what it imports beside libraries whose ways are known."""

from __future__ import annotations

import ast
import sys
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics

_LIBRARIES = frozenset(
    {
        *("torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "sklearn", "matplotlib", "PIL", "cv2", "skimage"),
        *("tqdm", "yaml", "tensorboardX", "tensorboard", "seaborn", "h5py", "requests", "gym", "gymnasium"),
        *("transformers", "timm", "einops", "safetensors", "datasets", "tokenizers", "wandb", "librosa", "nltk", "networkx"),
    }
)
"""Libraries that read no attribute of a tensor or module but torch's own."""


class OtherCode:
    """Tells whether what the file does to objects can be seen by code of the same project elsewhere."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def reads_nothing(self, name: str) -> Fact:
        """Whether no other file reads the attribute ``name`` of what this one makes: it imports none of the project."""
        return CERTAIN if not self._strangers else unknown(f"code of `{self._strangers[0]}` may read `{name}`")

    @cached_property
    def _strangers(self) -> list[str]:
        """The modules of the project, and libraries of unknown ways, that the file imports."""
        own = {"." * node.level + (node.module or "") for node in self._semantics.tree.of_type(ast.ImportFrom) if node.level}
        return sorted(own | (self._semantics.names.imported_libraries - _LIBRARIES - sys.stdlib_module_names))
