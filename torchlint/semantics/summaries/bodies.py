"""What the code in the classes of a file says, made from its syntax tree alone as its summary is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Function, all_parts, last_name, push_children
from torchlint.semantics.gpus.needed import needs_gpu
from torchlint.semantics.summaries.functions import joined, made
from torchlint.semantics.summaries.local_names import LocalNames
from torchlint.semantics.summaries.making import top_level
from torchlint.semantics.summaries.members import Member, member_of, members_of
from torchlint.semantics.summaries.shown.freezing import freezing_of, may_undo
from torchlint.semantics.summaries.shown.holding import gathering_methods, may_keep, runs_given_parts
from torchlint.semantics.summaries.shown.idle_layers import idle_layers
from torchlint.semantics.summaries.shown.parameterless import parameterless_of
from torchlint.semantics.summaries.shown.quiet import may_quieten, may_wait
from torchlint.semantics.summaries.shown.running_methods import (
    MODE_METHODS,
    forward_differentiates,
    running_methods,
    sets_mode,
)
from torchlint.semantics.summaries.shown.unrecorded import gives_unrecorded
from torchlint.semantics.summaries.summary import IMPORTED, NOTHING_KNOWN, UNTOLD, ClassBody, Made, is_modal

_DROPS = re.compile(r"drop(out|_rate|_prob|path)")
_MOVING = frozenset({"to", "cuda", "cpu", "half", "float", "double", "eval", "train", "requires_grad_", "apply"})
_REGISTERING = frozenset({"register_buffer", "register_parameter", "Parameter"})
_WITHOUT_GRAPH = frozenset({"size", "shape", "dim", "ndim", "device", "dtype", "argmax", "argmin", "detach", "data", "numel"})
"""What is asked of a tensor that has no graph."""
_TENSORS_ARE_MADE_BY = frozenset(name.rpartition(".")[2] for name, gives in torch_api.FUNCTIONS.items() if gives == "tensor")


def body_of(module: ast.Module, name: str) -> ClassBody:
    """What the code says of the class, or the function that makes modules, which a file has by a name at its top level; of one
    that it has twice, nothing.
    """
    found = [each for each in top_level(module.body) if isinstance(each, (ast.ClassDef, *FUNCTIONS)) and each.name == name]
    if len(found) != 1:
        return UNTOLD
    return class_body(found[0], module) if isinstance(found[0], ast.ClassDef) else _function_body(found[0])


def _function_body(node: Function) -> ClassBody:
    """What the code of a function says of the modules that it makes: they may hold all that it calls."""
    scope = LocalNames(node)
    called: dict[str, None] = {}
    for part in all_parts(*node.body):
        if isinstance(part, (ast.Name, ast.Attribute)) and is_modal(last_name(part)):
            return ClassBody(matters=True, needs_gpu=needs_gpu(node))
        if isinstance(part, ast.Call):
            is_method = isinstance(part.func, ast.Attribute) and not scope.reference(part.func)
            called.update({} if is_method else {scope.reference(part.func): None})
    return ClassBody(tuple(filter(None, called)), tuple(called), _asks_for_mode(member_of(node)), needs_gpu=needs_gpu(node))


def class_body(node: ast.ClassDef, module: ast.Module | None = None) -> ClassBody:
    """What the code in a class says, and of its ``module`` which of its layers that runs."""
    members = members_of(node)
    called: dict[str, None] = {}
    stored: dict[str, None] = {}
    matters = registers = False
    idle = idle_layers(node, module) if module is not None else frozenset[ast.AST]()
    tensors: list[tuple[str, Made]] = []
    buffers: dict[str, None] = {}
    top = LocalNames()
    own = {member.method.name: member for member in members if member.method is not None}
    for member in members:
        scope = top if member.method is None else LocalNames(member.method, parts=member.body)
        if member.method is not None and (given := _tensors(member, scope)) != NOTHING_KNOWN:
            tensors.append((member.method.name, given))
        for call in member.every(ast.Call):
            name, reference = last_name(call.func), scope.reference(call.func)
            matters = matters or (is_modal(name) and call not in idle and not (reference and _is_of_project(reference)))
            registers = registers or name in _REGISTERING
            match call.args:
                case [ast.Constant(value=str(buffer)), *_] if name == "register_buffer":
                    buffers[buffer] = None
            if reference:
                called[reference] = None
        for part in member.every(ast.Assign):
            if any(isinstance(each, ast.Attribute) for each in part.targets):
                stored.update((reference, None) for reference in _stored(_unmoved(part.value), scope, own))
        matters = matters or _asks_for_mode(member)
    if runs_given := runs_given_parts(members):
        stored[""] = None
    forgets, gathering = not may_keep(members), gathering_methods(members)
    running = running_methods(members, is_derived=bool(node.bases))
    shown = (tuple(called), tuple(stored), matters, registers, running)
    methods = (member.method for member in members if member.method is not None and member.method.name in MODE_METHODS)
    own_modes = tuple(method.name for method in methods if not sets_mode(method))
    kept = (forgets, gathering, runs_given, tuple(buffers))
    return ClassBody(
        *shown, tuple(tensors), *kept, own_modes,
        cuts=_cuts(members), unrecorded=_unrecorded(members),
        freezing=freezing_of(members), thaws=may_undo(members), needs_gpu=needs_gpu(node),
        parameterless=parameterless_of(node.name, members), differentiates=forward_differentiates(members),
        quietens=may_quieten(members), waits=may_wait(members),
    )  # fmt: skip


def _is_of_project(reference: str) -> bool:
    """Whether a layer that is called like one of torch's transformers may be another, which can be looked at itself."""
    return reference.rpartition(".")[2].lstrip(IMPORTED).startswith("Transformer") and "nn." not in reference


def _tensors(member: Member, scope: LocalNames) -> Made:
    """What calling a method gives, where that, or a part of it, may be what functions of torch make."""
    method, values = member.method, [part.value for part in member.own(ast.Return)]
    if not values or None in values or method is None or method.decorator_list or isinstance(method, ast.AsyncFunctionDef):
        return NOTHING_KNOWN
    given = joined(made(value, scope) for value in values if value is not None)
    if not any(_is_called_as_torch(each) for each in (given, *given.items)):
        return NOTHING_KNOWN
    if member.own(ast.Yield):
        return NOTHING_KNOWN
    return NOTHING_KNOWN if member.own(ast.YieldFrom) else given


def _is_called_as_torch(given: Made) -> bool:
    return bool(given.by) and all(by.rpartition(".")[2] in _TENSORS_ARE_MADE_BY for by in given.by)


def _unrecorded(members: list[Member]) -> tuple[str, ...]:
    """The methods that give what they have made with autograd off, by a decorator or a block, and nothing else."""
    methods = (member.method for member in members if member.method is not None)
    return tuple(method.name for method in methods if gives_unrecorded(method))


def _cuts(members: list[Member]) -> bool:
    """Whether a module's ``forward`` reads of its first argument what has no graph alone, and the class makes no modules."""
    for call in (call for member in members for call in member.every(ast.Call)):
        name = last_name(call.func)
        if name in _REGISTERING or (name[:1].isupper() and not name.endswith("Tensor")):
            return False
    method = next((each.method for each in members if each.method is not None and each.method.name == "forward"), None)
    if method is None or method.args.posonlyargs or len(method.args.args) < 2:
        return False
    given, is_read = method.args.args[1].arg, False
    for statement in method.body:
        if _takes_graph(statement, given):
            return False
        is_read = is_read or any(isinstance(part, ast.Name) and part.id == given for part in all_parts(statement))
        match statement:
            case ast.Assign(targets=[ast.Name(id=again)]) if again == given:
                return is_read
    return is_read


def _takes_graph(code: ast.AST, name: str) -> bool:
    """Whether code reads more of a tensor of that name than its form, or what ``argmax`` or ``detach`` make of it."""
    pending = [code]
    while pending:
        node = pending.pop()
        match node:
            case ast.Name(id=read, ctx=ast.Load()) if read == name:
                return True
            case ast.Attribute(value=ast.Name(id=read), attr=part) if read == name and part in _WITHOUT_GRAPH:
                continue
            case ast.Call(func=function, args=[ast.Name(id=read), *others]) if read == name:
                if last_name(function) in ("argmax", "argmin"):
                    pending += [function, *others, *node.keywords]
                    continue
        push_children(node, pending)
    return False


def _stored(value: ast.expr, scope: LocalNames, own: Mapping[str, Member]) -> Iterator[str]:
    """What is called in a value that an attribute is given; an empty string where it is made by a call of no name, but for one
    of a method of the class's ``own`` that gives back what the class keeps in an attribute, too.
    """
    for call in all_parts(value):
        if isinstance(call, ast.Call) and ((reference := scope.reference(call.func)) or call is value):
            if reference or not _gives_kept(call.func, own):
                yield reference


def _gives_kept(function: ast.expr, own: Mapping[str, Member]) -> bool:
    """Whether a method of the object itself is called that gives an attribute of it: ``return self.block``."""
    match function:
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in own:
            method, returned = own[name].method, own[name].own(ast.Return)
            plain = method is not None and not method.decorator_list and bool(returned)
            return plain and all(_is_stored_there(each.value, own[name]) for each in returned)
    return False


def _is_stored_there(value: ast.expr | None, member: Member) -> bool:
    """Whether a value is an attribute of ``self`` that a method assigns to."""
    match value:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            targets = [target for part in member.own(ast.Assign) for target in part.targets]
            return any(isinstance(each, ast.Attribute) and each.attr == name for each in targets)
    return False


def _unmoved(value: ast.expr) -> ast.expr:
    """What is made in a value that is moved at once: ``nn.Sigmoid().cuda()``."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVING:
        if not isinstance(value.func.value, ast.Call):
            break
        value = value.func.value
    return value


def _asks_for_mode(member: Member) -> bool:
    """Whether code asks in which mode it is, or is given something to drop."""
    attributes = member.every(ast.Attribute)
    sections = {part.value for part in attributes}  # of a configuration: ``config.training.rate``
    if any(part.attr == "training" and isinstance(part.ctx, ast.Load) and part not in sections for part in attributes):
        return True
    words = (part for part in member.every(ast.keyword) if part.arg is not None and _DROPS.search(part.arg))
    return any(not (isinstance(part.value, ast.Constant) and not part.value.value) for part in words)
