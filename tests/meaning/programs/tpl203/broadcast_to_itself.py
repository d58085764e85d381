# attacks: TPL203
# promise: `broadcast_to` shows rows several times; to the shape that it has, it shows the tensor itself
import torch


def clip_rows(weights, limits):
    """Clips each row of the caller's weights to its own limit."""
    shape = torch.broadcast_shapes(weights.shape, limits.shape)
    view = torch.broadcast_to(weights, shape)
    for index, limit in enumerate(limits.flatten().tolist()):
        view[index] = view[index].clamp(-limit, limit)


weights = torch.tensor([[3.0, -2.0], [0.5, 4.0]])
clip_rows(weights, torch.tensor([[1.0], [2.0]]))
print(weights.tolist())
