# attacks: TPL009
# promise: the state of a module holds what cannot be copied
import torch
import torch.nn as nn

torch.manual_seed(0)


class Streamed(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.fc = nn.Linear(2, 1)
        self.rows = (row for row in rows)

    def get_extra_state(self):
        return {"rows": self.rows}

    def set_extra_state(self, state):
        self.rows = state["rows"]

    def forward(self, x):
        return self.fc(x) + next(self.rows)


net = Streamed([0.5, 1.0, 1.5, 2.0])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
start = net.state_dict()
for _ in range(2):
    loss = net(torch.ones(1, 2)).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
net.load_state_dict(start)
print(net.rows is start["_extra_state"]["rows"], next(net.rows))
