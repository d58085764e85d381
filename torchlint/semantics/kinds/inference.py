"""The kind of every expression: from torch's API, from the file's own classes and functions, and from how values are used."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.semantics.code import Code
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.definitions import is_class_method, is_static
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk
from torchlint.semantics.kinds.annotations import annotated_kind, instance
from torchlint.semantics.kinds.api import api_kind, handed_kind, instance_of, kind_of
from torchlint.semantics.kinds.asked import AskedTensors
from torchlint.semantics.kinds.attributes import Attributes
from torchlint.semantics.kinds.bound.constructed import agreed, constructed_with
from torchlint.semantics.kinds.bound.filled import Writes, writes_at, writes_of
from torchlint.semantics.kinds.bound.moved import before_moves
from torchlint.semantics.kinds.call_graph import CallGraph
from torchlint.semantics.kinds.calls import Calls
from torchlint.semantics.kinds.evidence import TESTED, Evidence
from torchlint.semantics.kinds.grad_mode import NoGrad
from torchlint.semantics.kinds.kind import (
    ARRAY,
    NONE,
    NUMBER,
    OPTIMIZED,
    STRING,
    UNKNOWN,
    Basis,
    Grad,
    Kind,
    Type,
    element_of,
    item_of,
    join,
    mapping,
    record,
    result_grad,
    sequence,
    tensor,
)
from torchlint.semantics.summaries.asking import Asking
from torchlint.semantics.summaries.elsewhere import Elsewhere
from torchlint.semantics.summaries.lookup import ClassElsewhere
from torchlint.semantics.summaries.own_autograd import OwnAutograd

_OF_NO_PROJECT = ("builtins.", "typing.", "torch.", "numpy.", "collections.")
_DEEP = 150
"""At this depth of recursion, what is needed further on is inferred first."""


class Inference:
    """Computes kinds on demand and remembers them; what refers to itself is unknown where it does."""

    def __init__(self, code: Code, no_grad: NoGrad, elsewhere: Elsewhere) -> None:
        self.code = code
        self.no_grad = no_grad
        self.elsewhere = elsewhere
        self.asks_callers = True
        """Whether calls tell what parameters are: not where the answer is for other callers."""
        self._asking = Asking(code)
        self._tree = code.tree
        self._bindings = code.bindings
        self._names = code.names
        self._definitions = code.definitions
        self.own_autograd = OwnAutograd(code, elsewhere)
        self._evidence = Evidence(code, self.own_autograd)
        self._asked = AskedTensors(code)
        self.attributes = Attributes(self, self._evidence)
        self._calls = Calls(self)
        self.call_graph = CallGraph(self)
        self._kinds: dict[ast.AST, Kind] = {}
        self._depth = 0
        self._depth_of_sums = 0
        self._binding_kinds: dict[Binding, Kind] = {}
        self._writes: dict[Binding, Writes | None] = {}
        self._return_kinds: dict[ast.AST, Kind] = {}

    def kind(self, node: ast.expr) -> Kind:
        """What ``node`` evaluates to."""
        found = self._kinds.get(node)
        if found is None:
            if self._depth == _DEEP:
                self._infer_ahead(node)
            self._kinds[node] = UNKNOWN
            self._depth += 1
            found = self._kinds[node] = self._infer(node)
            self._depth -= 1
        return found

    def _infer_ahead(self, node: ast.expr) -> None:
        """Infers what a long chain of assignments or operations is made of, from its far end: recursion stays shallow."""
        ahead: list[ast.expr] = []
        seen: set[ast.AST] = set()
        pending: list[ast.expr] = [node]
        while pending:
            for part in walk(pending.pop()):
                if part in seen or part in self._kinds or not isinstance(part, ast.expr):
                    continue
                seen.add(part)
                ahead.append(part)
                if isinstance(part, ast.Name):
                    values = [binding.value for binding in self._bindings.reaching(part) if binding not in self._binding_kinds]
                    pending.extend(value for value in values if value is not None and value not in seen)
        depth, self._depth = self._depth, 0
        for part in reversed(ahead):
            self.kind(part)
        self._depth = depth

    def _infer(self, node: ast.expr) -> Kind:
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                found = self.attributes.kind(node)
                is_told = found.known or found.elsewhere is not None
                return found if is_told else kind_of(self.elsewhere.target(node), self.elsewhere)
            case ast.Call():
                return self._calls.result(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.BinOp(left=left, right=right):
                return self._operation(node, [left, right])
            case ast.UnaryOp(op=ast.Not()):
                return NUMBER
            case ast.UnaryOp(operand=operand):
                return self._combine(node, [self.kind(operand)])
            case ast.Compare(left=left, comparators=comparators):
                if any(self.kind(operand).is_tensor for operand in (left, *comparators)):
                    return tensor(Grad.NONE, why="a comparison")
                return NUMBER
            case ast.BoolOp(values=values):
                return join([self.kind(value) for value in values])
            case ast.IfExp(body=body, orelse=orelse):
                return join([self.kind(body), self.kind(orelse)])
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.kind(value)
            case _:
                return self._display(node)

    def _display(self, node: ast.expr) -> Kind:
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=bool() | int() | float() | complex()):
                return NUMBER
            case ast.Constant() | ast.JoinedStr():
                return STRING
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if not any(
                isinstance(part, ast.Starred) for part in elements
            ):
                return sequence(items=tuple(self.kind(element) for element in elements))
            case ast.Set(elts=elements) | ast.Tuple(elts=elements) | ast.List(elts=elements):
                return sequence(join([self.kind(element) for element in elements]))
            case ast.ListComp(elt=element) | ast.SetComp(elt=element) | ast.GeneratorExp(elt=element):
                return sequence(self.kind(element))
            case ast.Dict(keys=keys, values=values):
                names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
                if len(names) == len(keys) > 0:
                    return record({name: self.kind(value) for name, value in zip(names, values)})
                return mapping(join([self.kind(value) for value in values]))
            case ast.DictComp(value=value):
                return mapping(self.kind(value))
            case ast.Lambda():
                return Kind(Type.FUNCTION, definition=node)
        return UNKNOWN

    # --- names and what they are bound to ----------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Kind:
        bindings = self._bindings.reaching(node)
        if not bindings:
            name = self._names.qualified(node)
            found = api_kind(name) if name else UNKNOWN
            return found if found.known else kind_of(self.elsewhere.target(node), self.elsewhere)
        found = join([self._kind_at(node, binding) for binding in bindings])
        if found.type is Type.UNKNOWN and (before := before_moves(bindings, self._bindings)):
            made = join([self.binding_kind(binding) for binding in before])
            found = made if made.type is Type.MODULE else found
        if found.type is Type.NUMBER and self._is_sum_of_tensors(node, bindings):
            return tensor(why="a sum of which `.data` is read", basis=Basis.READ)
        return UNKNOWN if found.is_tensor and self._is_found_none(node, found) else found

    def _is_found_none(self, node: ast.Name, found: Kind) -> bool:
        """Whether a test around has found a variable to be no tensor; its items may be some: `if isinstance(out, tuple):`."""
        parent = self._tree.parent(node)
        is_item = isinstance(parent, ast.Subscript) and parent.value is node
        return (found.why == TESTED or not is_item) and self._asked.are_none(node)

    def _is_sum_of_tensors(self, node: ast.Name, bindings: tuple[Binding, ...]) -> bool:
        """Whether a number to which something unknown was added is asked for its ``.data``, which no number has."""
        if not isinstance(parent := self._tree.parent(node), ast.Attribute) or parent.attr != "data":
            return False
        return any(each.form is Form.AUGMENTED and not self.binding_kind(each).known for each in bindings)

    def binding_kind(self, binding: Binding) -> Kind:
        """What a binding gives its name, from its value and from how the name is used from there."""
        found = self._binding_kinds.get(binding)
        if found is None:
            self._binding_kinds[binding] = UNKNOWN
            found = self._binding_kinds[binding] = self._evidence.refine(self._bound(binding), binding)
        return found

    def _kind_at(self, node: ast.Name, binding: Binding) -> Kind:
        """What a binding gives its name where that is read: a tensor without a graph has that of what was written into it."""
        made = self.binding_kind(binding)
        if not made.is_tensor or made.grad is not Grad.NONE or binding.value is None:
            return made
        if binding not in self._writes:
            self._writes[binding] = None
            uses = [use for use, value in writes_of(binding, self._tree, self._names.qualified) if self._has_graph(value)]
            self._writes[binding] = writes_at(uses, binding.value, self._tree)
        writes = self._writes[binding]
        is_filled = writes is not None and writes.may_be_before(node, self._tree)
        return replace(made, grad=Grad.GRAPH, why="what is written into it has a graph") if is_filled else made

    def _has_graph(self, value: ast.expr) -> bool:
        return self.kind(value).grad in (Grad.GRAPH, Grad.LEAF) and not self.no_grad.covers(value)

    def _bound(self, binding: Binding) -> Kind:
        match binding.form:
            case Form.IMPORT:
                found = api_kind(binding.imported)
                return found if found.known else kind_of(self.elsewhere.imported(binding.imported), self.elsewhere)
            case Form.CLASS | Form.FUNCTION:
                return self._definition(binding)
            case Form.PARAMETER:
                return self._parameter(binding)
            case Form.AUGMENTED:
                before = join(self._before(binding))
                if before.is_tensor and self.no_grad.covers(binding.node):
                    return before  # changed in place, which without autograd leaves it what it was
                value = self.kind(binding.value) if binding.value is not None else UNKNOWN
                if before.type is value.type is Type.SEQUENCE:
                    return sequence(join([before.element or UNKNOWN, value.element or UNKNOWN]))
                return self._combine(binding.node, [before, value])
        if binding.annotation is not None and (kind := self.annotated(binding.annotation)).known:
            return self._precise(kind, binding)
        if binding.value is None:
            return UNKNOWN
        kind = self.kind(binding.value)
        if binding.form is Form.LOOP:
            kind = element_of(kind)
        elif binding.form is Form.CONTEXT:
            kind = self._entered(binding.value, kind)
        for step in binding.path:
            kind = item_of(kind, step)
        return kind

    def _before(self, binding: Binding) -> list[Kind]:
        """What an augmented assignment's target was; a long row of them is worked out from its far end."""
        if self._depth_of_sums == _DEEP:
            ahead: dict[Binding, None] = {}
            pending = list(binding.before)
            while pending:
                previous = pending.pop()
                if previous.form is Form.AUGMENTED and previous not in ahead and previous not in self._binding_kinds:
                    ahead[previous] = None
                    pending.extend(previous.before)
            depth, self._depth_of_sums = self._depth_of_sums, 0
            for previous in reversed(ahead):
                self.binding_kind(previous)
            self._depth_of_sums = depth
        self._depth_of_sums += 1
        kinds = [self.binding_kind(previous) for previous in binding.before]
        self._depth_of_sums -= 1
        return kinds

    def _precise(self, annotated: Kind, binding: Binding) -> Kind:
        """An annotation's kind, with the grad status that the value itself is known to have."""
        value = self.kind(binding.value) if binding.value is not None and not binding.path else UNKNOWN
        return value if value.type is annotated.type else annotated

    def _definition(self, binding: Binding) -> Kind:
        node = binding.node
        if isinstance(node, ast.ClassDef):
            return Kind(Type.CLASS, name=node.name, definition=node)
        assert isinstance(node, FUNCTIONS)
        return Kind(Type.FUNCTION, name=node.name, definition=node)

    def _entered(self, context: ast.expr, kind: Kind) -> Kind:
        """What ``with context as x`` binds."""
        if (
            isinstance(context, ast.Call)
            and isinstance(context.func, ast.Attribute)
            and context.func.attr == "scale_loss"
            and context.args
        ):
            return self.kind(context.args[0])
        return kind if kind.type in (Type.MODULE, Type.TENSOR) else UNKNOWN

    def _parameter(self, binding: Binding) -> Kind:
        function = binding.scope.node
        parameter = binding.node
        assert isinstance(parameter, ast.arg)
        if binding.annotation is not None and (kind := self.annotated(binding.annotation)).known:
            return kind
        if not isinstance(function, FUNCTIONS):
            return UNKNOWN
        if parameter is function.args.vararg:
            return sequence(self.annotated(parameter.annotation))
        if parameter is function.args.kwarg:
            return mapping(self.annotated(parameter.annotation))
        owner = self._tree.parent(function)
        if isinstance(owner, ast.ClassDef) and parameter in [*function.args.posonlyargs, *function.args.args][:1]:
            if is_class_method(function):
                return Kind(Type.CLASS, name=owner.name, definition=owner)
            if not is_static(function):
                return instance(owner, self.code)
        if not self.asks_callers:
            return UNKNOWN
        kind = join([self.kind(value) if value is not None else UNKNOWN for value in self.given(binding)])
        if not kind.known or kind.type is Type.NONE:
            default = self._definitions.default(function, parameter)
            kind = self.kind(default) if default is not None else UNKNOWN
            if kind.type in (Type.NONE, Type.NUMBER):
                kind = UNKNOWN
        if not kind.known:
            handed = self._handed(binding, function, parameter.arg)
            if isinstance(owner, ast.ClassDef) and function.name == "__init__":
                own = constructed_with(self, owner, function, parameter)
                return agreed([own, handed]) if own.known and handed.known else own if own.known else handed
            return handed
        return kind if kind.items is None else replace(kind, items=None)

    def _handed(self, binding: Binding, function: Function, name: str) -> Kind:
        """What other files of the project give for a parameter of a function, or of a class's method, that they can name."""
        asked = self._asking.parameter(binding, function, name) if self.elsewhere.callers is not None else None
        if asked is None:
            return UNKNOWN
        kind = handed_kind(asked, self.elsewhere)
        if kind.elsewhere is not None and kind.elsewhere.file == self.elsewhere.file:
            classes = (node for node in self._tree.module.body if isinstance(node, ast.ClassDef))
            own = next((node for node in classes if node.name == kind.name), None)
            return instance(own, self.code) if own is not None else UNKNOWN
        return kind

    def annotated(self, annotation: ast.expr | None) -> Kind:
        """What a value with this annotation is: of a module's class in another file, a module."""
        found = annotated_kind(annotation, self.code)
        if found.type not in (Type.UNKNOWN, Type.INSTANCE) or found.definition is not None or not self.elsewhere.is_in_project:
            return found
        match annotation:
            case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
                annotation = inner
            case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
                annotation = left
        name = self._names.qualified(annotation) if isinstance(annotation, (ast.Name, ast.Attribute)) else None
        if name is None or not name.rpartition(".")[2][:1].isupper() or name.startswith(_OF_NO_PROJECT):
            return found
        assert annotation is not None
        target = self.elsewhere.target(annotation)
        if not isinstance(target, ClassElsewhere):
            return found
        made = kind_of(target, self.elsewhere)
        return instance_of(target) if made.known else found if found.known else Kind(elsewhere=target)

    def call_sites(self, function: Function) -> list[ast.Call]:
        """The calls in the file that surely are of ``function``."""
        return self.call_graph.sites(function)

    def given(self, binding: Binding) -> list[ast.expr | None]:
        """What the calls in the file give for a parameter: one value for each call, ``None`` where a call does not tell.

        A call that leaves the parameter out gives its default. Where nothing calls the function, and for a binding that is no
        parameter, there is none.
        """
        function, parameter = binding.scope.node, binding.node
        if binding.form is not Form.PARAMETER or not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg):
            return []
        return [self._definitions.argument(call, function, parameter) for call in self.call_sites(function)]

    def returned(self, function: Function) -> Kind:
        """What calling a function of the file gives."""
        if function not in self._return_kinds:
            self._return_kinds[function] = UNKNOWN
            self._return_kinds[function] = self._returned(function)
        return self._return_kinds[function]

    def _returned(self, function: Function) -> Kind:
        values = self._definitions.returned(function)
        kind = join([self.kind(value) if value is not None else NONE for value in values])
        if not kind.known and function.returns is not None:
            kind = self.annotated(function.returns)
        if kind.is_tensor and self.no_grad.decorated(function):
            kind = replace(kind, grad=Grad.NONE)
        return kind

    # --- operators ---------------------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> Kind:
        base = self.kind(node.value)
        if base.is_tensor:
            if base.loose:
                return replace(base, loose=True, scalar=None)
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                return UNKNOWN  # no tensor has such an index: something else is bound to the name here
            return tensor(result_grad([base.grad]), None if _may_select(node.slice) else False).because(base)
        if base.type is Type.MAPPING:
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return dict(base.entries).get(str(key), base.element or UNKNOWN)
        if base.type is Type.SEQUENCE:
            match node.slice:
                case ast.Slice():
                    return sequence(base.element or UNKNOWN)
                case ast.Constant(value=int(index)):
                    return item_of(base, index)
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index))):
                    return item_of(base, -index)
            return base.element or UNKNOWN
        if base.type is Type.MODULE:
            return base.element or Kind(Type.MODULE, why="a part of a module container")
        if base.type is Type.ARRAY:
            return UNKNOWN
        if isinstance(node.slice, ast.Constant) and node.slice.value == "params":
            return sequence(OPTIMIZED)
        return UNKNOWN

    def _operation(self, node: ast.BinOp, operands: list[ast.expr]) -> Kind:
        kinds = [self.kind(operand) for operand in operands]
        if isinstance(node.op, ast.Mod) and kinds[0].type is Type.STRING:
            return STRING
        if isinstance(node.op, (ast.Add, ast.Mult)) and any(kind.type is Type.SEQUENCE for kind in kinds):
            return sequence(join([kind.element or UNKNOWN for kind in kinds if kind.type is Type.SEQUENCE]))
        return self._combine(node, kinds)

    def _combine(self, node: ast.AST, kinds: list[Kind]) -> Kind:
        """What an arithmetic operation makes of values of these kinds."""
        tensors = [kind for kind in kinds if kind.is_tensor]
        if not tensors:
            types = {kind.type for kind in kinds}
            if types == {Type.NUMBER}:
                return NUMBER
            if Type.ARRAY in types and types <= {Type.ARRAY, Type.NUMBER}:
                return ARRAY
            return next((kind for kind in kinds if kind.type in (Type.SEQUENCE, Type.STRING)), UNKNOWN)
        others = [kind for kind in kinds if not kind.is_tensor and kind.type is not Type.NUMBER]
        grad = result_grad([kind.grad for kind in tensors] + [Grad.UNKNOWN for kind in others if not kind.known])
        if self.no_grad.covers(node):
            grad = Grad.NONE
        scalar = True if all(kind.scalar for kind in tensors) and not others else None
        if any(kind.scalar is False for kind in tensors):
            scalar = False
        return tensor(grad, scalar).because(next((kind for kind in tensors if kind.grad is Grad.GRAPH), tensors[0]))


def _may_select(index: ast.expr) -> bool:
    """Whether an index may take a dimension away."""
    return not isinstance(index, ast.Slice)
