"""What has no dimensions for certain: reductions of all there is, what the criterions of torch usually give, and sums of these.

That ``backward`` is called on a value says that it has one element, which may be in one dimension; a name says nothing.
"""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import Fact, known, refuted, shortened, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.passing_uses import PassingUses
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.kinds.results import KEEPS_SCALAR, LOSS_FUNCTIONS, LOSS_MODULES
from torchlint.semantics.observers.reflection import Reflection
from torchlint.semantics.provenance.modules import Modules

_REDUCTIONS = (torch_api.SCALAR_REDUCTIONS_FUNCTIONS - LOSS_FUNCTIONS) - {
    *("torch.amax", "torch.amin", "torch.hash_tensor", "torch.sparse.sum"),
    *("torch.nn.utils.clip_grad_norm", "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.get_total_norm"),
}
_OF_TWO = frozenset({"torch.dist", "torch.dot", "torch.vdot"})
_REDUCING = frozenset({"sum", "mean", "prod", "std", "var", "median", "norm", "max", "min", "nansum", "nanmean", "trace"})
"""Functions and methods whose result has no dimensions where they get the tensor and no dimension."""
_OPERANDS = {
    "triplet_margin_loss": 3,
    "cosine_embedding_loss": 3,
    "margin_ranking_loss": 3,
    "ctc_loss": 4,
    "gaussian_nll_loss": 3,
}
"""How many tensors a loss function takes first, where it is not two; of what follows, some say how it reduces."""
_KEEPING = KEEPS_SCALAR | {"sigmoid", "tanh", "relu", "square", "pow", "clamp", "log1p", "expm1", "rsqrt", "requires_grad_"}
_RESHAPING = frozenset({"unsqueeze_", "resize_", "resize_as_", "set_", "expand_", "swap_tensors"})
_MOVES = frozenset({"cuda", "to", "cpu", "float", "double", "half", "train", "eval"})


class Dimensions:
    """Tells of expressions whether they are tensors without dimensions, or numbers, whatever path led there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._none = Beliefs(semantics.bindings, self._find)
        self._criterions = Beliefs(semantics.bindings, self._find_criterion)

    def has_none(self, node: ast.expr) -> Fact:
        """Whether ``node`` has no dimensions: it is a tensor of one number, or that number, which cannot be indexed either."""
        if self._none.hold(node):
            return known(not self._semantics.of(Tensors).has_own_classes, "a class of tensors of the file's own may be indexed")
        if self._reshaping is not None:
            return unknown(f"`{self._reshaping}` may give it dimensions in place")
        if self._semantics.kind(node).scalar is False:
            return refuted(f"`{shortened(node)}` has dimensions")
        return unknown(self._doubt(node))

    @cached_property
    def _reshaping(self) -> str | None:
        """What gives a tensor other dimensions and leaves it the object that it is, where the file does so anywhere."""
        calls = self._semantics.facts.calls
        words = {word.arg for call in self._semantics.tree.of_type(ast.Call) for word in call.keywords}
        named = ["out"] * ("out" in words) + ["data"] * any(map(self._gives_data, self._semantics.tree.of_type(ast.Attribute)))
        return min([*(calls.keys() & _RESHAPING), *named], default=None)

    def _gives_data(self, node: ast.Attribute) -> bool:
        """Whether something is given other data that is no item of a loop, as parameters are, nor an attribute."""
        if node.attr != "data" or not isinstance(node.ctx, ast.Store) or not isinstance(node.value, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(node.value)
        return not bindings or any(binding.form is not Form.LOOP for binding in bindings)

    def _may_be_reshaped(self, binding: Binding) -> bool:
        """Whether what a binding binds may be given dimensions in place.

        Only who has hold of the tensor itself can do that: so not where each use of its one name reads it, and none hands it
        on. What a function makes and returns is then the caller's, whose names are looked at as well.
        """
        if self._reshaping is None or (isinstance(binding.value, ast.Constant) and binding.form is Form.ASSIGNMENT):
            return False
        match self._semantics.tree.statement(binding.node):
            case ast.Assign(targets=[_, _, *_]):
                return True
        is_named_only = self._semantics.of(Reflection).reads_no_variables.is_certain
        return not (is_named_only and all(self._only_reads(use, binding) for use in binding.uses))

    def _only_reads(self, use: ast.Name, binding: Binding) -> bool:
        """Whether a use only reads the tensor, goes back from it, or gives it to who called the function that made it."""
        tree = self._semantics.tree
        parent = tree.parent(use)
        match parent:
            case ast.Attribute(attr="backward"):
                call = tree.parent(parent)
                return isinstance(call, ast.Call) and call.func is parent
            case ast.Tuple(elts=elements) if isinstance(tree.parent(parent), ast.Return):
                names = [each.id for each in elements if isinstance(each, ast.Name)]
                return names.count(use.id) == 1 and tree.function(use) is binding.scope.node
            case ast.Return():
                return tree.function(use) is binding.scope.node
        return self._semantics.of(PassingUses).only_read(use)

    def _find(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._binds(value)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(map(self._none.hold, bindings))
            case ast.Constant(value=constant):
                return isinstance(constant, (int, float))
            case ast.BinOp(left=left, right=right):
                return self._none.hold(left) and self._none.hold(right)
            case ast.UnaryOp(operand=inner) | ast.Attribute(value=inner, attr="data"):
                return self._none.hold(inner)
            case ast.NamedExpr(value=inner):
                return self._reshaping is None and self._none.hold(inner)
            case ast.Subscript(value=inner):  # which raises, so that no value comes of it
                return self._none.hold(inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self._none.hold(body) and self._none.hold(orelse)
            case ast.Call():
                return self._gives(value)
        return False

    def _binds(self, binding: Binding) -> bool:
        value = binding.value
        if (
            value is None
            or binding.form not in (Form.ASSIGNMENT, Form.AUGMENTED)
            or any(map(self._is_given_data, binding.uses))
            or self._may_be_reshaped(binding)
        ):
            return False
        if binding.form is Form.AUGMENTED:
            return bool(binding.before) and all(map(self._none.hold, binding.before)) and self._none.hold(value)
        return self._parts_hold(value, binding.path)

    def _is_given_data(self, use: ast.Name) -> bool:
        """Whether a use gives a tensor other data."""
        parent = self._semantics.tree.parent(use)
        return isinstance(parent, ast.Attribute) and parent.attr == "data" and isinstance(parent.ctx, ast.Store)

    def _parts_hold(self, value: ast.expr, path: tuple[int | None, ...]) -> bool:
        """Whether the part that ``path`` leads to has no dimensions: of a written-out tuple, or of what a function returns."""
        if not path:
            return self._none.hold(value)
        if isinstance(value, ast.Tuple) and path[0] is not None and -len(value.elts) <= path[0] < len(value.elts):
            return self._parts_hold(value.elts[path[0]], path[1:])
        if isinstance(value, ast.Call) and (returned := self._returned(value)):
            return all(isinstance(each, ast.Tuple) and self._parts_hold(each, path) for each in returned)
        return False

    def _gives(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if name in ("builtins.len", "builtins.float", "builtins.int"):
            return True
        if any(word.arg is None for word in call.keywords) or any(isinstance(part, ast.Starred) for part in call.args):
            return False
        if name in LOSS_FUNCTIONS:
            return len(call.args) <= _OPERANDS.get(name.rpartition(".")[2], 2) and _is_reduced(call)
        if name in _REDUCTIONS:
            return len(call.args) == 1 + (name in _OF_TWO) and not call.keywords
        if name.startswith("torch."):
            keeps = name.rpartition(".")[2] in _KEEPING or name == "torch.autograd.Variable"
            return keeps and bool(call.args) and not call.keywords and all(map(self._none.hold, call.args))
        if self._criterions.hold(call.func):
            return True
        if isinstance(call.func, ast.Attribute):
            return self._gives_by_method(call, call.func)
        returned = self._returned(call)
        return bool(returned) and (all(map(self._none.hold, returned)) or self._is_kept_by(call, returned))

    def _is_kept_by(self, call: ast.Call, returned: list[ast.expr]) -> bool:
        """Whether a function of the file that works value by value gets nothing with dimensions: ``def log(x): …``."""
        function = self._semantics.facts.definition(call.func)
        if not isinstance(function, ast.FunctionDef) or len(function.args.args) != len(call.args) or call.keywords:
            return False
        works = all(self._works_by_value(value, function.args.args) for value in returned)
        return works and all(map(self._none.hold, call.args))

    def _works_by_value(self, node: ast.expr, given: list[ast.arg]) -> bool:
        """Whether an expression computes value by value with nothing but the arguments ``given``."""
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(binding.node in given for binding in bindings)
            case ast.Constant(value=constant):
                return isinstance(constant, (int, float))
            case ast.BinOp(left=left, right=right):
                return self._works_by_value(left, given) and self._works_by_value(right, given)
            case ast.UnaryOp(operand=inner):
                return self._works_by_value(inner, given)
            case ast.Call(func=function, args=arguments, keywords=[]):
                name = self._semantics.qualified_name(function) or ""
                keeps = name.startswith("torch.") and name.rpartition(".")[2] in _KEEPING
                return keeps and bool(arguments) and all(self._works_by_value(each, given) for each in arguments)
        return False

    def _gives_by_method(self, call: ast.Call, method: ast.Attribute) -> bool:
        if method.attr == "item":
            return self._semantics.of(Tensors).is_tensor(method.value)
        if method.attr == "size":
            return len(call.args) == 1 and self._semantics.of(Tensors).is_tensor(method.value)
        if method.attr in _REDUCING:
            return not call.args and not call.keywords and self._semantics.of(Tensors).is_tensor(method.value)
        if method.attr in ("to", "cuda", "type"):
            return self._none.hold(method.value)
        return method.attr in _KEEPING and all(map(self._none.hold, [method.value, *call.args]))

    def _returned(self, call: ast.Call) -> list[ast.expr]:
        """What a function of the file returns in all cases; empty where that is not known."""
        function = self._semantics.facts.definition(call.func)
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return []
        values = self._semantics.facts.returned(function)
        found = [value for value in values if value is not None]
        return found if len(found) == len(values) else []

    # --- criterions --------------------------------------------------------------------------------------------------

    def _find_criterion(self, value: Value) -> bool:
        """Whether calling a value gives one number: a criterion of torch, made in sight and left as it was made."""
        match value:
            case Binding(form=Form.ASSIGNMENT, path=path, value=ast.expr() as made):
                part = _part_of(made, path)
                return part is not None and self._criterions.hold(part) and all(map(self._leaves_alone, value.uses))
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(map(self._criterions.hold, bindings))
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _MOVES:
                return self._criterions.hold(inner)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                plain = len(value.args) < 2 and not any(isinstance(part, ast.Starred) for part in value.args)
                plain = plain and not (value.args and name == "torch.nn.HuberLoss")  # whose first argument is the reduction
                is_left = not self._semantics.of(Modules).are_hooked
                return name in LOSS_MODULES and plain and is_left and _is_reduced(value)
        return False

    def _leaves_alone(self, use: ast.Name) -> bool:
        """Whether a use of a criterion calls it, or moves it."""
        parent = self._semantics.tree.parent(use)
        if isinstance(parent, ast.Attribute):
            return parent.attr in _MOVES
        return isinstance(parent, ast.Call) and parent.func is use

    # --- what is said of the others ----------------------------------------------------------------------------------

    def _doubt(self, node: ast.expr) -> str:
        """Why ``node`` may have dimensions."""
        if isinstance(node, ast.Name):
            for binding in self._semantics.bindings.reaching(node):
                if not self._none.hold(binding):
                    return self._doubt_of(binding)
        return f"`{shortened(node)}` may have dimensions"

    def _doubt_of(self, binding: Binding) -> str:
        name = binding.name
        if binding.form is Form.PARAMETER:
            return f"`{name}` is an argument; it may have dimensions"
        if binding.value is None:
            return f"`{name}` may have dimensions"
        return f"`{name}` comes from `{shortened(binding.value)}`; it may have dimensions"


def _is_reduced(call: ast.Call) -> bool:
    """Whether a criterion that is made, or called, like this gives one number whatever it is given."""
    for word in call.keywords:
        if word.arg is None:
            return False
        if word.arg == "reduce" and not (isinstance(word.value, ast.Constant) and word.value.value in (True, None)):
            return False
        if word.arg == "reduction" and not (
            isinstance(word.value, ast.Constant) and word.value.value in ("mean", "sum", "batchmean")
        ):
            return False
    return True


def _part_of(value: ast.expr, path: tuple[int | None, ...]) -> ast.expr | None:
    """The part of a tuple that is written out to which ``path`` leads, as in ``model, criterion = Net(), MSELoss()``."""
    for step in path:
        match value:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if step is not None and 0 <= step < len(elements):
                if any(isinstance(each, ast.Starred) for each in elements):
                    return None
                value = elements[step]
            case _:
                return None
    return value
