#!/usr/bin/env python3
"""Makes golden files from gfloat: roundings other than nearest even, and elements that ml_dtypes does not have.

    python3 -m venv golden-venv
    golden-venv/bin/pip install ml_dtypes==0.6.0 numpy==2.4.6 gfloat==0.5.2
    golden-venv/bin/python tools/make_gfloat_golden.py             # some minutes
    golden-venv/bin/python tools/make_gfloat_golden.py --compare   # writes nothing, prints where ml_dtypes differs

e3m0.csv             like <element>.csv of tools/make_golden.py
custom_elements.csv  the same for elements that are described by their name,
                     e<exponent bits>m<mantissa bits>b<bias>-<kind>: ieee has infinity and NaN, nan has one NaN
                     at the top and no infinity, fnuz has NaN instead of -0, finite has neither; a prefix u means
                     unsigned.
roundings.csv        digests as in digests.csv. The sets <set>_<rounding>: that rounding, overflow to the largest
                     finite code, infinities too. The sets bf16, f16, midpoints, random of the elements above: as in
                     digests.csv.
gfloat_blocks.csv    MX blocks of tools/block_inputs.py by the OCP rule, which is floor in LPT: the scale of
                     compute_scale_amax of gfloat, then its rounding of x / scale, saturated. Digests of the scale bytes
                     and of the element codes, one byte each. They include cases that torchao lacks: mxint8 (element
                     q1_6), and blocks so small that their scale is 2^-127. The code -128 of q1_6 counts as -127.

The script defines special values as LPT does, independently of gfloat. A NaN gives the code 0 or the NaN of the element; of
several NaNs it is the one with only the upper bit of the mantissa set. A negative value in an unsigned element gives the same
(in uint4: 0). Two's complement excludes its most negative code. e8m0fnu starts at 2^-127. A tie of an element without mantissa
rounds to the even code.
"""
import argparse

import gfloat
import numpy as np
from gfloat import Domain, RoundMode
from gfloat.formats import (
    format_info_bfloat16, format_info_binary16, format_info_ocp_e2m1, format_info_ocp_e2m3, format_info_ocp_e3m2,
    format_info_ocp_e4m3, format_info_ocp_e5m2, format_info_ocp_e8m0, format_info_ocp_int8,
)  # fmt: skip

import block_inputs
import golden
import make_golden

PACKAGES = ["gfloat", "ml_dtypes", "numpy"]
MODES = {
    "nearest_even": RoundMode.TiesToEven, "nearest_away": RoundMode.TiesToAway, "toward_zero": RoundMode.TowardZero,
}  # fmt: skip
PIECE = 1 << 20
MX_ELEMENTS = ("e4m3fn", "e5m2", "e3m2fn", "e2m3fn", "e2m1fn", "q1_6")


def described(name, exponent_bits, mantissa_bits, bias, kind, is_signed=True):
    bits = exponent_bits + mantissa_bits + is_signed
    high_nans = {"ieee": (1 << mantissa_bits) - 1, "nan": 1, "fnuz": 0, "finite": 0}[kind]
    return gfloat.FormatInfo(
        name, bits, mantissa_bits + 1, bias=bias, is_signed=is_signed, has_nz=is_signed and kind != "fnuz",
        domain=Domain.Extended if kind == "ieee" else Domain.Finite, num_high_nans=high_nans, has_subnormals=True,
        is_twos_complement=False,
    )  # fmt: skip


def integer(name, bits, is_signed=True):
    precision = bits if is_signed else bits + 1
    return gfloat.FormatInfo(
        name, bits, precision, bias=2 - precision, is_signed=is_signed, has_nz=False, domain=Domain.Finite,
        num_high_nans=0, has_subnormals=True, is_twos_complement=is_signed,
    )  # fmt: skip


class Element:
    def __init__(self, name, info):
        self.name, self.info, self.bits = name, info, info.k
        self.code_type = np.dtype("<u2" if info.k == 16 else "u1")
        self.largest_code = info.code_of_max
        self.has_infinity = info.domain == Domain.Extended
        self.nan_code = 0
        if self.has_infinity:
            self.nan_code = info.code_of_posinf + (1 << (info.precision - 2))
        elif info.num_high_nans > 0:
            self.nan_code = info.code_of_max + 1
        elif info.num_nans > 0:
            self.nan_code = info.code_of_nan

    def encode(self, values, mode=RoundMode.TiesToEven, saturates=False):
        pieces = [values[start : start + PIECE] for start in range(0, len(values), PIECE)]
        return np.concatenate([self.encode_piece(piece.astype(np.float64), mode, saturates) for piece in pieces])

    def encode_piece(self, values, mode, saturates):
        is_nan = np.isnan(values)
        if not self.info.is_signed:
            is_nan |= values < 0
        least = 2.0**-127 if self.name == "e8m0fnu" else 0.0
        inside = np.where(is_nan, least, values)
        if not self.info.is_signed:
            inside = np.maximum(np.abs(inside), least)
        rounded = gfloat.round_ndarray(self.info, inside, mode, sat=saturates or self.nan_code == 0)
        if self.info.is_twos_complement:
            rounded = np.maximum(rounded, -self.info.max)
        codes = gfloat.encode_ndarray(self.info, rounded)
        return np.where(is_nan | np.isnan(rounded), self.nan_code, codes).astype(self.code_type)

    def decode(self, codes):
        values = gfloat.decode_ndarray(self.info, codes.astype(np.int64)).astype(np.float32)
        is_negative = self.info.is_signed and self.info.has_nz and codes >> (self.bits - 1)
        return np.where(np.isnan(values) & (is_negative == 1), -np.float32(np.nan), values)


NAMED = [
    Element("f16", format_info_binary16),
    Element("bf16", format_info_bfloat16),
    Element("e4m3fn", format_info_ocp_e4m3),
    Element("e4m3", described("e4m3", 4, 3, 7, "ieee")),
    Element("e5m2", format_info_ocp_e5m2),
    Element("e4m3fnuz", described("e4m3fnuz", 4, 3, 8, "fnuz")),
    Element("e5m2fnuz", described("e5m2fnuz", 5, 2, 16, "fnuz")),
    Element("e4m3b11fnuz", described("e4m3b11fnuz", 4, 3, 11, "fnuz")),
    Element("e3m4", described("e3m4", 3, 4, 3, "ieee")),
    Element("e3m2fn", format_info_ocp_e3m2),
    Element("e2m3fn", format_info_ocp_e2m3),
    Element("e2m1fn", format_info_ocp_e2m1),
    Element("e8m0fnu", format_info_ocp_e8m0),
    Element("q1_6", format_info_ocp_int8),
    Element("int16", integer("int16", 16)),
    Element("int8", integer("int8", 8)),
    Element("int4", integer("int4", 4)),
    Element("uint4", integer("uint4", 4, is_signed=False)),
    Element("int2", integer("int2", 2)),
    Element("int3", integer("int3", 3)),
]
E3M0 = Element("e3m0", described("e3m0", 3, 0, 3, "finite"))
CUSTOM = [
    Element("e2m2b1-ieee", described("e2m2", 2, 2, 1, "ieee")),
    Element("e4m2b7-finite", described("e4m2", 4, 2, 7, "finite")),
    Element("e5m1b16-fnuz", described("e5m1", 5, 1, 16, "fnuz")),
    Element("e3m1b3-finite", described("e3m1", 3, 1, 3, "finite")),
    Element("e6m1b31-ieee", described("e6m1", 6, 1, 31, "ieee")),
    Element("e1m3b1-finite", described("e1m3", 1, 3, 1, "finite")),
    Element("e4m3b9-nan", described("e4m3", 4, 3, 9, "nan")),
    Element("ue4m3b7-nan", described("ue4m3", 4, 3, 7, "nan", is_signed=False)),
]


def decoded_bits(element):
    return golden.canonical_bits(element.decode(np.arange(1 << element.bits)))


def midpoints(element):
    values = element.decode(np.arange(element.largest_code + 1)).astype(np.float64)
    after = 2 * values[-1] - (0 if element.info.precision == 1 else values[-2])
    return golden.around((values + np.append(values[1:], after)) / 2)


def plain_sets(element):
    return {
        "bf16": make_golden.bf16_values(),
        "f16": make_golden.f16_values(),
        "midpoints": midpoints(element),
        "random": golden.splitmix64_highs(1, 10_000_000).view(np.float32),
    }


def rounding_rows(element):
    rows = []
    for set_name, values in {"bf16": make_golden.bf16_values(), "midpoints": midpoints(element)}.items():
        for mode_name, mode in MODES.items():
            if element.name == "e8m0fnu" and mode_name != "toward_zero":
                continue  # nearest of gfloat differs below 2^-126 and in ties; digests.csv has that of LPT
            digest = golden.digest_of(element.encode(values, mode, saturates=True))
            rows.append(f"{set_name}_{mode_name},{element.name},{digest}")
    return rows


def write_all():
    rows = []
    for element in NAMED:
        rows += rounding_rows(element)
    for element in [E3M0, *CUSTOM]:
        for name, values in plain_sets(element).items():
            rows.append(f"{name},{element.name},{golden.digest_of(element.encode(values))}")
        rows += rounding_rows(element)
    golden.write("roundings", "set,element,digest", rows, PACKAGES)
    golden.write("e3m0", "code,f32_bits", [f"{i},{bits:08x}" for i, bits in enumerate(decoded_bits(E3M0))], PACKAGES)
    rows = [f"{item.name},{i},{bits:08x}" for item in CUSTOM for i, bits in enumerate(decoded_bits(item))]
    golden.write("custom_elements", "element,code,f32_bits", rows, PACKAGES)


def block_scales(element, blocks):
    scales = [gfloat.compute_scale_amax(element.info.emax, block) for block in blocks.astype(np.float64)]
    return np.array(scales, np.float64)[:, np.newaxis]


def write_blocks():
    elements = [element for element in NAMED if element.name in MX_ELEMENTS]
    rows = []
    for class_name in block_inputs.MX_CLASSES:
        if class_name in ("infinity", "nan"):
            continue
        blocks = block_inputs.mx_blocks(class_name)
        for element in elements:
            scales = block_scales(element, blocks)
            scale_codes = gfloat.encode_ndarray(format_info_ocp_e8m0, scales.reshape(-1)).astype(np.uint8)
            codes = element.encode((blocks / scales).reshape(-1), saturates=True)
            digests = [golden.digest_of(scale_codes), golden.digest_of(codes)]
            rows.append(",".join([element.name, class_name, str(len(blocks)), *digests]))
    golden.write("gfloat_blocks", "element,class,blocks,scale_digest,code_digest", rows, PACKAGES)


def compare():
    theirs = {element.name: element for element in make_golden.ELEMENTS}
    for element in NAMED:
        other = theirs[element.name]
        decoded = np.arange(1 << element.bits)
        unlike = golden.canonical_bits(other.decode(decoded)) != decoded_bits(element)
        print(f"{element.name}: {unlike.sum()} of {len(decoded)} codes decode otherwise", decoded[unlike][:4])
        for name, values in plain_sets(element).items():
            ours, codes = element.encode(values), other.encode(values)
            places = np.flatnonzero(ours != codes)
            examples = [f"{float(values[i]).hex()}: gfloat {ours[i]}, ml_dtypes {codes[i]}" for i in places[:3]]
            print(f"{element.name}, {name}: {len(places)} of {len(values)}", *examples)


def main():
    parser = argparse.ArgumentParser(description="makes golden files from gfloat; the source says how to run it")
    parser.add_argument("--compare", action="store_true", help="print where ml_dtypes and gfloat differ instead")
    arguments = parser.parse_args()
    with np.errstate(all="ignore"):
        if arguments.compare:
            compare()
        else:
            write_all()
            write_blocks()


if __name__ == "__main__":
    main()
