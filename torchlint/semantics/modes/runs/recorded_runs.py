"""Whether autograd records a run of a model, and whether a part of its graph may stay somewhere."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.gradient_uses import GradientUses
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import FUNCTIONS, is_false, last_name
from torchlint.semantics.graphs.differentiating import DifferentiatingModels
from torchlint.semantics.graphs.frozen.results import FrozenResults
from torchlint.semantics.graphs.likely.parameterless import ParameterlessModules
from torchlint.semantics.modes.runs.recorded_models import RecordedModels
from torchlint.semantics.modes.runs.sure_runs import SureRuns, owners
from torchlint.semantics.observers.unrecorded_calls import UnrecordedCalls
from torchlint.semantics.summaries.shown.quiet import freezes

_BASES = frozenset({"torch.nn.Module", "builtins.object"})
_REGISTERING = ("add_module", "register_module", "register_parameter", "setattr", "__setattr__")
_OF_HOOKS = ("forward_hook", "forward_pre_hook", "weight_norm", "spectral_norm", "parametri", "prune")
"""Words of code that has something be computed before or behind a forward, and kept."""
_FILLING = frozenset({"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "push", "put", "heappush"})
"""What keeps what it is given in something else."""


class RecordedRuns:
    """Tells of the calls that run models what becomes of their graph."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def are(self, run: ast.Call) -> bool:
        """Whether nothing shows that autograd is off there, that the model is frozen, or that its forward needs a graph."""
        if self._semantics.no_grad.covers(run) or self._semantics.of(FrozenResults).is_graphless_run(run):
            return False
        if self._semantics.of(UnrecordedCalls).are_all_of(self._tree.function(run)):
            return False
        if self._semantics.of(DifferentiatingModels).may_be(run.func) or self._semantics.of(GradientUses).call_uses(run):
            return False
        sure = self._semantics.of(SureRuns)
        if sure.is_in_strange_context(run) or not self._names(run).isdisjoint(sure.frozen | self._frozen):
            return False
        kind = self._semantics.kind(run.func)
        if self._semantics.of(ParameterlessModules).are(run.func) or self._is_without_parameters(kind.definition):
            return False
        return not self._semantics.of(RecordedModels).may_be_quiet(kind)

    def are_known(self, run: ast.Call) -> bool:
        """Whether the model is recorded, as its class or the file's training says, and nothing may keep a part of its graph."""
        kind, models = self._semantics.kind(run.func), self._semantics.of(RecordedModels)
        if models.may_keep(kind) or self._keeps_elsewhere(kind.definition) or self._has_hooks:
            return False
        return models.are_known(kind) or not self._names(run).isdisjoint(self._semantics.of(SureRuns).trained)

    @cached_property
    def _has_hooks(self) -> bool:
        return any(map(self._semantics.words.speak_of, _OF_HOOKS))

    def _names(self, run: ast.Call) -> set[str]:
        """What a model is called, and what it is a part of."""
        names, part = {last_name(run.func)}, run.func
        while isinstance(part, (ast.Attribute, ast.Subscript)):
            part = part.value
            names.add(last_name(part))
        return names - {"", "self", "module"}

    # --- classes of the file -----------------------------------------------------------------------------------------

    def _is_without_parameters(self, definition: ast.AST | None) -> bool:
        """Whether a class shows that nothing of it requires grad: it keeps no module, and no parameter that does."""
        if not isinstance(definition, ast.ClassDef):
            return False
        bases = list(self._semantics.facts.bases(definition))
        outside = [base for each in bases for base in each.bases if self._semantics.facts.definition(base) is None]
        if any(self._semantics.qualified_name(base) not in _BASES for base in outside):
            return False
        return not any(self._may_require_grad(part) for each in bases for part in ast.walk(each))

    def _may_require_grad(self, part: ast.AST) -> bool:
        """Whether a part of a class keeps something that may be a module, or a parameter which requires grad."""
        match part:
            case ast.Attribute(ctx=ast.Store()):
                made = self._tree.parent(part)
                value = made.value if isinstance(made, (ast.Assign, ast.AnnAssign)) else None
                return not (isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and _makes_frozen(value)))
            case ast.Call(func=function):
                return last_name(function) in _REGISTERING
        return False

    def _keeps_elsewhere(self, definition: ast.AST | None) -> bool:
        """Whether a class puts something into what it has not made itself: a list that it is given, a global one."""
        if not isinstance(definition, ast.ClassDef):
            return False
        parts = (part for each in self._semantics.facts.bases(definition) for part in ast.walk(each))
        return any(map(self._puts_elsewhere, parts))

    def _puts_elsewhere(self, part: ast.AST) -> bool:
        match part:
            case ast.Call(func=ast.Attribute(value=holder, attr=name)) if name in _FILLING:
                return not self._is_made_there(holder)
            case ast.Call(func=function):
                return last_name(function) in (*_REGISTERING, "register_buffer") and not self._is_of_constructor(part)
            case ast.Subscript(value=holder, ctx=ast.Store()):
                return not self._is_made_there(holder)
            case ast.AugAssign(target=ast.Name() as target):
                binding = self._semantics.bindings.of(target)
                return binding is None or any(each.form is Form.PARAMETER for each in binding.before)
        return False

    def _is_of_constructor(self, part: ast.AST) -> bool:
        function = self._tree.function(part)
        return isinstance(function, FUNCTIONS) and function.name == "__init__"

    def _is_made_there(self, holder: ast.expr) -> bool:
        """Whether a variable has what the function around made itself, or a constructor fills something of its object."""
        if self._is_of_constructor(holder):
            return True
        bindings = self._semantics.bindings.reaching(holder) if isinstance(holder, ast.Name) else ()
        function = self._tree.function(holder)
        own = (each.form is not Form.PARAMETER and self._tree.function(each.node) is function for each in bindings)
        return bool(bindings) and all(own)

    # --- what is frozen ----------------------------------------------------------------------------------------------

    @cached_property
    def _frozen(self) -> set[str]:
        """What is given what a function of the file makes and freezes, or whose weights are detached in place."""
        names, helpers = set[str](), set[str]()
        for call in (*self._semantics.facts.calls.get("detach_", ()), *self._semantics.facts.calls.get("setattr", ())):
            if last_name(call.func) == "setattr" and not any(_says_requires_grad(each) for each in call.args):
                continue
            for around in self._tree.ancestors(call):
                if isinstance(around, ast.For):
                    names |= owners(around.iter)
                elif isinstance(around, FUNCTIONS):
                    helpers.add(around.name)
        for part in (*self._tree.of_type(ast.Assign), *self._semantics.facts.calls.get("requires_grad_", ())):
            function = self._tree.function(part) if freezes(part) else None
            if isinstance(function, FUNCTIONS):
                helpers.add(function.name)
        for helper in helpers - {"__init__"}:
            made = (self._tree.parent(call) for call in self._semantics.facts.calls.get(helper, ()))
            names |= {last_name(target) for each in made if isinstance(each, ast.Assign) for target in each.targets}
        return names


def _makes_frozen(call: ast.Call) -> bool:
    """Whether a call makes a parameter that does not require grad: ``nn.Parameter(x, requires_grad=False)``."""
    return any(word.arg == "requires_grad" and is_false(word.value) for word in call.keywords)


def _says_requires_grad(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "requires_grad"
