# attacks: TPL009
# promise: the best weights come back when patience ends
# shows: the last ones come back
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


def fit(model, x, y, patience=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=1.5)
    best_loss, best_state, bad = float("inf"), None, 0
    for _ in range(10):
        loss = (model(x) - y).pow(2).mean()
        if loss.item() < best_loss:
            best_loss, best_state, bad = loss.item(), model.state_dict(), 0
        else:
            bad += 1
        if bad > patience:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.load_state_dict(best_state)
    return best_loss


x, y = torch.randn(8, 3), torch.randn(8, 1)
model = nn.Linear(3, 1)
best = fit(model, x, y)
print(round(best, 4), round((model(x) - y).pow(2).mean().item(), 4))
