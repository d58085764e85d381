import math
import random

import torch
from torch import nn, optim
from torch.nn.functional import one_hot, smooth_l1_loss

random.seed(13)
torch.manual_seed(13)
LENGTH, BATCH = 5, 8
model = nn.Sequential(nn.Linear(LENGTH, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = optim.RMSprop(model.parameters(), lr=0.01)
memory, steps = [], 0
history, graphs = [], []


def encoded(places):
    return one_hot(torch.tensor(places), LENGTH).float()


def learn():
    places, actions, followers, rewards = zip(*random.sample(memory[-50:], BATCH))
    goes_on = torch.tensor([follower is not None for follower in followers])
    values = torch.zeros(BATCH)
    with torch.no_grad():
        values[goes_on] = model(encoded([follower for follower in followers if follower is not None])).amax(1)
    graphs.append(values.requires_grad)
    predicted = model(encoded(places)).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
    loss = smooth_l1_loss(predicted, values * 0.9 + torch.tensor(rewards))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1)
    optimizer.step()
    history.append(loss.item())


for _ in range(6):
    place = 1
    for _ in range(12):
        explores = random.random() <= 0.1 + 0.8 * math.exp(-steps / 20)
        steps += 1
        with torch.no_grad():
            action = random.randrange(2) if explores else model(encoded([place])).argmax(1).item()
        before, place = place, max(0, place + (1 if action == 1 else -1))
        done = place == LENGTH - 1
        memory.append((before, action, None if done else place, 1.0 if done else -0.1))
        if len(memory) >= BATCH:
            learn()
        if done:
            break
with torch.no_grad():
    history.append(model(encoded([3])).sum().item())
