# attacks: TPL103
# promise: an attribute of a tensor that torch ignores may go where autograd is off
# stays safe: yes
import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
with torch.no_grad():
    x = torch.randn(4, 3)
    x.volatile = True
    out = model(x)
print(out.requires_grad, f"{out.sum().item():.4f}")
