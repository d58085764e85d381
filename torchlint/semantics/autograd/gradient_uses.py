"""Which code needs gradients, or sees to it itself whether there are any."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, given_to, is_false, last_name, walk_body
from torchlint.semantics.conditions.assumptions import Assumption, Assumptions
from torchlint.semantics.graphs.differentiating import DifferentiatingModels
from torchlint.semantics.memory.references import References
from torchlint.semantics.purpose import is_evaluation

_NEEDS_GRADIENTS = frozenset(
    {
        *("backward", "manual_backward", "requires_grad_", "retain_grad", "register_hook", "register_full_backward_hook"),
        *(
            "register_backward_hook",
            "enable_grad",
            "perturb",
            "jacobian",
            "hessian",
            "jvp",
            "vjp",
            "value_and_grad",
        ),
        *("force_grad", "grad", "fit", "train_step", "optimize_parameters", "clip_grad_norm_"),
    }
)
"""Methods and functions that need gradients, or make them."""
_NEED_GRADIENTS = re.compile(
    r"attack|advers|fgsm|pgd|perturb|saliency|grad_?cam|attribution|explain|hessian|jacobian|langevin|inner_loop|influence|"
    r"integrated_grad|trainer$|deepdream|(^|_)dream|invert|grads(_|$)|gradients?$|derivativ|laplac|(^|_)pde(_|$)|pinn|physics|"
    r"(^|_)gradients?_(update|step|descent|ascent|penalty)|(^|_)innerloop",
    re.IGNORECASE,
)
"""What functions are called that compute gradients with respect to a model's inputs, or of a model in evaluation mode."""
_TRAINING = re.compile(
    r"_*(fit|train|optimi[sz]e|learn)_(one_)?(policy|agent|actor|critic|model|network|net|epoch|batch|step)", re.I
)
"""What functions are called that train what they are given."""
_EXTRACTORS = re.compile(r"grad_?cam|cam_?extractor|smooth_?grad|saliency", re.IGNORECASE)
"""What is called that computes gradients of a model's scores when it is handed on."""
_LOSSES = re.compile(r"(^|_)loss(es)?(_|$)", re.IGNORECASE)
"""What losses are called: a model that ``adapt`` is given one for is a step of gradient descent further."""
_INNER_OPTIMIZERS = re.compile(r"^_*(diff|inner)_?opt(im|imi[sz]er)?$", re.IGNORECASE)
"""What optimizers are called whose ``step`` differentiates the loss that it is given."""
_GRADIENT_APIS = (
    "torch.autograd.grad",
    "torch.autograd.functional.",
    "torch.func.",
    "functorch.",
    "captum.",
    "torchcam.",
    "pytorch_grad_cam.",
    "torchmeta.utils.gradient_based.",
    "higher.",
    "torch.optim.",
)
_DEEP = 3
"""Through so many functions what is assumed is followed."""


class GradientUses:
    """Tells whether code needs gradients, or sees to them itself."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._assumptions = semantics.of(Assumptions)
        self._functions: dict[Function, bool] = {}

    def used_in(self, statements: Iterable[ast.stmt], given: Assumption | None = None, depth: int = _DEEP) -> bool:
        """Whether statements, or the functions that they call, need gradients; under an assumption, perhaps, and
        with the constants that the functions are given.
        """
        executed = [part for part in statements if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
        assumed = given if given is not None else Assumption()
        return any(
            self._uses(part, assumed, depth) and not self._assumptions.excludes(assumed, part) for part in walk_body(executed)
        )

    def call_uses(self, call: ast.Call) -> bool:
        """Whether a call needs gradients, or the function of the file that it runs does."""
        return self._call_uses(call, Assumption(), _DEEP)

    def _uses(self, part: ast.AST, given: Assumption, depth: int) -> bool:
        match part:
            case ast.Call():
                return self._call_uses(part, given, depth)
            case ast.Attribute(attr="grad", ctx=ast.Load()):
                return self._semantics.qualified_name(part) is None
            case ast.Attribute(attr="requires_grad", ctx=ast.Store()):
                return True
            case ast.keyword(arg="volatile"):
                return True  # which is how autograd was turned off before there was `no_grad`
            case ast.keyword(arg="requires_grad" | "create_graph", value=value):
                return not is_false(value)
        return False

    def _call_uses(self, call: ast.Call, given: Assumption, depth: int) -> bool:
        name = last_name(call.func)
        if name in _NEEDS_GRADIENTS or _NEED_GRADIENTS.search(name) or _TRAINING.fullmatch(name):
            return True
        if name == "zero_grad":
            return not given and not self._is_evaluation(call)
        if isinstance(call.func, ast.Attribute) and _NEED_GRADIENTS.search(last_name(call.func.value)):
            return True
        if (self._semantics.qualified_name(call.func) or "").startswith(_GRADIENT_APIS):
            return True
        if any(_EXTRACTORS.search(last_name(given)) for given in call.args) or _adapts(call):
            return True
        function = self._semantics.of(References).callee(call)
        if function is None:
            kind = self._semantics.kind(call.func)
            if isinstance(kind.definition, ast.ClassDef) and self._semantics.facts.is_module(kind.definition):
                function = self._semantics.facts.method(kind.definition, "forward")
            elif kind.classes_elsewhere and self._semantics.of(DifferentiatingModels).are(kind):
                return True
        if function is None:
            return self._semantics.elsewhere.differentiates(call)
        if not self._function_uses(function):
            return False
        within = self._assumptions.within(function, call, given) if depth else Assumption()
        return not within or self.used_in(function.body, within, depth - 1)

    def _is_evaluation(self, call: ast.Call) -> bool:
        """Whether a function is called like one that evaluates: what zeroes gradients there is left of a training."""
        function = self._semantics.tree.function(call)
        return isinstance(function, FUNCTIONS) and is_evaluation(function.name)

    def _function_uses(self, function: Function) -> bool:
        """Whether a function needs gradients, whatever it is given."""
        if function not in self._functions:
            self._functions[function] = False
            self._functions[function] = self.used_in(function.body)
        return self._functions[function]


def _adapts(call: ast.Call) -> bool:
    """Whether a method takes a step down the loss that it is given: ``learner.adapt(loss)``, ``diffopt.step(loss)``."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "step":
        return bool(call.args) and _INNER_OPTIMIZERS.search(last_name(call.func.value)) is not None
    given = given_to(call)
    return call.func.attr == "adapt" and any(_LOSSES.search(last_name(part)) for part in given)
