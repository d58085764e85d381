class Value:
    def __init__(self, data, parents=(), rule=None):
        self.data, self.grad = data, 0.0
        self._parents, self._rule = parents, rule

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), lambda g: (g * other.data, g * self.data))

    def backward(self, gradient=1.0):
        self.grad += gradient
        if self._rule is not None:
            for parent, part in zip(self._parents, self._rule(gradient)):
                parent.backward(part)


class Neuron:
    def __init__(self, weights):
        self.weights = [Value(w) for w in weights]

    def parameters(self):
        return self.weights

    def zero_grad(self):
        for p in self.weights:
            p.grad = 0.0

    def loss(self, rows):
        total = Value(0.0)
        for a, b, y in rows:
            error = self.weights[0] * a + self.weights[1] * b + (-y)
            total = total + error * error
        return total
