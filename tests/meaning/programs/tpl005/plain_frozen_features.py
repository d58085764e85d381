# attacks: TPL005
# promise: the features are frozen
# shows: they are not
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
features, classifier = nn.Linear(3, 3), nn.Linear(3, 2)
for p in features.parameters():
    p.requires_grads = False
print([p.requires_grad for p in features.parameters()], classifier.weight.requires_grad)
