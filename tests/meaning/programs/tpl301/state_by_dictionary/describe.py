def depth_of(net):
    return {name: len(value) for name, value in vars(net).items() if isinstance(value, list)}["layers"]
