from __future__ import annotations

import ast
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.loading import is_in_memory, is_torch_load, may_name
from torchlint.rules.screens import Screen
from torchlint.semantics import Type
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.memory.origins import Origins
from torchlint.semantics.modules.evidence import ModuleEvidence

_MODULE_METHODS = ("parameters", "named_parameters", "state_dict", "load_state_dict", "eval", "children", "modules")
_COMPILED = ("torch.jit.", "torch.fx.", "torch.export.", "torch.quantization.", "torch.ao.")


class WholeModuleSave(AstRule):
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
    screen = Screen(any_of=(b"save",), pattern=may_name(b"save"))

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a module that is saved."""
        if self.semantics.qualified_name(node.func) not in ("torch.save", "torch.serialization.save"):
            return
        saved = node.args[0] if node.args else next((word.value for word in node.keywords if word.arg == "obj"), None)
        if saved is None or not self._is_module(saved) or self._is_compiled(saved):
            return
        if is_in_memory(node.args[1] if len(node.args) > 1 else None, self.semantics):
            return
        name = ast.unparse(saved)
        message = (
            f"`{ast.unparse(node.func)}({name}, …)` pickles the whole module, class names and all: save `{name}.state_dict()`"
        )
        self.report(node, message, self._fix(saved))

    def _is_module(self, saved: ast.expr) -> bool:
        """Whether a module is saved; that something has a method ``train`` is not enough for that."""
        kind = self.semantics.kind(saved)
        if kind.why == "its `train` is called" or self._is_result_of_training(saved):
            return False
        return kind.type is Type.MODULE or (self._modules.is_module(saved) and self._has_module_methods(saved))

    def _has_module_methods(self, saved: ast.expr) -> bool:
        """Whether a method that modules have, and few other callable things, is called on the same chain of names."""
        chain = dotted(saved)
        calls = (call.func for name in _MODULE_METHODS for call in self.semantics.facts.calls.get(name, ()))
        return chain is not None and any(
            isinstance(method, ast.Attribute) and dotted(method.value) == chain for method in calls
        )

    def _is_result_of_training(self, saved: ast.expr) -> bool:
        """Whether something comes from a method ``train`` or ``fit`` of what need not be a module."""
        bindings = self.semantics.bindings.reaching(saved) if isinstance(saved, ast.Name) else ()
        for binding in bindings:
            match binding.value:
                case ast.Call(func=ast.Attribute(attr="train" | "fit", value=owner)):
                    return self.semantics.kind(owner).definition is None
        return False

    @cached_property
    def _modules(self) -> ModuleEvidence:
        return ModuleEvidence(self.semantics)

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self.semantics)

    def _is_compiled(self, saved: ast.expr) -> bool:
        """Whether a module is, as far as the file tells, one that carries its code with it."""
        calls = (part for part in self._origins.of(saved) if isinstance(part, ast.Call))
        return any((self.semantics.qualified_name(call.func) or "").startswith(_COMPILED) for call in calls)

    def _fix(self, saved: ast.expr) -> Fix | None:
        if self._loads_otherwise:
            return None
        rewriter = Rewriter(self.source, self.semantics)
        edit = (self.source.start(saved), self.source.end(saved), f"{rewriter.operand(saved)}.state_dict()")
        return self.fix("Save its state", [edit], safe=False)

    @cached_property
    def _loads_otherwise(self) -> bool:
        """Whether the file loads something with ``torch.load`` that it does not give to ``load_state_dict``."""
        calls = self.semantics.facts.calls
        loads = [call for call in calls.get("load", ()) if is_torch_load(call, self.semantics)]
        states = [state for call in calls.get("load_state_dict", ()) for state in call.args[:1]]
        return bool(loads) and not self._origins.of(*states).issuperset(loads)
