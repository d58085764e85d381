"""`Variable` as a class: in tests of types, in annotations, in tuples of classes, handed to functions."""

from __future__ import annotations

import libcst as cst

from torchlint.fact import all_of, unknown
from torchlint.fixes.changes import Change, fix, remove, replace
from torchlint.fixes.code import api, expression, in_string
from torchlint.rules.legacy.spellings.variable_calls import DEAD
from torchlint.rules.rule import Rule
from torchlint.semantics.variables.names import NEVER

VARIABLE = "torch.autograd.Variable"
_TENSOR = "torch.Tensor"
_IS_TENSOR = "`Variable` is `torch.Tensor` since torch 0.4"
_USE_TENSOR = "Use `torch.Tensor`"


def report_comparison(rule: Rule, node: cst.BaseExpression, comparison: cst.Comparison) -> None:
    """Reports `type(h) == Variable`, which is never true."""
    message = "`type(…)` of a tensor is never `Variable`: it is `torch.Tensor`"
    match comparison:
        case cst.Comparison(
            left, [cst.ComparisonTarget(cst.Equal() | cst.NotEqual() | cst.Is() | cst.IsNot() as operator, right)]
        ):
            other = right if left is node else left
            change = replace(node, api(_TENSOR))
            title = _USE_TENSOR
            match other:
                case cst.Call(cst.Name("type"), [cst.Arg(value, keyword=None, star="")]):
                    negated = "not " if isinstance(operator, (cst.NotEqual, cst.IsNot)) else ""
                    test = f"{negated}isinstance({{value}}, {{torch.Tensor}})"
                    shown = rule.model.code.written(expression(test, value=rule.model.code.plain(value)))
                    title, change = f"Use `{shown}`", replace(comparison, expression(test, value=value))
            rule.report(comparison, message, fix(title, change, rests_on=unknown(NEVER)), severity="error")
        case _:
            rule.report(comparison, message, severity="error")


def report_reference(rule: Rule, node: cst.BaseExpression) -> None:
    """Reports the class where it is a type, or in a container; elsewhere nothing says what it is for."""
    parent = rule.model.parent(node)
    change = _without_doubles(rule, parent) or replace(node, api(_TENSOR))
    if rule.model.variables.is_class_wanted(node):
        _report_type(rule, node)
    elif isinstance(parent, (cst.Tuple, cst.List, cst.Set, cst.Dict)):
        rule.report(
            node,
            _IS_TENSOR,
            fix(_USE_TENSOR, change, rests_on=unknown("code of torch before 0.4 told tensors and variables apart")),
        )
    else:
        rule.report(node, DEAD)


def _report_type(rule: Rule, node: cst.BaseExpression) -> None:
    """Reports the class where a type is asked for or told: all annotations of one function are one finding."""
    beside = [each for each in _in_signature(rule, node) if not rule.model.is_silenced(rule.code, each)]
    if node in beside and beside[0] is not node:
        return
    changes: dict[int, Change] = {}
    for each in beside if node in beside else [node]:
        whole = rule.model.parent(each)
        anew = _without_doubles(rule, whole)
        changes[id(whole if anew is not None else each)] = anew or replace(each, api(_TENSOR))
    rests_on = all_of(*(rule.model.variables.is_sure_class(each) for each in beside or [node]))
    rule.report(node, _IS_TENSOR, fix(_USE_TENSOR, *changes.values(), rests_on=rests_on))


def _in_signature(rule: Rule, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The annotations of a function that name the class, one of which is ``node``; nothing else where it is none."""
    statement = rule.model.statement(node)
    if not isinstance(statement, cst.FunctionDef):
        return [node]
    found = _References(rule)
    statement.params.visit(found)
    if statement.returns is not None:
        statement.returns.visit(found)
    return [each for each in found.all if rule.model.variables.is_class_wanted(each)] if node in found.all else [node]


class _References(cst.CSTVisitor):
    """Finds the names of the class."""

    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self._rule = rule
        self.all: list[cst.BaseExpression] = []

    def visit_Name(self, node: cst.Name) -> None:
        """By its name."""
        self._look_at(node)

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        """By the module that it is from."""
        self._look_at(node)
        return node not in self.all

    def _look_at(self, node: cst.Name | cst.Attribute) -> None:
        if self._rule.model.name(node) == VARIABLE:
            self.all.append(node)


def report_mapped(rule: Rule, node: cst.BaseExpression, tensors: cst.Arg) -> None:
    """Reports `map(Variable, tensors)`; where it does nothing but give names their own values, the statement goes."""
    statement = rule.model.statement(node)
    if _assigns_to_itself(statement, rule.model.parent(node), tensors):
        removal = remove(statement, but_comment=True)
        rests_on = unknown("a graph that `Variable` cut is whole again")
        rule.report(node, DEAD, fix("Remove the assignment of names to themselves", removal, rests_on=rests_on))
        return
    change = replace(node, api("torch.Tensor.detach"))
    fact = unknown("its elements are not in sight") if tensors.star else rule.model.variables.are_detached(tensors.value)
    rule.report(node, DEAD, fix("Use `torch.Tensor.detach`, which does the same", change, rests_on=fact))


def _assigns_to_itself(statement: cst.CSTNode, mapped: cst.CSTNode | None, tensors: cst.Arg) -> bool:
    """Whether a statement is ``x, y = map(Variable, (x, y))``."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(cst.Tuple(elements=targets))], value=value) if value is mapped:
            given = tensors.value.elements if isinstance(tensors.value, (cst.Tuple, cst.List)) else ()
            names = [
                [each.value.value if isinstance(each.value, cst.Name) else "" for each in part] for part in (targets, given)
            ]
            return not tensors.star and names[0] == names[1] and "" not in names[0]
    return False


def report_quoted(rule: Rule, string: cst.SimpleString) -> None:
    """Reports an annotation in a string."""
    places = rule.model.variables.named_in(string)
    if places and string.raw_value == string.evaluated_value:
        change = replace(string, in_string(string, places, _TENSOR))
        rule.report(string, _IS_TENSOR, fix(_USE_TENSOR, change, rests_on=rule.model.variables.is_sure_class(string)))


def report_alias(rule: Rule, node: cst.BaseExpression, name: cst.Name, statement: cst.Assign) -> None:
    """Reports `V = autograd.Variable` once nothing uses it: its uses are reported themselves."""
    if rule.model.variables.is_unused_name(name):
        message = f"`{name.value}` is not used, and `Variable` is `torch.Tensor` since torch 0.4"
        rule.report(node, message, fix("Remove the name", remove(statement), rests_on=rule.model.variables.is_nobodys(name)))


def _without_doubles(rule: Rule, classes: cst.CSTNode | None) -> Change | None:
    """Replaces a tuple of classes for ``isinstance`` or ``Union`` in which Variable would double the tensor."""
    match classes:
        case cst.Tuple(elements) if _is_class_test(rule.model.parent(classes)):
            kept = _kept(rule, [each.value for each in elements])
            if len(kept) == len(elements):
                return None
            return replace(classes, kept[0] if len(kept) == 1 else cst.Tuple([cst.Element(value) for value in kept]))
        case cst.Subscript(cst.Name("Union") | cst.Attribute(attr=cst.Name("Union")), parts):
            kept = _kept(rule, [part.slice.value for part in parts if isinstance(part.slice, cst.Index)])
            if len(kept) == len(parts):
                return None
            if len(kept) == 1:
                return replace(classes, kept[0])
            return replace(classes, classes.with_changes(slice=[cst.SubscriptElement(cst.Index(value)) for value in kept]))
    return None


def _is_class_test(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in ("isinstance", "issubclass")


def _kept(rule: Rule, classes: list[cst.BaseExpression]) -> list[cst.BaseExpression]:
    """The classes with the tensor in the place of Variable, once."""
    kept: dict[str, cst.BaseExpression] = {}
    for value in classes:
        name = rule.model.name(value)
        new = api(_TENSOR) if name == VARIABLE else value
        kept.setdefault(_TENSOR if name == VARIABLE else name or rule.model.shown(value), new)
    return list(kept.values())
