# attacks: TPL004
# promise: nobody asks the kept losses whether they hang on a graph
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step, x in enumerate(torch.randn(4, 5, 3)):
    with torch.set_grad_enabled(step % 2 == 0):
        loss = (model(x) - 1).abs().mean()
    if loss.requires_grad:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    losses.append(loss)
trained = [loss for loss in losses if loss.requires_grad]
print(f"trained on {len(trained)} of {len(losses)}: {sum(float(loss) for loss in trained):.4f}")
