"""Where autograd is off for certain, whoever calls: not where it is off by what this file alone shows of its callers."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, refuted, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk_body
from torchlint.semantics.provenance.values import shown

_OFF = frozenset({"torch.no_grad", "torch.inference_mode"})
_ON = "torch.enable_grad"
_SET = "torch.set_grad_enabled"
NEUTRAL = frozenset(
    {
        *("builtins.open", "contextlib.nullcontext", "contextlib.suppress", "contextlib.redirect_stdout", "contextlib.closing"),
        *("torch.autocast", "torch.cuda.amp.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast_mode.autocast"),
        *("torch.device", "torch.cuda.device", "torch.cuda.stream", "torch.random.fork_rng", "torch.profiler.profile"),
        *("torch.profiler.record_function", "tqdm.tqdm", "tqdm.auto.tqdm", "warnings.catch_warnings", "threading.Lock"),
        *("zipfile.ZipFile", "tempfile.TemporaryDirectory", "tempfile.NamedTemporaryFile", "h5py.File", "PIL.Image.open"),
    }
)
"""Context managers that leave the mode as it is."""
_EAGER = frozenset(f"builtins.{name}" for name in ("sum", "any", "all", "max", "min", "list", "tuple", "set", "sorted", "dict"))
"""Functions that run a generator to its end before they return."""

_ON_HERE = refuted("autograd is on here")
_MAY_BE_ON = unknown("autograd may be on here")
_ASYNCHRONOUS = unknown("other coroutines may switch autograd while this one waits")
_SWITCHED = unknown("`set_grad_enabled` is called in this file and holds from there on")


class GradMode:
    """Tells whether code runs with autograd off, whatever has run before and whoever calls."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._held: dict[ast.With | Function, Fact] = {}

    def off(self, node: ast.AST) -> Fact:
        """Whether ``node`` is evaluated with autograd off: right in a block that turns it off, or in a function decorated so.

        Code that runs later than the block (a lambda, a generator, a function defined there) does not count, nor does a block
        with a flag, nor what coroutines and generators do, which others interrupt. That code out of sight leaves the mode as it
        found it, is taken for granted.
        """
        for frame, child in self._tree.frames(node):
            if isinstance(frame, ast.With) and isinstance(child, ast.stmt):
                if (fact := self._in_block(frame)) is not None:
                    return fact & self._undisturbed(frame)
            elif isinstance(frame, FUNCTIONS) and isinstance(child, ast.stmt):
                return self._in_function(frame)
            elif isinstance(frame, ast.Lambda) and child is frame.body:
                return unknown("the lambda may be called where autograd is on")
            elif isinstance(frame, ast.GeneratorExp) and not self._is_used_up(frame):
                return unknown("the generator may be run where autograd is on")
        return _MAY_BE_ON

    def _in_block(self, statement: ast.With) -> Fact | None:
        """What a with statement makes of the mode in its body; ``None`` if it leaves it as it is."""
        doubt: Fact | None = None
        for item in reversed(statement.items):
            fact = self._set_by(item.context_expr)
            if fact is not None and fact.is_certain:
                return fact if doubt is None else doubt
            doubt = fact if doubt is None else doubt
        return doubt

    def _set_by(self, context: ast.expr) -> Fact | None:
        """Whether a context manager turns autograd off; ``None`` if it leaves it as it is."""
        name = self._name(context.func) if isinstance(context, ast.Call) else ""
        if isinstance(context, ast.Call) and name in _OFF:
            return self._flagged(context, off=True) if context.args or context.keywords else CERTAIN
        if isinstance(context, ast.Call) and name == _SET:
            return self._flagged(context, off=False)
        if name == _ON:
            return _ON_HERE
        if name in NEUTRAL:
            return None
        return unknown(f"`{shown(context)}` may turn autograd on")

    def _flagged(self, call: ast.Call, *, off: bool) -> Fact:
        """Whether a flag that is written out turns autograd off."""
        match call:
            case ast.Call(args=[ast.Constant(value=bool(flag))], keywords=[]):
                return CERTAIN if flag is off else _ON_HERE
        return unknown("a flag tells here whether autograd is off")

    def _in_function(self, function: Function) -> Fact:
        """Whether a function's body runs with autograd off, by its decorators."""
        for decorator in reversed(function.decorator_list):
            made = isinstance(decorator, ast.Call)
            name = self._name(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name == "torch.no_grad" or (made and name == "torch.inference_mode"):
                if isinstance(function, ast.AsyncFunctionDef):
                    return unknown("the decorator of a coroutine covers only that it is made")
                if isinstance(decorator, ast.Call) and (decorator.args or decorator.keywords):
                    return self._flagged(decorator, off=True)
                return self._undisturbed(function)
            if isinstance(decorator, ast.Call) and name == _SET:
                return self._flagged(decorator, off=False)
            if name == _ON:
                return _ON_HERE
            if name not in ("builtins.staticmethod", "builtins.classmethod", "builtins.property"):
                break  # what a decorator makes of the function may run it elsewhere, or turn autograd on
        return _MAY_BE_ON

    def _undisturbed(self, around: ast.With | Function) -> Fact:
        """Whether what turned autograd off holds as long as its block runs."""
        if around not in self._held:
            self._held[around] = self._find_undisturbed(around)
        return self._held[around]

    def _find_undisturbed(self, around: ast.With | Function) -> Fact:
        function = around if isinstance(around, FUNCTIONS) else self._tree.function(around)
        if isinstance(function, ast.AsyncFunctionDef):
            return _ASYNCHRONOUS
        if isinstance(around, ast.With) and any(
            isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk_body(around.body)
        ):
            return unknown("who runs the generator may turn autograd on meanwhile")
        return _SWITCHED if self._is_switched else CERTAIN

    def _is_used_up(self, generator: ast.GeneratorExp) -> bool:
        match self._tree.parent(generator):
            case ast.Call(func=function, args=[first]) if first is generator:
                return self._name(function) in _EAGER
            case ast.Call(func=function, args=[first, _]) if first is generator:
                return self._name(function) == "builtins.sum"
        return False

    @cached_property
    def _is_switched(self) -> bool:
        """Whether the file calls ``set_grad_enabled`` otherwise than as a context manager or decorator."""
        calls = self._semantics.facts.calls.get("set_grad_enabled", ())
        return any(not self._is_bounded(call) for call in calls)

    def _is_bounded(self, call: ast.Call) -> bool:
        parent = self._tree.parent(call)
        return isinstance(parent, ast.withitem) or (isinstance(parent, FUNCTIONS) and call in parent.decorator_list)

    def _name(self, node: ast.AST) -> str:
        return self._semantics.qualified_name(node) or ""
