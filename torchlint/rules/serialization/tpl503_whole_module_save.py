from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.fixes.parentheses import holds
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class WholeModuleSave(Rule):
    """
    ## What it does
    Finds `torch.save(model, path)`, where `model` is an `nn.Module`, and modules in the dicts and lists that are saved. What
    a function or an object is given to save, its callers tell, also those in other files of the project. Where the other branch
    of a condition saves the state of the same module, the finding is strict: an option asks for the whole one.

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
    file loads something with `torch.load` that it does not give to `load_state_dict`: that place has to change with this one;
    none for modules that are made within a dict that is saved elsewhere, and none for what is given `None`, too.

    Not reported are modules that carry their code with them (TorchScript), what is saved to a buffer in memory, and tests that
    load what they save with `weights_only=False`.

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
        modules = self.model.modules.saved_whole(node)
        if not modules:
            return
        saved = next((each.value for each in node.args if each.keyword is None or each.keyword.value == "obj"), modules[0])
        call = f"`{self.model.shown(node.func)}({self.model.shown(saved, 40)}, …)`"
        if isinstance(modules[0], cst.Call) and not holds(node, modules[0]):
            made = self.model.shown(modules[0].func)
            self.report(
                node,
                f"{call} pickles whole modules, `{made}(…)` among them, class names and all: save the `state_dict()` of each",
            )
            return
        shown = self.model.shown(modules[0])
        inside = "" if saved is modules[0] else f" `{shown}`"
        owner = f"({shown})" if isinstance(modules[0], cst.IfExp) and not modules[0].lpar else shown
        self.report(
            node,
            f"{call} pickles the whole module{inside}, class names and all: save `{owner}.state_dict()`",
            None
            if self.model.devices.loads_more_than_states or any(map(self.model.modules.may_be_none, modules))
            else fix(
                "Save its state",
                *(replace(module, _state(module)) for module in modules),
                rests_on=unknown("the code that loads the file has to make the module itself"),
            ),
            strict=self.model.modules.is_chosen_whole(node),
        )


def _state(module: cst.BaseExpression) -> cst.BaseExpression:
    bare = module.with_changes(lpar=(), rpar=())  # the parentheses around it then stand around its state
    return expression("{module}.state_dict()", module=bare)
