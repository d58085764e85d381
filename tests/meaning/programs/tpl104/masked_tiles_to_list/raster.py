import numpy as np


def read():
    return np.ma.masked_less(np.arange(4.0).reshape(1, 4), 1.0)
