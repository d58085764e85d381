# attacks: TPL203
# promise: what meshgrid gives shows its inputs several times; a grid over one input is that input
import torch


def shift(points, by):
    (grid,) = torch.meshgrid(points, indexing="ij")
    grid[0] += by
    return points


print(shift(torch.arange(4.0), 0.5).tolist())
