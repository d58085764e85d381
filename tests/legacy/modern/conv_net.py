import torch
from torch import nn, optim
from torch.nn.functional import cross_entropy, interpolate

torch.manual_seed(9)
images, labels = torch.randn(32, 1, 8, 8), torch.arange(32) % 3
for image, label in zip(images, labels):
    image[0, label] += 2
model = nn.Sequential(
    nn.Conv2d(1, 6, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(6, 8, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(8 * 2 * 2, 3),
)
for layer in model:
    if isinstance(layer, nn.Conv2d):
        nn.init.kaiming_normal_(layer.weight, mode="fan_out")
        nn.init.zeros_(layer.bias)
optimizer = optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
history = []
for _ in range(4):
    running_loss, correct = 0.0, 0
    for start in range(0, 32, 8):
        batch, target = images[start : start + 8], labels[start : start + 8]
        output = model(batch)
        loss = cross_entropy(output, target, reduction="sum")
        running_loss += loss.item() * 8
        correct += (output.argmax(1) == target).sum().item()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5)
        optimizer.step()
    history += [running_loss, correct]
with torch.no_grad():
    history.append(interpolate(model[0](images[:1]), scale_factor=2).sum().item())
