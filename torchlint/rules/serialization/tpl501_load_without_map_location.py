from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.rules.arguments import add_keywords, is_open_ended, keyword_of
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.loading import MAY_LOAD, is_in_memory, is_torch_load, last_name, shortened
from torchlint.rules.screens import Screen
from torchlint.semantics import Type
from torchlint.semantics.memory.origins import Origins
from torchlint.target import TorchVersion

_OTHER_STATE = re.compile(r"optim|sched|scaler|sampler|callback|progress|loop$|loader$|(^|_)(opt|lr)(_|$)", re.IGNORECASE)
"""What things that have a state, but no weights, are called."""


class LoadWithoutMapLocation(AstRule):
    """
    ## What it does
    Finds `torch.load(path)` without `map_location` whose result is loaded into a model: `model.load_state_dict(...)`.

    ## Why is this bad
    A checkpoint remembers the device of each tensor. One that was saved on a GPU cannot be loaded on a machine without one,
    and where there is a GPU, all of it goes there first, next to the weights that it is then copied into: twice the memory,
    on the GPU that it was saved on.

    ## Example
    ```python
    model.load_state_dict(torch.load("model.pt"))
    ```

    ## Use instead
    ```python
    model.load_state_dict(torch.load("model.pt", map_location="cpu"))
    ```

    ## Fix safety
    Unsafe: `load_state_dict` copies the weights to where the model is, but code that also uses what was loaded in another
    way now finds it on the CPU. There is no fix for a call that unpacks its arguments. Not reported are an explicit
    `map_location=None`, loading that has another branch with a `map_location`, and what the same function saved to memory.

    ## References
    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    """

    code = "TPL501"
    name = "load-without-map-location"
    screen = Screen(any_of=(b"load_state_dict", b"from_pretrained"), pattern=MAY_LOAD)
    since = TorchVersion(0, 3)

    def finish(self) -> None:
        """Reports what is loaded and then loaded into a model."""
        for expression in Origins(self.semantics).of(*self._states()):
            if is_torch_load(expression, self.semantics):
                self._consider(expression)
        self.diagnostics.sort(key=lambda diagnostic: diagnostic.order)

    def _states(self) -> Iterator[ast.expr]:
        """What is loaded into models."""
        calls = self.semantics.facts.calls
        for call in calls.get("load_state_dict", ()):
            if not (isinstance(call.func, ast.Attribute) and self._is_other_state(call.func.value)):
                yield from call.args[:1]
                yield from (word.value for word in call.keywords if word.arg == "state_dict")
        for call in calls.get("from_pretrained", ()):
            yield from (word.value for word in call.keywords if word.arg == "state_dict")

    def _is_other_state(self, receiver: ast.expr) -> bool:
        """Whether what a state is loaded into is an optimizer or a scheduler."""
        kind = self.semantics.kind(receiver)
        if kind.type is Type.MODULE and not kind.why.startswith("its "):
            return False  # surely a module, whatever its name
        return kind.type in (Type.OPTIMIZER, Type.SCHEDULER) or _OTHER_STATE.search(last_name(receiver)) is not None

    def _consider(self, call: ast.Call) -> None:
        if len(call.args) != 1 or keyword_of(call, "map_location") is not None or is_open_ended(call):
            return
        if self._is_one_of_two(call) or is_in_memory(call.args[0], self.semantics):
            return
        message = (
            f"`{ast.unparse(call.func)}({shortened(call.args[0])})` puts the checkpoint on the device that it was saved on: "
            'pass `map_location="cpu"`'
        )
        fix = self.fix("Load to the CPU", [add_keywords(self.source, call, 'map_location="cpu"')], safe=False)
        self.report(call, message, fix)

    # --- what is meant as it is --------------------------------------------------------------------------------------

    def _is_one_of_two(self, call: ast.Call) -> bool:
        """Whether another branch of the same condition loads with a ``map_location``."""
        child: ast.AST = call
        for parent in self.semantics.tree.ancestors(call):
            if isinstance(parent, (ast.If, ast.IfExp)):
                here = parent.body if isinstance(parent.body, list) else [parent.body]
                there = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
                others = there if child in here else here if child in there else []
                if any(self._maps(part) for other in others for part in ast.walk(other)):
                    return True
            child = parent
        return False

    @staticmethod
    def _maps(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Call)
            and last_name(node.func) == "load"
            and (keyword_of(node, "map_location") is not None or len(node.args) > 1)
        )
