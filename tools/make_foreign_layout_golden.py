#!/usr/bin/env python3
"""Makes golden files of the layouts of bitsandbytes, and cuBLAS scale tiles (torchao).

    python3 -m venv golden-venv
    golden-venv/bin/pip install ml_dtypes==0.6.0 numpy==2.4.6 torch==2.15.0 torchao==0.18.0 packaging
    golden-venv/bin/pip install --no-deps bitsandbytes==0.50.2
    golden-venv/bin/python tools/make_foreign_layout_golden.py   # some seconds

tools/golden.py documents the digest, tools/block_inputs.py the classes of blocks.

nf4.csv, bnb_fp4.csv  like <element>.csv of tools/make_golden.py: the 16 values of bitsandbytes. Code 8 of bnb_fp4 is
                      -0, as in its CUDA kernel; its Python table has 0.
codebooks.csv         the values in ascending order, with their codes, and the f32 above which the next one is nearer: by
                      its CUDA kernels (csrc/kernels.cu: dQuantizeNF4; dQuantizeFP4, which compares magnitudes) and by
                      its CPU code.
lists.csv             digests as in digests.csv, to the nearest value: nf4 by the thresholds of bitsandbytes, bnb_fp4 by
                      those of its CUDA kernel. The set "thresholds": golden.around() all of them, in the order of
                      codebooks.csv, without signs. Values beyond 1 give the last value. Where LPT differs, the script
                      writes the result of LPT: a NaN gives the code of 0.
bnb_blocks.csv        quantize_4bit of bitsandbytes on its CPU, 64 elements per block: two adjacent MX blocks. The digests
                      are of the bytes, the first element in the high half; of absmax as f32 bits; and of the result of
                      dequantize_4bit as f32 bits, every zero as +0. Excluded, as zero bytes: blocks with a NaN or an
                      infinity, and absmax below 2^-126, the minimum scale of LPT. The CPU sets the sign bit of bnb_fp4
                      zeros by different rules: code 8 counts as 0. Its thresholds differ from those of the CUDA kernel:
                      bnb_code_list.csv has the affected elements, with the code by the thresholds of the kernel.
cublas_scales.csv     matrices of bytes (r · 31 + c · 7 + 1) mod 256, tiled by to_blocked of torchao: the size, the
                      digest. The script asserts
                      offset(r, c) = 512 · tile + (r mod 32) · 16 + (r mod 128 / 32) · 4 + c mod 4
                      where tiles are 128 × 4, row by row, and missing scales are 0.
"""
import logging

import numpy as np
import torch

logging.disable(logging.WARNING)
from bitsandbytes import functional as bnb  # noqa: E402
from bitsandbytes.backends.default.ops import _get_4bit_quantize_bounds  # noqa: E402
from torchao.prototype.mx_formats.utils import to_blocked  # noqa: E402

import block_inputs  # noqa: E402
import block_rules  # noqa: E402
import golden  # noqa: E402
import make_golden  # noqa: E402

F32 = np.float32
BNB_PACKAGES = ["bitsandbytes", "torch", "numpy"]
BNB_NAMES = {"nf4": "nf4", "bnb_fp4": "fp4"}
FP4_MAGNITUDES = np.array([0, 1, 6, 7, 4, 5, 2, 3])  # codes in the order of their values
FP4_THRESHOLDS = np.array([0.00260417, 0.0859375, 0.20833333, 0.29166667, 0.4166667, 0.583333, 0.8333333], F32)
NF4_THRESHOLDS = np.array(
    [
        -0.8480964004993439, -0.6106329262256622, -0.4599952697753906, -0.33967943489551544, -0.23460740596055984,
        -0.13791173323988914, -0.045525018125772476, 0.03979014977812767, 0.1202552504837513, 0.2035212516784668,
        0.2920137718319893, 0.3893125355243683, 0.5016634166240692, 0.6427869200706482, 0.8614784181118011,
    ],
    F32,
)  # fmt: skip
BNB_CLASSES = ["ordinary", "wide", "near", "tiny", "outlier", "sparse", "ties", "infinity", "nan"]
SCALE_SHAPES = [(128, 4), (1, 1), (129, 5), (256, 8), (100, 3), (384, 12), (33, 17)]


def numbers(element):
    """Returns the values by code."""
    values = bnb.get_4bit_type(BNB_NAMES[element], device="cpu").numpy().copy()
    if element == "bnb_fp4":
        values[8] = -0.0
    return values


def encode(element, values):
    finite = np.where(np.isnan(values), F32(0), values)
    if element == "nf4":
        bounds = _get_4bit_quantize_bounds("nf4", torch.device("cpu"))[0]
        assert (bounds.numpy() == NF4_THRESHOLDS).all()
        return torch.bucketize(torch.from_numpy(finite), bounds, out_int32=True).numpy().astype(np.uint8)
    places = np.searchsorted(FP4_THRESHOLDS, np.abs(finite), side="left")
    return (FP4_MAGNITUDES[places] + np.where(finite < 0, 8, 0)).astype(np.uint8)


def rising(element):
    """Returns codes and values in ascending order, with both thresholds above each."""
    bounds = _get_4bit_quantize_bounds(BNB_NAMES[element], torch.device("cpu"))[0].numpy()
    codes, kernel = np.arange(16), NF4_THRESHOLDS
    if element == "bnb_fp4":
        codes = np.concatenate([FP4_MAGNITUDES[::-1] + 8, FP4_MAGNITUDES])
        kernel = np.concatenate([-FP4_THRESHOLDS[::-1], [F32(0)], FP4_THRESHOLDS])
    return codes, numbers(element)[codes], kernel, bounds


def hexadecimal(value):
    return f"{np.asarray(value, F32).view(np.uint32):08x}"


def write_codebooks():
    rows, digests = [], []
    for element in BNB_NAMES:
        bits = [f"{code},{hexadecimal(value)}" for code, value in enumerate(numbers(element))]
        golden.write(element, "code,f32_bits", bits, BNB_PACKAGES)
        codes, values, kernel, bounds = rising(element)
        above = [f"{hexadecimal(a)},{hexadecimal(b)}" for a, b in zip(kernel, bounds)] + ["-,-"]
        rows += [f"{element},{code},{hexadecimal(value)},{a}" for code, value, a in zip(codes, values, above)]
        sets = {
            "bf16": make_golden.bf16_values(),
            "f16": make_golden.f16_values(),
            "thresholds": golden.around(np.abs(kernel[kernel != 0])),
            "random": golden.splitmix64_highs(1, 10_000_000).view(F32),
        }
        digests += [f"{name},{element},{golden.digest_of(encode(element, items))}" for name, items in sets.items()]
    golden.write("codebooks", "element,code,f32_bits,cuda_threshold_bits,cpu_threshold_bits", rows, BNB_PACKAGES)
    golden.write("lists", "set,element,digest", digests, BNB_PACKAGES)


def halves(packed):
    """Unpacks two codes per byte, the first one in the high half."""
    return np.stack([packed >> 4, packed & 15], axis=-1).reshape(*packed.shape[:-1], -1)


def plus_zeros(values):
    return (values + F32(0)).view("<u4")


def write_bnb_blocks():
    rows, code_list = [], []
    for class_name in BNB_CLASSES:
        values = np.ascontiguousarray(block_inputs.mx_blocks(class_name)).reshape(-1, 64)
        for element, bnb_name in BNB_NAMES.items():
            packed, state = bnb.quantize_4bit(torch.from_numpy(values), blocksize=64, quant_type=bnb_name)
            decoded = bnb.dequantize_4bit(packed, state).numpy()
            absmax = state.absmax.numpy()
            codes = halves(packed.numpy().reshape(-1, 32))
            if element == "bnb_fp4":
                codes = np.where(codes == 8, 0, codes)
            is_kept = np.isfinite(values).all(axis=-1) & (absmax >= F32(2.0**-126))
            inverse = F32(1) / np.where(is_kept, absmax, F32(1))
            ours = encode(element, values * inverse[:, np.newaxis])
            ours = np.where((ours == 8) & (element == "bnb_fp4"), 0, ours)
            assert (decoded == numbers(element)[codes] * absmax[:, np.newaxis])[is_kept].all()
            for place in np.flatnonzero((ours != codes) & is_kept[:, np.newaxis]):
                code_list.append(f"{element},{class_name},{place},{ours.reshape(-1)[place]},{codes.reshape(-1)[place]}")
            codes = np.where(is_kept[:, np.newaxis], codes, 0).astype(np.uint8)
            packed = codes[:, 0::2] << 4 | codes[:, 1::2]
            scales = np.where(is_kept, absmax, F32(0)).view("<u4")
            decoded = plus_zeros(np.where(is_kept[:, np.newaxis], decoded, F32(0)))
            digests = [golden.digest_of(np.ascontiguousarray(items).reshape(-1)) for items in (scales, packed, decoded)]
            rows.append(",".join([element, class_name, str(len(values)), str((~is_kept).sum()), *digests]))
    header = "element,class,blocks,left_out,absmax_digest,byte_digest,decoded_digest"
    golden.write("bnb_blocks", header, rows, BNB_PACKAGES)
    golden.write("bnb_code_list", "element,class,place,cuda_code,cpu_code", code_list, BNB_PACKAGES)


def write_cublas():
    rows = []
    for row_count, column_count in SCALE_SHAPES:
        r, c = np.meshgrid(np.arange(row_count), np.arange(column_count), indexing="ij")
        scales = ((r * 31 + c * 7 + 1) % 256).astype(np.uint8)
        tiled = to_blocked(torch.from_numpy(scales)).numpy()
        tile = r // 128 * -(-column_count // 4) + c // 4
        by_formula = np.zeros(len(tiled), np.uint8)
        by_formula[512 * tile + r % 32 * 16 + r % 128 // 32 * 4 + c % 4] = scales
        assert (tiled == by_formula).all()
        rows.append(f"{row_count},{column_count},{len(tiled)},{golden.digest_of(np.ascontiguousarray(tiled))}")
    golden.write("cublas_scales", "rows,columns,bytes,digest", rows, ["torchao", "torch", "numpy"])


def main():
    with np.errstate(all="ignore"):
        write_codebooks()
        write_bnb_blocks()
        write_cublas()


if __name__ == "__main__":
    main()
