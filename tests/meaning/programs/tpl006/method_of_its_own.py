# attacks: TPL006
# promise: the module has a method of that name, which does more than to set flags
import torch
import torch.nn as nn

torch.manual_seed(0)


class Backbone(nn.Sequential):
    def requires_grad_(self, on=True):
        for p in self.parameters():
            p.requires_grad_(on)
        if not on:
            self.eval()
        return self


backbone = Backbone(nn.Linear(3, 3), nn.Dropout(0.5))
backbone.requires_grad = False
torch.manual_seed(1)
out = backbone(torch.ones(1, 3))
print(backbone.training, [round(v, 4) for v in out.flatten().tolist()])
