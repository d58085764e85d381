import torch
import torch.nn.functional as F


def content_loss(layers, image, target):
    """The distance of two images in the feature space of a fixed network."""
    layers.eval()
    total = 0
    for layer in layers:
        image, target = torch.tanh(layer(image)), torch.tanh(layer(target))
        distance = F.mse_loss(image, target.detach())
        total += distance
    return total
