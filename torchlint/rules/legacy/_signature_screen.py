"""Which files may hold a legacy signature at all, told from their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlint.rules.legacy._signatures import INITIALIZERS

_CLUES = (
    (b"size_average", re.compile(rb"size_average")),
    (b"reduce", re.compile(rb"reduce(?<!\wreduce)\s*=\s*[^\s'\"]")),
    (b"clip_grad_norm", re.compile(rb"clip_grad_norm\b")),
    (b"oss2d", re.compile(rb"NLLLoss2d|nll_loss2d")),
    (b"upsample", re.compile(rb"\bupsample(?:_nearest|_bilinear)?\s*\(|functional\s*\.\s*upsample|F\s*\.\s*upsample")),
    (b".next(", re.compile(rb"\biter\s*\(")),
    (b"retain_variables", re.compile(rb"retain_variables")),
    (b"multinomial", re.compile(rb"\.multinomial\(\s*\)")),
    (b"sigmoid", re.compile(rb"\b(?:F|functional)\s*\.\s*sigmoid")),
    (b"tanh", re.compile(rb"\b(?:F|functional)\s*\.\s*tanh")),
    (b"init.", re.compile(rb"\binit\s*\.\s*(?:" + "|".join(INITIALIZERS).encode() + rb")\b")),
)
"""Of each kind of finding what a file has to hold, first as bytes that are quickly looked for."""
_INITIALIZERS_ALONE = re.compile(rb"init\s+(?:import|as)\b")
_FUNCTIONS_ALONE = re.compile(rb"functional\s+(?:import|as\s+(?!F\b))")
_ALONE = re.compile(rb"\b(?:" + "|".join((*INITIALIZERS, "sigmoid", "tanh", "upsample")).encode() + rb")\b")
_SOFTMAX = re.compile(rb"(?:softmax|softmin|Softmax|Softmin)\s*\(")
_LOSS_CLASS = re.compile(rb"Loss\s*\(")
_LOSS_FUNCTION = re.compile(rb"_loss\s*\(|cross_entropy\w*\s*\(|kl_div\s*\(")
_LOSS_WORDS = (b"_loss", b"cross_entropy", b"kl_div")
_KEYWORD = re.compile(rb",?\s*\b\w+\s*=(?!=)")
_PARENTHESIS = re.compile(rb"[()]")
_SCALED_METHODS = (b".add", b".sub", b".baddbmm")
_SCALED = re.compile(
    rb"\.(?<!\bre\.)(?:add|sub|addcmul|addcdiv|addmm|addmv|addr|baddbmm|addbmm)_?\s*\((?!\s*[rb]?[\"'])"  # no `re.sub`
)


def may_hold(data: bytes) -> bool:
    """Whether a file may hold one of the old names, a softmax that is not given a dimension, or a factor in front."""
    if any(word in data and pattern.search(data) is not None for word, pattern in _CLUES):
        return True
    if _INITIALIZERS_ALONE.search(data) is not None or _FUNCTIONS_ALONE.search(data) is not None:
        if _ALONE.search(data) is not None:
            return True
    if b"oftm" in data and any(b"dim" not in given or b"None" in given for given in _arguments(_SOFTMAX, data)):
        return True
    if any(word in data for word in _SCALED_METHODS):
        if any(b"," in given for given in _arguments(_SCALED, data)):
            return True
    if b"Loss" in data and any(_by_position(given) for given in _arguments(_LOSS_CLASS, data)):
        return True
    if any(word in data for word in _LOSS_WORDS):
        return any(_by_position(given).count(b",") >= 2 for given in _arguments(_LOSS_FUNCTION, data))
    return False


def _arguments(opening: re.Pattern[bytes], data: bytes) -> Iterator[bytes]:
    """What stands between the parentheses behind each match."""
    for match in opening.finditer(data):
        depth, end = 1, len(data)
        for bracket in _PARENTHESIS.finditer(data, match.end()):
            depth += 1 if bracket.group() == b"(" else -1
            if not depth:
                end = bracket.start()
                break
        yield data[match.end() : end]


def _by_position(arguments: bytes) -> bytes:
    """What stands in front of the first keyword argument."""
    keyword = _KEYWORD.search(arguments) if b"=" in arguments else None
    return (arguments[: keyword.start()] if keyword is not None else arguments).strip(b", \t\r\n")
