class Freezable:
    requires_grads = True

    def apply_lock(self):
        for parameter in self.parameters():
            parameter.requires_grad = self.requires_grads
