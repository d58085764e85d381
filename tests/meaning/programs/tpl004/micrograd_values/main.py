# attacks: TPL004
# promise: what `backward` is called on is a tensor
import torch
from micro import squared_error

torch.manual_seed(0)
xs = torch.randn(5, 2).tolist()
weights = [0.1, -0.2]
history = []
for x in xs:
    loss = squared_error(weights, x, target=sum(x))
    loss.backward()
    history.append(loss)
print([f"{loss.data:.4f}" for loss in history])
print([f"{weight:.4f}" for weight in weights])
