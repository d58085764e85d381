# attacks: TPL101
# promise: an import that nothing uses may go from a script
import torch
import torch.nn as nn
from torch.autograd import Variable


def main():
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    print(f"{model(torch.ones(1, 2)).item():.4f}")


if __name__ == "__main__":
    main()
