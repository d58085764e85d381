"""The libraries whose ways are known: what is imported from any other may be code of the same project."""

from __future__ import annotations

import sys

_KNOWN = frozenset(sys.stdlib_module_names) | {
    *("torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "sklearn", "matplotlib", "PIL", "cv2", "skimage"),
    *("tqdm", "yaml", "tensorboardX", "seaborn", "h5py", "gym", "gymnasium"),
}
KEEPING_NOTHING = _KNOWN | {"IPython", "visdom", "tensorflow"}
"""Packages that keep nothing of a model, nor of what it computes: not those that train, as `transformers` does."""
READING_NO_ATTRIBUTES = _KNOWN | {
    *("tensorboard", "requests", "transformers", "timm", "einops", "safetensors", "datasets", "tokenizers"),
    *("wandb", "librosa", "nltk", "networkx"),
}
"""Packages that read no attribute of a tensor or module but torch's own, whatever they keep: those that show objects do."""
