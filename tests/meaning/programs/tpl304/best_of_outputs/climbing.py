import torch


def ascend(generator, sample):
    score = sample.mean()
    for p, slope in zip(generator.parameters(), torch.autograd.grad(score, list(generator.parameters()))):
        p.data.add_(slope, alpha=0.2)
    return score.item()
