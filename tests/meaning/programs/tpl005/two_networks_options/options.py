class TrainOptions:
    def __init__(self):
        self.requires_grad_g = True
        self.requires_grad_d = True
