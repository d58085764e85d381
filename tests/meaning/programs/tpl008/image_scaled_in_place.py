# attacks: TPL008, TPL104
# promise: the array that is changed shares its memory with the tensor, or does not, as before
"""An image is scaled to bytes through the array that shares its memory; the scaled tensor is used on."""
import torch

torch.manual_seed(0)
x = torch.randn(2, 3)
image = x.data.cpu().numpy()
image -= image.min()
image /= image.max()
print(image.round(4).tolist(), round(x.sum().item(), 4))
w = torch.ones(3, requires_grad=True)
(x @ w).sum().backward()
print([round(v, 4) for v in w.grad.tolist()])
