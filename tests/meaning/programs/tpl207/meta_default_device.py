# attacks: TPL207
# promise: torch.tensor goes to the default device, a clone stays where it is
import torch


def describe(name, value: torch.Tensor):
    print(name, value.device.type, tuple(value.shape))


weights = torch.ones(2, 3)
torch.set_default_device("meta")
planned = torch.tensor(weights)
describe("weights", weights)
describe("planned", planned)
blank = torch.zeros(2, 3)
describe("blank", blank)
try:
    print((planned + weights).shape)
except RuntimeError as error:
    print(type(error).__name__)
print(planned.is_meta)
