"""Programs that run on one GPU, always the same: it is written out wherever they move something, and no other is spoken of."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, argument, given_to, last_name, spoken_name
from torchlint.semantics.conditions.gpu_constants import GpuConstants
from torchlint.semantics.conditions.gpu_elsewhere import GpuElsewhere
from torchlint.semantics.conditions.gpu_lists import OF_LISTS, GpuLists
from torchlint.semantics.conditions.unasked_moves import UnaskedMoves

_CHOICE = re.compile(
    r"(^|_)(cuda|n?gpus?|gpu_?ids|devices?\d?|dev|ngpus?)$|^device_|is_available|is_cuda|map_location|DataParallel|DistributedDataParallel"
    r"|(local|world)_?(rank|size)|get_rank|init_process_group|accelerat|fabric|deepspeed|lightning|horovod|apex\.parallel|^(mps|xpu|npu|hpu)$",
    re.IGNORECASE,
)
"""What the names are called of code that may run elsewhere, too."""
_CHOOSING = re.compile(r"is_available|map_location|(local|world)_(rank|size)|set_device|^(mps|xpu|npu|hpu)$")
"""The names in code that may run elsewhere: asked before the other files of the project are."""
_ANOTHER = re.compile(
    r"^device_(ids?|map|index)$|gpu_?ids?$|map_location|set_device|DistributedDataParallel|(local|world)_?(rank|size)|get_rank|init_process_group"
    r"|accelerat|fabric|deepspeed|lightning|horovod|apex\.parallel|^(mps|xpu|npu|hpu)$",
    re.IGNORECASE,
)
"""What the names are called of code that may run on another GPU, or on another kind of device."""
_OF_PROCESSES = re.compile(r"DistributedDataParallel|(local|world)_?(rank|size)|get_rank|init_process_group", re.IGNORECASE)
"""What the names are called of code that runs in several processes, which may each have a GPU of their own."""
_ASKED = re.compile(r"(is|was|has)_", re.IGNORECASE)
"""What is found out of what was loaded: `is_dataparallel`."""
_CHOOSER = re.compile(
    r"arg|opt|conf|cfg|param|flag|setting|trainer|runner|learner|engine|agent|worker|manager|accelerat|fabric|strategy"
    r"|env|ctx|context|cuda|^self$|^$",
    re.IGNORECASE,
)
"""What holds the device that was chosen, by its name: other things have the device that they are on."""
_GPU = frozenset({"cuda", "cuda:0"})
_NUMBERED = re.compile(r"cuda:\d+")
_SHOWING = frozenset({"print", "info", "debug", "warning", "log", "write"})
"""Functions that show what they are given."""


class OneGpu:
    """Tells of loads whether the program that loads the file runs on one GPU alone."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._lists = semantics.of(GpuLists)

    def is_of_one_gpu(self, load: ast.Call) -> bool:
        """Whether a load is of a program that moves all to the one GPU.

        So it is where it needs the GPU in any case, whatever else it has, and where the whole project knows the GPU alone.
        """
        if argument(load, 0, "f") is None:
            return False
        return self.knows_one_gpu or self._needs_gpu(load) or self._is_of_gpu_project

    @cached_property
    def _is_of_gpu_project(self) -> bool:
        """Whether the project, or a folder that trains for itself, moves what it has to the GPU, and no file in it speaks of
        the CPU as a device, or of a choice.
        """
        if self._semantics.words.match(_CHOOSING) or self._means_another:
            return False
        return self._knows_gpu_alone(near=False) or self._knows_gpu_alone(near=True)

    def _knows_gpu_alone(self, *, near: bool) -> bool:
        """Whether that is so of the project, or of a folder that trains for itself."""
        speaks_of = self._semantics.elsewhere.speaks_of
        if speaks_of("choices of devices", near=near) is not False or speaks_of("moves to the GPU", near=near) is not True:
            return False
        return not near or (speaks_of("backward passes", near=True) is True and speaks_of("other folders", near=True) is False)

    # --- code that needs the GPU, whatever its flags say -------------------------------------------------------------

    def _needs_gpu(self, load: ast.Call) -> bool:
        """Whether something is moved to the one GPU in any case by the function or the class that loads, or by the script.

        So it is, say, where only the models are moved as a flag says, and the batches without being asked about: a CPU that the
        program names as well is of no use to it. No other GPU is spoken of then, nor the number of one.
        """
        asked, moved = self._semantics.of(UnaskedMoves), self._moved_in_any_case
        if load.lineno > self._ends_without.get(self._semantics.tree.function(load), load.lineno):
            return not self._means_another
        unit = asked.unit(load)
        units = {None, unit}
        if isinstance(unit, FUNCTIONS):
            units.update(map(asked.unit, self._semantics.facts.call_sites(unit)))
        calls = self._semantics.facts.calls
        for moving in moved:
            if isinstance(moving, ast.ClassDef) and units & {asked.unit(call) for call in calls.get(moving.name, ())}:
                units.add(moving)  # a model that is made there, and moves what it is given
        if self._means_another:
            return False
        return not moved.isdisjoint(units) or self._semantics.of(GpuElsewhere).is_needed_by(units)

    @cached_property
    def _moved_in_any_case(self) -> set[ast.AST | None]:
        """The functions and classes that move something to the one GPU, whatever flags say; ``None`` for the script itself."""
        return self._semantics.of(UnaskedMoves).units(self.moves_to_gpu)

    @cached_property
    def moves_to_gpu(self) -> list[ast.Call]:
        """The moves to the one GPU, and the calls that are told to run or make something there: ``Trainer(device="cuda")``."""
        calls = self._semantics.tree.of_type(ast.Call)
        told = [call for call in calls if any(word.arg == "device" and self._is_gpu(word.value) for word in call.keywords)]
        return [*(call for call, is_to in self._moves.items() if is_to), *told]

    @property
    def moves_anything(self) -> bool:
        """Whether anything is moved to a device that a tensor is not known to be on already."""
        return any(is_to is not None for is_to in self._moves.values())

    @cached_property
    def _ends_without(self) -> dict[ast.AST | None, int]:
        """The functions that end where there is no GPU to move something to, each with the line where they do."""
        return self._semantics.of(UnaskedMoves).ends(call for call, is_to in self._moves.items() if is_to)

    @cached_property
    def _means_another(self) -> bool:
        """Whether the file speaks of another GPU, of several with a place each, or of a device that others choose."""
        indexed = (call for call, is_to in self._moves.items() if is_to is False and not self._is_given_device(call))
        return any(indexed) or any(map(self._speaks_of_another, self._semantics.tree.nodes))

    def _is_given_device(self, call: ast.Call) -> bool:
        """Whether a move is to what a parameter called ``device`` is given, to a name that the file knows nothing of, or to
        the one GPU or the CPU, as the file chooses.
        """
        given = given_to(call)
        return any(self._is_unknown_device(each) or self._is_gpu_or_cpu(each) for each in given)

    def _is_gpu_or_cpu(self, device: ast.expr) -> bool:
        """Whether a device is the one GPU or the CPU, on every way: `torch.device("cuda" if found else "cpu")`."""
        match device:
            case ast.Constant(value="cpu"):
                return True
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_gpu_or_cpu(body) and self._is_gpu_or_cpu(orelse)
            case ast.Call(func=function, args=[given]) if self._semantics.qualified_name(function) == "torch.device":
                return self._is_gpu_or_cpu(given)
            case ast.Name() if not isinstance(device.ctx, ast.Store):
                bindings = self._semantics.bindings.reaching(device)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT and not each.path
                    and isinstance(each.value, (ast.Constant, ast.JoinedStr, ast.Call, ast.IfExp))
                    and self._is_gpu_or_cpu(each.value)
                    for each in bindings
                )  # fmt: skip
        return self._is_gpu(device)

    def _is_own_device(self, device: ast.Attribute) -> bool:
        """Whether a device is what the object was given as one, or the one GPU or the CPU: ``self.device = device``.

        So it may be by a class of settings in the file, and an object of that: ``config.device``.
        """
        settings = self._settings(device.value)
        if settings is not None:
            sets = [each for each in settings.body if isinstance(each, ast.Assign) and _is_name(each.targets, device.attr)]
            return bool(sets) and all(self._is_gpu_or_cpu(each.value) for each in sets)
        owner = self._semantics.facts.self_class(device.value)
        slots = self._semantics.facts.slots(owner, device.attr) if owner is not None else []
        stores = [self._semantics.tree.parent(store) for slot in slots for store in slot.stores]
        return bool(stores) and all(
            isinstance(store, ast.Assign) and (self._is_unknown_device(store.value) or self._is_gpu_or_cpu(store.value))
            for store in stores
        )

    def _settings(self, node: ast.expr) -> ast.ClassDef | None:
        """The class of the file that a name stands for, or for an object of."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else []
        made = bindings[0].value if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT else None
        found = self._semantics.facts.definition(made.func if isinstance(made, ast.Call) else node)
        return found if isinstance(found, ast.ClassDef) else None

    def _is_unknown_device(self, device: ast.expr) -> bool:
        if isinstance(device, ast.Attribute):
            return device.attr == "device" and self._is_own_device(device)
        if not isinstance(device, ast.Name) or device.id not in ("device", "torch_device"):
            return False
        return all(binding.form is Form.PARAMETER for binding in self._semantics.bindings.reaching(device))

    def _speaks_of_another(self, node: ast.AST) -> bool:
        match node:
            case ast.Constant(value=str(text)):
                return text.startswith("cuda:") and text not in self._gpu
            case ast.keyword(arg="map_location", value=ast.Constant(value=str(text))) if text in self._gpu:
                return False
            case ast.keyword(arg="map_location", value=ast.Lambda(body=ast.Call() as moved)) if self._is_to_one_gpu(moved):
                return False
            case ast.Attribute(attr="device"):
                if self._semantics.qualified_name(node) == "torch.device" or self._is_device_of_tensor(node):
                    return False
                return not self._is_own_device(node)
            case ast.keyword(arg="device", value=value):
                is_known = self._is_gpu_or_cpu(value) or self._is_device_of_tensor(value)
                return not is_known and not self._is_unknown_device(value)
            case ast.keyword() if self._lists.is_first_few(node):
                return False
            case ast.Name(id="DataParallel", ctx=ast.Load()) | ast.Attribute(attr="DataParallel"):
                return not self._lists.wraps_alone(node) and not self._lists.wraps_for_list(node)
            case ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)) | ast.Name(id=name) if (
                OF_LISTS.search(name)
            ):
                return not self._lists.go_to_wrappers
            case ast.alias(name=name):
                return self._names_another(name) and self._is_renamed(node)
            case ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                return self._names_another(name)
            case ast.Name(id=name, ctx=ast.Load()):
                return self._names_another(name)
        return False

    def _names_another(self, name: str) -> bool:
        if _ANOTHER.search(name) is None:
            return False
        return _OF_PROCESSES.search(name) is None or not self._has_one_place

    @cached_property
    def _has_one_place(self) -> bool:
        """Whether no file of the project says on which GPU a process is to run: each has its first one."""
        return self._semantics.elsewhere.speaks_of("places of processes") is False

    def _decides_nothing(self, available: ast.AST) -> bool:
        """Whether a question for the GPU is only shown, or ends the program without one, or decides on seeds and the like."""
        child: ast.AST = available
        for parent in self._semantics.tree.ancestors(available):
            match parent:
                case ast.Expr(value=ast.Call(func=function)):
                    return last_name(function) in _SHOWING
                case ast.If(test=test, body=body, orelse=[]) if test is child and all(map(self._sets_up, body)):
                    return True
                case ast.stmt():
                    return False
                case ast.expr() if self._semantics.of(UnaskedMoves).is_refusal(parent):
                    return True
            child = parent
        return False

    def _sets_up(self, statement: ast.stmt) -> bool:
        """Whether a statement sets a seed or a flag of CUDA, and so nothing that says where the program runs."""
        match statement:
            case ast.Expr(value=ast.Call(func=function)):
                called = self._semantics.qualified_name(function) or ""
                return called.startswith("torch.cuda.") and not called.endswith("set_device")
            case ast.Assign(targets=[target]):
                return (self._semantics.qualified_name(target) or "").startswith("torch.backends.")
        return False

    def _is_renamed(self, alias: ast.AST) -> bool:
        """Whether what is imported is read under another name: under its own, it is seen where it is read."""
        name = alias.asname if isinstance(alias, ast.alias) else None
        return name is not None and any(
            isinstance(node.ctx, ast.Load) and node.id == name for node in self._semantics.tree.of_type(ast.Name)
        )

    # --- programs that speak of the one GPU alone --------------------------------------------------------------------

    @cached_property
    def knows_one_gpu(self) -> bool:
        """Whether the file moves a model and a batch, or other two, to the GPU, and could not mean another device."""
        moved = {
            ast.unparse(call.func.value)
            for call, is_to in self._moves.items()
            if is_to and isinstance(call.func, ast.Attribute)
        }
        return len(moved) > 1 and False not in self._moves.values() and not self._chooses

    @cached_property
    def _gpu(self) -> frozenset[str]:
        """The names of the one GPU: of the first one, or of another that is the only one the file names, wherever it does."""
        nodes = self._semantics.tree.of_type(ast.Constant)
        named = {node.value for node in nodes if isinstance(node.value, str) and node.value.startswith("cuda")}
        is_another = len(named) == 1 and not named & _GPU and all(_NUMBERED.fullmatch(name) for name in named)
        return frozenset(named) if is_another and "cuda" not in self._semantics.facts.calls else _GPU

    @cached_property
    def _moves(self) -> dict[ast.Call, bool | None]:
        """What moves something, and whether it goes to the one GPU."""
        calls = [*self._semantics.facts.calls.get("cuda", ()), *self._semantics.facts.calls.get("to", ())]
        return {call: self._is_to_one_gpu(call) for call in calls}

    def _is_to_one_gpu(self, call: ast.Call) -> bool | None:
        """Whether a move goes to the one GPU; ``None`` where it is none, or goes to the CPU from there."""
        if not isinstance(call.func, ast.Attribute):
            return None
        given = [*call.args, *(word.value for word in call.keywords if word.arg != "non_blocking")]
        if call.func.attr == "cuda":
            return not given or (isinstance(given[0], ast.Constant) and given[0].value in (None, 0)) or self._is_gpu(given[0])
        if not given or self._is_dtype(given[0]):
            return None
        if self._is_device_of_tensor(given[0]) or (isinstance(given[0], ast.Constant) and given[0].value == "cpu"):
            return None
        return self._is_gpu(given[0])

    def _is_dtype(self, node: ast.expr) -> bool:
        return (self._semantics.qualified_name(node) or "").startswith("torch.") or last_name(node) == "dtype"

    def _is_gpu(self, device: ast.expr) -> bool:
        """Whether a device is the one GPU, as it is written out, or as all is that a name stands for."""
        match device:
            case ast.Constant(value=str(text)):
                return text in self._gpu
            case ast.Constant(value=number):
                return number == 0 and number is not False  # `.to(0)`
            case ast.JoinedStr(values=[ast.Constant() as text]):
                return self._is_gpu(text)
            case ast.Call(func=function, args=[given]) if self._semantics.qualified_name(function) == "torch.device":
                return self._is_gpu(given)
            case ast.Name() if not isinstance(device.ctx, ast.Store):
                bindings = self._semantics.bindings.reaching(device)
                if bindings and all(
                    each.form is Form.ASSIGNMENT and not each.path
                    and isinstance(each.value, (ast.Constant, ast.JoinedStr, ast.Call)) and self._is_gpu(each.value)
                    for each in bindings
                ):  # fmt: skip
                    return True
        return self._semantics.of(GpuConstants).is_gpu(device)

    def _is_device_of_tensor(self, node: ast.expr) -> bool:
        """Whether a device is the one where a tensor is already, or another thing that has a place: not what options say.

        So is a name for nothing else, and the number of a tensor's GPU: ``x.get_device() if x.is_cuda else "cpu"``.
        """
        match node:
            case ast.Name(ctx=ast.Load()):
                values = self._semantics.bindings.values(node)
                return bool(values) and all(
                    isinstance(each, (ast.Attribute, ast.Call, ast.IfExp)) and self._is_device_of_tensor(each)
                    for each in values
                )
            case ast.IfExp(body=body, orelse=orelse):
                parts = [each for each in (body, orelse) if not (isinstance(each, ast.Constant) and each.value == "cpu")]
                return bool(parts) and all(map(self._is_device_of_tensor, parts))
            case ast.Call(func=ast.Attribute(attr="get_device", value=owner), args=[], keywords=[]):
                return self._semantics.qualified_name(owner) is None
        if not isinstance(node, ast.Attribute) or node.attr != "device":
            return False
        match node.value:
            case ast.Call(func=ast.Name(id="next"), args=[ast.Call(func=ast.Attribute(attr="parameters" | "buffers")), *_]):
                return True  # of a model's first parameter
        return self._semantics.kind(node.value).is_tensor or (
            last_name(node.value) not in ("self", "cls", "torch") and not _CHOOSER.search(spoken_name(node.value))
        )

    @cached_property
    def _chooses(self) -> bool:
        """Whether the file has a name, an attribute, a parameter or an argument that speaks of a choice."""
        return any(self._speaks_of_choice(node) and not self._is_for_environment(node) for node in self._semantics.tree.nodes)

    def _is_for_environment(self, node: ast.AST) -> bool:
        """Whether a name says no more than which GPUs the process sees: `os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu`.

        The first of those is the one that everything is moved to then.
        """
        return isinstance(node, ast.expr) and self._sets_environment(self._semantics.tree.statement(node))

    def _sets_environment(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=owner)]):
                return last_name(owner) == "environ"
            case ast.If(body=body, orelse=orelse):
                return all(map(self._sets_environment, (*body, *orelse)))
        return False

    def _speaks_of_choice(self, node: ast.AST) -> bool:
        match node:
            case ast.Name(id="DataParallel", ctx=ast.Load()) | ast.Attribute(attr="DataParallel"):
                return not self._lists.wraps_alone(node)
            case ast.Name(id=name, ctx=ast.Load()):
                return _CHOICE.search(name) is not None and not _ASKED.match(name) and not self._is_gpu(node)
            case ast.Attribute(attr="cuda"):
                parent = self._semantics.tree.parent(node)
                is_called = isinstance(parent, ast.Call) and parent.func is node
                return not is_called and self._semantics.qualified_name(node) != "torch.cuda"
            case ast.Attribute(attr="device"):
                return self._semantics.qualified_name(node) != "torch.device" and not self._is_device_of_tensor(node)
            case ast.Attribute(attr="is_available"):
                return not self._decides_nothing(node)
            case ast.alias(name=name):
                return _CHOICE.search(name) is not None and self._is_renamed(node)
            case ast.Attribute(attr=name) | ast.arg(arg=name):
                return _CHOICE.search(name) is not None
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
                return _CHOICE.search(name) is not None and last_name(owner) != "environ"
            case ast.keyword(arg="device", value=value):
                return not self._is_gpu(value) and not self._is_device_of_tensor(value)
            case ast.keyword(arg=str(name)):
                return _CHOICE.search(name) is not None
        return False


def _is_name(targets: list[ast.expr], name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)
