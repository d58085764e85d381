class WeightedSum:
    def __init__(self):
        self.total = 0.0

    def add_(self, weight, value):
        self.total += weight * float(value)
        return self

    def __float__(self):
        return self.total


class WeightedRatio(WeightedSum):
    def addcdiv_(self, weight, numerator, denominator):
        return self.add_(weight, numerator / denominator)
