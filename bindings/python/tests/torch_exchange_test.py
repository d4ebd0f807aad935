"""Tensors of LPT as tensors of torch, without a copy."""
import unittest

import lpt
from support import HAS_TORCH, floats, needs_torch

if HAS_TORCH:
    import torch


@needs_torch
class Exchange(unittest.TestCase):
    def test_tensors_share_memory_and_values(self):
        x = floats([0.5, -1.0, 2.0, 6.0, 0.0, 1.5, -4.0, 3.0], [2, 4])
        for name, dtype in (("f32", "float32"), ("bf16", "bfloat16"), ("f16", "float16"), ("f64", "float64"),
                            ("e5m2", "float8_e5m2"), ("e4m3fn", "float8_e4m3fn"),
                            ("e8m0fnu", "float8_e8m0fnu"), ("e2m1fn", "float4_e2m1fn_x2")):
            if not hasattr(torch, dtype):
                continue
            tensor = lpt.quantize(x, name)
            found = tensor.torch()
            self.assertEqual((getattr(torch, dtype), tensor.address), (found.dtype, found.data_ptr()))
            self.assertEqual((2, 2) if name == "e2m1fn" else (2, 4), tuple(found.shape))
            if name != "e2m1fn":
                self.assertEqual(str(tensor.tolist()), str(found.float().tolist()), name)  # with NaN
        self.assertEqual(torch.int64, lpt.empty(3, "int64").torch().dtype)

    def test_types_that_torch_has_not_are_reported(self):
        with self.assertRaisesRegex(TypeError, "torch .* has no type for e3m4: expected the codes"):
            lpt.empty((2, 4), "e3m4").torch()
        with self.assertRaisesRegex(lpt.Unsupported, "give each part"):
            lpt.empty((2, 32), "nvfp4").torch()


if __name__ == "__main__":
    unittest.main()
