from __future__ import annotations

import libcst as cst

from torchlint.rules.legacy.spellings.deprecated_arguments import advice, arguments, given_instead, said_of_argument
from torchlint.rules.legacy.spellings.deprecations import NEEDS, found, origin, release, removal, replaced, successor, unused
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.apis.deprecations import Deprecation, modules

_OF_SCHEDULES = "epoch"
"""The parameter of their ``step``: a schedule that is told the epoch is not one that counts them itself."""
_BESIDE = {
    "torch.nn.utils.weight_norm": (
        "remove_weight_norm",
        "`remove_weight_norm` refuses what that makes, `torch.nn.utils.parametrize.remove_parametrizations` takes it off",
    ),
}
"""What else of a file changes with an API, by the word that tells of it."""


class DeprecatedApi(Rule):
    """
    ## What it does
    Finds uses of functions, classes and modules that torch, torchvision or torchaudio deprecate, by whatever name the file
    calls them: `torch.cuda.amp.autocast`, `torch.cuda.amp.GradScaler`, `functorch.vmap`, `torch.cuda.memory_cached`. The table
    behind it is generated from the libraries' releases, from torch 1.0 to 2.13.

    Methods and attributes of values count where the file shows what the value is: `train_data` of an `MNIST` that it makes, the
    `register_backward_hook` of a module. So do `getattr(torch, "ger")`, and imports from modules that go as a whole, such as
    `torchvision.transforms.functional_tensor`.

    What warns when it is used is reported by default. What only the documentation calls deprecated, such as `torch.norm`, is a
    strict finding, and so is a class that only annotates something: it warns as it is made; and an import that nothing uses,
    but for that of a module, which warns itself. So are those that torch hands over
    to another library, as all of eager quantization to torchao, and `get_lr()` of a schedule whose `last_epoch` the file sets:
    `get_last_lr()` gives the rate of the step before; and the `epoch` that the `step` of a schedule is given: without it the
    schedule counts by itself, which may be another rate. Of a function that is imported by itself, and for which there is no
    fix, the first use in a file is reported, and the others are strict: one import is changed for all.

    ## Why is this bad
    It warns, at every call or at the first, and a later release takes it away. With `target-torch` only what the oldest torch
    that the code has to run on deprecates is reported: older ones may lack what is to be used instead.

    ## Example
    ```python
    scaler = torch.cuda.amp.GradScaler()
    with torch.cuda.amp.autocast():
        loss = model(x).sum()
    ```

    ## Use instead
    ```python
    scaler = torch.amp.GradScaler("cuda")
    with torch.amp.autocast("cuda"):
        loss = model(x).sum()
    ```

    ## Fix safety
    Safe where the replacement was run beside what it replaces, to the same results, and nobody can tell: a name that another
    file may import from this one, or the code may get at by text, stays, nothing awaits the warning that goes, arguments that
    change places do nothing that shows, the pair of `torch.qr` is taken apart, the text of the error of `torch.cholesky` is
    not read, and the `dtype` of `torch.range` is one. Unsafe for classes, which code may tell apart, for functions that are
    handed around where the code asks for their names or compares them, and for what no run has compared. No fix where the
    library names no one successor, or one that takes or gives something else; the message says what there is. An import that
    no use is left of goes with the last of them, unless it is there for other files (`__all__`, `# noqa: F401`, a package's
    `__init__.py`); one that may fail stays, and the fix with it.

    Code that asks for the version of torch, or catches what an older one lacks, is left alone.

    ## References
    - [torch.amp](https://docs.pytorch.org/docs/stable/amp.html)
    - [PyTorch: deprecation policy](https://docs.pytorch.org/docs/stable/)
    """

    code = "TPL108"
    name = "deprecated-api"
    severity = "warning"
    yields_to = ("TPL106", "TPL109")
    triggers = (
        Found(".apis.deprecated_uses:DeprecatedUses.found", ".apis.deprecated_uses:DeprecatedUses.quiet"),
        Found(".apis.deprecated_uses:DeprecatedUses.imports"),
        Found(".apis.deprecated_arguments:DeprecatedArguments.found"),
        Found(".apis.unused_imports:UnusedImports.deprecated"),
    )
    needs = NEEDS

    def visit_Name(self, node: cst.Name) -> None:
        """Reports what was imported by itself."""
        self._look(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports what stands behind its module, or is a member of a value."""
        self._look(node)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports what is asked for by `getattr`, and what is given to a function, or is not."""
        self._look(node)
        for row in arguments(self, node):
            if self._is_meant(row):
                said = f"{said_of_argument(self, node, row)} is deprecated since {row.library} {release(row.since)}"
                is_strict = not row.warns or row.parameter == _OF_SCHEDULES
                self.report(node, f"{said}: {advice(row)}", given_instead(self, node, row), strict=is_strict)

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        """Reports what is imported from a module that goes as a whole."""
        row = origin(self, node)
        if row is not None and self._is_meant(row):
            self.report(node, self._said(row, f"`{row.symbol}`"), strict=not row.warns)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        """Reports what is imported and not used."""
        row = unused(self, node)
        if row is not None and self._is_meant(row):
            message = f"`{node.evaluated_name}` is imported and not used: {self._said(row, 'it')}"
            self.report(node, message, removal(self, node), strict=not row.warns or row.symbol not in modules())

    def _look(self, node: cst.BaseExpression) -> None:
        row = found(self, node)
        if row is not None and self._is_meant(row):
            message, mended = self._said(row, f"`{self.model.shown(node)}`"), replaced(self, node, row)
            is_strict = self.model.apis.warns_nobody(node) or (mended is None and self.model.apis.is_repeated(node))
            self.report(node, message, mended, strict=is_strict)

    def _is_meant(self, row: Deprecation) -> bool:
        return row.is_deprecated_for(self.options.target) and not row.is_removed_for(self.options.target)

    def _said(self, row: Deprecation, subject: str) -> str:
        new = successor(row)
        advice = f"use `{new}`" if new else row.advice
        beside, what = _BESIDE.get(row.symbol, ("", ""))
        also = f"; {what}" if beside and self.model.apis.are_spoken_of(beside) else ""
        return f"{subject} is deprecated since {row.library} {release(row.since)}: {advice}{also}"
