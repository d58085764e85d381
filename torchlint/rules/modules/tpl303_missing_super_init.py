from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import fix, insert_first, move, replace
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.modules.constructors.initialisations import InitialisedLate, MentionedInit, NeverInitialised


class MissingSuperInit(Rule):
    """
    ## What it does
    Finds `nn.Module` classes whose `__init__` assigns submodules or parameters before it calls `super().__init__()`, or that
    never call it.

    ## Why is this bad
    `nn.Module.__init__` makes the tables in which submodules, parameters, buffers and hooks are registered. Until it has run,
    assigning a submodule raises `AttributeError: cannot assign module before Module.__init__() call`, and so does
    `register_buffer`; a module that was never initialised raises as soon as it is called.

    ## Example
    ```python
    class Net(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(8, 2)
    ```

    ## Use instead
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 2)
    ```

    ## Fix safety
    Safe in a program, where no decorator, no subclass and no other file can have initialised the module before: without the
    call, or with the call behind the assignment, the object could not be made or not be called. Where that is so in one branch
    alone, or only of calls, the base classes must do nothing but set attributes, and others than the constructor does. Unsafe
    otherwise: a second `__init__` would wipe what is registered. The call is inserted at the start of `__init__`, or moved in
    front of the first such assignment. There is no fix where the base class takes arguments, or where the arguments of the
    existing call are only made behind that assignment.

    Classes are left alone that have a metaclass or a base from another file, which may initialise the module some other way.

    ## References
    - [torch.nn.Module](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "TPL303"
    name = "missing-super-init"
    triggers = (Found(".modules.constructors.initialisations:Initialisations.wrong"),)
    needs = (
        ("__init__",),
        ("torch", "nn", "lightning", "pytorch_lightning", "torch_geometric", "allennlp", "fairseq"),
    )

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """`self.fc = nn.Linear(2, 2)` in front of the call, or without one; `super().__init__` without its parentheses."""
        self._check(node)

    def visit_Call(self, node: cst.Call) -> None:
        """`self.register_buffer("mean", mean)` in front of the call, or without one."""
        self._check(node)

    def visit_Param(self, node: cst.Param) -> None:
        """`self` of a constructor that registers nothing, and does not call that of the base class."""
        self._check(node)

    def _check(self, node: cst.Attribute | cst.Call | cst.Param) -> None:
        match self.model.modules.wrong_initialisation(node):
            case MentionedInit(owner, alone) if isinstance(node, cst.Attribute):
                message = f"`{self.model.shown(node)}` is not called: `{owner}` is never initialised as a module; add `()`"
                self.report(node, message, fix("Add `()`", replace(node, cst.Call(node)), rests_on=alone))
            case InitialisedLate(owner, initialising, before, alone):
                message = f"{self._use(node)} before `super().__init__()`: constructing `{owner}` raises an AttributeError"
                moved = move(initialising, before) if initialising is not None and before is not None else None
                self.report(
                    node,
                    message,
                    fix("Call `super().__init__()` first", moved, rests_on=alone) if moved is not None else None,
                )
            case NeverInitialised(owner, constructor, takes_arguments, alone):
                message = f"`{owner}.__init__` does not call `super().__init__()`: {self._damage(node)} an AttributeError"
                call = insert_first(constructor, statement("super().__init__()"))
                self.report(
                    node, message, fix("Call `super().__init__()`", call, rests_on=alone) if not takes_arguments else None
                )

    def _use(self, node: cst.CSTNode) -> str:
        """What is done too early."""
        if isinstance(node, cst.Call):
            return f"`{self.model.shown(node.func)}()` is called"
        return f"`{self.model.shown(node)}` is assigned"

    def _damage(self, node: cst.CSTNode) -> str:
        """What raises, where the base class is never initialised."""
        if isinstance(node, cst.Param):
            return "calling the module raises"
        if isinstance(node, cst.Call):
            return f"`{self.model.shown(node.func)}()` raises"
        return f"assigning `{self.model.shown(node)}` raises"
