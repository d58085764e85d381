from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, insert_behind, replace
from torchlint.fixes.code import argument, is_open_ended, positional, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Keyword
from torchlint.semantics import Type


class UncheckedStrictFalse(Rule):
    """
    ## What it does
    Finds `model.load_state_dict(state, strict=False)` as a statement of its own, where nothing looks at the keys that did
    not fit.

    ## Why is this bad
    With `strict=False` what does not fit is passed over. Weights that were saved under other names, behind the `module.` of
    `DataParallel`, say, are all passed over: nothing is loaded, nothing is said, and the model starts from random weights.

    ## Example
    ```python
    model.load_state_dict(state, strict=False)
    ```

    ## Use instead
    ```python
    loaded = model.load_state_dict(state, strict=False)
    assert not loaded.unexpected_keys, loaded.unexpected_keys
    ```

    ## Fix safety
    Unsafe: the program stops where keys are left over. No fix where other code shares the line.

    Not reported where the function holds the keys against those of the model's own `state_dict()` before, or gives both to
    one that looks at them, by its name: `check_keys(model, state)`.

    ## References
    - [torch.nn.Module.load_state_dict](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict)
    """

    code = "TPL507"
    name = "unchecked-strict-false"
    default = False
    severity = "warning"
    triggers = (Keyword("strict"),)
    needs = (("load_state_dict",),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a call that passes over what does not fit, and whose result nothing gets."""
        if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "load_state_dict" or is_open_ended(node):
            return
        strict = argument(node, "strict")
        whole = self.model.statement(node)
        if strict is None or self.model.code.truth(strict.value) is not False or len(positional(node)) != 1:
            return
        if self.model.kind(node.func.value).type not in (Type.MODULE, Type.UNKNOWN):
            return
        if not isinstance(whole, cst.Expr) or whole.value is not node or self.model.modules.keys_are_compared(node):
            return
        name = self.model.code.free_name("loaded", "loaded_keys")
        check = statement(f"assert not {name}.unexpected_keys, {name}.unexpected_keys")
        self.report(
            node,
            f"`{self.model.shown(node.func)}(…, strict=False)` passes over all keys that do not fit, and nothing looks at them",
            fix(
                "Check the keys",
                replace(whole, statement(f"{name} = {{call}}", call=node)),
                insert_behind(whole, check, alone=True),
                rests_on=unknown("the program stops where keys are left over"),
            ),
        )
