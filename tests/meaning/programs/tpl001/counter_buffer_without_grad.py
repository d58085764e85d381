# attacks: TPL001
# promise: a tensor of counts has no graph
# stays safe: yes
"""A confusion matrix that is filled through .data for no reason."""
import torch

torch.manual_seed(0)


def confusion(predicted, actual, classes):
    matrix = torch.zeros(classes, classes)
    for p, a in zip(predicted.tolist(), actual.tolist()):
        matrix.data[a, p] += 1
    return matrix


predicted, actual = torch.randint(0, 3, (20,)), torch.randint(0, 3, (20,))
print(confusion(predicted, actual, 3).tolist())
