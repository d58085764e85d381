import numpy as np


def fit_numpy(x, y):
    """The squared errors of fits with more and more ridge."""
    losses = []
    for ridge in (0.1, 1.0, 10.0):
        w = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ y)
        losses.append(float(((x @ w - y) ** 2).mean().round(6)))
    return np.array(losses)
