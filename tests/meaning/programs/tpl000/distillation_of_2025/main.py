# attacks: TPL002, TPL005, TPL106
# promise: all safe fixes together leave a distillation with imported parts as it was
import torch
import torch.nn.functional as F
from torch import nn

from parts import AttentionTap, ProjectorSpec, build_projector

torch.manual_seed(11)
teacher = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
for p in teacher.parameters():
    p.requires_grad = False
student = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3))
spec = ProjectorSpec(4, 8)
spec.require_grad = False
projector = build_projector(spec)
tap = AttentionTap(student[1])
optimizer = torch.optim.AdamW(student.parameters(), lr=0.02)
curve = []
for step in range(4):
    x, y = torch.randn(10, 5), torch.randint(0, 3, (10,))
    with torch.no_grad():
        soft = F.softmax(teacher(x) / 2, dim=1)
        hint = torch.tanh(teacher[0](x))
    logits = student(x)
    kd = F.kl_div(F.log_softmax(logits / 2, dim=1), soft, size_average=False) / len(x)
    match = F.mse_loss(projector(tap.data), hint)
    loss = kd * 4 + F.cross_entropy(logits, y) + match
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curve.append(loss.data)
    print(step, round(loss.item(), 5), logits.grad, tap.data.requires_grad)
print(type(curve[0]).__name__, round(torch.stack(curve).mean().item(), 5))
print([p.requires_grad for p in projector.parameters()], round(student[0].weight.sum().item(), 5))
