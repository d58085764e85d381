# attacks: TPL006
# promise: the flag is an attribute that the class gives a meaning, told by its base
import torch
import torch.nn as nn

torch.manual_seed(0)


class Switchable(nn.Module):
    def detached(self, x):
        return x if vars(self).get("requires_grad", True) else x.detach()


class Encoder(Switchable):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.detached(self.fc(x))


encoder, head = Encoder(), nn.Linear(2, 1)
encoder.requires_grad = False
out = head(encoder(torch.ones(2, 3))).sum()
out.backward()
print(encoder.fc.weight.grad, encoder.fc.weight.requires_grad, vars(encoder).get("requires_grad"))
