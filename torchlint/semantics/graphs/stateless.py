"""Whether modules and functions of other files keep nothing of what they compute: each call makes a graph of its own."""

from __future__ import annotations

import builtins

from torchlint.semantics import torch_api
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Lookup, Outside, Target

PLAIN = ("torch.", "torchvision.", "timm.", "numpy.", "math.", "einops.", "copy.", "functools.", "collections.", "typing.")
"""Libraries whose functions and modules keep no graph, whatever they are called with."""
_BASES = frozenset({"builtins.object", "torch.nn.Module", *torch_api.MODULES})
_DEEPEST = 6
"""So many classes deep the parts of modules are looked into."""


def is_stateless(found: ClassElsewhere, lookup: Lookup, depth: int = _DEEPEST) -> bool:
    """Whether calls of a module surely share nothing that has a graph: of its class, and of all that this makes or calls."""
    if not depth:
        return False
    for base in lookup.bases(found):
        if isinstance(base, ClassElsewhere):
            body = lookup.body(base)
            if base.summary.unusual or not body.forgets:
                return False
            if not all(_is_plain(lookup.reference(each, base.file), lookup, depth) for each in body.called):
                return False
        elif base is None or base.name not in _BASES:
            return False
    return True


def is_pure(found: FunctionElsewhere) -> bool:
    """Whether a function only computes something of what it is given, as far as its file tells."""
    summary = found.summary
    acts = {act.what for _, every in summary.acts for act in every}
    return not summary.hidden and not summary.propagates and acts.isdisjoint({"backward", "step"})


def _is_plain(target: Target | None, lookup: Lookup, depth: int) -> bool:
    """Whether what the code of a class calls keeps nothing."""
    if isinstance(target, ClassElsewhere):
        return is_stateless(target, lookup, depth - 1)
    if isinstance(target, FunctionElsewhere):
        made = [lookup.reference(by, target.file) for by in target.summary.gives.by]
        return is_pure(target) and bool(depth) and all(_is_plain(each, lookup, depth - 1) for each in made)
    if isinstance(target, Outside):
        return target.name.startswith(PLAIN) or hasattr(builtins, target.name.removeprefix("builtins."))
    return False
