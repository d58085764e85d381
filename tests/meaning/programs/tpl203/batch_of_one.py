# attacks: TPL203
# promise: `expand` shows a row several times; of a batch of one it shows it once, and the write is meant for it
import torch


def seed_state(state, batch, tokens):
    """The first token of each sequence is written to the state, which the caller keeps."""
    states = state.unsqueeze(0).expand(batch, -1)
    for index, token in enumerate(tokens):
        states[index, 0] = token
    return states


state = torch.zeros(4)
first = seed_state(state, 1, [7.0])
print(state.tolist(), first.tolist())
