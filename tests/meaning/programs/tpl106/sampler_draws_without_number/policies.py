import torch


class Categorical:
    def __init__(self, probabilities):
        self.probabilities = probabilities

    def multinomial(self):
        return torch.multinomial(self.probabilities, 1).item()

    def logs(self, actions):
        return self.probabilities[actions].log().sum()
