from __future__ import annotations

import ast
import re

from torchlint.fixes.rewriting import TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.expected_errors import is_tried
from torchlint.rules.screens import Screen, is_about_torch
from torchlint.semantics import Type, torch_api
from torchlint.semantics.code.tree import Function, dotted
from torchlint.semantics.kinds.results import GRAD_SCALERS
from torchlint.semantics.training.optimizers import Optimizers

_MOVES = frozenset(
    {
        "cuda",
        "cpu",
        "detach",
        "clone",
        "contiguous",
        "float",
        "double",
        "half",
        "bfloat16",
        "long",
        "int",
        "short",
        "byte",
        "bool",
    }
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


_LAST_NAMES = {name.rpartition(".")[2] for name in _FUNCTIONS}.union(_SCALER_ACTS, *_ACTS.values())
_NAMED_LAST = re.compile(rb"\.(?:(?=[\s\\#])[\s\\]*(?:#[^\r\n]{0,300}[\r\n][\s\\]*){0,5})?([\w\x80-\xff]+)[ \t\f)]*[\r\n;#\\]")
_BYTE_NAMES = frozenset(name.encode() for name in _LAST_NAMES)
_NAMED_CONTEXTS = tuple(
    re.compile(name + rb"[ \t\\]*(?:[,:)\r\n#]|as\b)")
    for name in (b"no_grad", b"enable_grad", b"inference_mode", b"detect_anomaly", rb"amp\.autocast", rb"profiler\.profile")
)
_OTHER_STATEMENT = re.compile(
    rb"[ \t]*(?:return|assert|raise|del|import|from|yield|global|#)\b|[^(\[{\"'#]*[^:=!<>(\[{\"'#]=[^=]"
)
_CHAIN = re.compile(rb"(?:[^#\"']*:)?[\s\\\w.()\x80-\xff]*")
_DEFINED = re.compile(rb"def[\s\\]+([\w\x80-\xff]+)")


def _may_hold_uncalled(data: bytes) -> bool:
    """Whether a line ends in the name of such a method, or is that of one of the file's own, and is no other statement."""
    if not (b"backward" in data or b"zero_grad" in data or b"step" in data or is_about_torch(data)):
        return False
    defined: frozenset[bytes] | None = None
    for match in _NAMED_LAST.finditer(data if data.endswith(b"\n") else data + b"\n"):
        name = match[1]
        start = 0
        for separator in (b"\n", b"\r", b";"):  # each is looked for behind the one before: lines may be very long
            start = max(start, data.rfind(separator, start, match.start()) + 1)
        before = data[start : match.start()]
        if name in _BYTE_NAMES:
            if before.count(b"(") != (before + match[0]).count(b")") or _OTHER_STATEMENT.match(before) is None:
                return True
        elif _CHAIN.fullmatch(before):
            if defined is None:
                defined = frozenset(_DEFINED.findall(data))
            if name in defined:
                return True
    return any(pattern.search(data) for pattern in _NAMED_CONTEXTS)


class UncalledMethod(AstRule):
    """
    ## What it does
    Finds methods that stand as a statement without being called, `loss.backward`, `optimizer.step`, `model.eval`; functions
    such as `torch.cuda.synchronize`; and `with torch.no_grad:`.

    ## Why is this bad
    Without `()` the method is looked up and thrown away: no gradient is computed, no weight changes, dropout stays on, and
    nothing is raised. (`with torch.no_grad:` raises a `TypeError`, once that line is reached.)

    ## Example
    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step
    ```

    ## Use instead
    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    ```

    ## Fix safety
    Safe: the statement does nothing, and calling the method is what was meant. A method that gives a new tensor, as in
    `x.cuda`, is called and its result assigned: `x = x.cuda()`. There is no fix where the call needs arguments.

    ## References
    - [Optimizing model parameters](https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html)
    """

    code = "TPL013"
    name = "uncalled-method"
    screen = Screen(any_of=(b"torch", b"backward", b"zero_grad", b"step", b"nn"), check=_may_hold_uncalled)

    def visit_Expr(self, node: ast.Expr) -> None:
        """`loss.backward` as a statement."""
        method = node.value
        if not isinstance(method, ast.Attribute) or is_tried(node, self.semantics):
            return
        if self.semantics.qualified_name(method) in _FUNCTIONS:
            self._report(method, "does nothing", self._call(method))
        elif (receiver := self._acting(method)) is not None:
            self._report(method, "does nothing", self._mend(method, receiver))

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        """`with torch.no_grad:`."""
        for item in node.items:
            context = item.context_expr
            if isinstance(context, (ast.Name, ast.Attribute)) and self.semantics.qualified_name(context) in _CONTEXTS:
                if (dotted(context) or "").rpartition(".")[2] in ("no_grad", "enable_grad", "inference_mode") or isinstance(
                    context, ast.Attribute
                ):
                    self._report(context, "raises a `TypeError`: it is the class of the context manager", self._call(context))

    visit_AsyncWith = visit_With

    # --- what it is a method of --------------------------------------------------------------------------------------

    def _acting(self, method: ast.Attribute) -> Type | None:
        """The type of the value that the method would act on; ``None`` where it is none that is known."""
        kind = self.semantics.kind(method.value)
        if isinstance(kind.definition, ast.ClassDef) and kind.type in _ACTS:
            own = self.semantics.facts.method(kind.definition, method.attr)
            if own is not None:
                return kind.type if dotted(method) is not None and not own.decorator_list else None
            if self.semantics.facts.slots(kind.definition, method.attr) and self._is_stored(kind.definition, method.attr):
                return None
        if method.attr in _ACTS.get(kind.type, ()):
            return kind.type
        if kind.type is Type.INSTANCE and kind.name in GRAD_SCALERS and method.attr in _SCALER_ACTS:
            return kind.type
        if not kind.known and method.attr == "zero_grad":
            return Type.OPTIMIZER  # or a module: nothing else has one
        if not kind.known and method.attr == "step" and self.semantics.of(Optimizers).acts_as_optimizer(method.value):
            return Type.OPTIMIZER
        if not kind.known and method.attr in ("eval", "train") and self._is_called(method.value):
            return Type.MODULE
        return None

    def _is_called(self, receiver: ast.expr) -> bool:
        """Whether, in a file about torch, the object is called like a module."""
        if "torch" not in self.semantics.names.imported_libraries:
            return False
        calls = self.semantics.facts.calls.get(receiver.attr if isinstance(receiver, ast.Attribute) else "", ())
        if isinstance(receiver, ast.Name):
            calls = self.semantics.facts.calls.get(receiver.id, ())
        return any(ast.dump(call.func) == ast.dump(receiver) for call in calls)

    def _is_stored(self, definition: ast.ClassDef, name: str) -> bool:
        return any(slot.stores or slot.class_values for slot in self.semantics.facts.slots(definition, name))

    # --- reports -----------------------------------------------------------------------------------------------------

    def _report(self, target: ast.expr, effect: str, edits: list[TextEdit]) -> None:
        name = ast.unparse(target)
        fix = self.fix(f"Call `{name}`", edits, safe=True) if edits else None
        remedy = f"call it: `{name}()`" if edits else "call it with what it needs"
        self.report(target, f"`{name}` without a call {effect}; {remedy}", fix)

    def _call(self, function: ast.expr) -> list[TextEdit]:
        end = self.source.end(function)
        return [(end, end, "()")]

    def _mend(self, method: ast.Attribute, receiver: Type) -> list[TextEdit]:
        """The edits that make a call of ``method``; none where it takes arguments that are not there to guess."""
        definition = self.semantics.kind(method.value).definition
        own = self.semantics.facts.method(definition, method.attr) if isinstance(definition, ast.ClassDef) else None
        if own is not None:
            return [] if _needs_arguments(own) else self._call(method)
        if method.attr in _NEED_ARGUMENTS or (receiver is Type.INSTANCE and method.attr == "step"):
            return []
        if method.attr == "step" and self.semantics.kind(method.value).name in _STEPS_WITH_ARGUMENT:
            return []
        if receiver is not Type.TENSOR:
            return self._call(method)
        if method.attr in torch_api.INPLACE_METHODS and method.attr not in _CALLABLE_INPLACE:
            return []
        if method.attr in _MOVES:
            if not isinstance(method.value, (ast.Name, ast.Attribute, ast.Subscript)):
                return []
            start = self.source.start(self.semantics.tree.statement(method))
            return [(start, start, f"{self.source.segment(method.value)} = "), *self._call(method)]
        return self._call(method)


def _needs_arguments(method: Function) -> bool:
    """Whether a method cannot be called with ``self`` alone."""
    arguments = method.args
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return positional > 1 or any(default is None for default in arguments.kw_defaults)
