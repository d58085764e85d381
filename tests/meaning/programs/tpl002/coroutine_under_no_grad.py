# attacks: TPL002
# promise: the body of a decorated function runs with autograd off
"""An asynchronous scorer; the decorator covers the making of the coroutine only."""
import asyncio

import torch

torch.manual_seed(0)
weights = torch.randn(3, requires_grad=True)


@torch.no_grad()
async def score(x):
    await asyncio.sleep(0)
    return x * (weights.data * 0.5)


async def main():
    return await asyncio.gather(*(score(x) for x in torch.randn(2, 3)))


scores = asyncio.run(main())
print([s.requires_grad for s in scores], [[round(v, 5) for v in s.numpy().tolist()] for s in scores])
