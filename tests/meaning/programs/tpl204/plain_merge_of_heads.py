# attacks: TPL204
# promise: heads are merged behind a transpose, and reshape does what view could not
# shows: view raises, as the heads do not lie together
# stays safe: yes
import torch

torch.manual_seed(0)
q = torch.randn(2, 3, 4, 5)
context = q.transpose(1, 2)
merged = context.view(2, 4, 15)
print(merged.shape, round(merged.sum().item(), 4))
