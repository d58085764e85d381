import torch


def dot(queries, keys):
    return (queries.to(keys.dtype) @ keys.T).softmax(-1)


def attend(score, queries, ctx):
    """Scores of queries against a context, in its precision."""
    bias = torch.ones(3).to(ctx)
    return score(queries, ctx) + bias
