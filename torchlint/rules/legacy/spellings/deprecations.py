"""What is said of deprecated and removed APIs, and the fixes: a new name, or a call of another shape."""

from __future__ import annotations

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.fixes.changes import CodeFix, fix, remove, rename, replace
from torchlint.fixes.code import api, argument, is_open_ended
from torchlint.rules.legacy.spellings.other_shapes import MEMBERS, RUN_BESIDE, SUCCESSORS, of_storage, reshaped
from torchlint.rules.legacy.spellings.renamed import RENAMED, short
from torchlint.rules.rule import Rule
from torchlint.semantics.apis.deprecations import Deprecation, deprecation, is_member, words

COMPARED = frozenset(
    {
        *("torch.ger", "torch.chain_matmul", "torch.functional.chain_matmul"),
        *(f"functorch.{name}" for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "vmap")),
    }
)
"""What was run beside its replacement, to the same results (`tests/torch_api/test_proven_replacements.py`)."""
_DOUBTS = {
    "autocast": "another file may have set the dtype that autocast takes by default",
    "GradScaler": "code may tell the two classes apart",
}
NEEDS = (words(but=RENAMED),)
"""What the files hold that the rules of this table are about; what TPL106 mends is none of it."""
_FEWEST = 2
"""How many tensors `torch.linalg.multi_dot`, which takes a list of them, has to be given."""
_SPARSE = ("BFloat16", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")
_CALLED = frozenset({"torch.fft", *(f"torch.sparse.{name}Tensor" for name in _SPARSE)})
"""What only a call warns of: a function that has become a module, and types that `isinstance` may well be asked for."""


def found(rule: Rule, node: cst.BaseExpression) -> Deprecation | None:
    """What the table says of what a node refers to; ``None`` where the rules have nothing to say there."""
    symbol = rule.model.apis.deprecated(node)
    if not symbol or symbol in RENAMED or (rule.model.is_stored(node) and not is_member(symbol)):
        return None
    row = deprecation(symbol)
    parent = rule.model.parent(node)
    if row.symbol in _CALLED and not (isinstance(parent, cst.Call) and parent.func is node):
        return None
    if rule.model.apis.asks_for_version(node) or rule.model.code.is_given_name(node):
        return None  # an alias that the file gives it is reported where it is given
    return row


def origin(rule: Rule, node: cst.ImportFrom) -> Deprecation | None:
    """What the table says of the module that an import takes names from; ``None`` where it says nothing."""
    symbol = rule.model.apis.deprecated_origin(node)
    if not symbol or rule.model.apis.asks_for_version(node) or rule.model.apis.is_missed(node):
        return None
    return deprecation(symbol)


def unused(rule: Rule, node: cst.ImportAlias) -> Deprecation | None:
    """What the table says of what is imported and not used; ``None`` for every other import."""
    symbol = rule.model.variables.unused_deprecated(node)
    if not symbol or symbol in RENAMED or rule.model.apis.asks_for_version(node):
        return None
    return deprecation(symbol)


def successor(row: Deprecation) -> str:
    """What to use instead, as it is usually spelt, or what a member is called now; empty where no one answer is right."""
    new = row.replacement.partition("(")[0] or SUCCESSORS.get(row.symbol, "")
    owner, _, last = new.rpartition(".")
    return last if is_member(row.symbol) and owner == row.symbol.rpartition(".")[0] else short(new)


def replaced(rule: Rule, node: cst.BaseExpression, row: Deprecation, doubt: str = "") -> CodeFix | None:
    """The fix that puts the replacement in the place of what is deprecated; safe unless there is a ``doubt``."""
    if not isinstance(node, (cst.Name, cst.Attribute)) or rule.model.apis.is_conditional(node):
        return None
    if not row.replacement:
        return _by_hand(rule, node, row, doubt)
    new = row.replacement.partition("(")[0]
    title = f"Use `{successor(row)}`"
    if isinstance(node, cst.Attribute) and not rule.model.name(node):
        return _on_value(rule, node, row, title, doubt)
    if new == row.replacement:
        return fix(title, rename(node, new), rests_on=_rests_on(rule, node, new, doubt))
    template = cst.parse_expression(row.replacement)
    call = rule.model.parent(node)
    assert isinstance(template, cst.Call)
    if isinstance(call, cst.FunctionDef) and any(each.decorator is node for each in call.decorators):
        words = [_quoted(rule, each) for each in template.args if not isinstance(each.value, cst.Ellipsis)]
        made = cst.Call(api(new), [_renewed(each) for each in words])
        return fix(title, replace(node, made), rests_on=_rests_on(rule, node, row.symbol, doubt))
    if not isinstance(call, cst.Call) or call.func is not node:
        return None
    args = _filled(template.with_changes(args=[_quoted(rule, each) for each in template.args]), call)
    if args is None:
        return None
    changed = call.with_changes(func=api(new), args=args)
    return fix(title, replace(call, changed), rests_on=_rests_on(rule, node, new, doubt))


def _by_hand(rule: Rule, node: cst.Name | cst.Attribute, row: Deprecation, doubt: str) -> CodeFix | None:
    """The fix of what is called otherwise as a member of a value, or takes other arguments."""
    rests_on = _rests_on(rule, node, row.symbol, doubt)
    call = rule.model.parent(node)
    is_called = isinstance(call, cst.Call) and call.func is node
    if isinstance(node, cst.Attribute) and row.symbol in MEMBERS and not rule.model.name(node):
        last = MEMBERS[row.symbol]
        return fix(f"Use `{last}`", replace(node, node.with_changes(attr=cst.Name(last))), rests_on=rests_on)
    if not isinstance(call, cst.Call) or not is_called:
        return None
    if row.symbol == "torch.Tensor.storage" and not _is_of_any_storage(rule, call):
        return None
    new = reshaped(row.symbol, call) or _of_function(rule, node, call, row)
    if new is None:
        return None
    new = new.with_changes(args=[_quoted(rule, each) for each in new.args])
    name = (
        new.func.value if isinstance(new.func, cst.Name) else new.func.attr.value if isinstance(new.func, cst.Attribute) else ""
    )
    return fix(f"Use `{short(name)}`", replace(call, new), rests_on=rests_on)


def _of_function(rule: Rule, node: cst.Name | cst.Attribute, call: cst.Call, row: Deprecation) -> cst.Call | None:
    """The call for a method of a tensor whose function has one: ``torch.linalg.qr(x)`` for an ``x.qr()``."""
    owner, _, last = row.symbol.rpartition(".")
    if owner != "torch.Tensor" or not isinstance(node, cst.Attribute) or rule.model.name(node):
        return None
    return reshaped(f"torch.{last}", call.with_changes(args=[cst.Arg(node.value), *call.args]))


def _is_of_any_storage(rule: Rule, call: cst.Call) -> bool:
    """Whether a storage is asked for what the untyped one answers alike."""
    match rule.model.parent(call):
        case cst.Attribute(attr=cst.Name(method)) as asked if asked.value is call:
            return of_storage(method)
    return False


def _on_value(rule: Rule, node: cst.Attribute, row: Deprecation, title: str, doubt: str) -> CodeFix | None:
    """The fix of a method or an attribute of a value: another one of the value, or a function that is given the value."""
    owner, _, last = row.replacement.partition("(")[0].rpartition(".")
    rests_on = unknown(doubt or "torch names it as the successor; no run has compared the two")
    if owner == row.symbol.rpartition(".")[0] and "(" not in row.replacement:
        return fix(title, replace(node, node.with_changes(attr=cst.Name(last))), rests_on=rests_on)
    call = rule.model.parent(node)
    if not isinstance(call, cst.Call) or call.func is not node:
        return None
    given = [cst.Arg(node.value), *call.args]
    template = cst.parse_expression(row.replacement if "(" in row.replacement else f"{row.replacement}(...)")
    assert isinstance(template, cst.Call)
    args = _filled(template.with_changes(args=[_quoted(rule, each) for each in template.args]), call.with_changes(args=given))
    if args is None:
        return None
    return fix(title, replace(call, call.with_changes(func=api(f"{owner}.{last}"), args=args)), rests_on=rests_on)


def removal(rule: Rule, node: cst.ImportAlias) -> CodeFix:
    """The fix of an import that nothing uses: it goes."""
    return fix("Remove the import", remove(node), rests_on=rule.model.variables.is_nobodys(node))


def _rests_on(rule: Rule, node: cst.Name | cst.Attribute, new: str, doubt: str) -> Fact:
    old = rule.model.name(node)
    if doubt or old not in COMPARED | RUN_BESIDE:
        return unknown(
            doubt or _DOUBTS.get(old.rpartition(".")[2], "torch names it as the successor; no run has compared the two")
        )
    rests_on = rule.model.apis.means_the_same(node, old, new)
    call = rule.model.parent(node)
    if not isinstance(call, cst.Call) or call.func is not node:
        return rests_on
    return rests_on & rule.model.apis.calls_successor_alike(call, old)


def _filled(template: cst.Call, call: cst.Call) -> list[cst.Arg] | None:
    """The arguments of a template, those of a call in the places of its dots; ``None`` where that is not clear."""
    given = list(call.args)
    by_place = [each for each in given if each.keyword is None and not each.star]
    words = [each for each in given if each.keyword is not None]
    made: list[cst.Arg] = []
    for each in template.args:
        if isinstance(each.value, cst.Ellipsis) and each.keyword is None:
            made += given
            given, by_place, words = [], [], []
        elif isinstance(each.value, cst.Ellipsis):
            if by_place:
                made.append(by_place.pop(0).with_changes(keyword=each.keyword, equal=_EQUAL))
        elif isinstance(each.value, cst.List):
            if words or is_open_ended(call) or len(by_place) < _FEWEST:
                return None
            made.append(cst.Arg(cst.List([cst.Element(one.value) for one in by_place])))
            given, by_place = [], []
        elif each.keyword is None or argument(call, each.keyword.value) is None:
            made.append(each)
        else:
            return None
    if by_place or (is_open_ended(call) and any(each.star == "*" for each in given)):
        return None
    made += words
    commas = [_COMMA] * (len(made) - 1) + [cst.MaybeSentinel.DEFAULT]
    return [_renewed(each).with_changes(comma=comma) for each, comma in zip(made, commas, strict=True)]


def _renewed(given: cst.Arg) -> cst.Arg:
    """An argument whose value stays as it is written, and nothing else: it comes to stand elsewhere."""
    word = None if given.keyword is None else cst.Name(given.keyword.value)
    return cst.Arg(given.value, word, cst.MaybeSentinel.DEFAULT if word is None else _EQUAL, star=given.star)


def _quoted(rule: Rule, given: cst.Arg) -> cst.Arg:
    """An argument of a template, a string in the quotes that the file uses."""
    if not isinstance(given.value, cst.SimpleString):
        return given
    return given.with_changes(value=rule.model.code.string(str(given.value.evaluated_value)))


_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def release(version: str) -> str:
    """A release as it is usually named: 2.4 for 2.4.0."""
    return version.removesuffix(".0") if version.count(".") == 2 else version
