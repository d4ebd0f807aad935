#!/usr/bin/env python3
"""Shows which dtypes of PyTorch, JAX and ml_dtypes LPT shares in both directions without a copy.

Libraries that are not installed are skipped. The exit status is 1 if memory was copied.

  PYTHONPATH=build/test/python python3 bindings/python/examples/zero_copy.py

Most dtypes use lpt.Tensor(x) and from_dlpack(t). PyTorch does not export 8-bit floats by DLPack; their codes are shared as
uint8. JAX exports bf16 and 8-bit floats only by DLPack.
"""
import importlib.util
import sys

import numpy as np

import lpt

SHAPE = (4, 64)
failures = []


def report(library, name, into, back):
    """Print a result. into: LPT reads memory of the library in place; back: the library reads memory of LPT in place."""
    texts = {True: "in place", False: "COPIED"}
    print(f"{library:10} {name:20} into LPT {texts[into]:10} back {texts[back]}")
    if not (into and back):
        failures.append((library, name))


def format_of(name):
    """Return the LPT format of a dtype."""
    return {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(name, name.replace("float8_", ""))


def check_torch():
    import torch
    print("torch", torch.__version__)
    names = ("float64", "float32", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "float8_e4m3fn", "float8_e5m2",
             "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
    for name in (name for name in names if hasattr(torch, name)):
        kind, format = getattr(torch, name), format_of(name)
        tensor, own = torch.zeros(SHAPE).to(kind), lpt.empty(SHAPE, format)
        if name.startswith("float8"):
            into, back = lpt.Tensor(tensor.view(torch.uint8), format), torch.from_dlpack(lpt.Tensor(own, "uint8")).view(kind)
        else:
            into, back = lpt.Tensor(tensor), torch.from_dlpack(own)
        report("torch", name, (into.format, into.address) == (format, tensor.data_ptr()),
               (back.dtype, back.data_ptr()) == (kind, own.address))


def check_jax():
    import jax
    import jax.numpy as jnp
    print("jax", jax.__version__)
    for name in ("float32", "float16", "bfloat16", "int8", "uint8", "int32", "float8_e4m3fn", "float8_e5m2"):
        kind, format = getattr(jnp, name), format_of(name)
        array, own = jnp.zeros(SHAPE, kind), lpt.empty(SHAPE, format)
        into = lpt.Tensor(array)
        back = jnp.from_dlpack(own)
        report("jax", name, (into.format, into.address) == (format, array.unsafe_buffer_pointer()),
               (back.dtype, back.unsafe_buffer_pointer()) == (kind, own.address))


def check_ml_dtypes():
    import ml_dtypes
    print("ml_dtypes", ml_dtypes.__version__)
    for name in ("bfloat16", "float8_e4m3fn", "float8_e4m3", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
                 "float8_e4m3b11fnuz", "float8_e3m4", "float8_e8m0fnu"):
        array = np.zeros(SHAPE, getattr(ml_dtypes, name))
        into, own = lpt.Tensor(array), lpt.empty(SHAPE, format_of(name))
        back = own.numpy()
        report("ml_dtypes", name, (into.format, into.address) == (format_of(name), array.ctypes.data),
               (back.dtype, back.ctypes.data) == (array.dtype, own.address))


def main():
    for name, check in (("torch", check_torch), ("jax", check_jax), ("ml_dtypes", check_ml_dtypes)):
        if importlib.util.find_spec(name) is None:
            print(name, "is not installed: skipped")
        else:
            check()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
