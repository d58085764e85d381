# attacks: TPL103
# promise: what is marked volatile under `no_grad` is a tensor
import torch
from quotes import load_quotes

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
quotes = load_quotes()
with torch.no_grad():
    for quote in quotes:
        quote.volatile = model(torch.tensor(quote.prices)).item() > 0
print([(quote.name, quote.volatile) for quote in quotes])
