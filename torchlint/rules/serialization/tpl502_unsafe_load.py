from __future__ import annotations

import re

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import argument, positional, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found, Keyword
from torchlint.target import TorchVersion

_TRUSTED = re.compile(r"(?<!un)(?<!not )(?<!n't )\btrust(?:ed|s|worthy)?\b", re.IGNORECASE)
_SAFE_BY_DEFAULT = TorchVersion(2, 6)
_FROM_HUB = "torch.hub.load_state_dict_from_url"


class UnsafeLoad(Rule):
    """
    ## What it does
    Finds `torch.load(path, weights_only=False)`, and, where the code has to run on a torch before 2.6 (`--target-torch`),
    `torch.load` without `weights_only`, which there means the same.

    ## Why is this bad
    Such a load unpickles whatever is in the file, and unpickling runs code: whoever made the file can do on this machine what
    they like. With `weights_only=True` only tensors and plain data are read; everything else is refused.

    ## Example
    ```python
    state = torch.load("model.pt", weights_only=False)
    ```

    ## Use instead
    ```python
    state = torch.load("model.pt", weights_only=True)
    ```

    ## Fix safety
    Unsafe: a file that holds more than tensors and plain data is refused after it. Save a `state_dict`, or allow the classes
    with `torch.serialization.add_safe_globals`. There is no fix where a whole module is loaded, where `pickle_module` is
    given, or where the arguments are unpacked. A comment on or right above the call that says that the file is trusted
    silences the rule.

    ## References
    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    - [Serialization semantics](https://docs.pytorch.org/docs/stable/notes/serialization.html#weights-only)
    """

    code = "TPL502"
    name = "unsafe-load"
    triggers = (Found(".saving.files:SavedFiles.loads"), Keyword("weights_only"))
    needs = (("torch",), ("load", "weights_only"))
    since = TorchVersion(1, 13)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a load that unpickles anything."""
        loads = self.model.devices.is_load(node)
        if not loads and self.model.name(node.func) != _FROM_HUB:
            return
        match argument(node, "weights_only"):
            case None:
                if loads and not self._is_safe_by_default and not any(each.star == "**" for each in node.args):
                    self._report(node, node, f"before torch {_SAFE_BY_DEFAULT}, ")
            case cst.Arg(value=cst.Name(value)) as word:
                if value == "False" or (value == "None" and not self._is_safe_by_default):
                    self._report(node, word, "")

    @property
    def _is_safe_by_default(self) -> bool:
        return self.options.target >= _SAFE_BY_DEFAULT

    def _report(self, call: cst.Call, place: cst.Call | cst.Arg, when: str) -> None:
        path = call.args[0].value if call.args and call.args[0].keyword is None else None
        if self._is_trusted(call) or (path is not None and self.model.devices.is_in_memory(path)):
            return
        loaded = self.model.shown(path, 40) if path is not None else "…"
        self.report(
            place,
            f"{when}`{self.model.shown(call.func)}({loaded})` runs any code that the file holds: pass `weights_only=True`",
            self._fix(call, place),
        )

    def _is_trusted(self, call: cst.Call) -> bool:
        return any(_TRUSTED.search(comment) for comment in self.model.code.comments_about(call))

    def _fix(self, call: cst.Call, place: cst.Call | cst.Arg) -> CodeFix | None:
        if argument(call, "pickle_module") is not None or len(positional(call)) > 2 or self.model.devices.gives_module(call):
            return None
        true = cst.Name("True")
        given = (
            replace(place.value, true)
            if isinstance(place, cst.Arg)
            else replace(call, with_argument(call, "weights_only", true))
        )
        return fix(
            "Load weights only", given, rests_on=unknown("a file that holds more than tensors and plain data is refused")
        )
