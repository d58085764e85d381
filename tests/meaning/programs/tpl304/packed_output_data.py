# attacks: TPL304
# promise: `.data` of a packed sequence is no way out of the graph
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)

    def forward(self, packed):
        output, _ = self.rnn(packed)
        return output


def collect_states(tagger, sequences):
    tagger.eval()
    states = []
    for x, lengths in sequences:
        states.append(tagger(pack_padded_sequence(x, lengths, batch_first=True)).data)
    return torch.cat(states)


torch.manual_seed(0)
tagger = Tagger()
probe = nn.Linear(4, 2)
sequences = [(torch.randn(2, 4, 3), torch.tensor([4, 2])) for _ in range(2)]
states = collect_states(tagger, sequences)
loss = probe(states).logsumexp(-1).mean()
loss.backward()
print(states.shape, round(loss.item(), 4))
print([None if p.grad is None else round(p.grad.norm().item(), 4) for p in tagger.parameters()])
