# attacks: TPL002
# promise: what the file does not show and whose `data` is cast is a tensor
"""Statistics of a data set are taken from its stored images."""
import torch
from images import Digits

torch.manual_seed(0)
train = Digits(count=12)
pixels = train.data.float().div(255)
mean, std = pixels.mean(), pixels.std()


def normalised(split):
    return (split.data.unsqueeze(1) / 255 - mean) / std


x = normalised(train)
print(len(train), tuple(x.shape), round(mean.item(), 5), round(std.item(), 5))
