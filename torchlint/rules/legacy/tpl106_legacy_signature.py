from __future__ import annotations

import libcst as cst

from torchlint.rules.legacy.spellings.loss_flags import report_flags, report_setting
from torchlint.rules.legacy.spellings.old_calls import (
    report_bare_multinomial,
    report_implicit_dim,
    report_leading_factors,
    report_method_next,
    report_retained_variables,
)
from torchlint.rules.legacy.spellings.renamed import HAS_REDUCTION, RENAMED, report_old_name
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Api, Attribute, Call, Found, Keyword, Word
from torchlint.semantics.apis.implicit_dims import softmax_words
from torchlint.semantics.apis.leading_factors import SCALED_WORDS
from torchlint.semantics.apis.loss_flags import loss_words
from torchlint.target import TorchVersion


class LegacySignature(Rule):
    """
    ## What it does
    Finds functions under the names, and calls with the parameters, that they had before torch 0.4 or 1.0:

    - losses with `size_average=` or `reduce=`, and `criterion.size_average = False`;
    - `clip_grad_norm`, `nn.init.xavier_uniform` and the other initialisers without an underscore at the end, `F.upsample`,
      `F.nll_loss2d`, `nn.NLLLoss2d`, `F.sigmoid`, `F.tanh`;
    - `F.softmax(x)`, `F.log_softmax(x)`, `F.softmin(x)`, `nn.Softmax()` and its like without `dim`;
    - factors in front of operands: `w.add_(-lr, grad)`, `torch.addmm(beta, x, alpha, a, b)`;
    - `probabilities.multinomial()` without a number, `loss.backward(retain_variables=True)`, `iter(loader).next()`.

    ## Why is this bad
    Some were removed and raise: `F.nll_loss2d`, `multinomial()`, `retain_variables`, `.next()`. Most warn at every call, until
    they are removed as well. Two do something else than they say: `criterion.size_average = False` sets an attribute that
    nothing reads, so the mean is taken where the sum was meant; and a softmax without `dim` picks the dimension by their
    number, 0 of one or three and 1 of any other, so that with a batch of sequences it normalises over the batch. `F.sigmoid`
    and `F.tanh` are other names of `torch.sigmoid` and `torch.tanh`, which torch 0.4.1 to 1.13 warned of and which are
    tolerated since: they are strict. So is a softmax that is made for an attribute which nothing reads: not the
    file, nor, unless its name is private or the file a notebook, the folder around it. What raises, and a flag that nothing
    reads, is an error.

    ## Example
    ```python
    nn.init.xavier_uniform(model.weight)
    criterion = nn.MSELoss(size_average=False)
    nn.utils.clip_grad_norm(model.parameters(), 0.25)
    model.weight.grad.add_(1e-4, model.weight)
    ```

    ## Use instead
    ```python
    nn.init.xavier_uniform_(model.weight)
    criterion = nn.MSELoss(reduction="sum")
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    model.weight.grad.add_(model.weight, alpha=1e-4)
    ```

    ## Fix safety
    Safe where the new spelling means the same to torch, and nobody can tell: a method is that of a tensor for certain, a name
    that another file may import from this one, or the code may get at by text, as by `globals()`, stays, no argument is
    computed in another order in a way that shows, nothing awaits the error, as Python does that of a property, and nothing
    in the file or its project takes notice of the warning that goes. A function that is not called on the spot keeps its
    name where the code asks for names, `fn.__name__`, or may tell it from the new one.

    Unsafe for an implicit dimension: the fix writes the one that torch picks for as many dimensions as the code shows, or 1,
    which is what it picks for two and four, where it shows that there are two at least. Otherwise there is none. Unsafe for
    flags that are no constants, of which it is assumed that they are true or false, for `functools.partial`, to which
    `reduction` may be given later, and for `criterion.size_average = …`, where the loss becomes what was meant. No fix where
    flags are handed on together with `reduction`, where a renamed import would clash with another name, or where the name is
    deleted or may be something else where it is used.

    Code that asks for the version of torch, or catches what an older one lacks, is left alone.

    ## References
    - [torch.nn.MSELoss, on size_average and reduce](https://docs.pytorch.org/docs/stable/generated/torch.nn.MSELoss.html)
    - [torch.nn.functional.softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    - [torch.nn.init](https://docs.pytorch.org/docs/stable/nn.init.html)
    """

    code = "TPL106"
    name = "legacy-signature"
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (
        Api(*RENAMED),
        Found(".apis.loss_flags:LossFlags.given"),
        Word("size_average", "reduce", within="Assign"),
        Found(".apis.implicit_dims:ImplicitDims.picked"),
        Found(".apis.leading_factors:LeadingFactors.given"),
        Keyword("retain_variables"),
        Attribute("next"),
        Call("multinomial"),
    )
    needs = (
        (
            *(api.rpartition(".")[2] for api in RENAMED),
            *sorted({*loss_words(), *softmax_words(), *SCALED_WORDS}),
            *(
                "size_average",
                "reduce",
                "retain_variables",
                "iter",
                "__iter__",
                "multinomial",
            ),  # the iterator that has no `next`
        ),
    )

    def visit_Name(self, node: cst.Name) -> None:
        """Reports an old name that was imported by itself."""
        report_old_name(self, node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports an old name behind its module."""
        report_old_name(self, node)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a call whose arguments are those of an older torch."""
        if self.options.target >= HAS_REDUCTION:
            report_flags(self, node)
        report_implicit_dim(self, node)
        report_retained_variables(self, node)
        report_leading_factors(self, node)
        report_method_next(self, node)
        report_bare_multinomial(self, node)

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports a flag of a loss that is set as an attribute."""
        if self.options.target >= HAS_REDUCTION:
            report_setting(self, node)
