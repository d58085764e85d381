# attacks: TPL108
# promise: what is printed of the result names its type, and the successor's has another name
import torch

torch.manual_seed(0)
print(torch.qr(torch.eye(2)))
pair = torch.qr(torch.eye(2))
print(type(pair).__name__)
