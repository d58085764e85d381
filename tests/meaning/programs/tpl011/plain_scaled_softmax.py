# attacks: TPL011
# promise: what softmax saved is scaled out of place
# shows: backward raises, as softmax saved its result
# stays safe: yes
import torch

torch.manual_seed(0)
w = torch.randn(4, requires_grad=True)


def weights(w):
    p = torch.softmax(w, dim=0)
    p *= 2
    return p


(weights(w) * torch.arange(4.0)).sum().backward()
print([round(v, 4) for v in w.grad.tolist()])
