# attacks: TPL004
# promise: a private sum that its class prints stays what it was
# stays safe: yes
import torch
import torch.nn as nn


def fit(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.MSELoss()
    for epoch in range(2):
        running_loss, seen = 0.0, 0
        for x in batches:
            optimizer.zero_grad()
            loss = criterion(model(x), x[:, :1])
            loss.backward()
            optimizer.step()
            running_loss += loss * len(x)
            seen += len(x)
        print("epoch %d: %.4f" % (epoch, running_loss / seen))


torch.manual_seed(0)
fit(nn.Linear(3, 1), torch.randn(4, 5, 3))
