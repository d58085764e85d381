# attacks: TPL108
# promise: the text of the error is printed, which begins with the name of the function
import torch


def factor(matrix):
    return torch.cholesky(matrix)


def main():
    for step in range(3):
        try:
            return factor(-torch.eye(2) + step * torch.eye(2) * 2)
        except torch.linalg.LinAlgError as error:
            print(error)


print(main())
