from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import Change, fix, replace
from torchlint.fixes.code import api, expression
from torchlint.fixes.copying import copied
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.aliasing.kept_snapshots import KeptSnapshot
from torchlint.semantics.aliasing.snapshots import Of


class SnapshotAlias(Rule):
    """
    ## What it does
    Finds "copies" of weights that are none and are kept across an update: `best = model.state_dict()`,
    `before = list(model.parameters())`, `old = w.detach()`, `best_model = model`, which are compared, restored or saved
    after `optimizer.step()`, `load_state_dict` or a call that trains; and `self.best_model = model`, or
    `self.best["model"] = self.model`, which another method reads, while the loop goes on training it that has called this one.
    Of what the file puts on a GPU, by a device that is written out, `.cpu()` gives a copy; elsewhere it may, and is strict.

    ## Why is this bad
    `state_dict()`, `parameters()`, `.detach()` and `.data` give the model's own memory. The optimizer changes it in place,
    so the "snapshot" follows the weights: the best weights are those of the last step, and a comparison with the old ones
    finds no difference.

    ## Example
    ```python
    best = model.state_dict()
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
    model.load_state_dict(best)
    ```

    ## Use instead
    ```python
    import copy

    best = copy.deepcopy(model.state_dict())
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
    model.load_state_dict(best)
    ```

    ## Fix safety
    Safe where what is done with the snapshot has a meaning for a copy alone: a state that is only loaded back into the very
    model that it was taken of, or is the best so far (`if loss < least: least, best = loss, model.state_dict()`) and is loaded,
    saved or returned behind the loop; a tensor, or a list of parameters, that is only compared with what it was taken of; a
    list of the values of each round that is only stacked afterwards. The model has to be one of torch, or the file must not
    import any other code, as the state of a module may hold what cannot be copied.

    Unsafe everywhere else, since code may rely on a name that follows the weights: a view that is clipped, a state that is
    loaded into another model again and again, parameters that are differentiated by. So is the `copy.deepcopy` of a module
    that is kept (`best_model = model`), and of anything where `from x import *` may give `copy` another meaning.

    ## References
    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "TPL009"
    name = "snapshot-alias"
    triggers = (Found(".aliasing.kept_snapshots:KeptSnapshots.found"),)
    needs = (
        (
            *("state_dict", "parameters", "named_parameters", "Parameter", "requires_grad", "requires_grad_"),
            *("weight", "bias", "train"),
        ),
        (
            *("state_dict", "load_state_dict", "step", "fit", "fit_one_cycle", "no_grad", "inference_mode", "data"),
            *("set_grad_enabled", "train", "train_epoch", "train_one_epoch", "train_model", "train_step", "training_step"),
            *("learn", "update", "optimize", "optimise", "optimize_parameters", "backward"),
        ),
    )

    def visit_Call(self, node: cst.Call) -> None:
        """`best = model.state_dict()`, `old = list(model.parameters())`, `old = w.detach()`."""
        self._check(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """`old = w.data`."""
        self._check(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        """`old = model.state_dict()["w"]`."""
        self._check(node)

    def visit_Name(self, node: cst.Name) -> None:
        """`best_model = model`."""
        self._check(node)

    def visit_ListComp(self, node: cst.ListComp) -> None:
        """`old = [p.detach() for p in model.parameters()]`."""
        self._check(node)

    def visit_DictComp(self, node: cst.DictComp) -> None:
        """`best = {name: value for name, value in model.state_dict().items()}`."""
        self._check(node)

    def _check(self, node: cst.BaseExpression) -> None:
        for kept in self.model.memory.kept_snapshots(node):
            when = f"line {self.model.line(kept.update)}" if kept.update is not None else "training"
            copy = fix(
                "Keep a copy",
                self._copy(node, kept),
                rests_on=self.model.memory.is_meant_as_copy(node, kept),
            )
            self.report(node, f"{self._what(node, kept)} in {when}; keep a copy", copy, strict=kept.on_cpu)

    def _what(self, node: cst.BaseExpression, kept: KeptSnapshot[cst.CSTNode]) -> str:
        if kept.of is Of.MODULE or kept.is_source:
            return f"`{kept.name}` is `{kept.source}` itself and changes with it"
        where = ", if that is on the CPU," if kept.on_cpu else ""
        return f"`{self.model.shown(node)}` shares its memory with `{kept.source}`{where} and changes with it"

    def _copy(self, node: cst.BaseExpression, kept: KeptSnapshot[cst.CSTNode]) -> Change:
        """Copies what is kept where it is taken."""
        match kept.of, node:
            case ((Of.STATE | Of.PARAMETERS), cst.DictComp(value=entry) | cst.ListComp(elt=entry)) if kept.comprehension:
                return self._clone(entry, detached=kept.of is Of.STATE)
            case Of.PARAMETERS, _:
                return self._clones_of(node, kept.core)
            case Of.TENSOR, _:
                return self._clone(node, detached=kept.is_entry)
        match node:
            case cst.Call(function) if self.model.name(function) == "copy.copy":
                return replace(function, api("copy.deepcopy"))
        return replace(node, expression("{copy.deepcopy}({value})", value=node))

    def _clone(self, value: cst.BaseExpression, *, detached: bool) -> Change:
        return replace(value, copied(value, self.model.memory.copying_methods(value, detached=detached)))

    def _clones_of(self, node: cst.BaseExpression, parameters: cst.CSTNode) -> Change:
        """Copies of what `model.parameters()` or `named_parameters()` gives, ``node`` being a list or dict of it."""
        assert isinstance(parameters, cst.BaseExpression)
        match parameters, node:
            case cst.Call(cst.Attribute(attr=cst.Name("parameters"))), _:
                template = "[p.detach().clone() for p in {parameters}]"
            case _, cst.Call(function) if self.model.name(function) == "builtins.dict":
                template = "{{name: p.detach().clone() for name, p in {parameters}}}"
            case _:
                template = "[(name, p.detach().clone()) for name, p in {parameters}]"
        return replace(node, expression(template, parameters=parameters))
