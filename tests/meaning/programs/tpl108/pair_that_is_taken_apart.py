# attacks: TPL108
# promise: only the two parts of the result are used
# stays safe: yes
import torch

q, r = torch.qr(torch.eye(2))
pair = torch.qr(torch.eye(2) * 2)
print(q, r, pair[0], pair.R, torch.qr(torch.eye(1))[1])
