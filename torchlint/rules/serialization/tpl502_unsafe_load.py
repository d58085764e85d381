from __future__ import annotations

import re

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import argument, positional, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found, Keyword
from torchlint.semantics.saving.unsafe_loads import Told
from torchlint.target import TorchVersion

_TRUSTED = re.compile(r"(?<!un)(?<!not )(?<!n't )\btrust(?:ed|s|worthy)?\b", re.IGNORECASE)
_SAFE_BY_DEFAULT = TorchVersion(2, 6)
_FROM_HUB = "torch.hub.load_state_dict_from_url"


class UnsafeLoad(Rule):
    """
    ## What it does
    Finds `torch.load(path, weights_only=False)`, also by way of a name or a dict that is unpacked, and, where the code has to
    run on a torch before 2.6 (`--target-torch`), `torch.load` without `weights_only`, which there means the same.

    Not reported are loads that are tried where one with `weights_only=True` has failed, and those of a file that the same
    function wrote. Whoever writes `weights_only=False` has often met a file that is read in no other way: with numbers of
    NumPy's in it, options, objects. So such a load is strict unless what it reads goes into a `load_state_dict` as it is, and
    no item is asked for, as of a checkpoint that may hold anything besides (`"model" in saved`, `saved["model"]`), the
    same file saves it with nothing but states and plain data in it, or the path speaks of a file that others have made: of
    torch's hub, a download, something pretrained. In a test, which makes its files itself, a load is strict, and
    so is one of the program's own data, which weights alone are not: of a file called a data set, a store or a corpus,
    of an item of a data set, of
    graphs or samples that no model is given, what numpy makes an array of, inside `safe_globals(…)`, or where the code saves
    the states of numpy's or Python's generators. So is that of a whole module, `model = torch.load(path, weights_only=False)`,
    which is read in no other way ([TPL503](TPL503.md) is about saving it).

    ## Why is this bad
    Such a load unpickles whatever is in the file, and unpickling runs code: whoever made the file can do on this machine what
    they like. With `weights_only=True` only tensors and plain data are read; everything else is refused.

    ## Example
    ```python
    model.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=False))
    ```

    ## Use instead
    ```python
    model.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True))
    ```

    ## Fix safety
    Unsafe: a file that holds more than tensors and plain data is refused after it. Save a `state_dict`, or allow the classes
    with `torch.serialization.add_safe_globals`. There is no fix where a whole module is loaded, or another object
    of a class, where `pickle_module` is given, where other calls unpack the same arguments, or behind a load that failed. A
    comment on or right above the call that says that the file is trusted silences the rule.

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
        told = self.model.devices.told_weights_only(node)
        if told is None:
            if loads and not self._is_safe_by_default and not self.model.devices.may_be_told_weights_only(node):
                self._report(node, f"before torch {_SAFE_BY_DEFAULT}, ", None)
        elif isinstance(value := told.value, cst.Name):
            if value.value == "False" or (value.value == "None" and not self._is_safe_by_default):
                self._report(node, "", told)

    @property
    def _is_safe_by_default(self) -> bool:
        return self.options.target >= _SAFE_BY_DEFAULT

    def _report(self, call: cst.Call, when: str, told: Told[cst.BaseExpression] | None) -> None:
        """Reports a load, at the argument that tells it to unpickle anything."""
        path = call.args[0].value if call.args and call.args[0].keyword is None else None
        if self._is_trusted(call) or (path is not None and self.model.devices.is_in_memory(path)):
            return
        if self.model.devices.has_reason_to_unpickle(call):
            return
        loaded = self.model.shown(path, 40) if path is not None else "…"
        self.report(
            next((each for each in call.args if told is not None and each.value is told.through and each.keyword), call),
            f"{when}`{self.model.shown(call.func)}({loaded})` runs any code that the file holds: pass `weights_only=True`",
            self._fix(call, told),
            strict=self._is_meant(call, told),
        )

    def _is_meant(self, call: cst.Call, told: Told[cst.BaseExpression] | None) -> bool:
        """Whether a load is of files that the program makes, or of what may not be read in another way."""
        devices = self.model.devices
        if told is not None and (devices.gives_module(call) or not devices.may_hold_weights_only(call)):
            return True
        return devices.is_load_of_test(call) or devices.is_load_of_own_data(call)

    def _is_trusted(self, call: cst.Call) -> bool:
        return any(_TRUSTED.search(comment) for comment in self.model.code.comments_about(call))

    def _fix(self, call: cst.Call, told: Told[cst.BaseExpression] | None) -> CodeFix | None:
        if argument(call, "pickle_module") is not None or len(positional(call)) > 2:
            return None
        if self.model.devices.gives_module(call) or self.model.devices.has_objects(call):
            return None
        if self.model.devices.is_tried_behind_load(call) or (told is not None and told.shared):
            return None  # what has just failed would be called again; another call would be told, too
        true = cst.Name("True")
        if told is None:
            given = replace(call, with_argument(call, "weights_only", true))
        else:
            is_given = argument(call, "weights_only") is not None
            given = replace(told.through if is_given else told.value, true)
        return fix(
            "Load weights only", given, rests_on=unknown("a file that holds more than tensors and plain data is refused")
        )
