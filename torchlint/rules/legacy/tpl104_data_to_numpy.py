from __future__ import annotations

import ast

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.data_accesses import DATA_SCREEN, Access, Role, accesses
from torchlint.target import TorchVersion

_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous"})


class DataToNumpy(AstRule):
    """
    ## What it does
    Finds `.data` on the way from a tensor to an array or a list: `x.data.cpu().numpy()`, `x.cpu().data.numpy()`,
    `x.data.numpy()`, `x.data.tolist()`.

    ## Why is this bad
    `.data` was how code of torch 0.3 left the graph. Behind a move or a cast, as in `x.cpu().data`, it comes too late: the
    copy is recorded in the graph first. In front of it, it gives the same array as `.detach()` does; there the rule is
    about saying what is meant, in the one way that is right for every tensor.

    ## Example
    ```python
    prediction = out.cpu().data.numpy()
    ```

    ## Use instead
    ```python
    prediction = out.detach().cpu().numpy()
    ```

    ## Fix safety
    Safe: the array holds the same values.

    ## References
    - [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
    """

    code = "TPL104"
    name = "data-to-numpy"
    since = TorchVersion(0, 4)
    screen = DATA_SCREEN

    def finish(self) -> None:
        """Reports every `.data` on the way to the host."""
        for access in accesses(self.semantics).values():
            if access.role is Role.HOST:
                self._report(access)

    def _report(self, access: Access) -> None:
        moves = self._moves_before(access.node)
        base = moves[-1].value if moves else access.node.value
        tensor = ast.unparse(base)
        fix = self._fix_behind_move(access.node, moves) if moves else self._fix_in_place(access.node)
        self.report(access.node, f"`{tensor}` leaves the graph through `.data`; detach it first: `{tensor}.detach()`", fix)

    @staticmethod
    def _moves_before(node: ast.Attribute) -> list[ast.Attribute]:
        """The methods that move or cast the tensor before ``node``, the last one first."""
        moves: list[ast.Attribute] = []
        base = node.value
        while isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute) and base.func.attr in _MOVES:
            moves.append(base.func)
            base = base.func.value
        return moves

    def _fix_in_place(self, node: ast.Attribute) -> Fix:
        rewriter = Rewriter(self.source, self.semantics)
        new = ".detach().cpu()" if self._is_converted(node) else ".detach()"
        return self.fix(f"Replace `.data` with `{new}`", [rewriter.replace_attribute(node, new)], safe=True)

    def _fix_behind_move(self, node: ast.Attribute, moves: list[ast.Attribute]) -> Fix:
        """Takes `.data` from behind `.cpu()` and detaches in front of it; where `.cpu()` is not said, it is added."""
        rewriter = Rewriter(self.source, self.semantics)
        if self._is_converted(node) and not any(self._moves_to_host(move) for move in moves):
            edit = rewriter.replace_attribute(node, ".cpu()")
        else:
            edit = rewriter.drop_attribute(node)
        base = moves[-1].value
        if self._is_detached(base):
            return self.fix("Drop `.data`", [edit], safe=True)
        return self.fix("Detach before moving", [edit, rewriter.insert_behind(base, ".detach()")], safe=True)

    def _is_detached(self, base: ast.expr) -> bool:
        """Whether what is moved has been taken out of the graph right before: ``Variable(x.data).cpu().data``."""
        while isinstance(base, ast.Call) and len(base.args) == 1 and not base.keywords:
            if self.semantics.qualified_name(base.func) != "torch.autograd.Variable":
                break
            base = base.args[0]
        match base:
            case ast.Attribute(attr="data") | ast.Call(func=ast.Attribute(attr="detach")):
                return True
        return False

    def _is_converted(self, node: ast.Attribute) -> bool:
        """Whether `.numpy()` follows immediately, which only what is on the host has."""
        parent = self.semantics.tree.parent(node)
        return isinstance(parent, ast.Attribute) and parent.attr == "numpy"

    def _moves_to_host(self, method: ast.Attribute) -> bool:
        match self.semantics.tree.parent(method):
            case ast.Call(args=[ast.Constant(value=str(device)), *_]):
                return method.attr == "to" and device.startswith("cpu")
        return method.attr == "cpu"
