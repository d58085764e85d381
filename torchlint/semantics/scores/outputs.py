"""What numbers are, and which functions and layers make them that, or only change their shape."""

from __future__ import annotations

from enum import Enum


class Output(Enum):
    """What the numbers are."""

    LOGITS = "logits"
    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log-softmax"
    SIGMOID = "sigmoid"


MAKING_FUNCTIONS = {
    "torch.softmax": Output.SOFTMAX,
    "torch.special.softmax": Output.SOFTMAX,
    "torch.nn.functional.softmax": Output.SOFTMAX,
    "torch.sigmoid": Output.SIGMOID,
    "torch.special.expit": Output.SIGMOID,
    "torch.nn.functional.sigmoid": Output.SIGMOID,
    "torch.log_softmax": Output.LOG_SOFTMAX,
    "torch.special.log_softmax": Output.LOG_SOFTMAX,
    "torch.nn.functional.log_softmax": Output.LOG_SOFTMAX,
}
MAKING_METHODS = {"softmax": Output.SOFTMAX, "sigmoid": Output.SIGMOID, "log_softmax": Output.LOG_SOFTMAX}
MAKING_LAYERS = {
    "torch.nn.Softmax": Output.SOFTMAX,
    "torch.nn.Softmax2d": Output.SOFTMAX,
    "torch.nn.LogSoftmax": Output.LOG_SOFTMAX,
    "torch.nn.Sigmoid": Output.SIGMOID,
    **{f"torch.nn.{name}": Output.LOGITS for name in ("Linear", "LazyLinear", "Bilinear", "Conv1d", "Conv2d", "Conv3d")},
}
SHAPING_LAYERS = frozenset({"torch.nn.Flatten", "torch.nn.Unflatten", "torch.nn.Identity"})
SHAPING = frozenset(
    {
        *(
            "view",
            "reshape",
            "squeeze",
            "unsqueeze",
            "transpose",
            "permute",
            "flatten",
            "contiguous",
            "t",
            "swapaxes",
            "movedim",
        ),
        *("float", "double", "half", "to", "cuda", "cpu", "type", "clone", "view_as", "reshape_as", "type_as", "bfloat16"),
    }
)
SHAPING_FUNCTIONS = frozenset(
    f"torch.{name}" for name in ("squeeze", "unsqueeze", "flatten", "reshape", "transpose", "permute")
)
