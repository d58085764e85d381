# attacks: TPL004
# promise: what `.get()` and `.pop()` of a dict of sums give is read as numbers
import torch
import torch.nn as nn

torch.manual_seed(0)
student = nn.Linear(3, 2)
teacher = nn.Linear(3, 2).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.2)
totals = {"hard": 0, "soft": 0}
for _ in range(4):
    x, y = torch.randn(6, 3), torch.randint(0, 2, (6,))
    logits = student(x)
    hard = nn.functional.cross_entropy(logits, y)
    soft = nn.functional.mse_loss(logits, teacher(x))
    loss = hard + soft
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    totals["hard"] += hard
    totals["soft"] += soft

last = totals.get("hard")
print(f"hard {last.div(4).item():.4f}")
print(f"soft {totals.pop('soft').div(4).item():.4f}", sorted(totals))
