from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.fixes.changes import Change, CodeFix, fix, replace
from torchlint.fixes.code import api, expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.registration.unregistered import Plain, Unregistered
from torchlint.target import TorchVersion

_GROWN = TorchVersion(2, 0)
"""Since then module lists have ``pop`` and ``+``, and parameter dicts all that dicts have."""


class UnregisteredModules(Rule):
    """
    ## What it does
    Finds modules and parameters that an `nn.Module` keeps in a plain list, tuple or dict: `self.layers = [nn.Linear(8, 8)]`,
    also where they are appended one by one, in a branch, or by functions and methods of the file that make or fill the list.
    Objects of a class from another file are taken for modules where `forward` calls them, one by one, with what it computes.
    A collection that the file does nothing with is strict: it is left over.

    ## Why is this bad
    A module finds its submodules among its own attributes, not inside of lists. What stands in a plain list is missing from
    `parameters()`, so the optimizer never trains it; it is missing from `state_dict()`, so it is not saved; and it stays where
    it is when the model goes to another device, and as it is on `train()` and `eval()`.

    ## Example
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(8, 8) for _ in range(3)]
    ```

    ## Use instead
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
    ```

    ## Fix safety
    Safe in a program that shows all that it runs, where the collection is written in its place, holds new modules or parameters
    alone (under names that are written out, if it is a dict), and is only filled in the constructor, looped over, indexed,
    counted or printed: `nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList` and `nn.ParameterDict` do the same, then. Unsafe
    where another file may replace the list, look for lists, or train its parts by themselves, where states are saved or loaded
    (checkpoints that were saved without the modules lack their entries), where a module is given that may be the owner's
    own parent, where the class has a `__getattr__` of its own, and where it is a container itself, as `nn.Sequential` is.
    There is no fix where the code uses what the registering container does not have, such as `.index()` or keys that are no
    strings, and none where the class or `nn.Module` has something of that name, which would be found in place of what is
    registered: `layers = None` in the class, `self.modules`.

    Lists that the class registers in another way (`nn.Sequential(*layers)`, `add_module`), modules that are attributes as well,
    modules that are frozen by hand, layers that have nothing to train or to move, and losses whose weights are registered by
    themselves, or that move their own when they are made, are not reported. That other code moves
    them with `.to()` or `.cuda()` is no reason for silence where an optimizer is given the `parameters()` of the whole.

    ## References
    - [torch.nn.ModuleList](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    """

    code = "TPL301"
    name = "unregistered-modules"
    triggers = (Found(".registration.unregistered:UnregisteredModules.kept"),)
    needs = (("class",), ("torch", "nn", "Module", "LightningModule", "pl", "lightning", "pytorch_lightning"))

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports `self.layers = [nn.Linear(2, 2)]`."""
        kept = self.model.modules.unregistered(node)
        if kept is None:
            return
        plain = "dict" if kept.given.is_dict else "tuple" if kept.given.is_tuple else "list"
        what = "parameters" if kept.parameters else "modules"
        damage = "`train()` and `eval()` do not reach them"
        if kept.called:
            damage = "`parameters()`, `to()` and `train()` do not reach them"
        if kept.untrained:
            damage = "`parameters()` misses them, and they are never trained"
        message = (
            f"`{self.model.shown(node)}` keeps {what} in a plain {plain}: {damage}; use `nn.{_container(kept, kept.given)}`"
        )
        self.report(node, message, self._fix(kept), strict=not kept.read)

    def _fix(self, kept: Unregistered[cst.BaseExpression]) -> CodeFix | None:
        if not (kept.replaceable if self.options.target >= _GROWN else kept.replaceable_in_old_torch):
            return None
        return fix(
            f"Use `nn.{_container(kept, kept.given)}`",
            *self._changes(kept),
            rests_on=kept.alike,
        )

    def _changes(self, kept: Unregistered[cst.BaseExpression]) -> Iterator[Change]:
        """Makes a collection, and those within it, register what they hold."""
        for plain in (kept.given, *kept.nested):
            container = f"torch.nn.{_container(kept, plain)}"
            match plain.node:
                case cst.List(elements=[]) | cst.Tuple(elements=[]) | cst.Dict(elements=[]) | cst.Call(args=[]):
                    yield replace(plain.node, expression(f"{{{container}}}()"))
                case cst.Call(
                    cst.Name("list" | "tuple") | cst.Attribute(attr=cst.Name("list" | "tuple")) as function, [given]
                ) if given.keyword is None:
                    yield replace(function, api(container))
                case _:
                    yield replace(plain.node, expression(f"{{{container}}}({{items}})", items=plain.node))


def _container(kept: Unregistered[cst.BaseExpression], plain: Plain[cst.BaseExpression]) -> str:
    return ("Parameter" if kept.parameters else "Module") + ("Dict" if plain.is_dict else "List")
