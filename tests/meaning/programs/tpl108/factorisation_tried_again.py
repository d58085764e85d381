# attacks: TPL108
# promise: the error is awaited, and its text is not read
# stays safe: yes
import torch


def factor(matrix):
    jitter = 0.0
    while True:
        try:
            return torch.cholesky(matrix + jitter * torch.eye(2))
        except RuntimeError:
            jitter = jitter * 2 or 0.75


print(factor(-torch.eye(2)))
