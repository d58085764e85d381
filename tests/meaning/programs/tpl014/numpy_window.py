# attacks: TPL014
# promise: no array shares the tensor's memory
import torch

torch.manual_seed(0)
signal = torch.zeros(5)
window = signal.numpy()
signal.clone()
for t in range(5):
    signal[t] = t * 0.5
    print(t, window.tolist())
