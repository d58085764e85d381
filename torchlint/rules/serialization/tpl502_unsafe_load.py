from __future__ import annotations

import ast
import re
import tokenize
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.rules.arguments import keyword_of, set_keyword
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.loading import MAY_LOAD, is_in_memory, is_torch_load, shortened
from torchlint.rules.screens import Screen
from torchlint.semantics import Type
from torchlint.target import TorchVersion

_TRUSTED = re.compile(r"(?<!un)(?<!not )(?<!n't )\btrust(?:ed|s|worthy)?\b", re.IGNORECASE)
_SAFE_BY_DEFAULT = TorchVersion(2, 6)
_FROM_HUB = "torch.hub.load_state_dict_from_url"


def _may_load(data: bytes) -> bool:
    return b"weights_only" in data or MAY_LOAD.search(data) is not None


class UnsafeLoad(AstRule):
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
    screen = Screen(any_of=(b"torch",), check=_may_load)
    since = TorchVersion(1, 13)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a load that unpickles anything."""
        loads = is_torch_load(node, self.semantics)
        if not loads and self.semantics.qualified_name(node.func) != _FROM_HUB:
            return
        word = keyword_of(node, "weights_only")
        if word is None:
            if loads and self.target < _SAFE_BY_DEFAULT and not any(part.arg is None for part in node.keywords):
                self._report(node, node, f"before torch {_SAFE_BY_DEFAULT}, ")
        elif _is(word.value, False) or (_is(word.value, None) and self.target < _SAFE_BY_DEFAULT):
            self._report(node, word, "")

    def _report(self, call: ast.Call, place: ast.Call | ast.keyword, when: str) -> None:
        if self._is_trusted(call) or is_in_memory(call.args[0] if call.args else None, self.semantics):
            return
        what = shortened(call.args[0]) if call.args else "…"
        message = f"{when}`{ast.unparse(call.func)}({what})` runs any code that the file holds: pass `weights_only=True`"
        self.report(place, message, self._fix(call))

    def _fix(self, call: ast.Call) -> Fix | None:
        if keyword_of(call, "pickle_module") is not None or len(call.args) > 2 or self._gives_module(call):
            return None
        return self.fix("Load weights only", [set_keyword(self.source, call, "weights_only", "True")], safe=False)

    def _gives_module(self, call: ast.Call) -> bool:
        """Whether what is loaded is a whole module, which is refused as unsafe."""
        parent = self.semantics.tree.parent(call)
        match parent:
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self.semantics.bindings.of(target)
                return binding is not None and self.semantics.inference.binding_kind(binding).type is Type.MODULE
            case ast.Assign(targets=[ast.Attribute() as target]):
                return self.semantics.kind(target).type is Type.MODULE
            case ast.Attribute(attr="eval" | "train" | "cuda" | "parameters"):
                return True
        return False

    # --- trust -------------------------------------------------------------------------------------------------------

    def _is_trusted(self, call: ast.Call) -> bool:
        """Whether a comment on the lines of the call's statement, or right above it, says so."""
        statement = self.semantics.tree.statement(call)
        first = min(statement.lineno, call.lineno) - 1
        while self._trust.get(first) is None and first in self._whole_line_comments:
            first -= 1
        return any(row in self._trust for row in range(first, (call.end_lineno or call.lineno) + 1))

    @cached_property
    def _comments(self) -> list[tokenize.TokenInfo]:
        if _TRUSTED.search(self.source.text) is None:
            return []
        return [token for token in self.source.tokens if token.type == tokenize.COMMENT]

    @cached_property
    def _trust(self) -> dict[int, str]:
        """The comments that speak of trust, by their line."""
        return {token.start[0]: token.string for token in self._comments if _TRUSTED.search(token.string)}

    @cached_property
    def _whole_line_comments(self) -> set[int]:
        return {token.start[0] for token in self._comments if not token.line[: token.start[1]].strip()}


def _is(node: ast.expr, value: bool | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
