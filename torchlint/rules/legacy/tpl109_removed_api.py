from __future__ import annotations

import libcst as cst

from torchlint.rules.legacy.spellings.deprecated_arguments import advice, arguments, given_instead, said_of_argument
from torchlint.rules.legacy.spellings.deprecations import NEEDS, found, origin, release, removal, replaced, successor, unused
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.apis.deprecations import Deprecation


class RemovedApi(Rule):
    """
    ## What it does
    Finds uses of functions, classes and modules that torch, torchvision or torchaudio have removed, or that only raise by now:
    `torch.solve`, `torch.symeig`, `torch.lstsq`. And parameters that they have removed, also where a class hands them on:
    `super().__init__(optimizer, verbose=verbose)`. The table behind it is generated from the libraries' releases.
    What they removed without having deprecated it, and public code imports, is found where it is imported: `torch._six`,
    `torch.utils.ffi`, `zero_gradients` of `torch.autograd.gradcheck`.

    A class that hands its data on to the constructor of `torch.utils.data.Sampler`, `super().__init__(data_source)`, is found
    since torch 2.10: the constructor is gone, and the one of `object` takes nothing, not even `None`. Torch 2.0 and before
    asked for the argument, which did nothing.

    `device_id=` of `.cuda()`, which torch 0.3 called `device`, is reported whatever is known of the object: nothing else in a
    program of torch takes it, unless a class of the project has a `cuda` of its own that does.

    ## Why is this bad
    It raises an AttributeError, an ImportError, a TypeError or a RuntimeError, when the line is run and not before. With
    `target-torch` only what the oldest torch that the code has to run on lacks is reported.

    ## Example
    ```python
    torch.set_deterministic(True)
    values, vectors = torch.symeig(a, eigenvectors=True)
    ```

    ## Use instead
    ```python
    torch.use_deterministic_algorithms(True)
    values, vectors = torch.linalg.eigh(a, UPLO="U")
    ```

    ## Fix safety
    Unsafe: the code raised, and what handles that, or stands behind it, has not run on today's torch. No fix where the
    successor takes or gives something else: `torch.solve(b, a)` gave the solution and its LU factors,
    `torch.linalg.solve(a, b)` gives the solution.

    Code that asks for the version of torch, or catches what a newer one lacks, is left alone, and so is a name whose import may
    fail.

    ## References
    - [torch.linalg](https://docs.pytorch.org/docs/stable/linalg.html)
    """

    code = "TPL109"
    name = "removed-api"
    yields_to = ("TPL106",)
    triggers = (
        Found(".apis.deprecated_uses:DeprecatedUses.found"),
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
        """Reports what is asked for by `getattr`, and what is given to a function that takes it no more."""
        self._look(node)
        for row in arguments(self, node):
            if self._is_meant(row) and not self.model.apis.is_missed(node) and not self.model.apis.is_conditional(node.func):
                said = f"{said_of_argument(self, node, row)} was removed in {row.library} {release(row.removed)}"
                self.report(node, f"{said}: {advice(row)}", given_instead(self, node, row))

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        """Reports what is imported from a module that goes as a whole, or imports what is gone."""
        row = origin(self, node)
        if row is None or not self._is_meant(row) or (row.is_unannounced and self._is_unused(node, row)):
            return
        self.report(node, self._said(row, f"`{row.symbol}`"))

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        """Reports what is imported and not used."""
        row = unused(self, node)
        if row is not None and self._is_meant(row):
            message = f"`{node.evaluated_name}` is imported and not used: {self._said(row, 'it')}"
            self.report(node, message, removal(self, node))

    def _look(self, node: cst.BaseExpression) -> None:
        row = found(self, node)
        if row is None or not self._is_meant(row) or self.model.apis.is_missed(node) or self.model.apis.is_conditional(node):
            return
        if isinstance(node, cst.Name) and row.is_unannounced:
            return  # its import says so
        doubt = "the code raised, and what follows has never run"
        self.report(node, self._said(row, f"`{self.model.shown(node)}`"), replaced(self, node, row, doubt))

    def _is_meant(self, row: Deprecation) -> bool:
        return row.is_removed_for(self.options.target)

    def _is_unused(self, node: cst.ImportFrom, row: Deprecation) -> bool:
        """Whether what is gone is imported and not used, which is said of its name."""
        names = node.names if not isinstance(node.names, cst.ImportStar) else ()
        return any(unused(self, each) == row for each in names)

    def _said(self, row: Deprecation, subject: str) -> str:
        new = successor(row)
        advice = f": use `{new}`" if new else f": {row.advice}" if row.message else ""
        gone = "only raises since" if row.only_raises else "was removed in"
        return f"{subject} {gone} {row.library} {release(row.removed)}{advice}"
