# attacks: TPL304
# promise: the defaults of the function are set, which a decorated one does not see
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
batches = [(torch.randn(4, 3), torch.tensor([0, 1, 0, 1])) for _ in range(2)]


def evaluate(threshold=0.5):
    model.eval()
    sure = 0
    for x, _ in batches:
        sure += (torch.softmax(model(x), 1).max(1)[0] > threshold).sum().item()
    return sure


print(evaluate())
evaluate.__defaults__ = (0.9,)
print(evaluate(), evaluate.__code__.co_argcount)
