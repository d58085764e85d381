"""Programs that use what is deprecated and has a replacement, and why some rows of the table have none.

In a program ``OLD`` stands for the name in question, and ``made`` is what is looked at afterwards. The first program of a row
gives a result; those of `RAISING` raise.
"""

from __future__ import annotations

PRELUDE = """\
import functorch
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.default_generator.manual_seed(0)
x = torch.rand(3)
a = torch.rand(2, 3)
b = torch.rand(3, 4)


def cube(y, *_):
    return (y**3).sum()
"""

_INITIALIZERS = {
    **{name: ("made = OLD(torch.empty(3, 4))",) for name in ("eye", "normal", "orthogonal", "uniform")},
    **{name: ("made = OLD(torch.empty(3, 4))",) for name in ("kaiming_normal", "kaiming_uniform")},
    **{name: ("made = OLD(torch.empty(3, 4), gain=2.0)",) for name in ("xavier_normal", "xavier_uniform")},
    "constant": ("made = OLD(torch.empty(3, 4), 0.5)",),
    "dirac": ("made = OLD(torch.empty(3, 4, 2))",),
    "sparse": ("made = OLD(torch.empty(3, 4), sparsity=0.5)",),
}
_AUTOCAST = """\
each = OLD(True, torch.bfloat16, False)
made = [OLD().device, OLD(False)._enabled, each.device, each.fast_dtype, each._cache_enabled, OLD(enabled=False)._enabled]
"""
_SCALER = """\
each = OLD(init_scale=4.0, growth_interval=3)
made = [OLD(8.0, enabled=False).state_dict(), each.state_dict(), each.get_scale(), OLD().is_enabled()]
"""
_AUTOGRAD = """\
class Twice(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, y):
        return y * 2

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, gradient):
        return gradient * 2


y = x.clone().requires_grad_()
Twice.apply(y).sum().backward()
made = y.grad
"""
_GATHER = """\
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    made = torch.zeros(3)
    OLD(made, torch.ones(3))
finally:
    dist.destroy_process_group()
"""
_PARALLEL = """\
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    made = OLD(nn.Linear(3, 2))(a).detach()
finally:
    dist.destroy_process_group()
"""
_CLIP = """\
layer = nn.Linear(3, 2)
layer(a).sum().backward()
made = [OLD(layer.parameters(), 0.1), layer.weight.grad]
"""
_EVENT = """\
from torch.profiler import ProfilerActivity, profile

with profile(activities=[ProfilerActivity.CPU]) as run:
    torch.ones(2) + 1
event: torch.autograd.profiler_util.FunctionEvent = run.events()[0]
made = [event.{}]
"""
_SPARSE = ("made = OLD(torch.tensor([[0, 1], [1, 0]]), torch.ones(2, dtype=torch.{}), (2, 2))",)

RECIPES: dict[str, tuple[str, ...]] = {
    **{f"functorch.{name}": ("made = OLD(cube)(x)",) for name in ("grad", "grad_and_value", "hessian", "jacfwd", "jacrev")},
    "functorch.functionalize": ("made = OLD(cube)(x)",),
    "functorch.jvp": ("made = OLD(cube, (x,), (x,))",),
    "functorch.vjp": ("made = OLD(cube, x)[0]",),
    "functorch.vmap": ("made = OLD(cube)(a)", "made = OLD(cube, in_dims=1, chunk_size=2)(a)"),
    **{f"torch.nn.init.{name}": programs for name, programs in _INITIALIZERS.items()},
    **{f"torch.{device}.amp.autocast": (_AUTOCAST,) for device in ("cuda", "cpu")},
    **{f"torch.{device}.amp.GradScaler": (_SCALER,) for device in ("cuda", "cpu")},
    "torch.cuda.amp.custom_fwd": (
        _AUTOGRAD.replace('torch.amp.custom_fwd(device_type="cuda")', "OLD"),
        _AUTOGRAD.replace('torch.amp.custom_fwd(device_type="cuda")', "OLD(cast_inputs=torch.float32)"),
    ),
    "torch.cuda.amp.custom_bwd": (_AUTOGRAD.replace('torch.amp.custom_bwd(device_type="cuda")', "OLD"),),
    "torch.cuda.max_memory_cached": ("made = OLD()",),
    "torch.cuda.memory_cached": ("made = OLD()",),
    "torch.chain_matmul": ("made = OLD(a, b)", "made = OLD(a, b, torch.rand(4, 2))"),
    "torch.ger": ("made = OLD(x, x)",),
    "torch.meshgrid indexing": ("made = OLD(x, a[0])", "made = OLD(*[x, x])", "made = OLD([x, a[0]])"),
    "torch.nn.Hardtanh min_value": ("made = OLD(min_value=-2.0)(a * 4)",),
    "torch.nn.Hardtanh max_value": ("made = OLD(max_value=0.5)(a * 4)",),
    "torch.autograd.backward grad_variables": (
        "y = x.clone().requires_grad_()\nOLD(y * 2, grad_variables=torch.ones_like(y))\nmade = y.grad",
    ),
    "torch.nn.utils.clip_grad_norm": (_CLIP,),
    "torch.nn.utils.stateless.functional_call": ("layer = nn.Linear(3, 2)\nmade = OLD(layer, {'bias': torch.zeros(2)}, (a,))",),
    "torch.distributed.reduce_op": ("made = OLD.SUM == dist.ReduceOp.SUM",),
    "torch.optim.lr_scheduler.LRScheduler.get_lr": (
        "optimizer = torch.optim.SGD([x], 0.1)\nsteps = torch.optim.lr_scheduler.StepLR(optimizer, 4)\nmade = steps.get_lr()",
    ),
    **{
        f"torch.nn.functional.{name}": (
            "made = OLD(torch.rand(1, 1, 2, 2), scale_factor=2)",
            "made = OLD(x[None, None, None], (4, 6))",
        )
        for name in ("upsample", "upsample_nearest", "upsample_bilinear")
    },
    "torch.nn.NLLLoss2d": (
        "made = OLD()(torch.rand(2, 3, 4, 4), torch.ones(2, 4, 4, dtype=torch.long))",
        "made = OLD(reduction='sum')(torch.rand(2, 3, 4, 4), torch.ones(2, 4, 4, dtype=torch.long))",
    ),
    "torch.distributed.all_gather_into_tensor": (_GATHER,),
    "torch.distributed.reduce_scatter_tensor": (_GATHER,),
    "torch.nn.parallel.DistributedDataParallelCPU": (_PARALLEL,),
    **{f"torch.get_autocast_{word}_dtype": ("made = OLD()",) for word in ("cpu", "gpu", "ipu", "xla")},
    **{f"torch.is_autocast_{word}_enabled": ("made = OLD()",) for word in ("cpu", "ipu", "xla")},
    **{
        f"torch.sparse.{name}Tensor": (_SPARSE[0].format(dtype),)
        for name, dtype in (
            *(("Float", "float32"), ("Double", "float64"), ("Half", "float16"), ("BFloat16", "bfloat16"), ("Byte", "uint8")),
            *(("Char", "int8"), ("Short", "int16"), ("Int", "int32"), ("Long", "int64")),
        )
    },
    **{
        f"torch.autograd.profiler_util.FunctionEvent.{name}": (_EVENT.format(name),)
        for name in ("cuda_time_total", "self_cuda_memory_usage", "self_cuda_time_total")
    },
    "torch.nn.functional.gumbel_softmax eps": ("made = OLD(a, eps=1e-3)",),
    "torch.jit.trace optimize": ("made = OLD(torch.sin, (x,), optimize=True)(x)",),
    "torch.jit.script optimize": ("made = OLD(nn.Linear(3, 2).eval(), optimize=True)(a).shape",),
    "torch.jit.trace_module optimize": ("made = OLD(nn.Linear(3, 2), {'forward': (a,)}, optimize=True)(a).shape",),
    "torch.utils.checkpoint.checkpoint use_reentrant": (
        "y = x.clone().requires_grad_()\nmade = OLD(cube, y)\nmade.backward()\nmade = [made, y.grad]",
    ),
    "torch.utils.checkpoint.checkpoint_sequential use_reentrant": (
        "y = x.clone().requires_grad_()\nmade = OLD([torch.sin, torch.cos], 2, y).sum()\nmade.backward()\n"
        "made = [made, y.grad]",
    ),
    "torch.ao.nn.quantized.functional.upsample": (
        "q = torch.quantize_per_tensor(torch.rand(1, 1, 2, 2), 0.1, 0, torch.quint8)\n"
        "made = OLD(q, scale_factor=2).dequantize()",
    ),
    "torch.library.impl_abstract": (
        "import time\n\nspace = f'heir{time.time_ns()}'\ntorch.library.define(f'{space}::twice', '(Tensor x) -> Tensor')\n\n\n"
        "@OLD(f'{space}::twice')\ndef twice(x):\n    return x * 2\n\n\n"
        "made = getattr(torch.ops, space).twice(torch.ones(2, device='meta')).shape",
    ),
}
"""By the symbol, or the symbol and the parameter."""

RAISING: dict[str, str] = {
    "torch.cuda.memory_cached": "made = OLD('cpu', 1)",
    "torch.cuda.max_memory_cached": "made = OLD('cpu', 1)",
    "torch.ger": "made = OLD(a, x)",
    "torch.chain_matmul": "made = OLD(a, a)",
    **{f"functorch.{name}": "made = OLD(torch.sin)(x)" for name in ("grad", "grad_and_value")},
    **{f"functorch.{name}": "made = OLD(cube, argnums=3)(x)" for name in ("hessian", "jacfwd", "jacrev")},
    "functorch.jvp": "made = OLD(cube, (x,), x)",
    "functorch.vjp": "made = OLD(3, x)",
    "functorch.vmap": "made = OLD(cube, in_dims=(0, 0))(a)",
    "torch.meshgrid indexing": "made = OLD(a, a)",
    **{
        f"torch.nn.functional.{name}": "made = OLD(torch.rand(1, 1, 2, 2))"
        for name in ("upsample", "upsample_nearest", "upsample_bilinear")
    },
    **{f"torch.nn.init.{name}": "made = OLD(torch.empty(3))" for name in ("dirac", "eye", "orthogonal")},
    **{f"torch.nn.init.{name}": "made = OLD(torch.empty(3))" for name in ("kaiming_normal", "kaiming_uniform")},
    **{f"torch.nn.init.{name}": "made = OLD(torch.empty(3))" for name in ("xavier_normal", "xavier_uniform")},
    "torch.nn.init.constant": "made = OLD(torch.empty(3), 'x')",
    "torch.nn.init.normal": "made = OLD(torch.empty(3), std=-1.0)",
    "torch.nn.init.sparse": "made = OLD(torch.empty(3), 0.5)",
    "torch.nn.init.uniform": "made = OLD(torch.empty(3), 2.0, 1.0)",
    "torch.nn.utils.clip_grad_norm": "made = OLD([torch.ones(1)], 'x', norm_type='y')\nmade = made + 'z'",
}
"""Programs that raise the same before and after."""

NOT_RUN: dict[str, str] = {
    "torch.utils.data.graph_settings.apply_shuffle_seed": "takes a graph of torchdata's pipes, which are not installed",
    "torch.distributed.elastic.utils.distributed.create_c10d_store use_libuv": "opens a port, and waits for others there",
    "torch.autograd.profiler_util.FormattedTimesMixin.cuda_time": "the linter does not follow what a profiler's events are",
}
"""Rows whose programs cannot be run with the CPU alone, and why."""
