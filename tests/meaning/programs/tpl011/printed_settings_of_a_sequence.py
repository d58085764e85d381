# attacks: TPL011
# promise: the model is shown with its settings
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Dropout(0.5, inplace=True), nn.Linear(3, 1))
print(model)
print([layer.inplace for layer in model if hasattr(layer, "inplace")])
with torch.no_grad():
    print(model(torch.ones(1, 3)).shape)
