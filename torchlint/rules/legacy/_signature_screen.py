"""Which files may hold a legacy signature at all, told from their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlint.rules.legacy._signatures import INITIALIZERS, SCALED_OPERATIONS
from torchlint.rules.screens import DEEPEST

_NOTES = rb"(?:#[^\r\n]{0,300}[\r\n][\s\\)]*){0,5}"
_DOT = rb"[\s\\)]*" + _NOTES + rb"\.[\s\\]*" + _NOTES
_FUNCTIONAL = rb"\b(?:F|functional)" + _DOT
_CLUES = (
    (b"size_average", re.compile(rb"size_average")),
    (b"reduce", re.compile(rb"reduce(?<!\wreduce)[\s\\)]*(?:#|=[\s\\(]*[^\s\\('\"])")),
    (b"clip_grad_norm", re.compile(rb"clip_grad_norm\b")),
    (b"oss2d", re.compile(rb"NLLLoss2d|nll_loss2d")),
    (b"upsample", re.compile(rb"\bupsample(?:_nearest|_bilinear)?[\s\\)]*[(#]|" + _FUNCTIONAL + rb"upsample")),
    (b".next(", re.compile(rb"\biter[\s\\)]*[(#]")),
    (b"retain_variables", re.compile(rb"retain_variables")),
    (b"multinomial", re.compile(rb"\.multinomial\([\s\\]*[)#]")),
    (b"sigmoid", re.compile(_FUNCTIONAL + rb"sigmoid")),
    (b"tanh", re.compile(_FUNCTIONAL + rb"tanh")),
    (b"init", re.compile(rb"init(?<!\winit)" + _DOT + rb"(?:" + "|".join(INITIALIZERS).encode() + rb")\b")),
)
"""Of each kind of finding what a file has to hold, first as bytes that are quickly looked for."""
_INITIALIZERS_ALONE = re.compile(rb"init[\s\\]+(?:import|as)\b")
_FUNCTIONS_ALONE = re.compile(rb"functional[\s\\]+(?:import|as[\s\\]+(?!F\b))")
_ALONE = re.compile(rb"\b(?:" + "|".join((*INITIALIZERS, "sigmoid", "tanh", "upsample")).encode() + rb")\b")
_SOFTMAX = re.compile(rb"(?:softmax|softmin|Softmax|Softmin)[\s\\)]*[(#]")
_LOSS_CLASS = re.compile(rb"Loss(?:" + _DOT + rb"__init__)?[\s\\)]*[(#]")
_LOSS_FUNCTION = re.compile(rb"(?:_loss|cross_entropy\w*|kl_div)[\s\\)]*[(#]")
_LOSS_WORDS = (b"_loss", b"cross_entropy", b"kl_div")
_GIVEN_TO_PARTIAL = re.compile(rb"(?:Loss|_loss|cross_entropy\w*|kl_div)[\s\\)]*,")
_DERIVED = re.compile(rb"class[\s\\][^:\r\n]*Loss[\s\\]*[,)#\r\n]")
_KEYWORD = re.compile(rb",?\s*\b\w+[\s\\]*=(?!=)")
_DIM = re.compile(rb"\bdim[\s\\]*=[\s\\]*(?!None\b)[\w-]")
_PIECES = re.compile(rb"\"[^\"\r\n]*\"|'[^'\r\n]*'|#[^\r\n]*|[()]")
_SCALED_METHODS = (b".add", b".sub", b".baddbmm")
_SCALED = re.compile(rb"\.(?:add|sub(?<!\bre\.sub)|addcmul|addcdiv|addmm|addmv|addr|baddbmm|addbmm)_?\((?!\s*[rb]?[\"'])")
APART = frozenset(
    {b".next", b".multinomial", *(b"." + name + end for name in (n.encode() for n in SCALED_OPERATIONS) for end in (b"", b"_"))}
)
"""The methods that are looked for with their dot and parenthesis."""


def may_hold(data: bytes) -> bool:
    """Whether a file may hold one of the old names, a softmax that is not given a dimension, or a factor in front."""
    if any(word in data and pattern.search(data) is not None for word, pattern in _CLUES):
        return True
    if _INITIALIZERS_ALONE.search(data) is not None or _FUNCTIONS_ALONE.search(data) is not None:
        if _ALONE.search(data) is not None:
            return True
    if b"oftm" in data and any(_DIM.search(given) is None for given in _arguments(_SOFTMAX, data)):
        return True
    if any(word in data for word in _SCALED_METHODS):
        if any(b"," in given for given in _arguments(_SCALED, data)):
            return True
    if b"partial" in data and _GIVEN_TO_PARTIAL.search(data) is not None:
        return True
    if b"Loss" in data and b"__init__" in data and _DERIVED.search(data) is not None:
        return True
    if b"Loss" in data and any(_by_position(given) for given in _arguments(_LOSS_CLASS, data)):
        return True
    if any(word in data for word in _LOSS_WORDS):
        return any(_by_position(given).count(b",") >= 2 for given in _arguments(_LOSS_FUNCTION, data))
    return False


def _arguments(opening: re.Pattern[bytes], data: bytes) -> Iterator[bytes]:
    """What stands between the parentheses behind each match, but for strings, comments, and what parentheses in it hold."""
    for match in opening.finditer(data):
        if match[0].endswith(b"#"):
            yield b"#, #, #"  # a comment stands in front of them
            continue
        depth, given, start = 1, b"", match.end()
        for piece in _PIECES.finditer(data, match.end()):
            if depth == 1:
                given += data[start : piece.start()] + {b"(": b"()", b"'": b"''", b'"': b"''"}.get(piece.group()[:1], b"")
            depth += {b"(": 1, b")": -1}.get(piece.group(), 0)
            start = piece.end()
            if not depth or depth > DEEPEST:
                break
        yield given


def _by_position(arguments: bytes) -> bytes:
    """What stands in front of the first keyword argument."""
    keyword = _KEYWORD.search(arguments) if b"=" in arguments else None
    return (arguments[: keyword.start()] if keyword is not None else arguments).strip(b", \t\r\n")
