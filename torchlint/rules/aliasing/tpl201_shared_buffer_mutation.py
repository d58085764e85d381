from __future__ import annotations

import re

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.copying import copied
from torchlint.rules.in_place import InPlaceRule
from torchlint.rules.triggers import Found


class SharedBufferMutation(InPlaceRule):
    """
    ## What it does
    Finds an array and a tensor over one buffer, of which one is changed in place while the other is still used:
    `b = torch.from_numpy(a)` and later `b.add_(1)` or `a[0] = 5`. `torch.as_tensor`, `tensor.numpy()` and, for an array of
    the same element type, `torch.FloatTensor(a)` share memory as well. Also one buffer that a loop fills in each round and
    puts into a list, `frames.append(torch.from_numpy(frame))`. Where a script does no more with the other one than print it,
    as lessons about shared memory do, the finding is strict.

    ## Why is this bad
    Both change. Nothing at the place of the change tells so, and it depends on the way of the conversion, on the element
    type and on the device whether they do.

    ## Example
    ```python
    a = np.zeros(3)
    b = torch.from_numpy(a)
    b.add_(1)  # a is changed as well
    print(a.sum(), b.sum())
    ```

    ## Use instead
    ```python
    a = np.zeros(3)
    b = torch.from_numpy(a).clone()
    b.add_(1)  # a is changed as well
    print(a.sum(), b.sum())
    ```

    ## Fix safety
    Unsafe: the change no longer reaches the other side, which may be what the code relied on.

    ## References
    - [torch.from_numpy](https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html)
    - [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
    """

    code = "TPL201"
    name = "shared-buffer-mutation"
    triggers = (Found(".aliasing.shared_buffers:SharedBuffers.changes"),)
    needs = (
        ("torch", "nn"),
        (
            *("from_numpy", "as_tensor", "asarray", "numpy", "from_dlpack", "Tensor", "FloatTensor", "DoubleTensor"),
            *("LongTensor", "IntTensor", "HalfTensor", "ByteTensor", "CharTensor", "ShortTensor", "BoolTensor"),
        ),
    )
    yields_to = ("TPL001", "TPL008", "TPL203")

    def check(self, node: cst.BaseExpression) -> None:
        change = self.model.memory.shared_change(node)
        if change is None:
            return
        changed, source = self.model.shown(node.func if isinstance(node, cst.Call) else node), self.model.shown(change.source)
        is_source = re.match(rf"{re.escape(source)}\b", self.model.shown(change.through))
        other = self.model.shown(change.result) if is_source else source
        copy = copied(change.conversion, self.model.memory.copying_methods(change.conversion, detached=not change.gives_array))
        self.report(
            node,
            f"`{changed}` changes `{other}`, too: `{self.model.shown(change.conversion)}` shares the memory; make a copy",
            fix(
                "Make a copy",
                replace(change.conversion, copy),
                rests_on=unknown("the change no longer reaches the other side, on which code may rely"),
            ),
            strict=change.is_shown,
        )
