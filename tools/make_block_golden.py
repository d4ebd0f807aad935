#!/usr/bin/env python3
"""Makes golden files of MX and NVFP4 blocks from the CPU reference of torchao, which shares no code with LPT.

    python3 -m venv golden-venv
    golden-venv/bin/pip install ml_dtypes==0.6.0 numpy==2.4.6 torch==2.15.0 torchao==0.18.0
    golden-venv/bin/python tools/make_block_golden.py   # a minute, without a GPU

tools/block_inputs.py documents the blocks, tools/block_rules.py the rules of LPT, tools/golden.py the digest.

block_inputs.csv       digests of the f32 bits of each class, to check first that a test has the same inputs.
mx_blocks.csv          torchao.prototype.mx_formats.mx_tensor.to_mx on blocks of 32. Its modes FLOOR, CEIL, RCEIL and
                       EVEN are the rules floor, ceil, round_up and even of LPT.
nvfp4_blocks.csv       nvfp4_quantize on blocks of 16: two_level with the tensor scale of torchao for the finite amax,
                       single_level without one.
    Columns: the number of blocks, the number of excluded blocks of each digest, the digest of the scale bytes, and that
    of the element codes, one byte each in element order. Excluded blocks count as zero bytes.
block_differences.csv  the excluded blocks, by name. Columns: the number of blocks with that name, the number where torchao
                       differs from LPT, and the digests of the bytes of torchao with all other blocks as zero bytes
                       ("-": not reported).
nvfp4_scale_list.csv   differences that no property of the input predicts: in these blocks torchao divides by the tensor
                       scale, and rounds the block scale to another code than LPT, which multiplies by the reciprocal. The
                       digest of scales includes the code of torchao; that of codes excludes the block.
nvfp4_code_list.csv    the same for elements: torchao multiplies by (1 / t) / S, LPT by 1 / (S · t).

The named differences, and the behavior of torchao, which this script asserts:
    nan         a NaN in the block. Both make the scale NaN; the codes are specific to LPT.
    infinity    an infinity and no NaN. The amax of torchao is infinite: its scale is 2^(128 - floor(log2 M)), of round_up
                2^127, of nvfp4 448.
    tiny_tensor NVFP4: amax / 2688 is below 2^-126, the minimum tensor scale of LPT.
    tiny        MX: the scale of LPT is 2^-127 and the block is not all zero. torchao writes that scale too, but divides by
                2^-126, and in round_up by 1. NVFP4: the scale of LPT is below 2^-6, as in a block of zeros. torchao uses
                2^-6.
    above_power round_up, where the significand of amax is 1 to 64 units of 2^-23 above that of M, so that amax is a
                little above M · 2^k. The log2 of torchao, rounded to f32, is often k, and its scale is half of one that
                never saturates. The frequency may depend on the machine; no digest includes these blocks.
A block has the first matching name in this order.
"""
import warnings

import numpy as np
import torch

warnings.filterwarnings("ignore")
from torchao.prototype.mx_formats.config import ScaleCalculationMode  # noqa: E402
from torchao.prototype.mx_formats.mx_tensor import to_mx  # noqa: E402
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale  # noqa: E402

import block_inputs  # noqa: E402
import block_rules  # noqa: E402
import golden  # noqa: E402

PACKAGES = ["torchao", "torch", "ml_dtypes", "numpy"]
MODES = {"floor": "FLOOR", "ceil": "CEIL", "round_up": "RCEIL", "even": "EVEN"}
DTYPES = {
    "e4m3fn": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e3m2fn": "fp6_e3m2", "e2m3fn": "fp6_e2m3",
    "e2m1fn": torch.float4_e2m1fn_x2,
}  # fmt: skip
F32 = np.float32
LEAST_NVFP4_SCALE = 8  # the code of 2^-6


def as_bytes(tensor):
    return tensor.contiguous().view(torch.uint8).numpy()


def unpacked(pairs):
    """Unpacks two codes per byte, the first one in the low half."""
    return np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(*pairs.shape[:-1], -1)


def torchao_mx(values, rule, element):
    scales, codes = to_mx(torch.from_numpy(values), DTYPES[element], 32, getattr(ScaleCalculationMode, MODES[rule]))
    codes = as_bytes(codes)
    return as_bytes(scales).reshape(-1), unpacked(codes) if element == "e2m1fn" else codes


def torchao_nvfp4(values, tensor_scale):
    scales, codes = nvfp4_quantize(torch.from_numpy(values), 16, tensor_scale)
    return as_bytes(scales).reshape(-1), unpacked(as_bytes(codes))


class Names:
    """Gives each block the first matching name."""

    def __init__(self, values):
        self.values = values
        self.places = {}
        self.is_free = np.ones(len(values), bool)
        self.add("nan", np.isnan(values).any(axis=-1))
        self.add("infinity", np.isinf(values).any(axis=-1))

    def add(self, name, is_named):
        self.places[name] = is_named & self.is_free
        self.is_free = self.is_free & ~is_named

    def among(self, names):
        return np.any([self.places[name] for name in names if name in self.places], axis=0)


def masked(items, is_kept):
    shape = is_kept.reshape(is_kept.shape + (1,) * (items.ndim - 1))
    return np.ascontiguousarray(np.where(shape, items, 0).astype(np.uint8)).reshape(-1)


def difference_rows(prefix, names, theirs, ours):
    rows = []
    for name, places in names.places.items():
        if not places.any():
            continue
        differs = (theirs[0] != ours[0]) | (theirs[1] != ours[1]).any(axis=-1)
        digests = ["-", "-"]
        if name in ("infinity", "tiny"):
            digests = [golden.digest_of(masked(items, places)) for items in theirs]
        rows.append(",".join([name, prefix, str(places.sum()), str((differs & places).sum()), *digests]))
    return rows


def stream_row(prefix, theirs, is_scale_out, is_code_out):
    digests = [golden.digest_of(masked(theirs[0], ~is_scale_out)), golden.digest_of(masked(theirs[1], ~is_code_out))]
    return ",".join([prefix, str(len(theirs[0])), str(is_scale_out.sum()), str(is_code_out.sum()), *digests])


def significand(values):
    return (np.frexp(values)[0] * 2**24).astype(np.int64)


def mx_names(values, rule, element):
    names = Names(values)
    amax = block_rules.finite_amax(values)
    names.add("tiny", (block_rules.e8m0_codes(rule, amax, element) == 0) & (amax != 0))
    if rule == "round_up":
        above = significand(amax) - significand(F32(block_rules.ELEMENTS[element][1]))
        names.add("above_power", (above > 0) & (above <= 64))
    return names


def check_mx(names, theirs, ours, rule, element):
    exponent = 128 - int(block_rules.floor_log2(block_rules.ELEMENTS[element][1])) if rule != "round_up" else 127
    for name, scale_code, inverse in (
        ("infinity", 127 + exponent, 2.0**-exponent), ("tiny", 0, 1.0 if rule == "round_up" else 2.0**126),
    ):  # fmt: skip
        places = names.places[name]
        values = names.values[places]
        assert (theirs[0][places] == scale_code).all()
        codes = block_rules.codes_of(values, np.full(len(values), inverse, F32), element)
        assert (theirs[1][places] == codes).all()
    assert (theirs[0] == ours[0])[names.is_free | names.places["nan"]].all()
    assert (theirs[1] == ours[1])[names.is_free].all()


def write_mx():
    rows, differences = [], []
    for class_name in block_inputs.MX_CLASSES:
        values = np.ascontiguousarray(block_inputs.mx_blocks(class_name))
        for rule in MODES:
            for element in DTYPES:
                theirs, ours = torchao_mx(values, rule, element), block_rules.mx(values, rule, element)
                names = mx_names(values, rule, element)
                check_mx(names, theirs, ours, rule, element)
                prefix = f"{rule},{element},{class_name}"
                rows.append(stream_row(prefix, theirs, names.among(["infinity", "above_power"]), ~names.is_free))
                differences += difference_rows(prefix, names, theirs, ours)
    golden.write(
        "mx_blocks", "rule,element,class,blocks,without_scale,without_codes,scale_digest,code_digest", rows, PACKAGES
    )
    return differences


def nvfp4_names(values, ours, is_tiny_tensor):
    names = Names(values)
    names.add("tiny_tensor", is_tiny_tensor)
    names.add("tiny", ours[0] < LEAST_NVFP4_SCALE)
    return names


def check_nvfp4(names, theirs, scale_reciprocals):
    for name, scale in (("infinity", 448), ("tiny", 2.0**-6)):
        places = names.places[name]
        inverse = scale_reciprocals[places] / F32(scale)
        assert (theirs[0][places] == (LEAST_NVFP4_SCALE if name == "tiny" else 126)).all()
        assert (theirs[1][places] == block_rules.codes_of(names.values[places], inverse, "e2m1fn")).all()
    assert (theirs[0][names.places["nan"]] == 0x7F).all()


def both_nvfp4(tensors, rule):
    """Returns the scales and codes of torchao, those of LPT, the mask of too small tensors, and 1 / t by block."""
    count = len(tensors)
    values = tensors.reshape(-1, 16)
    if rule == "single_level":
        ones = np.ones(len(values), F32)
        return torchao_nvfp4(values, None), block_rules.nvfp4(values, ones), np.zeros(len(values), bool), ones
    scales = block_rules.tensor_scales(tensors)
    amax = torch.from_numpy(block_rules.finite_amax(tensors.reshape(count, -1)))
    their_scales = per_tensor_amax_to_scale(amax)
    pieces = [torchao_nvfp4(tensors[i], their_scales[i].reshape(1, 1)) for i in range(count)]
    theirs = np.concatenate([piece[0] for piece in pieces]), np.concatenate([piece[1] for piece in pieces])
    by_block = np.repeat(scales, block_inputs.BLOCKS_OF_TENSOR)
    is_tiny = their_scales.numpy() < F32(2.0**-126)
    assert (their_scales.numpy() == scales)[~is_tiny].all()
    is_tiny = np.repeat(is_tiny, block_inputs.BLOCKS_OF_TENSOR)
    return theirs, block_rules.nvfp4(values, by_block), is_tiny, F32(1) / by_block


def write_nvfp4():
    rows, differences, scale_list, code_list = [], [], [], []
    for class_name in block_inputs.NVFP4_CLASSES:
        tensors = np.ascontiguousarray(block_inputs.nvfp4_tensors(class_name))
        for rule in ("two_level", "single_level"):
            theirs, ours, is_tiny_tensor, reciprocals = both_nvfp4(tensors, rule)
            names = nvfp4_names(tensors.reshape(-1, 16), ours, is_tiny_tensor)
            check_nvfp4(names, theirs, reciprocals)
            prefix = f"{rule},e2m1fn,{class_name}"
            is_rounded = names.is_free & (theirs[0] != ours[0])
            for block in np.flatnonzero(is_rounded):
                scale_list.append(f"{rule},{class_name},{block},{ours[0][block]},{theirs[0][block]}")
            is_whole = names.is_free & ~is_rounded
            flat_ours, flat_theirs = ours[1].reshape(-1), theirs[1].reshape(-1)
            for place in np.flatnonzero((ours[1] != theirs[1]) & is_whole[:, np.newaxis]):
                code_list.append(f"{rule},{class_name},{place},{flat_ours[place]},{flat_theirs[place]}")
            is_scale_out = names.among(["infinity", "tiny_tensor", "tiny"])
            rows.append(stream_row(prefix, theirs, is_scale_out, ~is_whole))
            differences += difference_rows(prefix, names, theirs, ours)
    header = "rule,element,class,blocks,without_scale,without_codes,scale_digest,code_digest"
    golden.write("nvfp4_blocks", header, rows, PACKAGES)
    golden.write("nvfp4_scale_list", "rule,class,block,lpt_code,torchao_code", scale_list, PACKAGES)
    golden.write("nvfp4_code_list", "rule,class,place,lpt_code,torchao_code", code_list, PACKAGES)
    return differences


def write_inputs():
    rows = []
    for name in block_inputs.MX_CLASSES:
        bits = np.ascontiguousarray(block_inputs.mx_blocks(name)).view("<u4").reshape(-1)
        rows.append(f"mx,{name},{len(bits)},{golden.digest_of(bits)}")
    for name in block_inputs.NVFP4_CLASSES:
        bits = np.ascontiguousarray(block_inputs.nvfp4_tensors(name)).view("<u4").reshape(-1)
        rows.append(f"nvfp4,{name},{len(bits)},{golden.digest_of(bits)}")
    golden.write("block_inputs", "kind,class,values,digest", rows, ["numpy"])


def main():
    # Overflow, underflow and NaN are intended.
    with np.errstate(all="ignore"):
        write_inputs()
        differences = write_mx() + write_nvfp4()
    header = "difference,rule,element,class,blocks,differing,scale_digest,code_digest"
    golden.write("block_differences", header, differences, PACKAGES)


if __name__ == "__main__":
    main()
