import torch


class Encoding:
    def __init__(self, words, data):
        self.words, self.data = words, data

    def to(self, device):
        return Encoding(self.words, self.data.to(device))


def encode(text):
    words = sorted(set(text.split()))
    return Encoding(words, torch.tensor([words.index(w) for w in text.split()]))
