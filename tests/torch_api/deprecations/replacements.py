"""What to write in place of what is deprecated: parsed from the message and resolved, or typed where the call changes."""

from __future__ import annotations

import re
from collections.abc import Iterable

_REFERENCE = r"(?::\w+:)?[`'\"]*~?(?P<{}>[A-Za-z_][\w.]*\w)(?:\(.*?\))?[`'\"]*"
_PHRASES = tuple(
    re.compile(phrase.format(_REFERENCE.format("new")), re.IGNORECASE)
    for phrase in (
        r"in favou?r of (?:the )?{}",
        r"renamed to (?:\w+ )?{}",
        r"replaced (?:by|with) (?:the )?{}",
        r"(?:please |now )?use (?:the )?(?:equivalent )?(?:function |class |method |attribute |argument )?{} instead",
        r"please use (?:the )?{}",
        r"\buse (?:the )?{}",
        r"consider using (?:the )?{}",
        r"alias (?:of|for) {}",
    )
)

BY_HAND = {
    **{
        f"torch.{device}.amp.{name}": f"torch.amp.{name}({arguments.format(device)})"
        for device in ("cuda", "cpu")
        for name, arguments in (
            ("autocast", "'{}', enabled=..., dtype=..., cache_enabled=..."),
            ("GradScaler", "'{}', ..."),
        )
    },
    "torch.cuda.amp.custom_fwd": "torch.amp.custom_fwd(..., device_type='cuda')",
    "torch.cuda.amp.custom_bwd": "torch.amp.custom_bwd(..., device_type='cuda')",
    **{
        f"torch.{old}": f"torch.{new}('{device}')"
        for word, device in (("cpu", "cpu"), ("gpu", "cuda"), ("ipu", "ipu"), ("xla", "xla"))
        for old, new in (
            (f"get_autocast_{word}_dtype", "get_autocast_dtype"),
            (f"is_autocast_{word}_enabled", "is_autocast_enabled"),
        )
    },
    "torch.chain_matmul": "torch.linalg.multi_dot([...])",
    "torch.ger": "torch.outer",
    **{f"torch.nn.functional.{name}": "torch.nn.functional.interpolate" for name in ("upsample", "upsample_nearest")},
    "torch.nn.functional.upsample_bilinear": "torch.nn.functional.interpolate(..., mode='bilinear', align_corners=True)",
    "torch.nn.NLLLoss2d": "torch.nn.NLLLoss",
    **{f"functorch.{name}": f"torch.func.{name}" for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd")},
    **{f"functorch.{name}": f"torch.func.{name}" for name in ("hessian", "functionalize", "vmap")},
    "torchvision.transforms.Scale": "torchvision.transforms.Resize",
    "torchvision.transforms.RandomSizedCrop": "torchvision.transforms.RandomResizedCrop",
}
"""Calls that take other arguments, with dots for those that stood there; and names that no message gives."""

NO_ONE_ANSWER = frozenset(
    {
        *("torch.lu", "torch.quantization.QConfigDynamic", "torch.distributed.elastic.metrics.api.publish_metric"),
        *("torch.ao.quantization.get_default_qconfig_dict", "torch.ao.quantization.get_default_qat_qconfig_dict"),
        *(
            "torch.distributed.checkpoint.state_dict_loader.load_state_dict",
            "torch.distributed.checkpoint.state_dict_saver.save_state_dict",
            "torch.ao.nn.quantized.functional.upsample_bilinear",
            "torch.ao.nn.quantized.functional.upsample_nearest",
        ),
        *("torch.svd", "torch.symeig", "torch.eig", "torch.solve", "torch.lstsq", "torch.qr", "torch.cholesky", "torch.range"),
        *(
            "torch.frobenius_norm",
            "torch.nuclear_norm",
            "torch.triangular_solve",
            "torch.norm",
            "torch.set_default_tensor_type",
            "torch.lu_solve",
            "torch.matrix_rank",
        ),
        *(
            "torch.nn.utils.weight_norm",
            "torch.backends.cuda.sdp_kernel",
            "torch.autograd.variable",
            "torch.onnx.dynamo_export",
        ),
        *("torch.nn.UpsamplingBilinear2d", "torch.nn.UpsamplingNearest2d", "torch.nn.Module.register_backward_hook"),
        *("torch.nn.modules.module.register_module_backward_hook", "torch.distributions.Distribution.sample_n"),
        *(
            "torchvision.transforms.v2.ToTensor",
            "torchvision.transforms.v2.functional.to_tensor",
            "torchvision.transforms.v2.functional.get_image_size",
        ),
        *("torchvision.transforms.functional.scale", "torch.nn.utils.weight_norm.WeightNorm.apply"),
    }
)
"""What has a successor that takes or gives something else: the finding says so, and the fix is left to people."""
_NO_ONE_ANSWER_IN = ("torch.jit.", "torch.onnx.")

ABOUT_A_PART = frozenset(
    {
        *("torch.autograd.grad", "torch.profiler.profile", "torch.optim.lr_scheduler.LRScheduler.step", "torch.export.load"),
        *("torch.nn.parallel.DistributedDataParallel", "torch.nn.Module.state_dict", "torch.linalg.pinv", "torch.cross"),
        *("torch.linalg.matrix_rank", "torch.Tensor.scatter_", "torch.TensorBase.scatter_", "torch.stft", "torch.Tensor.T"),
        *("torch.utils.data.graph.traverse", "torch.distributed.pipeline", "torch.hub.import_module"),
    }
)
"""What the documentation says something of that is about one of its arguments, or one of its uses."""


PARAMETERS_BY_HAND = {
    ("torch.autograd.backward", "grad_variables"): "grad_tensors=...",
    ("torch.nn.Hardtanh", "min_value"): "min_val=...",
    ("torch.nn.Hardtanh", "max_value"): "max_val=...",
    **{(name, "indexing"): "indexing='ij'" for name in ("torch.meshgrid", "torch.functional.meshgrid")},
    **{
        (f"torch.utils.checkpoint.{name}", "use_reentrant"): "use_reentrant=False"
        for name in ("checkpoint", "checkpoint_sequential")
    },
}
"""What to give in place of a parameter, or where one is missing; dots stand for what it was given."""


_WITHOUT_EFFECT = re.compile(r"has no effect|no influence|and ignored|\bnot used\b|is not effective|`verbose` is deprecated")
LEFT_OUT = "-"
"""Stands for an argument that is not to be given at all."""


def parameter_replacement(name: str, parameter: str, message: str) -> str:
    """The argument to give instead, as it is written, or a dash; empty where no one answer is right."""
    found = PARAMETERS_BY_HAND.get((name, parameter), "")
    return found or (LEFT_OUT if _WITHOUT_EFFECT.search(message.replace("``", "`")) else "")


def replacement(name: str, message: str, public: Iterable[str]) -> str:
    """The full name of what to use in place of ``name``, or a call with dots for its arguments; empty where none is known."""
    if name in BY_HAND:
        return BY_HAND[name]
    if name.replace("torch.Tensor.", "torch.") in NO_ONE_ANSWER or name.startswith(_NO_ONE_ANSWER_IN):
        return ""
    known = public if isinstance(public, (set, frozenset)) else frozenset(public)
    for phrase in _PHRASES:
        for found in phrase.finditer(message):
            for candidate in _candidates(name, found["new"].strip(".")):
                if candidate in known and candidate != name:
                    return candidate
    return ""


def _candidates(name: str, said: str) -> list[str]:
    """The full names that a message may mean by what it says."""
    owners = [name.rpartition(".")[0]]
    while "." in owners[-1]:
        owners.append(owners[-1].rpartition(".")[0])
    absolute = {"nn.": "torch.nn.", "F.": "torch.nn.functional."}
    spelled = [f"{full}{said.removeprefix(short)}" for short, full in absolute.items() if said.startswith(short)]
    return [*spelled, said, *(f"{owner}.{said}" for owner in owners)]
