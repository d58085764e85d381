from torch.nn.utils.rnn import pack_padded_sequence


def pack(x, lengths):
    return pack_padded_sequence(x, lengths, batch_first=True)
