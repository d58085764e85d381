# attacks: TPL304
# promise: the program reports the function in which a batch failed
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)


def evaluate(batches):
    model.eval()
    total = 0.0
    for x in batches:
        total += model(x).sum().item()
    return total


def report(batches):
    try:
        return evaluate(batches)
    except RuntimeError as error:
        return error.__traceback__.tb_next.tb_frame.f_code.co_name


print(report([torch.ones(1, 3)]) != 0, report([torch.ones(1, 4)]))
