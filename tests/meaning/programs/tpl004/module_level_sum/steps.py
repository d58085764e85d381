import torch.nn.functional as F

running = 0.0
count = 0


def take(model, optimizer, x):
    global running, count
    loss = F.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss
    count += 1


def show():
    print(f"{running / count:.4f} over {count}")
