# attacks: TPL102
# promise: a branch for old torch alone changes nothing on this one
# stays safe: yes
import torch
import torch.nn.functional as F

OLD = torch.__version__.startswith("0.")
torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
for step in range(3):
    x = torch.randn(6, 3)
    loss = F.mse_loss(x @ w, x.sum(dim=1))
    loss.backward()
    shown = loss.data[0] if OLD else loss.item()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
    print(f"{shown:.4f}")
