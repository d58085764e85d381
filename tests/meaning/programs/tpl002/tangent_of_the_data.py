# attacks: TPL002
# promise: the tangent of forward mode, and what a dual level sees of the copy
import torch
import torch.autograd.forward_ad as fwd
import torch.nn.functional as F

torch.manual_seed(0)
x, t = torch.randn(3), torch.ones(3)
with fwd.dual_level():
    dual = fwd.make_dual(x, t)
    soft = F.softmax(dual * 2, dim=0)
    frozen = soft.data
    primal, tangent = fwd.unpack_dual(soft * frozen)
    print([round(v, 4) for v in tangent.tolist()])
    print(fwd.unpack_dual(frozen).tangent)
