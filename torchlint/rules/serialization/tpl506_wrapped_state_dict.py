from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class WrappedStateDict(Rule):
    """
    ## What it does
    Finds saved states of modules that are wrapped: by `DataParallel`, by `DistributedDataParallel`, or by `torch.compile`.

    ## Why is this bad
    The wrapper is a module itself, and each key in its `state_dict()` begins with the name that it has for the module within:
    `module.fc.weight`, `_orig_mod.fc.weight`. The module itself, as evaluation and export make it, knows none of these keys:
    loading raises, and with `strict=False` it loads nothing. Where wrapping depends on the machine, so does the file.

    ## Example
    ```python
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    train(model)
    torch.save(model.state_dict(), "model.pt")
    ```

    ## Use instead
    ```python
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    train(model)
    torch.save(getattr(model, "module", model).state_dict(), "model.pt")
    ```

    ## Fix safety
    Unsafe: code that loads the file into a wrapped module has to load it into the one within, too. There is no fix where the
    same state is put back into the module from memory, nor where a state is loaded into a wrapped module: both need the keys
    as they are.

    Where the file itself loads a state into a wrapped module, a finding is strict: there, the keys fit. So it is where a script
    of the project for tests or inference does, that wraps the module under the same flag, or where both
    do in any case. It is not where the
    state is loaded before the module is wrapped, nor where the machine decides on wrapping, and such a script loads states, by
    the key of this one, and wraps nothing. It is where a model is put into `DataParallel` in any case: what loads
    the file does so, too, as a rule; and where a constant of the file says that it is not wrapped, `gpus = 1` above
    `if gpus > 1`. Not reported are files that know of the prefixes, or ask whether a module is wrapped, nor
    files of a project of which any file cuts prefixes.

    ## References
    - [Saving and loading models: DataParallel](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "TPL506"
    name = "wrapped-state-dict"
    severity = "warning"
    triggers = (Found(".saving.wrapped_states:WrappedStates.found"),)
    needs = (("state_dict",), ("DataParallel", "DistributedDataParallel", "DDP", "compile"), ("torch",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the `state_dict()` that is saved."""
        state = self.model.modules.wrapped_state(node)
        if state is None:
            return
        shown, wrapper = self.model.shown(state.module), self.model.shown(state.wrapper)
        if state.always:
            inner = expression(f"{{module}}.{state.within}", module=state.module)
        else:
            inner = expression(f'getattr({{module}}, "{state.within}", {{module}})', module=state.module)
        is_alike = state.is_loaded_alike and (state.always or not state.is_loaded_bare)
        are = "are" if state.always else "may be"
        change = fix(
            f"Save the state of `{shown}.{state.within}`",
            replace(state.module, inner),
            rests_on=unknown("code that loads the file may expect the keys of the wrapper"),
        )
        self.report(
            node,
            f"the keys of this state {are} those of the wrapper `{wrapper}`, and begin with `{state.within}.`; "
            "save the state of the module within",
            None if state.is_put_back or state.is_loaded_alike else change,
            strict=is_alike or state.is_ruled_out or (state.always and state.within == "module"),
        )
