from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class WholeModuleSave(Rule):
    """
    ## What it does
    Finds `torch.save(model, path)`, where `model` is an `nn.Module`.

    ## Why is this bad
    The file holds the module's weights and, by name, the classes that it is made of. `torch.load` refuses it unless it is
    allowed to run any code (`weights_only=False`), and it cannot be read once a class has moved, has been renamed or has
    other attributes.

    ## Example
    ```python
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    torch.save(model, "model.pt")
    ```

    ## Use instead
    ```python
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    torch.save(model.state_dict(), "model.pt")
    ```

    ## Fix safety
    Unsafe: the code that loads the file has to make the module and call `load_state_dict`. There is no fix where the same
    file loads something with `torch.load` that it does not give to `load_state_dict`: that place has to change with this one.

    Not reported are modules that carry their code with them (TorchScript) and what is saved to a buffer in memory.

    ## References
    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html)
    """

    code = "TPL503"
    name = "whole-module-save"
    severity = "warning"
    triggers = (Found(".saving.modules:SavedModules.whole"),)
    needs = (("torch",), ("save",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a module that is saved."""
        module = self.model.modules.saved_whole(node)
        if module is None:
            return
        bare = module.with_changes(lpar=(), rpar=())  # the parentheses around it then stand around its state
        state = expression("{module}.state_dict()", module=bare)
        shown = self.model.shown(module)
        self.report(
            node,
            f"`{self.model.shown(node.func)}({shown}, …)` pickles the whole module, class names and all: "
            f"save `{shown}.state_dict()`",
            None
            if self.model.devices.loads_more_than_states
            else fix(
                "Save its state",
                replace(module, state),
                rests_on=unknown("the code that loads the file has to make the module itself"),
            ),
        )
