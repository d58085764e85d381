# attacks: TPL004
# promise: the log of a truncated training run stays what it was
# stays safe: yes
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
embedding, rnn, decoder = nn.Embedding(5, 4), nn.GRU(4, 4), nn.Linear(4, 5)
parameters = [*embedding.parameters(), *rnn.parameters(), *decoder.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.5)
tokens = torch.randint(0, 5, (13, 2))
hidden, total_loss = torch.zeros(1, 2, 4), 0.0
for i in range(0, 12, 4):
    hidden = hidden.detach()
    output, hidden = rnn(embedding(tokens[i : i + 4]), hidden)
    loss = nn.functional.cross_entropy(decoder(output).view(-1, 5), tokens[i + 1 : i + 5].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 0.25)
    optimizer.step()
    total_loss += loss
cur_loss = float(total_loss) / 3
print(f"loss {cur_loss:5.3f} | ppl {math.exp(cur_loss):6.3f}")
