"""What the signatures do not tell: arguments for functions that no generic ones suit, and names that are out of scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy
import torch
from torch import Tensor, nn
from torch.nn.utils import rnn

from calls import Call

_STRAYS = """assert_int_or_pair bind boolean_dispatch cast classproperty copy_method_params handle_torch_function overload
    has_torch_function has_torch_function_unary has_torch_function_variadic import_ir_module import_ir_module_from_buffer
    invert_permutation is_tensor_like merge_type_from_type_comment parse_ir parse_schema parse_type_comment unify_type_list
    profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 variable"""
STRAYS = frozenset(_STRAYS.split())
"""Names that a module imports or keeps for itself."""

SOURCES = frozenset({"torch.from_numpy", "torch.frombuffer", "torch.from_file", "torch.from_dlpack"})
"""Functions that make a tensor of something that is none, and whose signature has no requires_grad."""

PASSING = frozenset({"torch.as_tensor", "torch.asarray"})
"""Functions that make a tensor of anything, and that give a tensor back with its graph."""

DEPENDS = frozenset({"to", "type", "type_as"})
"""Methods whose result carries a graph or not as their argument says."""

_RUN_MODULES = frozenset(
    {"torch.fft", "torch.linalg", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn"}
    | {"torch.signal.windows", "torch.sparse", "torch.special"}
)

_Arguments = tuple[object, ...]


def may_run(dotted: str) -> bool:
    """Whether a function can be tried on any arguments without harm: those of ``torch`` itself only if they are operators."""
    module, _, name = dotted.rpartition(".")
    return module in _RUN_MODULES or (module == "torch" and hasattr(torch._C._VariableFunctions, name))


def _x(*shape: int) -> Tensor:
    return torch.rand(*shape) * 0.8 + 0.1


def _ids(*shape: int) -> Tensor:
    return torch.zeros(*shape, dtype=torch.int64)


def _conjugate() -> Tensor:
    return torch.rand(3, 4, dtype=torch.complex64).conj()


def _graph() -> _Arguments:
    leaf = _x(3).requires_grad_()
    return (leaf * leaf).sum(), leaf


def _packed() -> rnn.PackedSequence:
    return rnn.pack_padded_sequence(_x(4, 2, 3), [4, 2])


def _batch_norm() -> _Arguments:
    return _x(4, 3), None, None, _x(3), _x(3), True


def _attention() -> _Arguments:
    x, weight, out = _x(3, 2, 4), _x(12, 4), _x(4, 4)
    return x, x, x, 4, 2, weight, None, None, None, False, 0.0, out, None


def _convolution(dimensions: int) -> Callable[[], _Arguments]:
    return lambda: (_x(2, 3, *[5] * dimensions), _x(3, 3, *[2] * dimensions), _x(3))


def _pooled(dimensions: int) -> Callable[[], _Arguments]:
    return lambda: (_x(2, 3, *[4] * dimensions), 2)


def _unpooled(dimensions: int) -> Callable[[], _Arguments]:
    return lambda: (_x(2, 3, *[2] * dimensions), _ids(2, 3, *[2] * dimensions), 2)


def _own_dtype(dtype: torch.dtype) -> Callable[[], _Arguments]:
    return lambda: (torch.ones(3, 4).to(dtype),)


_CASTS = {
    "bfloat16": torch.bfloat16, "bool": torch.bool, "byte": torch.uint8, "cdouble": torch.complex128, "cfloat": torch.complex64,
    "chalf": torch.complex32, "char": torch.int8, "double": torch.float64, "float": torch.float32, "half": torch.float16,
    "int": torch.int32, "long": torch.int64, "short": torch.int16,
}  # fmt: skip

_METHODS: dict[str, tuple[Callable[[], _Arguments], ...]] = {
    **{name: (lambda: (_x(3, 4),), _own_dtype(dtype)) for name, dtype in _CASTS.items()},
    "addbmm": (lambda: (_x(4, 4), _x(2, 4, 4), _x(2, 4, 4)),),
    "addbmm_": (lambda: (_x(4, 4), _x(2, 4, 4), _x(2, 4, 4)),),
    "addmv": (lambda: (_x(3), _x(3, 4), _x(4)),),
    "addmv_": (lambda: (_x(3), _x(3, 4), _x(4)),),
    "addr_": (lambda: (_x(3, 4), _x(3), _x(4)),),
    "as_subclass": (lambda: (_x(3, 4), Tensor),),
    "clamp": (lambda: (_x(3, 4), 0.2, 0.5),),
    "clamp_": (lambda: (_x(3, 4), 0.2, 0.5),),
    "clip": (lambda: (_x(3, 4), 0.2, 0.5),),
    "clip_": (lambda: (_x(3, 4), 0.2, 0.5),),
    "diagonal_scatter": (lambda: (_x(4, 4), _x(4)),),
    "mv": (lambda: (_x(3, 4), _x(4)),),
    "new": (lambda: (_x(3, 4), 2), lambda: (_x(3, 4), [1.0])),
    "new_tensor": (lambda: (_x(3, 4), [1.0]), lambda: (_x(3, 4), _x(3))),
    "register_hook": (lambda: (_x(3, 4), print),),
    "repeat": (lambda: (_x(3, 4), 2, 2),),
    "reshape": (lambda: (_x(4, 3).t(), (12,)), lambda: (_x(3, 4), (12,))),
    "reshape_as": (lambda: (_x(4, 3).t(), _x(12)),),
    "resolve_conj": (lambda: (_conjugate(),),),
    "resolve_neg": (lambda: (_conjugate().imag,),),
    "select_scatter": (lambda: (_x(3, 4), _x(4), 0, 0),),
    "to": (lambda: (_x(3, 4), torch.float64), lambda: (_x(3, 4), "cpu")),
    "to_dense": (lambda: (_x(3, 4).to_sparse(),),),
    "type": (lambda: (_x(3, 4), torch.float64), lambda: (_x(3, 4),)),
    "unique": (lambda: (_x(3, 4), True, True),),
    "unique_consecutive": (lambda: (_x(3, 4), True),),
}

_FUNCTIONAL: dict[str, tuple[Callable[[], _Arguments], ...]] = {
    "affine_grid": (lambda: (_x(2, 2, 3), [2, 3, 4, 4]),),
    "batch_norm": (_batch_norm,),
    "binary_cross_entropy": (lambda: (_x(3, 4), _x(3, 4)),),
    "binary_cross_entropy_with_logits": (lambda: (_x(3, 4), _x(3, 4)),),
    "bilinear": (lambda: (_x(2, 3), _x(2, 4), _x(5, 3, 4)),),
    "conv_tbc": (lambda: (_x(5, 2, 3), _x(2, 3, 4), _x(4)),),
    "cosine_embedding_loss": (lambda: (_x(3, 4), _x(3, 4), torch.ones(3)),),
    "cosine_similarity": (lambda: (_x(3, 4), _x(3, 4)),),
    "cross_entropy": (lambda: (_x(3, 4), _ids(3)),),
    "ctc_loss": (lambda: (_x(5, 2, 4).log(), torch.ones(2, 2, dtype=torch.int64), [5, 5], [2, 2]),),
    "embedding": (lambda: (_ids(3), _x(4, 5)),),
    "embedding_bag": (lambda: (_ids(3, 2), _x(4, 5)),),
    "fold": (lambda: (_x(1, 12, 4), (3, 3), (2, 2)),),
    "fractional_max_pool2d": (lambda: (_x(2, 3, 4, 4), 2, {"output_size": 2}),),
    "fractional_max_pool3d": (lambda: (_x(2, 3, 4, 4, 4), 2, {"output_size": 2}),),
    "grid_sample": (lambda: (_x(2, 3, 4, 4), _x(2, 4, 4, 2)),),
    "instance_norm": (lambda: (_x(2, 3, 4, 4),),),
    "interpolate": (lambda: (_x(2, 3, 4, 4), 8),),
    "kl_div": (lambda: (_x(3, 4).log(), _x(3, 4)),),
    "layer_norm": (lambda: (_x(3, 4), (4,)),),
    "linear": (lambda: (_x(3, 4), _x(2, 4), _x(2)),),
    "linear_cross_entropy": (lambda: (_x(3, 4), _x(5, 4), _ids(3)),),
    "logsigmoid": (lambda: (_x(3, 4),),),
    "lp_pool1d": (lambda: (_x(2, 3, 4), 2.0, 2),),
    "lp_pool2d": (lambda: (_x(2, 3, 4, 4), 2.0, 2),),
    "lp_pool3d": (lambda: (_x(2, 3, 4, 4, 4), 2.0, 2),),
    "multi_head_attention_forward": (_attention,),
    "multi_margin_loss": (lambda: (_x(3, 4), _ids(3)),),
    "multilabel_margin_loss": (lambda: (_x(3, 4), _ids(3, 4)),),
    "nll_loss": (lambda: (_x(3, 4).log(), _ids(3)),),
    "one_hot": (lambda: (_ids(3), 4),),
    "pad": (lambda: (_x(3, 4), (1, 1)),),
    "pairwise_distance": (lambda: (_x(3, 4), _x(3, 4)),),
    "pixel_shuffle": (lambda: (_x(2, 4, 3, 3), 2),),
    "pixel_unshuffle": (lambda: (_x(2, 1, 4, 4), 2),),
    "prelu": (lambda: (_x(3, 4), _x(1)),),
    "rms_norm": (lambda: (_x(3, 4), (4,)),),
    "scaled_dot_product_attention": (lambda: (_x(2, 3, 4), _x(2, 3, 4), _x(2, 3, 4)),),
    "unfold": (lambda: (_x(2, 3, 4, 4), 2),),
    "upsample": (lambda: (_x(2, 3, 4, 4), 8),),
    "upsample_bilinear": (lambda: (_x(2, 3, 4, 4), 8),),
    "upsample_nearest": (lambda: (_x(2, 3, 4, 4), 8),),
    **{f"conv{n}d": (_convolution(n),) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": (_convolution(n),) for n in (1, 2, 3)},
    **{f"avg_pool{n}d": (_pooled(n),) for n in (1, 2, 3)},
    **{f"max_pool{n}d": (_pooled(n),) for n in (1, 2, 3)},
    **{f"adaptive_avg_pool{n}d": (_pooled(n),) for n in (1, 2, 3)},
    **{f"adaptive_max_pool{n}d": (_pooled(n),) for n in (1, 2, 3)},
    **{f"max_unpool{n}d": (_unpooled(n),) for n in (1, 2, 3)},
}

_INIT: dict[str, tuple[Callable[[], _Arguments], ...]] = {
    "constant": (lambda: (_x(3, 4), 0.5),),
    "dirac": (lambda: (_x(3, 4, 2),),),
    "dirac_": (lambda: (_x(3, 4, 2),),),
    "sparse": (lambda: (_x(3, 4), 0.5),),
    "sparse_": (lambda: (_x(3, 4), 0.5),),
    **{name: (lambda: (_x(3, 4),),) for name in ("eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal")},
    **{name: (lambda: (_x(3, 4),),) for name in ("uniform", "xavier_normal", "xavier_uniform")},
}

_UTILS: dict[str, tuple[Callable[[], _Arguments], ...]] = {
    "rnn.pack_padded_sequence": (lambda: (_x(4, 2, 3), [4, 2]),),
    "rnn.pack_sequence": (lambda: ([_x(4, 3), _x(2, 3)],),),
    "rnn.pad_packed_sequence": (lambda: (_packed(),),),
    "rnn.pad_sequence": (lambda: ([_x(4, 3), _x(2, 3)],),),
    "rnn.unpack_sequence": (lambda: (_packed(),),),
    "rnn.unpad_sequence": (lambda: (_x(4, 2, 3), torch.tensor([4, 2])),),
    "parameters_to_vector": (lambda: ([*nn.Linear(2, 2).parameters()],),),
    "remove_spectral_norm": (lambda: (nn.utils.spectral_norm(nn.Linear(2, 2)),),),
    "remove_weight_norm": (lambda: (nn.utils.weight_norm(nn.Linear(2, 2)),),),
    "skip_init": (lambda: (nn.Linear, 2, 2),),
    "spectral_norm": (lambda: (nn.Linear(2, 2),),),
    "weight_norm": (lambda: (nn.Linear(2, 2),),),
    "fuse_conv_bn_eval": (lambda: (nn.Conv2d(2, 2, 1).eval(), nn.BatchNorm2d(2).eval()),),
    "fuse_linear_bn_eval": (lambda: (nn.Linear(2, 2).eval(), nn.BatchNorm1d(2).eval()),),
    "convert_conv2d_weight_memory_format": (lambda: (nn.Conv2d(2, 2, 1), torch.channels_last),),
    "convert_conv3d_weight_memory_format": (lambda: (nn.Conv3d(2, 2, 1), torch.channels_last_3d),),
}

_TORCH: dict[str, tuple[Callable[[], _Arguments], ...]] = {
    "as_tensor": (lambda: ([1.0],), lambda: (_x(3),)),
    "asarray": (lambda: ([1.0],), lambda: (_x(3),)),
    "tensor": (lambda: ([1.0],), lambda: (_x(3),)),
    "autograd.grad": (_graph,),
    "block_diag": (lambda: (_x(2, 2), _x(2, 2)),),
    "broadcast_shapes": (lambda: ((2, 1), (1, 3)),),
    "broadcast_tensors": (lambda: (_x(2, 1), _x(1, 3)),),
    "cartesian_prod": (lambda: (_x(2), _x(3)),),
    "cdist": (lambda: (_x(2, 3), _x(4, 3)),),
    "chain_matmul": (lambda: (_x(2, 3), _x(3, 4)),),
    "clamp": (lambda: (_x(3, 4), 0.2, 0.5),),
    "clip": (lambda: (_x(3, 4), 0.2, 0.5),),
    "einsum": (lambda: ("ij,jk", _x(2, 3), _x(3, 4)),),
    "frombuffer": (lambda: (bytearray(8), {"dtype": torch.float32}),),
    "from_numpy": (lambda: (numpy.ones(3),),),
    "from_dlpack": (lambda: (numpy.ones(3),),),
    "get_device": (lambda: (_x(3),),),
    "is_storage": (lambda: (_x(3),),),
    "is_tensor": (lambda: (_x(3),),),
    "is_anomaly_enabled": (lambda: (),),
    "is_autocast_enabled": (lambda: (),),
    "lu": (lambda: (_x(3, 3),), lambda: (_x(3, 3), {"get_infos": True})),
    "meshgrid": (lambda: (_x(2), _x(3)),),
    "norm": (lambda: (_x(3, 4),),),
    "pca_lowrank": (lambda: (_x(4, 4), 2),),
    "split": (lambda: (_x(4, 3), 2),),
    "svd_lowrank": (lambda: (_x(4, 4), 2),),
    "tensordot": (lambda: (_x(3, 4), _x(4, 3), 1),),
    "unique": (lambda: (_x(3, 4),), lambda: (_x(3, 4), True, True)),
    "unique_consecutive": (lambda: (_x(3, 4),), lambda: (_x(3, 4), True)),
    "unravel_index": (lambda: (_ids(3), (3, 4)),),
    "view_as_complex": (lambda: (_x(3, 2),),),
    "where": (lambda: (_x(3, 4) > 0.5, _x(3, 4), _x(3, 4)), lambda: (_x(3, 4) > 0.5,)),
    "sparse.mm": (lambda: (_x(3, 4).to_sparse(), _x(4, 2)),),
    "sparse.sum": (lambda: (_x(3, 4).to_sparse(),),),
    "sparse.softmax": (lambda: (_x(3, 4).to_sparse(), 1),),
    "sparse.log_softmax": (lambda: (_x(3, 4).to_sparse(), 1),),
    "sparse.addmm": (lambda: (_x(3, 2), _x(3, 4).to_sparse(), _x(4, 2)),),
    "sparse.sampled_addmm": (lambda: (_x(3, 3).to_sparse_csr(), _x(3, 4), _x(4, 3)),),
    **{f"atleast_{n}d": (lambda: (_x(3),), lambda: (_x(3), _x(2))) for n in (1, 2, 3)},
    **{
        f"linalg.{name}": (lambda: (torch.eye(4),),)
        for name in ("cholesky", "inv", "det", "slogdet", "eigh", "eig", "pinv", "svd", "qr")
    },
    "linalg.cross": (lambda: (_x(4, 3), _x(4, 3)),),
    "linalg.householder_product": (lambda: (_x(4, 3), _x(3)),),
    "linalg.multi_dot": (lambda: ([_x(2, 3), _x(3, 4)],),),
    "linalg.solve_triangular": (lambda: (_x(3, 3).triu(), _x(3, 2), {"upper": True}),),
    "linalg.tensorsolve": (lambda: (torch.eye(12).reshape(3, 4, 12), _x(3, 4)),),
    "linalg.tensorinv": (lambda: (torch.eye(12).reshape(12, 3, 4), 1),),
    "linalg.ldl_solve": (lambda: (*torch.linalg.ldl_factor(torch.eye(3)), _x(3, 2)),),
    "linalg.lu_solve": (lambda: (*torch.linalg.lu_factor(torch.eye(3)), _x(3, 2)),),
    "fft.fftfreq": (lambda: (4,),),
    "fft.rfftfreq": (lambda: (4,),),
}

_RECIPES = {
    **_METHODS,
    **{f"torch.{name}": found for name, found in {**_FUNCTIONAL, **_METHODS}.items()},
    **{f"torch.{name}": found for name, found in _TORCH.items()},
    **{f"torch.nn.functional.{name}": found for name, found in _FUNCTIONAL.items()},
    **{f"torch.nn.init.{name}": found for name, found in _INIT.items()},
    **{f"torch.nn.utils.{name}": found for name, found in _UTILS.items()},
}


def calls(name: str) -> Iterator[Call]:
    """The calls written down for a function or method; a dict at the end of the arguments holds those given by name."""
    for recipe in _RECIPES.get(name, ()):
        torch.default_generator.manual_seed(0)
        call = Call()
        given = list(recipe())
        if given and isinstance(options := given[-1], dict):
            call.keywords = options
            call.minimal = False
            given.pop()
        call.arguments = [_taken(call, value) for value in given]
        first = call.arguments[0] if call.arguments else None
        call.dimensions = first.dim() if isinstance(first, Tensor) else 0
        yield call


def _taken(call: Call, value: object) -> object:
    if isinstance(value, Tensor):
        return call.take(value)
    if isinstance(value, list) and value and all(isinstance(part, Tensor) for part in value):
        return [call.take(part) for part in value]
    return value
