#!/usr/bin/env python3
"""Prints the f32 elements per second that ml_dtypes casts to float8_e4m3fn on one thread: an argument of quantize_bench.

Needs numpy and ml_dtypes: python3 -m venv v && v/bin/pip install ml_dtypes && v/bin/python bench/ml_dtypes_rate.py
"""
import time

import ml_dtypes
import numpy

source = numpy.random.default_rng(1).standard_normal(128 * 1024, dtype=numpy.float32)
best = 1e9
for _ in range(200):
    begin = time.perf_counter()
    source.astype(ml_dtypes.float8_e4m3fn)
    best = min(best, time.perf_counter() - begin)
print(f"{source.size / best:.4g}")
