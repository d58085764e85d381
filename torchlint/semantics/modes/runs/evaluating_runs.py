"""Runs of models that evaluate: for figures, for what is kept, or on data that are called those of an evaluation."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.autograd.backwards import BACKWARDS
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Function, Loop, given_to, position
from torchlint.semantics.modes.modes import Modes, Run
from torchlint.semantics.purpose import is_evaluation, speaks_of_evaluation_data

_METRIC = re.compile(
    r"(^|_|\.)(val|valid|validation|test|tests|eval|evaluate|evaluation|acc|accuracy|metrics?|correct|hits?|score|scores|dice|iou|"
    r"auc|psnr|ssim|f1|bleu|wer|cer|rmse|mae|recall|precision|mrr|map|dev)(?=$|_|\.|\d)",
    re.IGNORECASE,
)
"""What names hold that come from evaluating a model."""
FIGURE = re.compile(rf"{_METRIC.pattern}|loss|criterion|cross_entropy|nll|argmax|topk|^item$", re.IGNORECASE)
"""The same, or something that a training may have, too."""
SURE = re.compile(
    r"(^|_)(eval\w*|val|valid\w*|test|tests|testing|acc|accuracy|get_acc\w*|metrics?|score|dev)(_|$)|^evaluat", re.IGNORECASE
)
"""What functions are called that evaluate for figures; what samples, predicts or encodes may want the mode that it finds."""
_COUNTED = re.compile(
    r"(^|_|\.)(correct\w*|hits?|n_correct|num_correct|acc\w*|metrics?|(top|prec|acc|err|hit)@?\d|iou|dice|auc|f1|psnr|ssim|bleu|"
    r"(val|valid|test|eval|dev)\w{0,20}((loss|acc|err)\w{0,20}|total|correct|score)|"
    r"(total|sum|avg|mean|running|cum|epoch)_\w{0,20}(val|valid|test|eval|dev)\w{0,20})(?=$|_|\.|\d)",
    re.IGNORECASE,
)
"""What names hold that are figures of an evaluation, and of nothing that trains."""
_KEEPING = re.compile(r"^(numpy|np|savez?|dump|save_features?)$", re.IGNORECASE)
"""What keeps what was computed as arrays, or in files."""
_PICTURE = re.compile(r"^(imshow|savefig|imsave|imwrite|save_image|make_grid|plt)$")
"""What makes pictures of samples: generators are sampled in training mode on purpose, with the statistics of the batch."""
_SAMPLED = re.compile(r"^(g|net_?g\w*|gen\w*|sampler|decoder)(_|\d|$)", re.IGNORECASE)
"""What models are called that are sampled."""


class EvaluatingRuns:
    """Tells of the runs of models whether they evaluate, and which code around them does."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._modes = semantics.of(Modes)

    def is_evaluation_behind(self, run: Run, last_trained: dict[Loop | None, tuple[int, int]]) -> bool:
        """Whether a run is for figures or samples to look at, and nothing that the training works with; by loop, and for all
        under ``None``, where what trains the model is ``last_trained``.
        """
        if self._modes.is_backpropagated(run):
            return False
        tree = self._semantics.tree
        if any(is_evaluation(function.name) for function in self.functions(run)):
            return True
        if run.node is not run.call and self._is_given_other_data(run):
            return True
        loop = next(tree.loops(run.call), None)
        if loop in last_trained and position(run.node) < last_trained[loop]:
            return False  # what comes before the training may be what it works with
        if loop in last_trained or loop in self._loops_with_backward:
            if loop is not None and self._is_of_trained_batch(run, loop):
                return False
            blocks = (parent for parent in tree.ancestors(run.call) if self.turns_autograd_off(parent))
            return mentions(next(blocks, tree.statement(run.call)), _METRIC)
        return mentions(loop or tree.statement(run.call), FIGURE) or self._is_extraction(run, loop)

    def _is_of_trained_batch(self, run: Run, loop: Loop) -> bool:
        """Whether a model is asked once more about the batch that the same round has trained it on: how well it learns."""
        batch = self._batch(run.call)
        others = (call for call in self._semantics.of(Backpropagated).all_calls if self._semantics.tree.inside(call, loop))
        return bool(batch) and any(
            ast.dump(each.func) == ast.dump(run.call.func) and self._batch(each) == batch for each in others
        )

    def _batch(self, call: ast.Call) -> list[set[Binding]]:
        """What variables a call is given hold, if it is given nothing else."""
        names = [each for each in call.args if isinstance(each, ast.Name)]
        return [set(self._semantics.bindings.reaching(name)) for name in names] if len(names) == len(call.args) else []

    def _is_extraction(self, run: Run, loop: Loop | None) -> bool:
        """Whether a loop runs a model on data, without autograd, and keeps what comes out as arrays, or in files; with it, if
        the data are called as those of an evaluation, and the model is none that is sampled.
        """
        if not isinstance(loop, ast.For):
            return False
        if self._modes.is_recorded(run) and (not speaks_of_evaluation_data(loop.iter) or mentions(run.model, _SAMPLED)):
            return False
        data = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
        given = {part.id for argument in run.call.args for part in ast.walk(argument) if isinstance(part, ast.Name)}
        return bool(data & given) and mentions(loop, _KEEPING)

    def _is_given_other_data(self, run: Run) -> bool:
        """Whether a function is run for figures on data that are not trained on: ``loss = run_epoch(model, test_loader)``."""
        given = given_to(run.node)
        return any(speaks_of_evaluation_data(each) for each in given) and mentions(
            self._semantics.tree.statement(run.node), _METRIC
        )

    @cached_property
    def _loops_with_backward(self) -> set[Loop | None]:
        """The loops that something is back-propagated in: what runs there, too, is rather a part of the training."""
        calls = (call for name in BACKWARDS for call in self._semantics.facts.calls.get(name, ()))
        return {loop for call in calls for loop in self._semantics.tree.loops(call)}

    def is_evaluated_alone(self, run: Run) -> bool:
        """Whether a run is part of an evaluation: in a function that is called like one, or a loop that has its figures."""
        tree = self._semantics.tree
        if any(is_evaluation(function.name) for function in self.functions(run)):
            return True
        if run.node is not run.call and self._is_given_other_data(run):
            return True
        around = tree.ancestors(run.call)
        if self._is_extraction(run, next(tree.loops(run.call), None)):
            return True
        blocks = [parent for parent in around if isinstance(parent, LOOPS) or self.turns_autograd_off(parent)]
        return any(mentions(block, _METRIC) for block in blocks[:2])

    def sure_place(self, run: Run) -> ast.stmt | None:
        """The function, loop or statement that evaluates: by its name, by what it counts, by the data it goes through; ``None``
        where nothing of that is sure.
        """
        tree = self._semantics.tree
        for function in self.functions(run):
            if mentions(function, _PICTURE) and not any(mentions(part, FIGURE) for part in function.body):
                return None
            if SURE.search(function.name):
                return function
        loop = next(tree.loops(run.call), None)
        if run.node is not run.call and any(speaks_of_evaluation_data(argument) for argument in run.node.args):
            statement = tree.statement(run.node)
            return statement if isinstance(statement, (ast.Assign, ast.Expr)) else None
        if loop is None:
            statement = tree.statement(run.call)
            is_given = any(speaks_of_evaluation_data(argument) for argument in run.call.args)
            return statement if is_given and isinstance(statement, (ast.Assign, ast.Expr)) else None
        if isinstance(loop, ast.For) and speaks_of_evaluation_data(loop.iter):
            if mentions(loop, FIGURE) or self._is_extraction(run, loop):
                return loop
        return loop if mentions(loop, _COUNTED) and isinstance(loop, ast.For) else None

    def functions(self, run: Run) -> list[Function]:
        """The functions on the way from a scope to the call of the model, the innermost first; of an object that has the model
        as a part, others may set the mode of that alone.
        """
        if run.node is run.call:
            return []
        outer = self._modes.references.callee(run.node) if isinstance(run.model, ast.Name) else None
        found = (self._semantics.tree.function(run.call), outer)
        return list(dict.fromkeys(each for each in found if isinstance(each, FUNCTIONS)))

    def turns_autograd_off(self, node: ast.AST) -> bool:
        """Whether a node is a block with autograd off."""
        return isinstance(node, ast.With) and any(
            self._semantics.no_grad.grad_mode(item.context_expr) is False for item in node.items
        )


def mentions(node: ast.AST, names: re.Pattern[str]) -> bool:
    """Whether a name or an attribute in some code is called so."""
    return any(
        names.search(part.id if isinstance(part, ast.Name) else part.attr)
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    )
