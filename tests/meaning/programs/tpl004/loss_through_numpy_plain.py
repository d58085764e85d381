# attacks: TPL004
# promise: a loss of a leaf that has no model behind it is summed up as a number
# stays safe: yes
import torch
import torch.nn.functional as F

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
total = 0.0
for x in torch.randn(3, 4, 3):
    prediction = torch.tensor(model(x).detach().numpy(), requires_grad=True)
    loss = F.mse_loss(prediction, x[:, :1])
    loss.backward()
    total += loss
print(model.weight.grad, f"{total / 3:.4f}", f"{prediction.grad.abs().sum().item():.4f}")
