"""Whether code needs gradients."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.gradient_uses import GradientUses


def semantics(text: str) -> Semantics:
    return Semantics(ast.parse("import higher\nimport torch\n" + dedent(text)))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("loss.backward()", True),
        ("fgsm_attack(model, x)", True),
        ("saliency.of(x)", True),
        ("torch.autograd.grad(y, x)", True),
        ("torch.func.vmap(f)(x)", True),
        ("x.grad", True),
        ("x.requires_grad = True", True),
        ("y = torch.zeros(2, requires_grad=flag)", True),
        ("helper()", True),
        ("net(x)", True),
        ("params = gradient_update_parameters(model, loss, step_size=0.4)", True),
        ("learner.adapt(train_loss)", True),
        ("learner.adapt(loss=inner_loss)", True),
        ("diffopt.step(loss)", True),
        ("with higher.innerloop_ctx(model, optimizer) as (fmodel, stepper): ...", True),
        ("with innerloop_context(model) as inner: ...", True),
        ("model.gradient_checkpointing_disable()", False),
        ("batch = domain.adapt(batch)", False),
        ("adapt(loss)", False),
        ("scheduler.step(loss)", False),
        ("diffopt.step()", False),
        ("y = lossy.adapt(glossary)", False),
        ("y = torch.zeros(2, requires_grad=False)", False),
        ("y = model(x)", False),
        ("x.grad = None", False),
        ("def f(): loss.backward()", False),
    ],
)
def test_what_needs_gradients(statement: str, expected: bool) -> None:
    meaning = semantics(f"""
        class Net(torch.nn.Module):
            def forward(self, x):
                return torch.autograd.grad(x.sum(), x)
        def helper():
            loss.backward()
        net, x = Net(), torch.zeros(2)
        {statement}
    """)
    assert meaning.of(GradientUses).used_in(meaning.tree.module.body[-1:]) is expected
