"""lpt.torch.partial_sum() on ranks of one process."""
import unittest

import lpt
from support import HAS_TORCH, needs_torch, run

if HAS_TORCH:
    import torch
    import lpt.torch

SEED = 20261128


@needs_torch
class PartialSum(unittest.TestCase):
    def test_shared_columns_are_summed_and_private_ones_scaled(self):
        generator = torch.Generator().manual_seed(SEED)
        inputs, gradients = (torch.randn(2, 3, 5, 96, generator=generator) for _ in range(2))

        def body(comm):
            plan = lpt.PartialPlan(96, 0.5, comm.rank_count)
            x = inputs[comm.rank].clone().requires_grad_()
            y = lpt.torch.partial_sum(x, comm, plan)
            y.backward(gradients[comm.rank])
            return y.detach(), x.grad, plan.values()
        results = run(2, body)
        for rank, (y, dx, values) in enumerate(results):
            shared, scale = values["shared_columns"], values["private_scale"]
            for found, given in ((y, inputs), (dx, gradients)):
                # The sum of two values does not depend on their order, and the scale is one product.
                self.assertTrue(torch.equal(given.sum(0)[..., :shared], found[..., :shared]))
                self.assertTrue(torch.equal(scale * given[rank][..., shared:], found[..., shared:]))

    def test_strides_and_types(self):
        def body(comm):
            plan = lpt.PartialPlan(6, 1.0, comm.rank_count)
            return lpt.torch.partial_sum(torch.ones(6, 4, dtype=torch.bfloat16).t(), comm, plan)
        for y in run(2, body):
            self.assertEqual((torch.bfloat16, [2.0] * 6), (y.dtype, y[0].tolist()))


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
