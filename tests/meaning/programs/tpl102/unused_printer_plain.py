# attacks: TPL102
# promise: an index that would raise where it stands may be mended
# stays safe: yes
import torch
import torch.nn as nn


def train(model, batches, verbose=False):
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step, (x, y) in enumerate(batches):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if verbose:
            print("step", step, "loss", loss.data.cpu().numpy()[0])
    return model


torch.manual_seed(0)
trained = train(nn.Linear(2, 1), [(torch.randn(3, 2), torch.randn(3, 1)) for _ in range(3)])
print([f"{value:.4f}" for value in trained.weight.flatten().tolist()])
