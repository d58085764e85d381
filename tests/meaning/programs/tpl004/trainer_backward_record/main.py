# attacks: TPL004
# promise: what a trainer's `backward` is given is a tensor
import torch
import torch.nn as nn
from objectives import MultiTaskTrainer

torch.manual_seed(0)
trainer = MultiTaskTrainer(nn.Linear(3, 3))
journal = []
for _ in range(4):
    record = trainer.objectives(torch.randn(5, 3))
    trainer.backward(record)
    journal.append(record)
print([f"{record['fit'].item():.4f}" for record in journal])
