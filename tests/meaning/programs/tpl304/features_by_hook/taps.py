from collections import defaultdict

FEATURES = defaultdict(list)


def tap(layer, name):
    layer.register_forward_hook(lambda module, inputs, output: FEATURES[name].append(output))
