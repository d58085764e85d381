# attacks: TPL203
# promise: what is written to the last row is read in the others
import torch
board = torch.zeros(1, 4).expand(3, 4)
board[-1] = torch.arange(4.0)
print(board[0].tolist(), board[1].tolist())
