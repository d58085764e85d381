# attacks: TPL001
# promise: another task changes the weights while the first one waits with its loss
import asyncio

import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)


async def learner():
    loss = head(torch.sigmoid(body(torch.ones(4, 2)))).mean()
    await asyncio.sleep(0)
    loss.backward()


async def decay():
    head.weight.data.mul_(0.5)


async def main():
    await asyncio.gather(learner(), decay())


asyncio.run(main())
print([round(v, 4) for v in body.bias.grad.tolist()])
