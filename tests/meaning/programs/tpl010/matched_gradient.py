# attacks: TPL010
# promise: a match tells a gradient from none
import torch

torch.manual_seed(0)
a = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = a.sigmoid() * 2
out = hidden.sum()
out.backward()
match hidden.grad:
    case torch.Tensor():
        print("kept")
    case _:
        print("recomputed", torch.ones_like(hidden).tolist())
print(torch.is_tensor(hidden.grad), list(filter(torch.is_tensor, [hidden.grad])))
