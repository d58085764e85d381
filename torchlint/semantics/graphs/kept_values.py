"""What becomes of values that a sum or a container keeps: whether anybody may ask for the graph that they carry.

A kept value is followed to all places that read it. What is on the lists here asks for values alone; with anything else,
nothing is certain. The tests run them with a value that carries graph and with the same one detached.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property

from torchlint.fact import CERTAIN, Answer, Fact, refuted, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.graphs.fresh_starts import FreshStarts
from torchlint.semantics.graphs.kept_changes import CHANGING, COMPUTES, ENDS, FILLING, HANDS_ON, KeptChanges
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.observers.graph_questions import GraphQuestions
from torchlint.semantics.observers.reflection import Reflection

TELLING = frozenset(
    {
        *("grad", "requires_grad", "grad_fn", "is_leaf", "retains_grad", "backward", "register_hook", "retain_grad"),
        *("_version", "requires_grad_", "output_nr", "set_", "detach_"),
    }
)
"""Attributes and methods of a tensor that tell of its graph, or change what it hangs on."""
_GRAPH = TELLING | {"register_post_accumulate_grad_hook", "is_set_to", "share_memory_", "numpy"}
"""These tell of the object that it is as well, or are refused where there is a graph."""
_PLAIN = frozenset({"shape", "dtype", "device", "ndim", "data", "is_cuda", "itemsize", "nbytes", "layout"})
_PLAIN_METHODS = frozenset(
    {
        "item",
        "tolist",
        "size",
        "dim",
        "numel",
        "nelement",
        "element_size",
        "is_floating_point",
        "is_complex",
        "detach",
        "ndimension",
    }
)
"""Attributes and methods whose results hang on no graph, whatever the tensor hangs on."""
_TAKING = frozenset({"pop", "popleft", "popitem", "copy", "get", "items", "values", "setdefault"})
_PLAIN_KEYS = frozenset({"builtins.float", "builtins.abs", "builtins.int"})
_AS_NUMBER = frozenset({"builtins.float", "builtins.int", "builtins.len", "builtins.bool", "builtins.format"})
_OPERATIONS = ("torch.nn.functional.", "torch.linalg.", "torch.special.", "torch.fft.")
"""Where torch has functions that compute, and do nothing else, beside those of its own."""
_OPERANDS = frozenset({Type.NUMBER, Type.TENSOR, Type.SEQUENCE, Type.STRING, Type.NONE})
_SPELLED = frozenset({"vars", "locals", "globals", "exec", "eval"})
"""Functions that may read a variable without its name."""


class _Reading(Enum):
    """What reads may want of a value: that it hangs on no graph, or that it is a number."""

    VALUES = auto()
    NUMBERS = auto()


class KeptValues:
    """Tells of what is kept in variables who reads it, and as what."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._walked: dict[tuple[frozenset[Binding], bool, _Reading], Fact] = {}
        self._slots: dict[tuple[ast.ClassDef | None, str, bool], Fact] = {}

    def graph_unread(self, target: ast.expr, root: ast.Name | ast.Attribute, *, kept: bool) -> Fact:
        """Whether nobody asks for the graph of what is added to ``target``, the variable ``root`` or an item of it.

        ``kept`` is whether the values themselves are kept, and not their sum.
        """
        return self._read(target, root, kept, _Reading.VALUES)

    def read_as_numbers(self, target: ast.expr, root: ast.Name | ast.Attribute) -> Fact:
        """Whether everybody who reads one of the values that are kept makes a number of it first."""
        return self._read(target, root, True, _Reading.NUMBERS)

    def _read(self, target: ast.expr, root: ast.Name | ast.Attribute, kept: bool, reading: _Reading) -> Fact:
        if isinstance(root, ast.Attribute):
            return unknown(f"`{ast.unparse(root)}` may be read, and given other values, from anywhere") & self._of_slot(
                root, kept
            )
        fresh = self._semantics.of(FreshStarts)
        starts = fresh.starts(root)
        key = (starts, kept, reading)
        if key not in self._walked:
            walk = _Walk(self._semantics, self, root.id, kept, reading)
            found = walk.followed([use for binding in starts for use in walk.uses(binding)])
            self._walked[key] = found & walk.hidden
        lives = self._semantics.of(Reflection).asks_for_no_lives
        return fresh.fact(root if kept else target, root) & self._walked[key] & lives

    def _of_slot(self, root: ast.Attribute, kept: bool) -> Fact:
        """What is known of the reads of an attribute in its class."""
        owner = self._semantics.facts.self_class(root.value)
        key = (owner, root.attr, kept)
        if owner is None or key in self._slots:
            return self._slots.get(key, CERTAIN)
        uses = [use for slot in self._semantics.facts.slots(owner, root.attr) for use in slot.uses]
        self._slots[key] = _Walk(self._semantics, self, ast.unparse(root), kept, _Reading.VALUES).followed(list(uses))
        return self._slots[key]

    @cached_property
    def reads_variables(self) -> bool:
        """Whether the file reads variables in other ways than by their names."""
        calls = self._semantics.facts.calls
        return any(isinstance(call.func, ast.Name) for name in _SPELLED for call in calls.get(name, ()))


@dataclass(eq=False, slots=True)
class _Walk:
    """The way of one kept value through the file."""

    semantics: Semantics
    values: KeptValues
    name: str
    kept: bool
    reading: _Reading
    hidden: Fact = CERTAIN
    """Whether the variables that hold it are read by the names that are seen alone."""
    _seen: set[Binding] = field(default_factory=set)

    def followed(self, reads: list[ast.expr]) -> Fact:
        """What is known of all that becomes of the values of some expressions."""
        pending, seen, found = list(reads), set(reads), CERTAIN
        while pending:
            after = self._after(pending.pop())
            if isinstance(after, Fact):
                found &= after
                if found.answer is Answer.REFUTED:
                    return found
                continue
            pending.extend(each for each in after if each not in seen)
            seen.update(after)
        return found

    def uses(self, binding: Binding) -> list[ast.expr]:
        """The reads of what a variable gets in a binding, and of what is added to it then."""
        found: list[ast.expr] = []
        pending = [binding]
        while pending:
            each = pending.pop()
            if each in self._seen:
                continue
            self._seen.add(each)
            found += each.uses
            shared, added = each.name in each.scope.foreign, self.semantics.of(KeptChanges).added_to(each)
            pending += each.scope.bindings.get(each.name, ()) if shared else added
            if isinstance(each.scope.node, ast.ClassDef) or (shared and isinstance(each.scope.node, ast.Module)):
                self.hidden &= unknown(f"`{each.name}` is there for several functions, and may be read from other files")
            if self.kept and not all(map(self._extends, added)):
                self.hidden &= unknown(f"what `{self.name}` keeps may be changed in place, as `{each.name}`")
        if self.values.reads_variables:
            self.hidden &= unknown(f"the file reads variables in other ways than by their names, and so perhaps `{self.name}`")
        return found

    def _extends(self, binding: Binding) -> bool:
        """Whether an augmented assignment makes a list longer: no tensor."""
        return binding.value is not None and self.semantics.kind(binding.value).type is Type.SEQUENCE

    # --- where an expression stands ----------------------------------------------------------------------------------

    def _after(self, node: ast.expr) -> Fact | list[ast.expr]:
        """What the value of ``node`` is handed on to; or what is known of where it ends."""
        parent = self.semantics.tree.parent(node)
        match parent:
            case ast.Expr() | ast.Delete() | ast.If() | ast.While() | ast.Assert():
                return []
            case ast.FormattedValue(conversion=conversion):
                shows_number = conversion == -1 or self.reading is _Reading.VALUES
                return [] if shows_number else unknown("the representation of a number is not that of a tensor")
            case ast.Attribute():
                return self._of_attribute(parent)
            case ast.Call() if parent.func is not node:
                return self._argument(parent, node)
            case ast.keyword():
                call = self.semantics.tree.parent(parent)
                assert isinstance(call, (ast.Call, ast.ClassDef))
                return self._argument(call, node) if isinstance(call, ast.Call) else self._unseen(node)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp():
                return self._operand(parent, node)
            case ast.IfExp(test=test):
                return [] if test is node else [parent]
            case ast.Tuple() | ast.List() | ast.Starred():
                return [parent]
            case ast.Dict(values=values) if node in values:
                return [parent]
            case ast.Subscript(value=value) if value is node:
                return self._item(parent)
            case ast.comprehension(ifs=conditions) if node in conditions:
                return []
            case ast.For(iter=values, target=target) | ast.comprehension(iter=values, target=target) if values is node:
                return self._targets([target], node)
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part) if part is node:
                return [parent]
            case ast.NamedExpr(target=target):
                return [parent, *self._bound(target)]
            case ast.Assign(targets=targets):
                return self._targets(targets, node)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                return self._targets([target], node)
            case ast.Return():
                return self._returned(node)
        return self._unseen(node)

    def _item(self, item: ast.Subscript) -> Fact | list[ast.expr]:
        """``losses[-1]``, ``sums[k] += loss``, ``history[k] = loss``."""
        if isinstance(item.ctx, ast.Load):
            return [item]
        if self.kept and isinstance(self.semantics.tree.parent(item), ast.AugAssign):
            return unknown(f"what `{self.name}` keeps is changed in place")
        return []

    def _operand(self, parent: ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp, node: ast.expr) -> Fact | list[ast.expr]:
        match parent:
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text))):
                spelled = self.reading is _Reading.NUMBERS and ("%s" in text or "%r" in text)
                return self._no_number(parent) if spelled else []
            case ast.UnaryOp(op=ast.Not()):
                return []
            case ast.BoolOp():
                return [parent]
            case ast.Compare(left=left, ops=operators, comparators=others):
                if any(isinstance(each, (ast.Is, ast.IsNot)) for each in operators):
                    if left is node and all(isinstance(other, ast.Constant) for other in others):
                        return []  # `x is None`
                    return refuted(f"the code asks which object `{ast.unparse(node)}` is")
                if any(isinstance(each, (ast.In, ast.NotIn)) for each in operators):
                    return unknown(f"`in` may ask which object `{ast.unparse(node)}` is")
                if self.reading is _Reading.NUMBERS:
                    return self._no_number(parent)
                doubt = self._beside([left, *others], node)
                return doubt if doubt is not None else []
            case ast.BinOp(left=left, right=right) if self.reading is _Reading.VALUES:
                doubt = self._beside([left, right], node)
                return doubt if doubt is not None else [parent]
        return [parent] if self.reading is _Reading.VALUES else self._no_number(parent)

    def _beside(self, operands: list[ast.expr], node: ast.expr) -> Fact | None:
        """Why the class of another operand may see the value, as far as it is not known to be a number or a tensor."""
        for other in operands:
            if other is not node and self.semantics.kind(other).type not in _OPERANDS:
                return unknown(f"`{ast.unparse(other)}` may be of a class that sees what is computed with it")
        return None

    def _of_attribute(self, attribute: ast.Attribute) -> Fact | list[ast.expr]:
        name, of_tensors = attribute.attr, self.reading is _Reading.VALUES
        if name in _GRAPH:
            return refuted(f"`{ast.unparse(attribute)}` is read")
        if name in _PLAIN and isinstance(attribute.ctx, ast.Load):
            return [] if of_tensors else self._no_number(attribute)
        call = self.semantics.tree.parent(attribute)
        if not (isinstance(call, ast.Call) and call.func is attribute):
            return self._unseen(attribute)
        if name in FILLING:
            return []
        if name in _TAKING:
            return [call]
        if name == "sort" and self._has_plain_words(call):
            return []
        result = torch_api.TENSOR_METHODS.get(name, "")
        if not of_tensors:
            return self._no_number(call)
        if name in _PLAIN_METHODS:
            return []
        computes = result.startswith(("tensor", "tuple")) and not name.endswith("_") and name != "as_subclass"
        if (computes or (name in CHANGING and not self.kept)) and _is_functional(call):
            return [call]
        return self._unseen(call)

    def _argument(self, call: ast.Call, node: ast.expr) -> Fact | list[ast.expr]:
        """What a function that is called makes of an argument."""
        name, of_tensors = self.semantics.qualified_name(call.func) or "", self.reading is _Reading.VALUES
        if name in ENDS if of_tensors else name in _AS_NUMBER:
            return []
        if name in HANDS_ON or (name in COMPUTES and of_tensors):
            return [call] if self._has_plain_words(call) else self._unseen(call)
        if name.startswith("math.") or (name.startswith("logging.") and of_tensors):
            return []
        if self.semantics.of(GraphQuestions).are_asked_by(call, node):
            return refuted(f"`{ast.unparse(call.func)}` asks for more than the value of `{ast.unparse(node)}`")
        if (
            of_tensors
            and (name.count(".") == 1 or name.startswith(_OPERATIONS))
            and not name.endswith("_")
            and _is_functional(call)
        ):
            result = torch_api.FUNCTIONS.get(name, "tensor" if name in torch_api.FACTORIES else "")
            if result.startswith(("tensor", "tuple", "list")):
                return [call]
            if result in ("number", "bool", "size", "dtype"):
                return []
        match call.func:
            case ast.Attribute(value=ast.Constant(value=str(text)), attr="format"):
                return [] if of_tensors or "!" not in text else self._no_number(call)
            case ast.Attribute(value=ast.Name() as container, attr=method) if method in FILLING:
                return self._put_into(container)
            case ast.Name():
                return self._parameter(call, node)
        return self._unseen(call)

    # --- where it goes -----------------------------------------------------------------------------------------------

    def _targets(self, targets: list[ast.expr], node: ast.expr) -> Fact | list[ast.expr]:
        found: list[ast.expr] = []
        for target in targets:
            for part in _parts(target):
                match part:
                    case ast.Name():
                        if isinstance(self.semantics.tree.parent(part), ast.AugAssign) and not self._starts_fresh(part):
                            return unknown(f"nothing shows what `{part.id}`, which it is added to, was before")
                        found += self._bound(part)
                    case ast.Subscript(value=ast.Name() as container):
                        put = self._put_into(container)
                        if isinstance(put, Fact):
                            return put
                        found += put
                    case _:
                        return unknown(f"`{ast.unparse(part)}` gets it, which may be read from anywhere")
        return found

    def _starts_fresh(self, target: ast.Name) -> bool:
        return self.semantics.of(FreshStarts).fact(target, target).is_certain

    def _bound(self, name: ast.Name) -> list[ast.expr]:
        binding = self.semantics.bindings.of(name)
        return self.uses(binding) if binding is not None else []

    def _put_into(self, container: ast.Name) -> Fact | list[ast.expr]:
        """A container of the same file, in which it is kept on."""
        if not self.semantics.of(FreshStarts).fact(container, container).is_certain:
            return unknown(f"`{container.id}` gets it, and nothing shows who else has that")
        return [use for binding in self.semantics.bindings.reaching(container) for use in self.uses(binding)]

    def _parameter(self, call: ast.Call, node: ast.expr) -> Fact | list[ast.expr]:
        """The parameter of a function of the file."""
        function = self.semantics.facts.definition(call.func)
        if not isinstance(function, ast.FunctionDef) or function.decorator_list or function.args.vararg or function.args.kwarg:
            return self._unseen(call)
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        given = [each for each in arguments if self.semantics.facts.argument(call, function, each) is node]
        bindings = [binding for each in given if (binding := self.semantics.bindings.of(each)) is not None]
        return [use for binding in bindings for use in self.uses(binding)] if bindings else self._unseen(call)

    def _returned(self, node: ast.expr) -> Fact | list[ast.expr]:
        """The calls of a function that stands in another one, and is only called there."""
        function = self.semantics.tree.function(node)
        calls = self._calls(function) if isinstance(function, FUNCTIONS) else None
        if calls is None:
            self.hidden &= unknown(f"`{self.name}` is handed to callers that the file does not show")
            if isinstance(node, (ast.Tuple, ast.List, ast.Dict)) or not isinstance(function, FUNCTIONS):
                return []
            if self.semantics.elsewhere.speaks_of(f"graphs asked for: {function.name}"):
                return refuted(f"another file asks for the graph of what `{function.name}` gives")
            calls = self.semantics.facts.call_sites(function)
        return list(calls)

    def _calls(self, function: Function) -> list[ast.Call] | None:
        binding = self.semantics.bindings.of(function)
        around = self.semantics.tree.function(function)
        if binding is None or around is None or function.decorator_list or binding.form is not Form.FUNCTION:
            return None
        calls = [self.semantics.tree.parent(use) for use in binding.uses]
        found = [call for call, use in zip(calls, binding.uses) if isinstance(call, ast.Call) and call.func is use]
        return found if len(found) == len(calls) and not isinstance(function, ast.AsyncFunctionDef) else None

    # --- what is said of the others ----------------------------------------------------------------------------------

    def _has_plain_words(self, call: ast.Call) -> bool:
        """Whether the keywords of a call hand the values to nothing but functions that make numbers of them."""
        for word in call.keywords:
            if word.arg == "key" and (self.semantics.qualified_name(word.value) or "") not in _PLAIN_KEYS:
                return False
            if word.arg is None:
                return False
        return True

    def _unseen(self, node: ast.AST) -> Fact:
        shown = ast.unparse(node.func if isinstance(node, ast.Call) else node)
        return unknown(f"`{shown if len(shown) <= 40 else '…'}` gets what `{self.name}` keeps; it may need the graph")

    def _no_number(self, node: ast.AST) -> Fact:
        return unknown(f"`{ast.unparse(node)}` of a number is not what it is of a tensor")


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    """The targets that a target is made of."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _parts(part)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def _is_functional(call: ast.Call) -> bool:
    """Whether nothing that a call of torch is told makes it write to something."""
    is_told = any(isinstance(part, ast.Constant) and part.value is True for part in call.args)  # which may be `inplace`
    return not is_told and not {word.arg for word in call.keywords} & {None, "out", "inplace", "requires_grad"}
