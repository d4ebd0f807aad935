#!/usr/bin/env python3
"""Makes the vectors of complete casts that `lpt verify` replays: blocks with scales, and stochastic rounding.

    python3 -m venv golden-venv
    golden-venv/bin/pip install ml_dtypes==0.6.0 numpy==2.4.6 torch==2.15.0 torchao==0.18.0 gfloat==0.5.2
    golden-venv/bin/python tools/make_conformance.py   # a minute, without a GPU

docs/reference/conformance.md documents the files. The values are those of tools/block_rules.py and tools/random_rounding.py,
which implement docs/reference/numerics.md in numpy and share no code with LPT. If torchao or gfloat has the rule, this script
asserts equality, except for the differences that tools/make_block_golden.py names.
"""
import gfloat
import numpy as np
import torch
from gfloat.formats import format_info_ocp_e8m0
from torchao.quantization import quant_primitives

import block_inputs
import block_rules
import cast_formats
import golden
import make_block_golden
import make_gfloat_golden
import make_golden
import random_rounding
from cast_formats import MX_FORMATS, NVFP4_RULES, RANDOMS

PACKAGES = ["torchao", "torch", "gfloat", "ml_dtypes", "numpy"]
F32 = np.float32
BLOCKS_OF_CLASS = 6
TENSORS_OF_CLASS = 2
BLOCKS_OF_SOURCE = 8  # of an NVFP4 tensor
GROUP = 32
GROUP_FORMATS = {"int8_1x32": 127, "int4_1x32": 7}
NONE = "-"


def hex_of(numbers, digits):
    return "".join(f"{number:0{digits}x}" for number in np.asarray(numbers).reshape(-1).tolist())


def f32_hex(numbers):
    return hex_of(np.ascontiguousarray(numbers, np.float32).view(np.uint32), 8)


def codes_hex(codes, is_nan_block):
    """Returns two digits per code; "--" for a block with a NaN scale, because its codes are undefined."""
    blocks = zip(codes.reshape(len(is_nan_block), -1), is_nan_block)
    return "".join("--" * len(block) if is_nan else hex_of(block, 2) for block, is_nan in blocks)


class Vectors:
    def __init__(self):
        self.sources, self.rows = {}, []

    def add(self, format_name, rule, source, oracle, scales, codes, **others):
        """Adds a vector. `scales` and `codes` are hexadecimal digits."""
        words = {"rounding": "nearest_even", "random": NONE, "tensor_scale": NONE, "zero_points": NONE, **others}
        self.rows.append(
            ",".join(
                [format_name, rule, words["rounding"], str(words["random"]), source, oracle, words["tensor_scale"],
                 scales, words["zero_points"], codes]  # fmt: skip
            )
        )

    def write(self):
        golden.write("cast_sources", "source,f32_bits", [f"{name},{f32_hex(v)}" for name, v in self.sources.items()],
                     PACKAGES)  # fmt: skip
        header = "format,rule,rounding,random,source,oracle,tensor_scale,scales,zero_points,codes"
        golden.write("cast_vectors", header, self.rows, PACKAGES)


# MX.


def mx_places(class_name, blocks):
    """Returns the first blocks of a class, and for each element the first two of the difference above_power."""
    places = list(range(BLOCKS_OF_CLASS))
    if class_name == "edges":
        for element in MX_FORMATS:
            names = make_block_golden.mx_names(blocks, "round_up", element)
            places += [int(place) for place in np.flatnonzero(names.places["above_power"])[:2]]
    return sorted(set(places))


def gfloat_mx(blocks, element_name):
    element = next(element for element in make_gfloat_golden.NAMED if element.name == element_name)
    scales = make_gfloat_golden.block_scales(element, blocks)
    scale_codes = gfloat.encode_ndarray(format_info_ocp_e8m0, scales.reshape(-1)).astype(np.uint8)
    return scale_codes, element.encode((blocks / scales).reshape(-1), saturates=True).reshape(blocks.shape)


def add_mx(vectors):
    for class_name in block_inputs.MX_CLASSES:
        whole = np.ascontiguousarray(block_inputs.mx_blocks(class_name))
        places = mx_places(class_name, whole)
        blocks = np.ascontiguousarray(whole[places])
        sources = [f"mx_{class_name}_{place}" for place in places]
        vectors.sources.update(zip(sources, blocks))
        is_nan = np.isnan(blocks).any(axis=-1)
        has_gfloat = np.isfinite(blocks).all()
        for rule in make_block_golden.MODES:
            for element, format_name in MX_FORMATS.items():
                ours = block_rules.mx(blocks, rule, element)
                theirs = make_block_golden.torchao_mx(blocks, rule, element)
                names = make_block_golden.mx_names(blocks, rule, element)
                make_block_golden.check_mx(names, theirs, ours, rule, element)
                is_gfloat = has_gfloat and rule == "floor"
                if is_gfloat:
                    assert all((one == other).all() for one, other in zip(ours, gfloat_mx(blocks, element)))
                for i, source in enumerate(sources):
                    differences = [name for name in names.places if names.places[name][i] and name != "nan"]
                    oracle = "rules:" + differences[0] if differences else "torchao"
                    if is_gfloat:
                        oracle = "gfloat" if differences else "torchao+gfloat"
                    vectors.add(format_name, rule, source, oracle, hex_of(ours[0][i], 2),
                                codes_hex(ours[1][i], is_nan[i : i + 1]))  # fmt: skip
        if has_gfloat:
            scales, codes = gfloat_mx(blocks, "q1_6")
            for i, source in enumerate(sources):
                vectors.add("mxint8", "floor", source, "gfloat", hex_of(scales[i], 2), hex_of(codes[i], 2))


# NVFP4.


def nvfp4_oracle(tensor, ours, scale):
    """Asserts that torchao equals LPT except for the named differences. Without a tensor scale `scale` is None."""
    their_scale = None
    if scale is not None:
        amax = torch.from_numpy(block_rules.finite_amax(tensor.reshape(1, -1)))
        their_scale = make_block_golden.per_tensor_amax_to_scale(amax).reshape(1, 1)
    is_tiny_tensor = their_scale is not None and their_scale.item() < 2.0**-126
    assert is_tiny_tensor or scale is None or their_scale.item() == scale.item()
    theirs = make_block_golden.torchao_nvfp4(tensor, their_scale)
    names = make_block_golden.nvfp4_names(tensor, ours, np.full(len(tensor), is_tiny_tensor))
    is_rounded = names.is_free & ((theirs[0] != ours[0]) | (theirs[1] != ours[1]).any(axis=-1))
    names.add("reciprocal", is_rounded)
    differences = [name for name, places in names.places.items() if places.any() and name != "nan"]
    assert (theirs[0] == ours[0])[names.is_free].all() and (theirs[1] == ours[1])[names.is_free].all()
    return "rules:" + "+".join(differences) if differences else "torchao"


def add_nvfp4(vectors):
    for class_name in block_inputs.NVFP4_CLASSES:
        tensors = np.ascontiguousarray(block_inputs.nvfp4_tensors(class_name))[:TENSORS_OF_CLASS, :BLOCKS_OF_SOURCE]
        for i, tensor in enumerate(tensors):
            source = f"nvfp4_{class_name}_{i}"
            vectors.sources[source] = tensor.reshape(-1)
            is_nan = np.isnan(tensor).any(axis=-1)
            for rule in NVFP4_RULES:
                if rule == "four_over_six" and not np.isfinite(tensor).all():
                    continue
                scale = block_rules.tensor_scales(tensor[np.newaxis], rule)
                ours = block_rules.nvfp4(tensor, scale, rule)
                oracle = nvfp4_oracle(tensor, ours, scale) if rule == "nearest" else "rules"
                vectors.add("nvfp4", rule, source, oracle, hex_of(ours[0], 2), codes_hex(ours[1], is_nan),
                            tensor_scale=f32_hex(scale))  # fmt: skip
            ours = block_rules.nvfp4(tensor, np.ones(len(tensor), F32))
            vectors.add("e2m1fn/1x16/e4m3fn", "nearest", source, nvfp4_oracle(tensor, ours, None),
                        hex_of(ours[0], 2), codes_hex(ours[1], is_nan))  # fmt: skip


# Groups of integers.


def torchao_group(values, mapping, low, high):
    block = [1, GROUP]
    source = torch.from_numpy(values)
    scales, zeros = quant_primitives.choose_qparams_affine(
        source, mapping, block, torch.int32, low, high, scale_dtype=torch.float32, zero_point_dtype=torch.int32
    )
    codes = quant_primitives.quantize_affine(source, block, scales, zeros, torch.int32, low, high)
    return scales.reshape(-1).numpy(), zeros.reshape(-1).numpy(), codes.numpy()


def add_groups(vectors):
    symmetric, asymmetric = quant_primitives.MappingType.SYMMETRIC, quant_primitives.MappingType.ASYMMETRIC
    for source, values in [item for item in vectors.sources.items() if item[0].startswith("mx_")]:
        if not np.isfinite(values).all():
            continue
        group = values[np.newaxis]
        for format_name, largest in GROUP_FORMATS.items():
            scales, codes = block_rules.integers(group, largest)
            theirs = torchao_group(group, symmetric, -largest, largest)
            assert (theirs[0] == scales).all() and (theirs[2] == codes).all()
            bits = 8 if largest == 127 else 4
            vectors.add(format_name, "amax", source, "torchao", f32_hex(scales), hex_of(codes & (1 << bits) - 1, 2))
        scales, zeros, codes = block_rules.unsigned(group, 15)
        theirs = torchao_group(group, asymmetric, 0, 15)
        assert (theirs[0] == scales).all() and (theirs[1] == zeros).all() and (theirs[2] == codes).all()
        vectors.add("uint4_1x32", "amax", source, "torchao", f32_hex(scales), hex_of(codes, 2),
                    zero_points=hex_of(zeros, 2))  # fmt: skip


# Random bits.


def scales_hex(scales):
    return f32_hex(scales) if scales.dtype == np.float32 else hex_of(scales, 2)


def add_stochastic(vectors):
    mx = [f"mx_{name}_{i}" for name in ("ordinary", "outlier", "ties", "tiny") for i in range(2)]
    cases = [(form, source) for form in [*cast_formats.MX, *cast_formats.GROUPS] for source in mx]
    cases += [(cast_formats.NVFP4, f"nvfp4_{name}_0") for name in ("ordinary", "ties", "tiny")]
    for form, source in cases:
        for random in RANDOMS:
            tensor_scale, scales, zeros, codes = form.cast(vectors.sources[source], random)
            vectors.add(form.name, form.rule, source, "rules", scales_hex(scales), hex_of(codes, 2), random=random,
                        rounding="stochastic", tensor_scale=NONE if tensor_scale is None else f32_hex(tensor_scale),
                        zero_points=NONE if zeros is None else hex_of(zeros, 2))  # fmt: skip


# Digests of large sets.


def f16_mixed():
    """Returns all finite f16 values in an order in which adjacent ones are unrelated."""
    codes = np.concatenate([np.arange(0x7C00), np.arange(0x8000, 0xFC00)]).astype(np.uint16)
    return codes[np.arange(len(codes)) * 25173 % len(codes)].view(np.float16).astype(np.float32)


def digest_row(form, rounding, random):
    tensor_scale, scales, zeros, codes = form.cast(f16_mixed(), random)
    items = scales
    if scales is not None and scales.dtype == np.float32:
        items = np.ascontiguousarray(scales).view("<u4")
    parts = [
        form.name, form.rule, rounding, str(random or NONE), "f16_mixed",
        NONE if tensor_scale is None else f32_hex(tensor_scale), NONE if items is None else golden.digest_of(items),
        NONE if zeros is None else golden.digest_of(zeros), golden.digest_of(codes),
    ]  # fmt: skip
    return ",".join(parts)


def element_rows():
    rows = []
    for name, element in random_rounding.ELEMENTS.items():
        if name == "e8m0fnu":
            continue
        made = make_gfloat_golden.midpoints(element) if name == "e3m0" else make_golden.midpoints(element)
        sets = (("bf16", make_golden.bf16_values(), RANDOMS[:4]), ("midpoints", made, RANDOMS[4:]))
        for set_name, values, randoms in sets:
            for rounding in ("stochastic", "stochastic_underflow"):
                for random in randoms:
                    codes = random_rounding.codes(values, name, random, rounding == "stochastic_underflow")
                    digest = golden.digest_of(codes)
                    rows.append(f"{name},{NONE},{rounding},{random},{set_name},{NONE},{NONE},{NONE},{digest}")
    return rows


def write_digests():
    rows = [digest_row(form, "nearest_even", None) for form in cast_formats.NEAREST]
    rows += [digest_row(form, "stochastic", random) for form in cast_formats.STOCHASTIC for random in RANDOMS]
    header = "format,rule,rounding,random,set,tensor_scale,scale_digest,zero_point_digest,code_digest"
    golden.write("cast_digests", header, rows + element_rows(), PACKAGES)


def main():
    vectors = Vectors()
    with np.errstate(all="ignore"):
        add_mx(vectors)
        add_nvfp4(vectors)
        add_groups(vectors)
        add_stochastic(vectors)
        vectors.write()
        write_digests()


if __name__ == "__main__":
    main()
