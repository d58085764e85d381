from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion


class RefusedLoad(Rule):
    """
    ## What it does
    Finds calls of `torch.load` that do not say `weights_only`, and whose result, or an item of it, is used as an object of a
    class: a whole module that is called or becomes a part of another, an `argparse.Namespace` whose options are read, also
    by `vars`, a vocabulary. So it is where an attribute that is used so gets what is loaded and moved,
    or else a module that is made.

    Also found are loads of the checkpoints that the same file saves with such an object in them:
    two keys or more that are read stand in a dict that is saved with a `state_dict()`, and beside them the parsed options, a
    scheduler itself, an object of a class of the project, or a number of NumPy's: as it is, computed with, or given by a
    function of the file, as the best score so far. The dict may be made by a function of the file, too. So are loads of a
    path by which the same file saves a whole module, and nothing else, also where a file is opened by it; and one into a
    variable that else gets a `defaultdict`, or another container that torch refuses, and that the file saves.

    ## Why is this bad
    Since torch 2.6 `torch.load` reads tensors and plain data only, unless it is told otherwise: everything else raises an
    `UnpicklingError`. The script that worked for years stops at this line.

    ## Example
    ```python
    model = torch.load("model.pt", map_location="cpu")
    model.eval()
    ```

    ## Use instead
    ```python
    model = torch.load("model.pt", map_location="cpu", weights_only=False)  # a trusted file
    model.eval()
    ```

    Better still, save a `state_dict()`, and options as a dict: those are read without it.

    ## Fix safety
    Unsafe: with `weights_only=False` the file may run any code. The fix is for files that are trusted, as the program's own;
    [TPL502](TPL502.md) asks for a comment that says so.

    Not reported is a load whose failure is caught, one whose result is asked for its type, and any in a project that puts
    another function in the place of `torch.load`, or allows classes. Where [TPL501](TPL501.md)
    reports the same load, each of the two fixes adds its own argument.

    ## References
    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    - [Serialization semantics](https://docs.pytorch.org/docs/stable/notes/serialization.html#weights-only)
    """

    code = "TPL505"
    name = "refused-load"
    since = TorchVersion(2, 6)
    triggers = (Found(".saving.refused_loads:RefusedLoads.found"),)
    needs = (("torch",), ("load",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the load."""
        refused = self.model.devices.refused_load(node)
        if refused is None:
            return
        shown = self.model.shown(refused.use, 40)
        loaded = "the file" if refused.loaded is node else f"`{self.model.shown(refused.loaded)}`"
        but = f"`{shown}` is saved in such a file" if refused.is_saved else f"`{shown}` takes {loaded} for one"
        self.report(
            node,
            f"torch refuses to load objects of classes unless it is told to, but {but}: save its state, or pass "
            "`weights_only=False` if the file is trusted",
            fix(
                "Let the file hold any object",
                replace(node, with_argument(node, "weights_only", cst.Name("False"))),
                rests_on=unknown("a file that is not trusted may run any code"),
            ),
        )
