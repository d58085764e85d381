import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.manual_seed(6)
sequences = torch.randn(60, 9, 4)
labels = (sequences.sum(2).sum(1) > 0).long()
lstm, head = nn.LSTM(4, 12, 2, batch_first=True), nn.Linear(12, 2)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=0.02)
history, graphs = [], []


def classify(batch):
    return head(lstm(batch)[0][:, -1])


for _ in range(3):
    for start in range(0, 40, 10):
        optimizer.zero_grad()
        loss = cross_entropy(classify(sequences[start : start + 10]), labels[start : start + 10])
        loss.backward()
        optimizer.step()
        history.append(loss.item())
with torch.no_grad():
    outputs = [classify(sequences[start : start + 10]) for start in (40, 50)]
graphs = [output.requires_grad for output in outputs]
history.append((torch.cat(outputs).argmax(1) == labels[40:]).sum().item())
