# attacks: TPL104
# promise: scores go to numpy, and a list
# stays safe: yes
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
table = np.zeros((3, 3), dtype=int)
for _ in range(3):
    x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
    scores = torch.softmax(model(x), dim=1)
    predicted = scores.data.cpu().numpy().argmax(1)
    for true, guess in zip(y.tolist(), predicted):
        table[true, guess] += 1
    print([round(v, 3) for v in scores.data[0].tolist()])
print(table.tolist())
