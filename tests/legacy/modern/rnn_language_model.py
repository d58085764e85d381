import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.manual_seed(2)
TOKENS, STEPS = 12, 7


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Embedding(TOKENS, 8)
        self.rnn = nn.LSTM(8, 16, 2)
        self.decoder = nn.Linear(16, TOKENS)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, tokens, state):
        output, state = self.rnn(self.encoder(tokens), state)
        return self.decoder(output), state


def columns(text):
    return text[: len(text) // 5 * 5].view(5, -1).t().contiguous()


def chunks(text):
    for start in range(0, len(text) - 1, STEPS):
        end = min(start + STEPS, len(text) - 1)
        yield text[start:end], text[start + 1 : end + 1].reshape(-1)


numbers = torch.arange(400)
text = (numbers * 5 + numbers // 6) % TOKENS
train_text, test_text = columns(text[:300]), columns(text[300:])
model = Model()
zeros = torch.zeros(2, 5, 16), torch.zeros(2, 5, 16)
history = []
for _ in range(2):
    state, total = zeros, 0.0
    for index, (tokens, targets) in enumerate(chunks(train_text)):
        state = tuple(part.detach() for part in state)
        model.zero_grad()
        output, state = model(tokens, state)
        loss = cross_entropy(output.flatten(0, 1), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 5.0 * parameter.grad
        total += loss.item()
        if index % 4 == 0 and index > 0:
            history.append(total / 4)
            total = 0.0
    with torch.no_grad():
        state, total = zeros, 0.0
        for tokens, targets in chunks(test_text):
            output, state = model(tokens, state)
            total += len(tokens) * cross_entropy(output.flatten(0, 1), targets).item()
        history.append(total / len(test_text))
