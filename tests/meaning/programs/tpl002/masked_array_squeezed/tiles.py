import numpy as np


def read_tile(k):
    values = np.arange(8.0).reshape(1, 2, 4) + k
    return np.ma.masked_greater(values, 7.5)
