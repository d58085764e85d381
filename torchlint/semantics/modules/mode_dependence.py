"""Whether a module does something else in training mode than in evaluation mode: dropout, batch normalisation and the like."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import dotted, last_name
from torchlint.semantics.kinds.bound.moved import before_moves
from torchlint.semantics.kinds.kind import Kind, Type
from torchlint.semantics.modules.modes_elsewhere import ModesElsewhere
from torchlint.semantics.summaries.lookup import ClassElsewhere
from torchlint.semantics.summaries.members import members_of
from torchlint.semantics.summaries.shown.holding import runs_given_parts
from torchlint.semantics.summaries.shown.idle_layers import idle_layers
from torchlint.semantics.summaries.summary import is_modal

_ARCHITECTURES = re.compile(
    r"torchvision\.models\.\w.*|(.*\.)?\w*(Res[Nn]e[Xx]?t|DenseNet|EfficientNet|MobileNet|Inception|B[Ee][Rr][Tt]|GPT|"
    r"Transformer|ViT|U[Nn]et)\w*"
)
"""What models of well-known kinds are called, all of which have dropout or batch normalisation."""
_OTHER_MODULES = re.compile(r"(?!torch\.)\w+\.nn\.(Module|Layer|Cell)|flax\.\w[\w.]*\.Module")
"""What other libraries call their modules: ``paddle.nn.Layer``, ``mindspore.nn.Cell``, one that is written as an exercise."""
_PART = re.compile(r"(^|_)(model|net|network|encoder|decoder|backbone|unet)$", re.IGNORECASE)
"""What a model is called that another one is given."""
_FUNCTIONS = re.compile(r"torch\.(nn\.functional\.)?(\w*dropout\w*|batch_norm|rrelu_?|scaled_dot_product_attention)")
_ACTIVATION = re.compile(r"^(act|activation|nonlin\w*)(_|$)", re.IGNORECASE)
"""What the class of an activation is called that somebody gives."""
_DEEP = 4
"""How many wrappers are looked into."""


class ModeDependence:
    """Tells of models whether their mode makes a difference."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._classes: dict[ast.ClassDef, bool | None] = {}
        self._holders: set[ast.expr] = set()
        """The models whose given parts are being looked at."""

    def of(self, model: ast.expr) -> bool | None:
        """Whether the mode of ``model`` makes a difference; ``None`` where not all of it is in the file."""
        depends = self._of_one(model)
        return depends if depends is not None else self._of_any(model)

    def _of_any(self, model: ast.expr) -> bool | None:
        """Whether the mode makes a difference to one of the models that a parameter is given, if that is the same for all."""
        bindings = self._semantics.bindings.reaching(model) if isinstance(model, ast.Name) else ()
        given = [value for binding in bindings for value in self._semantics.inference.given(binding)]
        if len(bindings) != 1 or len(given) < 2 or model in self._holders or len(self._holders) > _DEEP:
            return None
        self._holders.add(model)
        answers = {self.of(value) if value is not None else None for value in given}
        self._holders.discard(model)
        return answers.pop() if len(answers) == 1 else None

    def _of_one(self, model: ast.expr) -> bool | None:
        kind = self._semantics.kind(model)
        if isinstance(kind.definition, ast.ClassDef):
            depends = self._of_class(kind.definition)
            return (
                self._of_given_parts(model) if depends is False and runs_given_parts(members_of(kind.definition)) else depends
            )
        if kind.classes_elsewhere:
            depends = self._of_classes_elsewhere(kind.classes_elsewhere, model)
            if depends is not None:
                return depends
        if _ARCHITECTURES.fullmatch(kind.name):
            return True
        made = list(self._made(model))
        if len(made) == 1 and made[0] is not None and (inner := self._within(made[0])) is not made[0]:
            return self.of(inner)
        classes = [self._semantics.elsewhere.module_class(call.func) if call is not None else None for call in made]
        if classes and all(each is not None and self._semantics.elsewhere.lookup.is_plain(each) for each in classes):
            return self._of_classes_elsewhere(tuple(filter(None, classes)), model)
        names = [(self._semantics.qualified_name(call.func) or "") if call is not None else "" for call in made]
        if not names or not all(names):
            return self._of_layer(kind)
        if all(name in torch_api.MODULES for name in names):
            return self._of_parts(part for call in made if call is not None for part in ast.walk(call))
        return True if all(_ARCHITECTURES.fullmatch(name) for name in names) else None

    def _of_given_parts(self, model: ast.expr) -> bool | None:
        """Whether the mode makes a difference to the modules that a model is given where it is made."""
        answers: set[bool | None] = {False}
        if model in self._holders or len(self._holders) > _DEEP:
            return False
        self._holders.add(model)
        for call in self._made(model):
            words = {word.value: word.arg for word in call.keywords} if call is not None else {}
            for value in (*call.args, *words) if call is not None else ():
                name = words.get(value)
                of_type = self._semantics.kind(value).type
                if of_type is Type.MODULE and value is not model:
                    answers.add(self.of(value))
                elif of_type is Type.UNKNOWN and isinstance(value, ast.Call) and _PART.search(name or last_name(value.func)):
                    answers.add(None)
        self._holders.discard(model)
        return True if True in answers else None if None in answers else False

    def _of_classes_elsewhere(self, classes: tuple[ClassElsewhere, ...], model: ast.expr) -> bool | None:
        """Whether the mode of a model of one of some classes of other files makes a difference; `None` if to some of them."""
        elsewhere = self._semantics.of(ModesElsewhere)
        answers = {elsewhere.matters(each) for each in classes}
        if answers == {None} and all(map(elsewhere.runs_given, classes)):
            return self._of_given_parts(model) or None
        return answers.pop() if len(answers) == 1 else None

    @staticmethod
    def _of_layer(kind: Kind) -> bool | None:
        """What is known of a single layer of torch's by its class."""
        if kind.name not in torch_api.MODULES or kind.name in torch_api.CONTAINER_MODULES:
            return None
        return is_modal(kind.name)

    def _made(self, model: ast.expr, depth: int = _DEEP) -> Iterator[ast.Call | None]:
        """The calls that make what a variable, or an attribute of an object, holds; ``None`` for a value from elsewhere."""
        if isinstance(model, ast.Call):
            yield self._call(model)
        elif isinstance(model, ast.Name):
            bindings = self._semantics.bindings.reaching(model)
            for binding in before_moves(bindings, self._semantics.bindings) or bindings:
                value = binding.value if binding.form is Form.ASSIGNMENT and not binding.path else None
                if isinstance(value, ast.Attribute) and depth:
                    yield from self._made(value, depth - 1) if self._owner(value) is not None else [None]
                else:
                    yield self._call(value)
        elif isinstance(model, ast.Attribute) and (owner := self._owner(model)) is not None:
            is_outside = self._semantics.facts.self_class(model.value) is None
            for slot in self._semantics.facts.slots(owner, model.attr):
                for store in slot.stores:
                    statement = self._semantics.tree.parent(store)
                    if isinstance(statement, ast.Assign) and _is_moved(statement.value, store):
                        continue
                    made = self._call(statement.value if isinstance(statement, ast.Assign) else None)
                    yield None if is_outside and self._is_to_be_filled(made) else made
            if is_outside and self._is_replaced(model.attr):
                yield None

    def _owner(self, attribute: ast.Attribute) -> ast.ClassDef | None:
        """The class of the file that an attribute is read of: of ``self``, or of a module of that class."""
        if (owner := self._semantics.facts.self_class(attribute.value)) is not None:
            return owner
        kind = self._semantics.kind(attribute.value)
        return kind.definition if kind.type is Type.MODULE and isinstance(kind.definition, ast.ClassDef) else None

    def _is_to_be_filled(self, call: ast.Call | None) -> bool:
        """Whether a call makes a container with nothing in it yet."""
        is_empty = call is not None and not call.args and not call.keywords
        return is_empty and call is not None and self._semantics.qualified_name(call.func) in torch_api.CONTAINER_MODULES

    def _is_replaced(self, name: str) -> bool:
        """Whether an attribute of a name is given to something from outside: ``model.head = nn.Dropout()``."""
        return any(
            isinstance(target, ast.Attribute) and target.attr == name and self._semantics.facts.self_class(target.value) is None
            for statement in self._semantics.tree.of_type(ast.Assign)
            for target in statement.targets
        )

    def _within(self, call: ast.Call) -> ast.Call:
        """The call that makes the module in a wrapper for several devices, where that is one: it knows no mode itself."""
        for _ in range(_DEEP):
            if not call.args or not last_name(call.func).endswith("DataParallel"):
                break
            made = list(self._made(call.args[0]))
            if len(made) != 1 or made[0] is None:
                break
            call = made[0]
        return call

    @staticmethod
    def _call(value: ast.expr | None) -> ast.Call | None:
        """The call in ``Net().to(device)`` that makes the module."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
            value = value.func.value
        return value if isinstance(value, ast.Call) else None

    def _of_class(self, definition: ast.ClassDef) -> bool | None:
        if definition not in self._classes:
            self._classes[definition] = False
            bases = list(self._semantics.facts.bases(definition))
            if any(self._is_of_another_library(node) for base in bases for node in base.bases):
                return False
            idle = frozenset[ast.AST]().union(*(idle_layers(base, self._semantics.tree.module) for base in bases))
            found = self._of_parts(part for base in bases for part in ast.walk(base) if part not in idle)
            known = all(self._is_known_base(node) for base in bases for node in base.bases)
            self._classes[definition] = found if found or known else None
        return self._classes[definition]

    def _is_of_another_library(self, base: ast.expr) -> bool:
        """Whether a base is what another library than torch has for modules, whose modes are none of torch's."""
        return _OTHER_MODULES.fullmatch(self._semantics.qualified_name(base) or "") is not None

    def _is_known_base(self, base: ast.expr) -> bool:
        name = self._semantics.qualified_name(base)
        return self._semantics.facts.definition(base) is not None or name in ("torch.nn.Module", "builtins.object")

    def _of_parts(self, parts: Iterable[ast.AST]) -> bool | None:
        found = {self._of_part(part) for part in parts}
        return True if True in found else None if None in found else False

    def _of_part(self, part: ast.AST) -> bool | None:
        match part:
            case ast.Attribute(attr="training", ctx=ast.Load()):
                return not isinstance(self._semantics.tree.parent(part), ast.Attribute)  # ``config.training.rate``
            case ast.keyword(arg=str(name), value=value) if re.search("drop(out|_rate|_prob|path)", name):
                return not (isinstance(value, ast.Constant) and not value.value) and not self._is_of_one_layer(part)
            case ast.Call(func=function):
                return self._of_call(part, function)
        return False

    def _is_of_one_layer(self, dropout: ast.keyword) -> bool:
        """Whether it is said to a recurrent network of one layer, which drops nothing: it drops between its layers."""
        match self._semantics.tree.parent(dropout):
            case ast.Call(func=function, args=args, keywords=words):
                is_recurrent = (self._semantics.qualified_name(function) or "") in (
                    "torch.nn.RNN",
                    "torch.nn.LSTM",
                    "torch.nn.GRU",
                )
                return is_recurrent and len(args) < 3 and not {word.arg for word in words} & {"num_layers", None}
        return False

    def _of_call(self, call: ast.Call, function: ast.expr) -> bool | None:
        name = self._semantics.qualified_name(function) or ""
        last = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
        if is_modal(last) and (depends := self._of_own(function)) is not None:
            return depends
        if is_modal(last):
            return not any(map(_keeps_last_batch, call.keywords)) and not _drops_nothing(call, last)
        if _FUNCTIONS.fullmatch(name):
            return any(keyword.arg == "training" for keyword in call.keywords)
        holds = name in torch_api.CONTAINER_MODULES or name.endswith("DataParallel")
        if holds and not all(map(self._is_written_out, call.args)):
            return None
        definition = self._semantics.facts.definition(function)
        if isinstance(definition, ast.ClassDef) or self._semantics.elsewhere.module_class(function) is not None:
            return self._of_own(function)
        if definition is not None or name.startswith(("torch.", "builtins.", "numpy.", "math.")):
            return False
        return None if last[:1].isupper() or self._makes_part(call) else False

    def _of_own(self, function: ast.expr) -> bool | None:
        """Whether the mode makes a difference to a class of the file, or of another of the project; `None` of all others."""
        definition = self._semantics.facts.definition(function)
        if isinstance(definition, ast.ClassDef):
            return self._of_class(definition)
        found = self._semantics.elsewhere.module_class(function)
        return self._semantics.of(ModesElsewhere).matters(found) if found is not None else None

    def _is_written_out(self, argument: ast.expr) -> bool:
        """Whether all modules of a container are made right there, or put into a list that the function fills itself."""
        match argument:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return all(map(self._is_written_out, items))
            case ast.Starred(value=ast.Name() as name) | (ast.Name() as name):
                bindings = self._semantics.bindings.reaching(name)
                uses = [use for binding in bindings for use in binding.uses]
                values = [binding.value for binding in bindings]
                is_own = bool(values) and all(value is not None and _is_display(value) for value in values)
                return is_own and all(self._is_filled_in_sight(use) for use in uses)
        return isinstance(argument, (ast.Call, ast.ListComp, ast.GeneratorExp))

    def _is_filled_in_sight(self, use: ast.Name) -> bool:
        """Whether a use of a list puts new modules into it, or hands it to a container."""
        parent = self._semantics.tree.parent(use)
        match parent:
            case ast.Attribute(attr="append" | "extend" | "insert"):
                call = self._semantics.tree.parent(parent)
                return isinstance(call, ast.Call) and all(map(self._is_new_part, call.args))
            case ast.AugAssign(value=value):
                return self._is_new_part(value)
            case ast.Starred():
                return True
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) in torch_api.CONTAINER_MODULES
        return False

    def _is_new_part(self, part: ast.expr) -> bool:
        """Whether a part is made by a class that is known, or a number; a class that somebody gives may be any."""
        match part:
            case ast.Constant():
                return True
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return all(map(self._is_new_part, items))
            case ast.Call(func=function):
                of_torch = (self._semantics.qualified_name(function) or "").startswith("torch.nn.")
                return (
                    of_torch
                    or self._semantics.facts.definition(function) is not None
                    or _ACTIVATION.search(last_name(function)) is not None
                )
        return False

    def _makes_part(self, call: ast.Call) -> bool:
        """Whether a call of an unknown function gives a module its parts: ``self.encoder = build_encoder()``."""
        parent = self._semantics.tree.parent(call)
        if not isinstance(parent, ast.Assign) or not any(isinstance(target, ast.Attribute) for target in parent.targets):
            return False
        return self._semantics.kind(call).type in (Type.UNKNOWN, Type.MODULE)


def _is_moved(value: ast.expr, store: ast.expr) -> bool:
    """Whether what is stored is what was there before, on another device: ``self.net = self.net.cuda()``."""
    match value:
        case ast.Call(func=ast.Attribute(value=moved, attr="to" | "cuda" | "cpu" | "float" | "half" | "double")):
            return dotted(moved) is not None and dotted(moved) == dotted(store)
    return False


def _keeps_last_batch(word: ast.keyword) -> bool:
    """Whether batch normalisation keeps the statistics of the last batch alone, which serve no evaluation: ``momentum=1``."""
    return word.arg == "momentum" and isinstance(word.value, ast.Constant) and word.value.value == 1


def _is_display(value: ast.expr) -> bool:
    """Whether a value is a list that is written out, of calls alone if of anything."""
    return isinstance(value, ast.List) and all(isinstance(item, ast.Call) for item in value.elts)


def _drops_nothing(call: ast.Call, name: str) -> bool:
    """Whether a dropout is given no chance: ``nn.Dropout(0)``."""
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "p")]
    is_nothing = bool(given) and isinstance(given[0], ast.Constant) and not given[0].value
    return is_nothing and ("Dropout" in name or name == "DropPath")
