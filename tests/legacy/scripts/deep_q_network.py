"""Q-learning with a replay memory, in a corridor where only the right end pays."""
import math
import random
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable

random.seed(13)
torch.manual_seed(13)

# if gpu is to be used
use_cuda = torch.cuda.is_available() and False
FloatTensor = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor
LongTensor = torch.cuda.LongTensor if use_cuda else torch.LongTensor
ByteTensor = torch.cuda.ByteTensor if use_cuda else torch.ByteTensor
Tensor = FloatTensor

Transition = namedtuple('Transition', ('state', 'action', 'next_state', 'reward'))
LENGTH, BATCH_SIZE, GAMMA, EPS_START, EPS_END, EPS_DECAY = 5, 8, 0.9, 0.9, 0.1, 20


class ReplayMemory(object):

    def __init__(self, capacity):
        self.capacity = capacity
        self.memory = []
        self.position = 0

    def push(self, *args):
        """Saves a transition."""
        if len(self.memory) < self.capacity:
            self.memory.append(None)
        self.memory[self.position] = Transition(*args)
        self.position = (self.position + 1) % self.capacity

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):

    def __init__(self):
        super(DQN, self).__init__()
        self.hidden = nn.Linear(LENGTH, 12)
        self.head = nn.Linear(12, 2)

    def forward(self, x):
        return self.head(F.relu(self.hidden(x)))


model = DQN()
optimizer = optim.RMSprop(model.parameters(), lr=0.01)
memory = ReplayMemory(50)
steps_done = 0
last_sync = 0
history, graphs = [], []


def get_state(place):
    state = [0.] * LENGTH
    state[place] = 1.
    return Tensor([state])


def select_action(state):
    global steps_done
    sample = random.random()
    eps_threshold = EPS_END + (EPS_START - EPS_END) * math.exp(-1. * steps_done / EPS_DECAY)
    steps_done += 1
    if sample > eps_threshold:
        return model(Variable(state, volatile=True).type(FloatTensor)).data.max(1)[1].view(1, 1)
    else:
        return LongTensor([[random.randrange(2)]])


def optimize_model():
    if len(memory) < BATCH_SIZE:
        return
    transitions = memory.sample(BATCH_SIZE)
    # Transpose the batch
    batch = Transition(*zip(*transitions))

    # Compute a mask of non-final states and concatenate the batch elements
    non_final_mask = ByteTensor(tuple(map(lambda s: s is not None, batch.next_state)))

    # We don't want to backprop through the expected action values and volatile
    # will save us on temporarily changing the model parameters' requires_grad
    non_final_next_states = Variable(torch.cat([s for s in batch.next_state if s is not None]),
                                     volatile=True)
    state_batch = Variable(torch.cat(batch.state))
    action_batch = Variable(torch.cat(batch.action))
    reward_batch = Variable(torch.cat(batch.reward))

    # Compute Q(s_t, a)
    state_action_values = model(state_batch).gather(1, action_batch)

    # Compute V(s_{t+1}) for all next states.
    next_state_values = Variable(torch.zeros(BATCH_SIZE).type(Tensor))
    next_state_values[non_final_mask] = model(non_final_next_states).max(1)[0]
    graphs.append(next_state_values.grad_fn is not None)
    # Now, we don't want to mess up the loss with a volatile flag, so let's clear it.
    next_state_values.volatile = False
    # Compute the expected Q values
    expected_state_action_values = (next_state_values * GAMMA) + reward_batch

    # Compute Huber loss
    loss = F.smooth_l1_loss(state_action_values.squeeze(1), expected_state_action_values)

    # Optimize the model
    optimizer.zero_grad()
    loss.backward()
    for param in model.parameters():
        param.grad.data.clamp_(-1, 1)
    optimizer.step()
    history.append(loss.data[0])


for i_episode in range(6):
    place = 1
    state = get_state(place)
    for t in range(12):
        # Select and perform an action
        action = select_action(state)
        place = max(0, place + (1 if action[0, 0] == 1 else -1))
        done = place == LENGTH - 1
        reward = Tensor([1. if done else -0.1])
        next_state = None if done else get_state(place)

        # Store the transition in memory
        memory.push(state, action, next_state, reward)
        state = next_state
        optimize_model()
        if done:
            break
history.append(float(model(Variable(get_state(3), volatile=True)).data.sum()))
