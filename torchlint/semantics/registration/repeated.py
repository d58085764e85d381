"""Lists that hold one module several times, so that their layers have the same weights: ``[nn.Linear(2, 2)] * 3``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics, torch_api
from torchlint.semantics.code.tree import last_name, spoken_name, walk_body
from torchlint.semantics.graphs.likely.parameterless import ParameterlessModules

Node = TypeVar("Node")

_CONTAINERS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential"})
_PARAMETRIC = torch_api.PARAMETER_ATTRIBUTES.keys() | torch_api.SUBMODULES.keys()
_STATELESS = re.compile(
    r"act(ivation|_fn|_layer)?\Z|relu|gelu|silu|swish|mish|sigmoid|tanh|softm|soft_|elu\Z|pool|drop|pad|flatten|identity|upsamp"
    r"|rearrange|fold|shuffle|reshape|permute|lambda|loss|criterion|noise|none|null",
    re.IGNORECASE,
)
"""Names of modules that have no weights."""
_SHARING = re.compile(r"shar|(\A|_)tie|universal|recurr|unroll|albert|reus|same|copies", re.IGNORECASE)
"""What says that weights are shared on purpose."""
_DEPTH = 3
"""So many classes of the file are looked into for weights."""
_COPYING = frozenset({"deepcopy", "copy", "clone", "_get_clones", "get_clones", "clones"})


@dataclass(frozen=True, eq=False, slots=True)
class Repeated(Generic[Node]):
    """The ``modules`` that a list holds several times; ``times`` is how often. They are made on the spot, or have names."""

    modules: tuple[Node, ...]
    times: Node
    are_made: bool


class RepeatedModules:
    """Looks at the lists of modules in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts

    @cached_property
    def found(self) -> dict[ast.expr, Repeated[ast.expr]]:
        """The expressions that give a container of modules one of them several times."""
        found: dict[ast.expr, Repeated[ast.expr]] = {}
        for name in ("ModuleList", "Sequential"):
            for call in self._facts.calls.get(name, ()):
                if self._semantics.qualified_name(call.func) in _CONTAINERS:
                    for given in call.args:
                        for part in self._lists(given.value if isinstance(given, ast.Starred) else given):
                            repeated = self._repeated(part)
                            if repeated is not None and not self._is_shared_on_purpose(call, part, repeated):
                                found[part] = repeated
        return found

    def _lists(self, given: ast.expr) -> Iterator[ast.expr]:
        """What a container is given, or the parts of a sum of lists; of a name that is used once, what it is bound to."""
        if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
            yield from self._lists(given.left)
            yield from self._lists(given.right)
        elif isinstance(given, ast.Name):
            bindings = self._semantics.bindings.reaching(given)
            if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT and bindings[0].uses == [given]:
                value = bindings[0].value
                yield from self._lists(value) if isinstance(value, (ast.BinOp, ast.ListComp)) else ()
        else:
            yield given

    def _repeated(self, given: ast.expr) -> Repeated[ast.expr] | None:
        match given:
            case ast.BinOp(left=ast.List(elts=modules), op=ast.Mult(), right=times):
                return self._product(modules, times)
            case ast.BinOp(left=times, op=ast.Mult(), right=ast.List(elts=modules)):
                return self._product(modules, times)
            case (
                ast.ListComp(elt=ast.Name() as module, generators=[ast.comprehension(ifs=[]) as each])
                | ast.GeneratorExp(elt=ast.Name() as module, generators=[ast.comprehension(ifs=[]) as each])
            ):
                match each.iter:
                    case ast.Call(func=ast.Name(id="range"), args=[*_, times] as limits) if len(limits) < 3:
                        is_outer = not any(
                            isinstance(part, ast.Name) and part.id == module.id for part in ast.walk(each.target)
                        )
                        if is_outer and self._is_module(module) and not _is_one(times):
                            return Repeated((module,), times, False)
        return None

    def _product(self, modules: list[ast.expr], times: ast.expr) -> Repeated[ast.expr] | None:
        if not modules or _is_one(times) or any(isinstance(module, ast.Starred) for module in modules):
            return None
        if not any(map(self._is_module, modules)):
            return None
        are_made = all(isinstance(module, ast.Call) for module in modules)
        return Repeated(tuple(modules), times, are_made) if are_made or len(modules) == 1 else None

    # --- modules with weights ----------------------------------------------------------------------------------------

    def _is_module(self, node: ast.expr) -> bool:
        """Whether an item of a container has weights, as far as can be told."""
        match node:
            case ast.Call(func=function, args=arguments):
                return not _is_told_none(node) and self._makes_weights(function, arguments)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                if len(bindings) != 1 or _STATELESS.search(node.id):
                    return False
                if bindings[0].form is Form.ASSIGNMENT and not bindings[0].path and isinstance(bindings[0].value, ast.Call):
                    return self._is_module(bindings[0].value)
                return bindings[0].form is Form.PARAMETER
        return False

    def _makes_weights(self, function: ast.expr, arguments: list[ast.expr]) -> bool:
        name = self._semantics.qualified_name(function) or ""
        if name in _CONTAINERS:
            parts = (part.value if isinstance(part, ast.Starred) else part for part in arguments)
            return any(isinstance(part, ast.Call) and self._is_module(part) for part in parts)
        if name.startswith("torch.nn."):
            return name in _PARAMETRIC
        definition = self._facts.definition(function)
        if isinstance(definition, ast.ClassDef):
            return self._has_weights(definition)
        shown = last_name(function)
        if not shown[:1].isupper() or _STATELESS.search(shown):
            return False
        call = self._tree.parent(function)
        return not (isinstance(call, ast.Call) and self._semantics.of(ParameterlessModules).are(call))

    def _has_weights(self, definition: ast.ClassDef, depth: int = _DEPTH) -> bool:
        """Whether the constructor of a class of the file makes layers with weights, parameters, or such a class itself."""
        constructor = self._facts.method(definition, "__init__")
        calls = (part for part in walk_body(constructor.body) if isinstance(part, ast.Call)) if constructor is not None else ()
        return any(self._is_weighted(call.func, depth) for call in calls)

    def _is_weighted(self, function: ast.expr, depth: int) -> bool:
        name = self._semantics.qualified_name(function) or ""
        if name in _PARAMETRIC or name == "torch.nn.Parameter":
            return True
        definition = self._facts.definition(function) if depth else None
        return isinstance(definition, ast.ClassDef) and self._has_weights(definition, depth - 1)

    # --- sharing on purpose ------------------------------------------------------------------------------------------

    def _is_shared_on_purpose(self, call: ast.Call, part: ast.expr, repeated: Repeated[ast.expr]) -> bool:
        """Whether names around say that weights are shared, or another branch copies the module."""
        told: list[str] = [spoken_name(module) for module in repeated.modules if not isinstance(module, ast.Call)]
        for frame in (*self._tree.ancestors(call), *self._tree.ancestors(part)):
            match frame:
                case ast.If(test=test) | ast.IfExp(test=test):
                    told.extend(last_name(part) for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute)))
                case ast.Assign(targets=targets):
                    told.extend(last_name(target) for target in targets)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    told.append(name)
        if any(_SHARING.search(name) for name in told) or self._is_copied(call, repeated):
            return True
        return any(isinstance(frame, ast.If) and self._is_choice(frame, call) for frame in self._tree.ancestors(call))

    def _is_choice(self, condition: ast.If, call: ast.Call) -> bool:
        """Whether the other branch of a condition gives the same name a container with a module for each place."""
        target = _target(self._tree.statement(call))
        in_body = any(self._tree.inside(call, part) for part in condition.body)
        for statement in condition.orelse if in_body else condition.body:
            if target is not None and _target(statement) == target and isinstance(statement, ast.Assign):
                for part in ast.walk(statement.value):
                    if isinstance(part, (ast.ListComp, ast.GeneratorExp)) and isinstance(part.elt, ast.Call):
                        return True
        return False

    def _is_copied(self, call: ast.Call, repeated: Repeated[ast.expr]) -> bool:
        """Whether the function around copies the module elsewhere."""
        names = {module.id for module in repeated.modules if isinstance(module, ast.Name)}
        return not names.isdisjoint(self._copied.get(self._tree.function(call), ()))

    @cached_property
    def _copied(self) -> dict[ast.AST | None, set[str]]:
        """The names that are given to what copies, by the function in which that is done."""
        copied: dict[ast.AST | None, set[str]] = {}
        for name in _COPYING & self._facts.calls.keys():
            for call in self._facts.calls[name]:
                names = (argument.id for argument in call.args if isinstance(argument, ast.Name))
                copied.setdefault(self._tree.function(call), set()).update(names)
        return copied


def _target(statement: ast.stmt) -> str | None:
    """What an assignment gives a value, as it is spelled."""
    return ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None


def _is_told_none(call: ast.Call) -> bool:
    """Whether a layer is told to have no weights: ``nn.LayerNorm(8, elementwise_affine=False)``."""
    return any(
        word.arg in ("affine", "elementwise_affine") and isinstance(word.value, ast.Constant) and word.value.value is False
        for word in call.keywords
    )


def _is_one(times: ast.expr) -> bool:
    return isinstance(times, ast.Constant) and times.value in (0, 1)
