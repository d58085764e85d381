"""Errors that end the program: no code of the file awaits any."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.code.tree import FUNCTIONS, TRIES, Function

_AWAITING = frozenset(
    {
        *("raises", "assertRaises", "assertRaisesRegex", "suppress", "xfail", "allow_mutation_on_saved_tensors"),
        *("excepthook", "unraisablehook", "set_exception", "return_exceptions", "expectedFailure"),
        *("Thread", "Process", "Executor", "ThreadPoolExecutor", "ProcessPoolExecutor", "create_task", "start_new_thread"),
    }
)
"""What awaits an error, makes one go away, or runs code whose errors end something else than the program."""
_STACKS = frozenset({"ExitStack", "AsyncExitStack"})
_PUSHING = frozenset({"push", "push_async_exit"})
"""What gives a stack of contexts a function of the `__exit__` kind: others, `callback`, are given no error."""
_READING = frozenset({"format_exc", "exc_info", "format_exception", "assertRaisesRegex", "raises"})
"""Words of code that reads the texts of errors it did not give a name."""
_OTHERS = frozenset(
    f"builtins.{name}"
    for name in (
        *("ImportError", "ModuleNotFoundError", "KeyboardInterrupt", "StopIteration", "GeneratorExit", "SystemExit"),
        *("OSError", "IOError", "EnvironmentError", "FileNotFoundError", "FileExistsError", "PermissionError", "EOFError"),
        *("KeyError", "UnicodeDecodeError", "UnicodeEncodeError", "ConnectionError", "TimeoutError", "BrokenPipeError"),
        *("ConnectionResetError", "IsADirectoryError", "NotADirectoryError", "ZeroDivisionError", "RecursionError"),
    )
)
"""Errors that no hazard is."""
_PLAIN = frozenset(
    f"builtins.{name}" for name in ("open", "int", "float", "str", "len", "isinstance", "print", "input", "range")
)
_OF_TORCH = frozenset({"torch.cuda.is_available", "torch.load", "torch.save", "torch.device", "torch.cuda.set_device"})
_CALLING = frozenset({"functools", "concurrent", "asyncio", "threading", "multiprocessing", "unittest", "runpy", "importlib"})
"""Modules of Python that call what they are given."""
_KNOWN = frozenset(sys.stdlib_module_names) - _CALLING
_DECORATORS = frozenset(
    {
        *("builtins.staticmethod", "builtins.classmethod", "builtins.property", "functools.wraps", "functools.lru_cache"),
        *("functools.cached_property", "functools.cache", "abc.abstractmethod", "typing.overload", "typing.no_type_check"),
        *("dataclasses.dataclass", "functools.total_ordering", "contextlib.contextmanager"),
    }
)


_ASKED = {
    "IndexError": ("__getitem__",),
    "AttributeError": ("__getattr__", "__getattribute__", "__get__"),
    "TypeError": ("__len__", "__length_hint__", "__eq__"),
}
"""Methods whose errors of a class say something to Python: that a sequence ends, that there is no such attribute or length."""


class FreeErrors:
    """Tells whether any code of the file would take notice of an error, so that a fix that mends it changes more.

    What another file does with the error of a function is out of sight: where code always raises, the error is the hazard.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def fact(self) -> Fact:
        """Whether the file catches no error but those that are others for certain, as of imports and of files."""
        words = sorted(self._semantics.words.all & _AWAITING)
        if words:
            return unknown(f"the code awaits errors, and may decide by this one: `{words[0]}`")
        if any(map(self._catches, self._tree.of_type(*dict.fromkeys(TRIES)))):
            return unknown("the code awaits errors, and may decide by this one")
        if any(map(self._swallows, self._semantics.facts.classes)):
            return unknown("a context manager of the file may swallow the error")
        if self._has_exit_callback:
            return unknown("an exit callback of an `ExitStack` may swallow the error")
        return CERTAIN

    @cached_property
    def texts(self) -> Fact:
        """Whether no code of the file reads what the text of an error says that it may catch."""
        words = sorted(self._semantics.words.all & _READING)
        if words:
            return unknown(f"the code may read the text of the error: `{words[0]}`")
        tries = filter(self._catches, self._tree.of_type(*dict.fromkeys(TRIES)))
        handlers = (each for found in tries for each in found.handlers if each.name and not self._lets_through(each))
        read = next(
            (each for each in handlers if (bound := self._semantics.bindings.of(each)) is not None and bound.uses), None
        )
        return CERTAIN if read is None else unknown(f"the code may read the text of the error: `{read.name}`")

    def of(self, node: ast.AST, instead: str = "", error: str = "") -> Fact:
        """Whether an error that ``node`` raises ends the program, as far as the file shows.

        Or whether what awaits it does what is written with the code ``instead`` in the place of the node. ``error`` is the
        class of the error, where Python itself may await that.
        """
        if instead and isinstance(node, ast.expr) and self._is_made_good(node, instead):
            return CERTAIN
        if is_awaited(self._tree, node):
            return unknown("the code awaits the error, and may decide by it")
        if any(isinstance(parent, TRIES) and _leaves(parent) for parent in self._tree.ancestors(node)):
            return unknown("a `finally` that is left on another way swallows the error")
        if asked := self._asked_by_python(node, error):
            return unknown(f"Python itself awaits an `{error}` of `{asked}`")
        functions = [parent for parent in self._tree.ancestors(node) if isinstance(parent, (*FUNCTIONS, ast.ClassDef))]
        strange = next((each for function in functions for each in self._strange_decorators(function)), None)
        if strange is not None:
            return unknown(f"`{shortened(strange)}` may await the error")
        if not functions:  # what the file runs by itself is caught by what stands around it
            return self._free_at_top(node)
        return self.fact

    def _free_at_top(self, node: ast.AST) -> Fact:
        """Whether an error at the top level of the file ends the program: all that could catch it stands around it."""
        around = [parent for parent in self._tree.ancestors(node) if isinstance(parent, (ast.With, ast.AsyncWith))]
        is_strange = not all(self._lets_out(item.context_expr) for each in around for item in each.items)
        return self.fact if is_strange or "excepthook" in self._semantics.words.all else CERTAIN

    def _lets_out(self, context: ast.expr) -> bool:
        """Whether a context is one of torch's, or a file: an error leaves it as it came."""
        name = self._semantics.qualified_name(context.func if isinstance(context, ast.Call) else context) or ""
        return name.startswith("torch.") or name == "builtins.open"

    def _is_made_good(self, node: ast.expr, instead: str) -> bool:
        """Whether a node stands alone in a ``try`` whose handlers are the same statement with ``instead`` in its place."""
        statement = self._tree.statement(node)
        block = self._tree.parent(statement)
        if not isinstance(block, TRIES) or block.body != [statement] or block.orelse or block.finalbody:
            return False
        written, old = ast.unparse(statement), ast.unparse(node)
        meant = written.replace(old, instead)
        return written.count(old) == 1 and all(
            len(each.body) == 1 and ast.unparse(each.body[0]) == meant for each in block.handlers
        )

    # --- Python ------------------------------------------------------------------------------------------------------

    def _asked_by_python(self, node: ast.AST, error: str) -> str:
        """The method in which, or in what it calls, ``node`` raises an error that says something to Python; empty for none."""
        pending, seen = [self._tree.function(node)], set[ast.AST]()
        while error and pending:
            function = pending.pop()
            if function is None or function in seen:
                continue
            seen.add(function)
            if isinstance(function, FUNCTIONS) and self._is_asked(function, error):
                return function.name
            pending += map(self._tree.function, (function, *self._semantics.facts.call_sites(function)))
        return ""

    def _is_asked(self, method: Function, error: str) -> bool:
        if not isinstance(self._tree.parent(method), ast.ClassDef):
            return False
        if error == "AttributeError" and any("property" in ast.unparse(each) for each in method.decorator_list):
            return True
        return method.name in _ASKED.get(error, ())

    # --- `try` -------------------------------------------------------------------------------------------------------

    def _catches(self, node: ast.Try) -> bool:
        """Whether a ``try`` may catch what a hazard raises in its body, or in what that calls."""
        if _leaves(node):
            return True
        if all(map(self._lets_through, node.handlers)):
            return False
        return not all(self._is_harmless(part) for each in node.body for part in ast.walk(each))

    def _lets_through(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler is for other errors, or raises what it has caught again and does nothing else."""
        match handler.body:
            case [ast.Raise(exc=None)]:
                return True
        if handler.type is None:
            return False
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        return all(self._is_other(each) for each in types)

    def _is_other(self, error: ast.expr) -> bool:
        name = self._semantics.qualified_name(error) or ""
        return name in _OTHERS or name.partition(".")[0] in _KNOWN - {"builtins"} or name == "torch.cuda.OutOfMemoryError"

    def _is_harmless(self, part: ast.AST) -> bool:
        """Whether a part of a ``try`` runs no code of the file and no operation of torch, so that no hazard is in it."""
        match part:
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                return name in _PLAIN or name in _OF_TORCH or name.partition(".")[0] in _KNOWN - {"builtins"}
            case ast.Attribute(attr=name):
                return name not in self._semantics.facts.method_names
            case ast.With() | ast.AsyncWith() | ast.For() | ast.AsyncFor() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return False
            case ast.BinOp() | ast.Subscript() | ast.AugAssign() | ast.UnaryOp() | ast.Compare() | ast.Lambda():
                return False
        return not isinstance(part, (ast.comprehension, *FUNCTIONS, ast.ClassDef))

    # --- context managers and decorators -----------------------------------------------------------------------------

    @cached_property
    def _has_exit_callback(self) -> bool:
        """Whether the file pushes functions on an `ExitStack`, which are given the error, and end it by returning true."""
        words = self._semantics.words.all
        return not words.isdisjoint(_STACKS) and not words.isdisjoint(_PUSHING)

    def _swallows(self, definition: ast.ClassDef) -> bool:
        """Whether leaving a context of a class may swallow an error: its ``__exit__`` returns something."""
        facts = self._semantics.facts
        ends = [facts.classes[definition].methods.get(name) for name in ("__exit__", "__aexit__")]
        returned = [value for each in ends if each is not None for value in self._returned(each)]
        stores = [part for part in ast.walk(definition) if isinstance(part, ast.Name) and part.id == "__exit__"]
        return bool(stores) or any(not (isinstance(value, ast.Constant) and not value.value) for value in returned)

    @staticmethod
    def _returned(function: Function) -> Iterator[ast.expr]:
        for part in ast.walk(function):
            if isinstance(part, ast.Return) and part.value is not None:
                yield part.value

    def _strange_decorators(self, definition: ast.AST) -> Iterator[ast.expr]:
        """The decorators of a function or class that are neither the file's, which is looked at, nor of known ways."""
        assert isinstance(definition, (ast.ClassDef, *FUNCTIONS))
        for decorator in definition.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = self._semantics.qualified_name(called) or ""
            of_file = self._semantics.facts.definition(called) is not None
            is_setter = isinstance(called, ast.Attribute) and called.attr in ("setter", "getter", "deleter")
            if not (of_file or is_setter or name in _DECORATORS or name.startswith("torch.")):
                yield decorator


def _leaves(node: ast.Try) -> bool:
    """Whether the ``finally`` of a ``try`` goes elsewhere, so that an error is gone."""
    return any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for each in node.finalbody for part in ast.walk(each))
