"""Which calls of the file's own functions and modules keep an argument for the backward pass."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.code.tree import Function, is_none


class KeptArguments:
    """Tells whether what a call runs does something with an argument at any rate that keeps it."""

    def __init__(self, semantics: Semantics, keeping: Callable[[ast.expr], ast.expr | None]) -> None:
        self._semantics = semantics
        self._keeping = keeping
        self._kept: dict[tuple[Function, str], bool] = {}
        self._parts: dict[tuple[ast.ClassDef, str], ast.ClassDef | None] = {}

    def is_kept(self, call: ast.Call, argument: ast.expr) -> bool:
        """Whether ``call`` keeps ``argument``, which it gives by its place."""
        if any(isinstance(each, ast.Starred) for each in call.args) or self._semantics.no_grad.covers(call):
            return False
        function, place = self._run_by(call), call.args.index(argument)
        if function is None or function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
            return False
        parameters = [*function.args.posonlyargs, *function.args.args]
        if isinstance(self._semantics.tree.parent(function), ast.ClassDef):
            parameters = parameters[1:]
        return place < len(parameters) and self._keeps(function, parameters[place].arg)

    def _keeps(self, function: Function, name: str) -> bool:
        key = (function, name)
        if key not in self._kept:
            self._kept[key] = False  # while its own calls are looked at
            self._kept[key] = any(self._is_kept_at(use) for use in self._given_uses(function, name))
        return self._kept[key]

    def _given_uses(self, function: Function, name: str) -> Iterator[ast.Name]:
        """The uses of a parameter, which has no other value, in statements that are reached whatever happens."""
        [binding, *others] = self._semantics.bindings.scopes[function].bindings[name]
        if others or binding.form is not Form.PARAMETER:
            return
        for use in binding.uses:
            if self._semantics.tree.statement(use) in function.body and not self._leaves_before(function, use):
                yield use

    def _leaves_before(self, function: Function, use: ast.Name) -> bool:
        """Whether a function may return before it gets to a statement at its top."""
        statement = self._semantics.tree.statement(use)
        before = function.body[: function.body.index(statement)]
        return any(isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom)) for each in before for part in ast.walk(each))

    def _is_kept_at(self, use: ast.Name) -> bool:
        if any(isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Lambda)) for parent in self._semantics.tree.ancestors(use)):
            return False
        return not self._semantics.no_grad.covers(use) and self._keeping(use) is not None

    # --- what a call runs --------------------------------------------------------------------------------------------

    def _run_by(self, call: ast.Call) -> Function | None:
        """The function of the file that a call runs: of a module, its ``forward``."""
        module = self._semantics.kind(call.func)
        if module.type is not Type.MODULE:
            return self._semantics.inference.call_graph.called(call)
        definition = module.definition if isinstance(module.definition, ast.ClassDef) else self._part(call.func)
        return self._semantics.facts.method(definition, "forward") if definition is not None else None

    def _part(self, node: ast.expr) -> ast.ClassDef | None:
        """The class of the modules in a list that ``node`` is one of: ``self.layers[i]``, or what a loop takes of it."""
        if isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            loops = [each.value for each in bindings if each.form is Form.LOOP and not each.path and each.value is not None]
            container = loops[0] if len(loops) == len(bindings) == 1 else None
        else:
            container = node.value if isinstance(node, ast.Subscript) else None
        if not isinstance(container, ast.Attribute):
            return None
        owner = self._semantics.facts.self_class(container.value)
        if owner is None:
            return None
        key = (owner, container.attr)
        if key not in self._parts:
            self._parts[key] = self._class_of_parts(owner, container.attr)
        return self._parts[key]

    def _class_of_parts(self, owner: ast.ClassDef, name: str) -> ast.ClassDef | None:
        """The one class whose instances alone are put in a list of modules."""
        classes: set[ast.AST | None] = set()
        for slot in self._semantics.facts.slots(owner, name):
            for store in slot.stores:
                statement = self._semantics.tree.parent(store)
                made = statement.value if isinstance(statement, ast.Assign) else None
                if not isinstance(made, ast.Call) or self._semantics.qualified_name(made.func) != "torch.nn.ModuleList":
                    return None
                classes.update(map(self._class, _listed(made)))
            for use in slot.uses:
                match self._semantics.tree.parent(use):
                    case ast.Attribute(attr="append") as method:
                        call = self._semantics.tree.parent(method)
                        classes.update(map(self._class, call.args) if isinstance(call, ast.Call) else [None])
                    case ast.Attribute(attr="extend" | "insert" | "__setitem__"):
                        return None
        [only] = classes if len(classes) == 1 else [None]
        return only if isinstance(only, ast.ClassDef) else None

    def _class(self, part: ast.expr) -> ast.AST | None:
        kind = self._semantics.kind(part)
        return kind.definition if kind.type is Type.MODULE and isinstance(part, ast.Call) else None


def _listed(made: ast.Call) -> Iterator[ast.expr]:
    """What an ``nn.ModuleList`` is made of; a ``None`` among others is not called."""
    match made.args:
        case []:
            return
        case [ast.List(elts=parts) | ast.Tuple(elts=parts)]:
            yield from (part for part in parts if not is_none(part))
        case [ast.ListComp(elt=part) | ast.GeneratorExp(elt=part)]:
            yield part
        case [other, *_]:
            yield other
