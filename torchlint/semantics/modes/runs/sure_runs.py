"""Runs of models of which it is known that autograd records them, and not only assumed because nothing speaks against it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.tree import FUNCTIONS, given_to, last_name, walk
from torchlint.semantics.modes.evaluated_runs import Evaluated
from torchlint.semantics.modes.runs.recorded_models import RecordedModels
from torchlint.semantics.summaries.lookup import Outside
from torchlint.semantics.summaries.shown.quiet import freezes

_CONTEXTS = (
    *(
        "builtins.open",
        "contextlib.nullcontext",
        "contextlib.suppress",
        "contextlib.redirect_",
        "contextlib.closing",
        "tempfile.",
    ),
    *("tqdm.", "torch.cuda.", "torch.autocast", "torch.amp.", "torch.device", "torch.profiler.", "torch.enable_grad"),
    *("warnings.", "h5py.", "zipfile.", "PIL.", "matplotlib.", "concurrent.", "multiprocessing.", "threading.", "time."),
    *("gzip.", "io.", "os.", "pathlib.", "codecs.", "torch.autograd.profiler.", "torch.autograd.set_detect_anomaly"),
)
"""What is entered that leaves autograd as it is."""
_SAME = frozenset({"to", "cuda", "cpu", "eval", "train", "float", "half", "double", "bfloat16"})
"""Methods of a module that give the module itself."""
_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel", "DDP", "compile"})
_DEPTH = 6
"""Through so many names a model is followed to what makes it."""
_SHOWING = re.compile(r"(^|_)(progress|(tqdm|pbar|bar|timer?|writer|open|lock|autocast)$)", re.IGNORECASE)
"""What methods and variables are called that are entered to show or write something."""


class SureRuns:
    """Tells of evaluations whether it is known that they are recorded."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._models = semantics.of(RecordedModels)

    def is_sure(self, found: Evaluated) -> bool:
        """Whether the classes of a model are in sight, or the file or its project trains it, and nothing may turn autograd off
        or freeze the model: no class, no context of others, no caller; and what comes out is not handed out bit by bit.
        """
        kinds = [self._semantics.kind(each) for each in self._said(found)]
        names = self._names(found)
        if found.run.by_method or any(map(self._models.may_be_quiet, kinds)) or not names.isdisjoint(self.frozen):
            return False
        is_known = any(map(self._models.are_known, kinds)) or not names.isdisjoint(self.trained)
        if not is_known and not self._is_of_trained_project(found.run.model):
            return False
        if any(self.is_in_strange_context(call) for call in {found.run.call, found.run.node}):
            return False
        if self._is_one_sample(found):
            return False
        return not self._yields(found) and not self._is_called_unrecorded(found)

    def _is_one_sample(self, found: Evaluated) -> bool:
        """Whether a round of a training runs the model for one sample, and then once: ``net(x.unsqueeze(0))``."""
        loop = next(self._tree.loops(found.run.call), None)
        backwards = self._semantics.facts.calls.get("backward", ())
        if loop is None or found.run.node is not found.run.call or not any(self._tree.inside(each, loop) for each in backwards):
            return False
        return any(
            isinstance(part, ast.Call) and last_name(part.func) == "unsqueeze" and [*map(_is_zero, part.args)] == [True]
            for given in given_to(found.run.call)
            for part in ast.walk(given)
        )

    def _yields(self, found: Evaluated) -> bool:
        """Whether what comes out goes to callers one by one, who may need its graph: they are met in the midst of it."""
        function = self._tree.function(found.run.call)
        return isinstance(function, FUNCTIONS) and any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk(function))

    def _is_called_unrecorded(self, found: Evaluated) -> bool:
        """Whether the project calls what is called like a function around with autograd off, and nothing shows calls of it
        with autograd on.
        """
        elsewhere = self._semantics.elsewhere
        around = self._tree.function(found.switch), self._tree.function(found.run.call)
        names = {each.name for each in around if isinstance(each, FUNCTIONS) and not self._semantics.facts.call_sites(each)}
        return any(
            elsewhere.speaks_of(f"unrecorded calls: {name}") is True
            and elsewhere.speaks_of(f"recorded calls: {name}") is not True
            for name in names
        )

    def _said(self, found: Evaluated) -> Iterator[ast.expr]:
        """How the code says which model is run: where it is run, and put into evaluation mode; and what it is a part of."""
        yield found.run.model
        if isinstance(found.switch.func, ast.Attribute):
            yield found.switch.func.value
        if found.run.node is not found.run.call:
            yield from given_to(found.run.node)
        part = found.run.model
        while isinstance(part, ast.Attribute):
            part = part.value
            if isinstance(part, ast.Attribute):
                yield part

    def _names(self, found: Evaluated) -> set[str]:
        """The names of the model, in the functions that are involved; of a part, that of the whole, too."""
        names = {last_name(each) for each in self._said(found)} | {found.model.path[-1]}
        return names - {"", "self", "module"}

    def _is_of_trained_project(self, model: ast.expr) -> bool:
        """Whether a model that callers give, or that functions of the project make, is of a project that trains, freezes
        nothing, and has no module that turns autograd off.
        """
        speaks_of = self._semantics.elsewhere.speaks_of
        if not self._is_from_project(model, _DEPTH):
            return False
        return speaks_of("backward passes") is True and speaks_of("weights without gradients") is False

    def _is_from_project(self, model: ast.expr, depth: int) -> bool:
        """Whether nothing shows that a model is made by another library."""
        while isinstance(model, (ast.Attribute, ast.Subscript)):
            owner = self._semantics.facts.self_class(model.value) if isinstance(model, ast.Attribute) else None
            if owner is not None and isinstance(model, ast.Attribute):
                slots = self._semantics.facts.slots(owner, model.attr)
                stores = [self._tree.statement(each) for slot in slots for each in slot.stores]
                values = [each.value for each in stores if isinstance(each, ast.Assign)]
                return depth > 0 and all(self._is_made_by_project(each, depth - 1) for each in values)
            model = model.value
        if not isinstance(model, ast.Name):
            return False
        made = [each.value for each in self._semantics.bindings.reaching(model) if each.form is not Form.PARAMETER]
        return depth > 0 and all(each is not None and self._is_made_by_project(each, depth - 1) for each in made)

    def _is_made_by_project(self, value: ast.expr, depth: int) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _SAME:
                return self._is_made_by_project(inner, depth)
            case ast.Call(func=function, args=[inner, *_]) if last_name(function) in _WRAPPERS:
                return self._is_made_by_project(inner, depth)
            case ast.Call(func=function):
                if (
                    self._semantics.facts.definition(function) is not None
                    or self._semantics.qualified_name(function) == "torch.load"
                ):
                    return True
                target = self._semantics.elsewhere.target(function)
                return target is not None and not isinstance(target, Outside)
            case ast.Name() | ast.Attribute():
                return self._is_from_project(value, depth)
        return False

    @cached_property
    def trained(self) -> set[str]:
        """What models are called in the file that are back-propagated through, or whose parameters an optimizer gets."""
        found = set[str]()
        for call in self._semantics.of(Backpropagated).all_calls:
            function = call.func
            if isinstance(function, ast.Attribute) and function.attr == "forward":
                function = function.value
            found.add(last_name(function))
        for call in self._semantics.facts.calls.get("parameters", ()):
            outer = self._tree.parent(call)
            while isinstance(outer, (ast.Call, ast.keyword, ast.Starred)):
                if isinstance(outer, ast.Call) and any(word.arg == "lr" for word in outer.keywords):
                    found.add(last_name(call.func.value) if isinstance(call.func, ast.Attribute) else "")
                outer = self._tree.parent(outer)
        return found

    @cached_property
    def frozen(self) -> set[str]:
        """What is called that the file takes gradients of weights away from, or hands to a function that does."""
        names, helpers = set[str](), set[str]()
        for part in (*self._tree.of_type(ast.Assign), *self._tree.of_type(ast.Call)):
            if not freezes(part):
                continue
            if isinstance(part, ast.Call):
                owner = part.func.value if isinstance(part.func, ast.Attribute) else None
                names |= {last_name(each) for each in [*given_to(part), *([owner] if owner is not None else [])]}
            for around in self._tree.ancestors(part):
                if isinstance(around, ast.For):
                    names |= owners(around.iter)
                if isinstance(around, (ast.ListComp, ast.GeneratorExp)):
                    names |= {name for each in around.generators for name in owners(each.iter)}
                if isinstance(around, FUNCTIONS):
                    helpers.add(around.name)
                    break
        for helper in helpers - {"__init__"}:
            for call in self._semantics.facts.calls.get(helper, ()):
                owner = call.func.value if isinstance(call.func, ast.Attribute) else None
                names |= {last_name(each) for each in [*given_to(call), *([owner] if owner is not None else [])]}
        wrapped = {name for each in self._tree.of_type(ast.Assign) for name in _made_of(each, names)} if names else set()
        return names | wrapped

    def is_in_strange_context(self, call: ast.Call) -> bool:
        """Whether a call stands in a context that may turn autograd off: of the program's own, or of a library."""
        for around in self._tree.ancestors(call):
            if isinstance(around, FUNCTIONS):
                return False
            if isinstance(around, (ast.With, ast.AsyncWith)):
                for item in around.items:
                    if self._is_strange(item.context_expr):
                        return True
        return False

    def _is_strange(self, context: ast.expr) -> bool:
        function = context.func if isinstance(context, ast.Call) else context
        name = self._semantics.qualified_name(function) or ""
        if name.startswith(_CONTEXTS) or _SHOWING.search(last_name(function)):
            return False
        return not self._semantics.no_grad.covers(context)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _made_of(statement: ast.Assign, names: set[str]) -> Iterator[str]:
    """What gets a wrapper of something that is called by one of some names: ``vgg = Features(base)``."""
    value = statement.value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    if isinstance(value, ast.Call) and not names.isdisjoint(map(last_name, given_to(value))):
        yield from (last_name(each) for each in statement.targets)


def owners(iterable: ast.expr) -> set[str]:
    """What is called whose parameters a loop goes through; of anything else, all names in it."""
    calls = [part.func for part in ast.walk(iterable) if isinstance(part, ast.Call)]
    owners = {
        last_name(each.value)
        for each in calls
        if isinstance(each, ast.Attribute) and each.attr.endswith(("parameters", "modules"))
    }
    return owners or {last_name(part) for part in ast.walk(iterable) if isinstance(part, (ast.Name, ast.Attribute))}
