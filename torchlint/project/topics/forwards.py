"""What the forward of some module of a project does with autograd, asked where a model may be of any class of it."""

from __future__ import annotations

import re

_CLASS = re.compile(rb"(?m)^class\b")
_FORWARD = re.compile(rb"(?m)^([ \t]+)def[ \t]+forward\(")
_GRADIENTS = re.compile(rb"(?m)^[ \t]{1,60}[^#\n]{0,200}?(?:autograd\.|(?<![.\w]))(?:grad|gradients?)\((?![\w.]{0,40}loss)")
"""Of anything but a loss, which is what those differentiate that learn to learn, for a step of their own."""
_DEFINITION = re.compile(rb"(?m)^[ \t]+(?:async[ \t]+)?def[ \t]")
_FREEZING = re.compile(
    rb"(?m)^[^#\n]{0,200}?(?:(?<![.\w])\w{1,60}\.requires_grad[ \t]{0,4}=(?!=|[ \t]{0,4}True\b)"
    rb"|\brequires_grad_\((?![ \t]{0,4}(?:\)|True\b|requires_grad[ \t]{0,4}=[ \t]{0,4}True\b))"
    rb"|(?<!un)(?<!Un)[Ff]reeze\w{0,40}\()"
)
"""Where weights are frozen, but for a single one that is named: ``self.embedding.weight.requires_grad = False``."""
_TURNING_OFF = re.compile(rb"no_grad|inference_mode|set_grad_enabled")
_PLAIN = re.compile(rb"(?m)^class[ \t]{1,9}\w{1,99}[ \t]{0,9}(?:\([ \t]{0,9}(?:object[ \t]{0,9})?\))?[ \t]{0,9}:")
_TOP = re.compile(rb"(?m)^[^\s#)\]}]")
"""Where a statement of the top level begins."""
_OF_MODULES = re.compile(
    rb"(?m)^[ \t]{1,40}def[ \t]{1,9}(?:train|eval|to|cuda|state_dict|load_state_dict|parameters|named_parameters)\("
)
_ABOVE = 200
"""So many bytes above a definition its decorator is looked for."""


def _differentiates(text: bytes) -> bool:
    """Whether code defines a module that asks autograd for gradients of what it computes, and does not turn it on for that."""
    if b"autograd" not in text or _GRADIENTS.search(text) is None:
        return False
    classes = (each for each in _CLASS.split(text)[1:] if b"def forward(" in each and b"enable_grad" not in each)
    return any(_GRADIENTS.search(each) for each in classes)


def _records_training_alone(text: bytes) -> bool:
    """Whether code defines a module whose forward asks for the mode, and turns autograd off, as in one of the two."""
    if b"no_grad" not in text or b"self.training" not in text:
        return False
    for start in _FORWARD.finditer(text):
        end = _DEFINITION.search(text, start.end())
        body = text[start.end() : end.start() if end is not None else len(text)]
        if b"no_grad()" in body and b"self.training" in body:
            return True
    return False


def _quietens(text: bytes) -> bool:
    """Whether code takes the gradients of weights away, or may, or defines a module whose forward turns autograd off."""
    if b"requires_grad" in text or b"reeze" in text:
        if _FREEZING.search(text) is not None:
            return True
    if b"no_grad" not in text and b"inference_mode" not in text and b"set_grad_enabled" not in text:
        return False
    for start in _FORWARD.finditer(text):
        end = _DEFINITION.search(text, start.end())
        above = text[max(0, start.start() - _ABOVE) : start.start()].rstrip().rpartition(b"\n")[2]
        if _TURNING_OFF.search(text[start.end() : end.start() if end is not None else len(text)]) or _TURNING_OFF.search(above):
            return True
    return False


def _has_plain_forward(text: bytes) -> bool:
    """Whether code defines a class that derives from nothing and has a ``forward``, and what else modules have."""
    if b"def forward(" not in text:
        return False
    for start in _PLAIN.finditer(text):
        end = _TOP.search(text, start.end())
        body = text[start.end() : end.start() if end is not None else len(text)]
        if _FORWARD.search(body) is not None and _OF_MODULES.search(body) is not None and b"def __call__(" not in body:
            return True
    return False


FORWARDS = {
    "plain forwards": _has_plain_forward,
    "modules that differentiate": _differentiates,
    "modules that record training alone": _records_training_alone,
    "weights without gradients": _quietens,
}
"""The topics, and what has to be so of a file's code that speaks of them."""
