"""Files that a program writes itself before it reads them, and programs that know one device alone."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, argument, last_name, position
from torchlint.semantics.conditions.assumptions import Assumptions
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.paths import Paths

_ACCELERATOR = re.compile(r"cuda|gpu|\b(?:mps|xpu|npu|hpu)\b", re.IGNORECASE)
DEVICE = re.compile(r"cuda|gpu|device|accelerat|^(mps|xpu|npu|hpu)$", re.IGNORECASE)
"""What the words are called that speak of devices."""
_OF_PROCESS = re.compile(
    r"(^|_)(main|master|primary|chief|leader|rank_?(zero|0)|zero_rank)(_?(process|rank|proc|node))?$", re.IGNORECASE
)
"""What the flags are called that are set in one process of a run."""
_OF_TORCHVISION = re.compile(
    r"(^|/|\})(alexnet-owt|vgg\d\d(_bn)?|resnet\d{2,3}|resnext\d{2,3}_\w{1,9}|wide_resnet\d{2,3}_2|densenet\d{3}|googlenet"
    r"|inception_v3_google|squeezenet1_[01]|mobilenet_v[23]\w{0,8}|shufflenetv2_x[\d.]{1,4}|mnasnet[\d.]{1,4}_top1_[\d.]{1,7})"
    r"-[0-9a-f]{8,10}\.pth$"
)
"""What the files of weights are called that torchvision offers."""
_VALUE = re.compile(r"\{[^{}]*\}")
_NAME = re.compile(r"[\w. -]{1,100}")
_TELLING = re.compile(r"[A-Za-z]{3}")
_OF_CPU = re.compile(r"(^|[/_.-])cpu[^/{}A-Za-z]{0,20}(\.[A-Za-z.]{1,8})?$", re.IGNORECASE)
"""How the names of files end that hold tensors of the CPU."""
_OPTIONS = re.compile(r"args|opts?|options|cfg|conf|config|flags|hparams|params", re.IGNORECASE)
"""What options are called."""
_OF_PYTEST = frozenset({"tmp_path", "tmp_path_factory", "tmpdir", "tmpdir_factory", "monkeypatch", "capsys", "caplog"})
"""What the fixtures are called that pytest has for every test."""
_DEEPEST = 3
_DEVICE_NAME = re.compile(r"(^|_)device$", re.IGNORECASE)


class OwnFiles:
    """Tells of loads whether the run that reads the file wrote it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._files = semantics.of(SavedFiles)

    def is_of_own_file(self, load: ast.Call) -> bool:
        """Whether the function has saved to the file before, by itself or by a function that it gives the path.

        Where it yields in between, whoever has its generator runs, and the file may be another one.
        """
        path = argument(load, 0, "f")
        return path is not None and any(
            self._is_same(written, path) and not self._yields_between(written, load) for written in self._written_before(load)
        )

    def is_of_same_run(self, load: ast.Call) -> bool:
        """Whether the run that loads has saved the file: by the same path, or by one that is made in the same way.

        That is so in a function that saves first (`save(net, f"{epoch}.pt")`, then `load(f"{best}.pt")`) unless a mere flag
        decides whether it does, in a test that is given what a fixture saved, and in the loop that trains, where the file saves
        by a path of the same name.
        """
        path = argument(load, 0, "f")
        if path is None:
            return False
        before = (*self._written_before(load), *self._written_in_earlier_round(load))
        written = (each for each in before if not self._is_left_to_flag(each, load))
        if any(self._is_same(each, path) or _is_made_alike(each, path) for each in written) or self._is_of_fixture(path):
            return True
        return self._is_rolled_back(load, path)

    def is_in_test(self, node: ast.AST) -> bool:
        """Whether a node stands in a test, which makes its files itself: `def test(loader)` of a training is none."""
        functions = (parent for parent in self._semantics.tree.ancestors(node) if isinstance(parent, FUNCTIONS))
        return any(
            function.name.startswith("test_") and (_takes_fixture(function) or any(map(_asserts, ast.walk(function))))
            for function in functions
        )

    def is_of_test(self, load: ast.Call) -> bool:
        """Whether a load stands in a test: not one of a file that options name, which whoever runs the script has made."""
        path = argument(load, 0, "f")
        is_option = isinstance(path, ast.Attribute) and _OPTIONS.fullmatch(last_name(path.value)) is not None
        return not is_option and self.is_in_test(load)

    @cached_property
    def knows_cpu_alone(self) -> bool:
        """Whether a device of the file is the CPU, as written there, and nothing in the file speaks of another one.

        So it is where no file of the project speaks of devices, and one of them saves.
        """
        on_cpu = [
            node
            for node in self._semantics.tree.of_type(ast.Assign)
            if any(_DEVICE_NAME.search(last_name(target)) for target in node.targets) and self._is_cpu(node.value)
        ]
        if on_cpu and not any(map(_names_accelerator, self._semantics.tree.nodes)):
            return True
        return self._is_of_cpu_project

    @cached_property
    def _is_of_cpu_project(self) -> bool:
        """Whether the project saves, and no file of it speaks of a device; or a folder that trains for itself does."""
        if self._semantics.words.match(DEVICE):
            return False
        speaks_of = self._semantics.elsewhere.speaks_of
        if speaks_of("accelerators") is False and speaks_of("saves") is True:
            return True
        is_program = speaks_of("backward passes", near=True) is True and speaks_of("saves", near=True) is True
        if not is_program or speaks_of("accelerators", near=True) is not False:
            return False
        return speaks_of("other folders", near=True) is False

    def _is_cpu(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value="cpu"):
                return True
            case ast.Call(func=function, args=[ast.Constant(value="cpu")]):
                return self._semantics.qualified_name(function) == "torch.device"
        return False

    def is_of_torchvision(self, load: ast.Call) -> bool:
        """Whether a load reads a file that torchvision offers, by the name that it has there: those hold tensors of the CPU."""
        path = argument(load, 0, "f")
        return path is not None and self._names_torchvision(path, _DEEPEST)

    def is_of_cpu_file(self, load: ast.Call) -> bool:
        """Whether the name of a file says that what is in it was saved from the CPU: ``model_cpu.pt``."""
        path = argument(load, 0, "f")
        return path is not None and _OF_CPU.search(self._spelled(path)) is not None

    def is_of_cpu_program(self, load: ast.Call) -> bool:
        """Whether programs that know the CPU alone read the file, and save it, as its name says, which is written out."""
        path, file = argument(load, 0, "f"), os.path.basename(self._semantics.elsewhere.file)
        name = self._name_written_out(path) if path is not None else ""
        if not name or not _NAME.fullmatch(file):
            return False
        return self._semantics.elsewhere.speaks_of(f"files of the CPU: {file}|{name}", near=True) is True

    def _spelled(self, path: ast.expr) -> str:
        """A path as it is written, there or where the one name that it has got it."""
        return self._semantics.of(Paths).spelled(self._semantics.bindings.assigned(path) or path)

    def _name_written_out(self, path: ast.expr) -> str:
        """The longest part of a file's name that is written out; empty where that could be the name of any."""
        longest = max(_VALUE.sub("\n", self._spelled(path)).rpartition("/")[2].split("\n"), key=len)
        return longest if _NAME.fullmatch(longest) and _TELLING.search(os.path.splitext(longest)[0]) else ""

    def _names_torchvision(self, path: ast.expr, depth: int) -> bool:
        """Whether a path ends in such a name, or that of each call does which gives it for a parameter."""
        end = self._semantics.of(Paths).spelled(path)
        if _OF_TORCHVISION.search(end) or not depth or not isinstance(path, ast.Name):
            return _OF_TORCHVISION.search(end) is not None
        values: list[ast.expr] = []
        for binding in self._semantics.bindings.reaching(path):
            given = self._semantics.inference.given(binding) if binding.form is Form.PARAMETER else [binding.value]
            values += [each if each is not None and not binding.path else path for each in given or [path]]
        return bool(values) and all(each is not path and self._names_torchvision(each, depth - 1) for each in values)

    # --- what was written before -------------------------------------------------------------------------------------

    def _is_rolled_back(self, load: ast.Call, path: ast.expr) -> bool:
        """Whether the loop that trains loads by a name which the file saves by: the best state, where it gets no better."""
        if not isinstance(path, (ast.Name, ast.Attribute)):
            return False
        saved = any(ast.dump(each) == ast.dump(path) for each in self.written)
        backward = self._semantics.facts.calls.get("backward", ()) if saved else ()
        loops = list(self._semantics.tree.loops(load))
        return any(self._semantics.tree.inside(call, loop) for call in backward for loop in loops)

    def _written_before(self, load: ast.Call) -> Iterator[ast.expr]:
        """The files that the load's function has saved to above it, other than in another branch of the same condition."""
        function = self._semantics.tree.function(load)
        for written in self.written:
            if self._semantics.tree.function(written) is function and position(written) < position(load):
                if not self.is_in_other_branch(written, load):
                    yield written

    def _written_in_earlier_round(self, load: ast.Call) -> Iterator[ast.expr]:
        """The files that one branch in a loop saves to, where the other one loads: the best state, until it gets no better."""
        loops = list(self._semantics.tree.loops(load))
        for written in self.written if loops else ():
            in_loop = any(self._semantics.tree.inside(written, loop) for loop in loops)
            if in_loop and self.is_in_other_branch(written, load):
                around = set(self._semantics.tree.ancestors(load))
                choice = next(each for each in self._semantics.tree.ancestors(written) if each in around)
                if isinstance(choice, ast.If) and not _is_flag(choice.test):
                    yield written

    @cached_property
    def written(self) -> list[ast.expr]:
        """The files that something is saved to, also where a function of the file is given them to do it, and where it is
        copied to by the function that saves: the best so far.
        """
        files = [file for save in self._files.saves if (file := argument(save, 1, "f")) is not None]
        files += self._copies
        return [*files, *(given for file in files for given in self._given(file))]

    @property
    def _copies(self) -> Iterator[ast.expr]:
        """The files that functions which save copy or move something to."""
        saving = {self._semantics.tree.function(save) for save in self._files.saves}
        for name in ("copy", "copyfile", "copy2", "move", "rename", "replace"):
            for call in self._semantics.facts.calls.get(name, ()):
                match call:
                    case ast.Call(func=function, args=[_, target]) if self._semantics.tree.function(call) in saving:
                        if (self._semantics.qualified_name(function) or "").startswith(("shutil.", "os.")):
                            yield target

    def _given(self, file: ast.expr) -> Iterator[ast.expr]:
        """What the callers give for the parameter that a function saves to."""
        bindings = self._semantics.bindings.reaching(file) if isinstance(file, ast.Name) else ()
        for binding in bindings:
            function, parameter = binding.scope.node, binding.node
            if binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS) and isinstance(parameter, ast.arg):
                for call in self._semantics.facts.call_sites(function):
                    given = self._semantics.facts.argument(call, function, parameter)
                    if given is not None and given is not self._semantics.facts.default(function, parameter):
                        yield given

    def _is_same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two paths are spelt alike, of names that have the same values."""
        if ast.dump(one) != ast.dump(other):
            return False
        pairs = zip(ast.walk(one), ast.walk(other))
        return all(
            not isinstance(first, ast.Name)
            or not isinstance(second, ast.Name)
            or set(self._semantics.bindings.reaching(first)) == set(self._semantics.bindings.reaching(second))
            for first, second in pairs
        )

    # --- between the two ---------------------------------------------------------------------------------------------

    def is_in_other_branch(self, written: ast.AST, load: ast.AST) -> bool:
        """Whether only one of the two runs, by a condition that both stand under."""
        around = set(self._semantics.tree.ancestors(load))
        inner: ast.AST = written
        for parent in self._semantics.tree.ancestors(written):
            if parent in around:
                if not isinstance(parent, ast.If) or inner in around:
                    return False
                return (inner in parent.body) is not any(part in around for part in parent.body)
            inner = parent
        return False

    def _is_left_to_flag(self, written: ast.AST, load: ast.AST) -> bool:
        """Whether a mere flag decides if something is saved, `if args.train`, which does not decide about the load."""
        around = set(self._semantics.tree.ancestors(load))
        shared = self._asked(written) & self._asked(load)
        conditions = (each for each in self._semantics.tree.ancestors(written) if isinstance(each, ast.If))
        return any(
            each not in around
            and not {(ast.unparse(each.test), True), (ast.unparse(each.test), False)} & shared
            and any(map(self._is_mere_flag, _parts(each.test)))
            for each in conditions
        )

    def _asked(self, node: ast.AST) -> set[tuple[str, bool]]:
        """The conditions that code runs under, as they are spelled, and how they have to come out."""
        return {(ast.unparse(test), holds) for test, holds in self._semantics.of(Assumptions).guards(node)}

    def _is_mere_flag(self, test: ast.expr) -> bool:
        return _is_flag(test) and not self._is_of_round(test)

    def _is_of_round(self, test: ast.expr) -> bool:
        """Whether the rounds of a loop decide a condition: `is_best = loss < best` in it, `for phase in ("train", "val")`."""
        match test:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(test)
                return bool(bindings) and all(
                    isinstance(each.value, (ast.Compare, ast.BoolOp)) and any(self._semantics.tree.loops(each.node))
                    for each in bindings
                )
            case ast.Compare(left=ast.Name() as name):
                bindings = self._semantics.bindings.reaching(name)
                return bool(bindings) and all(
                    each.form is Form.LOOP and isinstance(each.value, (ast.List, ast.Tuple)) for each in bindings
                )
        return False

    def is_beside(self, written: ast.AST, load: ast.AST) -> bool:
        """Whether the load may run without what is written above it: in another branch, or where a mere flag is not set."""
        return self.is_in_other_branch(written, load) or self._is_left_to_flag(written, load)

    def _yields_between(self, written: ast.expr, load: ast.Call) -> bool:
        function = self._semantics.tree.function(load)
        return any(
            self._semantics.tree.function(node) is function and position(written) < position(node) < position(load)
            for node in self._semantics.tree.of_type(ast.Yield)
        )

    # --- fixtures ----------------------------------------------------------------------------------------------------

    def _is_of_fixture(self, path: ast.expr) -> bool:
        """Whether a path is the parameter of a test, named after a fixture of the file that saves something."""
        if not isinstance(path, ast.Name) or path.id not in self._saving_fixtures:
            return False
        return any(binding.form is Form.PARAMETER for binding in self._semantics.bindings.reaching(path))

    @cached_property
    def _saving_fixtures(self) -> set[str]:
        functions = (self._semantics.tree.function(save) for save in self._files.saves)
        return {each.name for each in functions if isinstance(each, FUNCTIONS) and any(map(_is_fixture, each.decorator_list))}


def _is_made_alike(one: ast.expr, other: ast.expr) -> bool:
    """Whether two paths are made in the same way of different names, with something written out in both."""
    return _made(one) == _made(other) and any(isinstance(part, ast.Constant) and part.value for part in ast.walk(one))


def _made(path: ast.expr) -> list[object]:
    """The constants and kinds of the parts of a path, without the names in it, and where it is a sum without its numbers."""
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Add):
        first, *others = map(_plain, _summands(path))
        start = ast.dump(first) if isinstance(first, (ast.Name, ast.Attribute)) else _written_out(first)
        return [start, *map(_written_out, others)]
    if not isinstance(path, (ast.Call, ast.JoinedStr, ast.BinOp)):
        return [ast.dump(path)]
    return [part.value if isinstance(part, ast.Constant) else type(part) for part in ast.walk(path)]


def _summands(path: ast.expr) -> list[ast.expr]:
    parts: list[ast.expr] = []
    while isinstance(path, ast.BinOp) and isinstance(path.op, ast.Add):
        parts.append(path.right)
        path = path.left
    return [path, *reversed(parts)]


def _plain(part: ast.expr) -> ast.expr:
    """A part of a path without the `str` around it."""
    match part:
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name() | ast.Attribute() as given], keywords=[]):
            return given
    return part


def _written_out(part: ast.expr) -> object:
    return part.value if isinstance(part, ast.Constant) else None


def _is_flag(test: ast.expr) -> bool:
    """Whether a condition is a name, or compares one with something written out: `args.train`, `mode == "train"`.

    One that chooses among the processes of a run is none: one of them saves for all.
    """
    match test:
        case ast.Name() | ast.Attribute():
            return _OF_PROCESS.search(last_name(test)) is None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not isinstance(operand, (ast.Name, ast.Attribute)) or _is_flag(operand)
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str())]):
            return True
        case ast.BoolOp(values=values):
            return any(map(_is_flag, values))
    return False


def _parts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) else [test]


def _is_fixture(decorator: ast.expr) -> bool:
    return last_name(decorator.func if isinstance(decorator, ast.Call) else decorator) == "fixture"


def _names_accelerator(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(text)) | ast.Attribute(attr=text) | ast.Name(id=text):
            return _ACCELERATOR.search(text) is not None
    return False


def _takes_fixture(function: Function) -> bool:
    """Whether a function is given what pytest gives to tests."""
    return any(each.arg in _OF_PYTEST for each in (*function.args.args, *function.args.kwonlyargs))


def _asserts(node: ast.AST) -> bool:
    return isinstance(node, ast.Assert) or (
        isinstance(node, ast.Call) and last_name(node.func).startswith(("assert", "raises"))
    )
