# attacks: TPL204
# promise: the error is an item of the results
import concurrent.futures as futures

import torch


class Inline(futures.Executor):
    def submit(self, function, *arguments):
        future = futures.Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def rows(x: torch.Tensor):
    return x.t().view(-1).tolist()


pending = [Inline().submit(rows, torch.ones(2, n)) for n in (1, 2)]
for each in pending:
    print(type(each.exception()).__name__)
