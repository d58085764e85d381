# attacks: TPL001
# promise: the weights of a layer are set in the constructor
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self, vocab, size):
        super().__init__()
        self.embed = nn.Embedding(vocab, size)
        self.rnn = nn.GRU(size, size, batch_first=True)
        self.out = nn.Linear(size, vocab)
        self.init_weights()

    def init_weights(self):
        self.embed.weight.data.uniform_(-0.1, 0.1)
        self.out.weight.data.uniform_(-0.1, 0.1)
        self.out.bias.data.fill_(0)

    def forward(self, tokens):
        states, _ = self.rnn(self.embed(tokens))
        return self.out(states)


model = Encoder(7, 4)
scores = model(torch.tensor([[1, 2, 3]]))
scores.sum().backward()
print(round(scores.abs().sum().item(), 4), round(model.embed.weight.grad.abs().sum().item(), 5))
