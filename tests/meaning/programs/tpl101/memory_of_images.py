# attacks: TPL101
# promise: wrapped images go to a pool that gives them back later
import random

import torch
import torch.nn as nn
from torch.autograd import Variable

random.seed(0)
torch.manual_seed(0)


class ImagePool:
    def __init__(self, size):
        self.size, self.images = size, []

    def query(self, images):
        kept = []
        for image in images:
            image = torch.unsqueeze(image.data, 0)
            if len(self.images) < self.size:
                self.images.append(image)
                kept.append(image)
            else:
                index = random.randrange(self.size)
                kept.append(self.images[index].clone())
                self.images[index] = image
        return Variable(torch.cat(kept, 0))


pool, generator, critic = ImagePool(2), nn.Linear(2, 3), nn.Linear(3, 1)
for _ in range(3):
    fake = generator(torch.randn(2, 2))
    loss = critic(pool.query(fake)).mean()
    critic.zero_grad()
    loss.backward()
    print(round(loss.item(), 4), generator.weight.grad, pool.query(fake).requires_grad)
