# attacks: TPL002 TPL004 TPL013 TPL014
# promise: all safe fixes together leave packed sequences and their sums as they were
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(12)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 5, padding_idx=0)
        self.rnn = nn.GRU(5, 6, batch_first=True, bidirectional=True)
        self.out = nn.Linear(12, 2)
        self.kept = []

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        encoded, hidden = self.rnn(packed)
        self.kept.append(encoded.data)
        states, _ = pad_packed_sequence(encoded, batch_first=True)
        mask = torch.arange(states.size(1))[None, :] < lengths[:, None]
        mask.to(device)
        pooled = (states * mask[:, :, None]).sum(1) / lengths[:, None]
        return self.out(pooled)


model = Tagger().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
total, seen = 0, 0
for step in range(4):
    lengths = torch.randint(2, 6, (4,))
    tokens = pad_sequence([torch.randint(1, 20, (n,)) for n in lengths.tolist()], batch_first=True)
    labels = torch.randint(0, 2, (4,))
    logits = model(tokens, lengths)
    loss = nn.functional.cross_entropy(logits, labels)
    penalty = sum(kept.pow(2).mean() for kept in model.kept)
    optimizer.zero_grad()
    (loss + 0.1 * penalty).backward()
    optimizer.step()
    model.kept.clear()
    total += loss * len(labels)
    seen += len(labels)
    print(step, round(loss.item(), 5), round(penalty.item(), 5))
average = total / seen
average.detach
print(round(average.item(), 5), type(average).__name__, round(model.rnn.weight_hh_l0.sum().item(), 5))
