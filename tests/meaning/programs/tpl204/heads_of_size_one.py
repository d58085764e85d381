# attacks: TPL204
# promise: where the view exists, the reshape is the same view, and writes go through it
# stays safe: yes
import torch


def merge_heads(x: torch.Tensor, scale):
    batch, heads, length, size = x.shape
    x = x.transpose(1, 2)
    merged = x.view(batch, length, heads * size)
    merged[:, 0] *= scale
    return merged


torch.manual_seed(0)
x = torch.ones(2, 1, 3, 4)
y = merge_heads(x, 5.0)
print(y.sum().item(), x.sum().item(), y.data_ptr() == x.data_ptr())
