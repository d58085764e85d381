# attacks: TPL002
# promise: a method that torch's tensors have, called on `x.data`, shows `x` to be a tensor
"""Raster tiles come as masked arrays; their raw values are stacked for a network."""
import numpy as np
import torch
import tiles as formats

read = getattr(formats, "read_tile")
tiles = [read(k) for k in range(3)]
values = []
for tile in tiles:
    raw = tile.data.squeeze()
    values.append(np.where(np.ma.getmaskarray(tile).squeeze(), 0.0, raw))
stack = torch.from_numpy(np.stack(values)).float()
print(tuple(stack.shape), [round(v, 3) for v in stack.sum((1, 2)).tolist()])
