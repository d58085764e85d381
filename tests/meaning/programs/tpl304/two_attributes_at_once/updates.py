def apply_penalty(monitor):
    monitor.model.zero_grad()
    monitor.penalty.backward()
    for p in monitor.model.parameters():
        p.data.sub_(p.grad)
    return round(monitor.penalty.item(), 4)
