# attacks: TPL101
# promise: an initial state of zeros stays zeros
# stays safe: yes
import torch
import torch.nn as nn
from torch.autograd import Variable


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4)
        self.out = nn.Linear(4, 2)

    def init_hidden(self):
        return Variable(torch.zeros(1, 1, 4)), Variable(torch.zeros(1, 1, 4))

    def forward(self, sentence):
        output, _ = self.lstm(sentence, self.init_hidden())
        return self.out(output)


torch.manual_seed(0)
tagger = Tagger()
scores = tagger(torch.randn(5, 1, 3))
scores.sum().backward()
print(f"{scores.sum().item():.4f} {tagger.lstm.weight_hh_l0.grad.norm().item():.4f}", sorted(tagger.state_dict())[:2])
