"""Which methods of a class run it, or its parts, in the mode and with the autograd that they find: ``model.get_loss(x)``;
which functions so run what they are given; and whether its ``train`` and ``eval`` are about the mode.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import COMPREHENSIONS, LOOPS, Function, is_self, last_name, walk_body
from torchlint.semantics.summaries.members import Member

_SETTING = frozenset(
    {
        *("eval", "train", "training", "apply"),
        *("no_grad", "inference_mode", "enable_grad", "set_grad_enabled", "requires_grad", "requires_grad_"),
    }
)
"""What a method mentions that may set a mode, or turn autograd on or off."""
_PASSING_ON = frozenset({"forward", "reverse", "inverse"})
"""Methods of parts that run these, as flows have them in both directions."""
_DIFFERENTIATING = frozenset(
    {"backward", "grad", "autograd", "requires_grad", "create_graph", "jacobian", "hessian", "vjp", "func"}
)
_TURNING_ON = frozenset({"enable_grad", "set_grad_enabled"})
_LOOPED = (*LOOPS, *COMPREHENSIONS)
_PLAIN = frozenset({"staticmethod", "classmethod", "property"})
MODE_METHODS = ("train", "eval")
"""The methods of modules that set their mode."""
_LEARNING = frozenset({"backward", "step", "zero_grad", "fit", "learn", "optimize"})
"""What is called where a method trains."""


def running_methods(members: Iterable[Member], is_derived: bool = False) -> tuple[str, ...]:
    """The methods beside ``forward`` that call the instance, its ``forward``, or what it holds, and set nothing meanwhile.

    A class that derives from another one may be a module that has no ``forward``.
    """
    methods = {member.method.name: member for member in members if member.method is not None}
    if "forward" not in methods and not is_derived:
        return ()
    held = {name for method in methods.values() for name in _held(method)} - methods.keys()
    uses = {name: _uses(method, held) for name, method in methods.items()}
    setting = _reached({name for name, (_, sets, _) in uses.items() if sets}, uses)
    running = _reached({"forward", *(name for name, (runs, _, _) in uses.items() if runs)}, uses)
    return tuple(name for name in methods if name in running - setting and name != "forward" and not name.startswith("__"))


def _reached(names: set[str], uses: dict[str, tuple[bool, bool, set[str]]]) -> set[str]:
    """Some methods, and those that call them."""
    found = set(names)
    for _ in uses:
        more = {name for name, (_, _, called) in uses.items() if called & found} - found
        if not more:
            break
        found |= more
    return found


def _held(method: Member) -> set[str]:
    """The attributes that a method gives the instance."""
    stored = (part for part in method.every(ast.Attribute) if isinstance(part.ctx, ast.Store))
    return {part.attr for part in stored if is_self(part.value)}


def _uses(method: Member, held: set[str]) -> tuple[bool, bool, set[str]]:
    """Whether a method runs the instance or what it holds, whether it may set something, and which methods it calls."""
    assert method.method is not None
    sets = any(last_name(each) not in _PLAIN for each in method.method.decorator_list)
    runs, called = False, set[str]()
    held = held - torch_api.MODULE_ATTRIBUTES
    items = _items(method, held)
    for call in method.every(ast.Call):
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _PASSING_ON and not is_self(function.value):
            function = function.value
        if is_self(function) or (isinstance(function, ast.Name) and function.id in items) or _is_held(function, held):
            runs = True
        elif isinstance(function, ast.Attribute) and is_self(function.value):
            called.add(function.attr)
    sets = sets or any(part.attr in _SETTING for part in method.every(ast.Attribute))
    given = method.method.args
    flags = {each.arg for each in (*given.args, *given.kwonlyargs)}
    return runs, sets or any(part.id in _SETTING - flags for part in method.every(ast.Name)), called


def _items(method: Member, held: set[str]) -> set[str]:
    """What the parts are called that a method goes through: ``layer`` of ``for layer in reversed(self.layers)``."""
    found = set[str]()
    for loop in method.every(ast.For):
        if any(isinstance(part, ast.Attribute) and _is_held(part, held) for part in ast.walk(loop.iter)):
            found |= {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    return found


def _is_held(node: ast.expr, held: set[str]) -> bool:
    """Whether an expression is something that the instance holds, or an item of that."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute) and is_self(node.value) and node.attr in held


def runs_of(function: Function, parts: Iterable[ast.AST], parameters: Iterable[str]) -> tuple[tuple[str, bool], ...]:
    """Which of its parameters a function, of these parts, runs with the autograd that it finds, and whether in a loop; it asks
    for no gradients itself.
    """
    given, found = frozenset(parameters), dict[str, bool]()
    for part in parts:
        word = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else ""
        if word in _DIFFERENTIATING or (word in _SETTING and word not in given):
            return ()
        if isinstance(part, ast.Call) and (name := _run_parameter(part)) in given:
            found[name] = False
    if not found or function.decorator_list:
        return ()
    for part in parts:
        if isinstance(part, _LOOPED):
            for inner in ast.walk(part):
                if isinstance(inner, ast.Call) and (name := _run_parameter(inner)) in found:
                    found[name] = True
    return tuple(found.items())


def differentiates(parts: Iterable[ast.AST]) -> bool:
    """Whether a function, of these parts, computes gradients by ``autograd.grad(loss, weights)``, if autograd is on already."""
    found = False
    for part in parts:
        if isinstance(part, (ast.Attribute, ast.Name)) and last_name(part) in _TURNING_ON:
            return False
        if isinstance(part, ast.Call) and last_name(part.func) == "grad":
            found = found or len(part.args) + len(part.keywords) > 1  # of other libraries, it is given a function
    return found


def forward_differentiates(members: Iterable[Member]) -> bool:
    """Whether a class's ``forward``, or a method that it comes to, asks autograd for gradients, if that is on already."""
    methods = {member.method.name: member for member in members if member.method is not None}
    pending, seen = ["forward"], {"forward"}
    while pending:
        member = methods.get(pending.pop())
        if member is None:
            continue
        called = [call.func for call in member.every(ast.Call)]
        if differentiates([*member.every(ast.Attribute), *member.every(ast.Name), *member.every(ast.Call)]):
            return True
        if any(isinstance(each, ast.Attribute) and each.attr == "backward" for each in called):
            return True
        reached = {part.attr for part in member.every(ast.Attribute) if is_self(part.value)} & methods.keys() - seen
        pending += reached
        seen |= reached
    return False


def _run_parameter(call: ast.Call) -> str:
    """The name of what is called as a module: ``model(x)``, ``model.forward(x)``."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="forward"):
            return name
    return ""


# --- modes -----------------------------------------------------------------------------------------------------------


def sets_mode(method: Function) -> bool:
    """Whether a class's own ``train`` or ``eval`` can be called as torch's is, and does what that does, and perhaps more."""
    given = method.args
    positional = [*given.posonlyargs, *given.args]
    if len(positional) - len(given.defaults) > 1 or None in given.kw_defaults or method.decorator_list:
        return False
    if method.name == "train" and len(positional) < 2 and given.vararg is None:
        return False  # torch's ``eval`` hands it the mode
    return is_about_mode(method)


def is_about_mode(method: Function) -> bool:
    """Whether a method hands on to another ``train`` or ``eval``, or stores ``training``, and trains nothing."""
    hands_on = False
    for part in walk_body(method.body):
        match part:
            case ast.Call(func=ast.Attribute(attr=name)) if name in _LEARNING:
                return False
            case ast.Call(func=ast.Attribute(attr="train" | "eval")) | ast.Attribute(attr="training", ctx=ast.Store()):
                hands_on = True
    return hands_on
