"""What is named where it should be called: ``loss.backward``, ``optimizer.step``, ``with torch.no_grad:``."""

from __future__ import annotations

import ast
from enum import Enum
from functools import cached_property

from torchlint.semantics import Kind, Semantics, Type, torch_api
from torchlint.semantics.code.expected_errors import is_tried
from torchlint.semantics.code.tree import Function, dotted, last_name
from torchlint.semantics.kinds.results import GRAD_SCALERS
from torchlint.semantics.training.optimizers import Optimizers

_MOVES = frozenset(
    {"cuda", "cpu", "detach", "clone", "contiguous", "float", "double", "half", "bfloat16", "long", "int", "short", "byte"}
    | {"bool"}
)
"""Methods of a tensor that give another one."""
_ACTS = {
    Type.TENSOR: frozenset({"backward", "retain_grad"}) | torch_api.INPLACE_METHODS | _MOVES,
    Type.OPTIMIZER: frozenset({"step", "zero_grad", "load_state_dict", "add_param_group"}),
    Type.SCHEDULER: frozenset({"step", "load_state_dict"}),
    Type.MODULE: frozenset(
        {"train", "eval", "zero_grad", "requires_grad_", "load_state_dict", "share_memory", "apply", "to", "cuda", "cpu"}
    )
    | frozenset({"half", "float", "double", "bfloat16", "compile", "add_module", "register_buffer", "register_parameter"}),
}
"""The methods that do something to a value of each type."""
_SCALER_ACTS = frozenset({"step", "update", "unscale_", "load_state_dict"})
_NEED_ARGUMENTS = frozenset(
    {"load_state_dict", "add_param_group", "apply", "to", "add_module", "register_buffer", "register_parameter", "unscale_"}
    | {"clamp_", "clip_"}
)
_CALLABLE_INPLACE = frozenset(
    {"abs_", "absolute_", "acos_", "acosh_", "arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_", "arctanh_", "asin_"}
    | {"asinh_", "atan_", "atanh_", "bernoulli_", "bitwise_not_", "cauchy_", "ceil_", "conj_physical_", "cos_", "cosh_"}
    | {"deg2rad_", "detach_", "digamma_", "erf_", "erfc_", "erfinv_", "exp2_", "exp_", "expm1_", "exponential_", "fix_"}
    | {"floor_", "frac_", "i0_", "lgamma_", "log10_", "log1p_", "log2_", "log_", "log_normal_", "logical_not_", "logit_"}
    | {"nan_to_num_", "neg_", "negative_", "normal_", "rad2deg_", "random_", "reciprocal_", "relu_", "requires_grad_"}
    | {"round_", "rsqrt_", "set_", "sgn_", "share_memory_", "sigmoid_", "sign_", "sin_", "sinc_", "sinh_", "sqrt_", "square_"}
    | {"squeeze_", "t_", "tan_", "tanh_", "tril_", "triu_", "trunc_", "uniform_", "zero_"}
)
"""The in-place methods that torch 2.13 lets be called without arguments, found by calling them all."""
_STEPS_WITH_ARGUMENT = frozenset({"torch.optim.LBFGS", "torch.optim.lr_scheduler.ReduceLROnPlateau"})
_FUNCTIONS = frozenset(
    {"torch.cuda.empty_cache", "torch.cuda.synchronize", "torch.cuda.init", "torch.cuda.ipc_collect"}
    | {"torch.cuda.reset_peak_memory_stats", "torch.cuda.reset_max_memory_allocated", "torch.mps.empty_cache"}
    | {"torch.mps.synchronize", "torch.distributed.barrier", "torch.distributed.destroy_process_group", "torch.seed"}
)
_CONTEXTS = frozenset(
    {"torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.autograd.detect_anomaly", "torch.cuda.amp.autocast"}
    | {"torch.autograd.profiler.profile", "torch.profiler.profile"}
)
_CONTEXT_NAMES = frozenset(name.rpartition(".")[2] for name in _CONTEXTS)
_PLAIN_CONTEXTS = frozenset({"no_grad", "enable_grad", "inference_mode"})
"""Those that are often imported by name; the other names mean many things."""


class Lacks(Enum):
    """What a method or function that is named lacks to do what it is for."""

    CALL = "a call"
    ASSIGNED_CALL = "a call whose result takes the place of the tensor"
    ARGUMENTS = "a call with arguments, which are not there to guess"


class Uncalled:
    """Finds what a file names and does not call."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def functions(self) -> dict[ast.expr, Lacks]:
        """The methods and functions that act on something, and are a statement of their own."""
        found: dict[ast.expr, Lacks] = {}
        for statement in self._semantics.tree.of_type(ast.Expr):
            if isinstance(statement.value, ast.Attribute) and not is_tried(self._semantics.tree, statement):
                lacks = self._lacks(statement.value)
                if lacks is not None:
                    found[statement.value] = lacks
        return found

    @cached_property
    def contexts(self) -> frozenset[ast.expr]:
        """The classes of context managers that a ``with`` is given in the place of one."""
        tree = self._semantics.tree
        blocks: list[ast.With | ast.AsyncWith] = [*tree.of_type(ast.With), *tree.of_type(ast.AsyncWith)]
        items = [item.context_expr for block in blocks for item in block.items]
        return frozenset(item for item in items if self._is_context(item))

    def _is_context(self, node: ast.expr) -> bool:
        known = _CONTEXT_NAMES if isinstance(node, ast.Attribute) else _PLAIN_CONTEXTS
        return last_name(node) in known and self._semantics.qualified_name(node) in _CONTEXTS

    # --- what it is a method of --------------------------------------------------------------------------------------

    def _lacks(self, method: ast.Attribute) -> Lacks | None:
        """What a method lacks that would act on something; ``None`` for one that would not, as far as is known."""
        if self._semantics.qualified_name(method) in _FUNCTIONS:
            return Lacks.CALL
        kind = self._semantics.kind(method.value)
        if isinstance(kind.definition, ast.ClassDef) and kind.type in _ACTS:
            own = self._semantics.facts.method(kind.definition, method.attr)
            if own is not None:
                return _lacks(own) if dotted(method) is not None and not own.decorator_list else None
            if self._is_stored(kind.definition, method.attr):
                return None
        return self._lacks_of_torch(method, kind) if self._acts(method, kind) else None

    def _is_stored(self, definition: ast.ClassDef, name: str) -> bool:
        return any(slot.stores or slot.class_values for slot in self._semantics.facts.slots(definition, name))

    def _acts(self, method: ast.Attribute, kind: Kind) -> bool:
        """Whether a method of torch's does something to its owner, which is of that kind."""
        if kind.known:
            is_scaler = kind.type is Type.INSTANCE and kind.name in GRAD_SCALERS
            return method.attr in (_SCALER_ACTS if is_scaler else _ACTS.get(kind.type, ()))
        match method.attr:
            case "zero_grad":
                return True  # of an optimizer or a module: nothing else has one
            case "step":
                return self._semantics.of(Optimizers).acts_as_optimizer(method.value)
            case "eval" | "train":
                return self._is_called(method.value)
        return False

    def _is_called(self, receiver: ast.expr) -> bool:
        """Whether, in a file about torch, the object is called like a module."""
        if "torch" not in self._semantics.names.imported_libraries:
            return False
        calls = self._semantics.facts.calls.get(last_name(receiver), ())
        return any(ast.dump(call.func) == ast.dump(receiver) for call in calls)

    def _lacks_of_torch(self, method: ast.Attribute, kind: Kind) -> Lacks:
        """What a method of torch's lacks, whose owner is of that kind."""
        name = method.attr
        if name in _NEED_ARGUMENTS or (name == "step" and _steps_with_argument(kind)):
            return Lacks.ARGUMENTS
        if kind.type is not Type.TENSOR:
            return Lacks.CALL
        if name in torch_api.INPLACE_METHODS and name not in _CALLABLE_INPLACE:
            return Lacks.ARGUMENTS
        return Lacks.ASSIGNED_CALL if name in _MOVES else Lacks.CALL


def _lacks(method: Function) -> Lacks:
    """What a method of the file lacks, which cannot always be called with ``self`` alone."""
    arguments = method.args
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return Lacks.ARGUMENTS if positional > 1 or None in arguments.kw_defaults else Lacks.CALL


def _steps_with_argument(kind: Kind) -> bool:
    """Whether the step of a value takes a closure, a loss or an optimizer."""
    return kind.type is Type.INSTANCE or kind.name in _STEPS_WITH_ARGUMENT
