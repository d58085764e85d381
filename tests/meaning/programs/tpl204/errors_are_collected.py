# attacks: TPL204
# promise: a test harness of the program's own counts the shapes that raise
import unittest

import torch


def flat(x: torch.Tensor):
    return x.transpose(0, 1).view(-1)


class Layout(unittest.TestCase):
    def test_row(self):
        self.assertEqual(flat(torch.ones(1, 3)).shape, (3,))

    def test_refuses_columns(self):
        self.assertRaises(RuntimeError, flat, torch.ones(2, 3))


result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(Layout).run(result)
print(result.testsRun, len(result.failures), len(result.errors))
