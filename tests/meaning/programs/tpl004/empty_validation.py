# attacks: TPL004
# promise: dividing the sum by a count gives the same number
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def epoch(batches):
    total, correct = 0, 0
    for x, y in batches:
        logits = model(x)
        loss = criterion(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
        correct += (logits.argmax(1) == y).sum().item()
    print(f"loss per hit: {total / correct:.4f}")


wrong = [(torch.eye(3)[:1] * 50, (1 - model(torch.eye(3)[:1] * 50).argmax(1)))]
epoch([(torch.randn(9, 3), torch.randint(0, 2, (9,))) for _ in range(3)])
epoch(wrong)
