"""GEMMs of PyTorch, for peers.py: f32, bf16 and int8, and prepacked weights of int8 and int4."""
import torch

from peers_race import Contender

NAME = f"PyTorch {torch.__version__}"
GROUP = 128  # of one scale of int4 weights


def operand(rows, columns, is_transposed, kind):
    extents = (columns, rows) if is_transposed else (rows, columns)
    if kind == torch.int8:
        made = torch.randint(-127, 128, extents, dtype=torch.int8)
    else:
        made = torch.rand(extents).to(kind)
    return made.t() if is_transposed else made


def plain(name, kind, element, gemm):
    def make(shape):
        a = operand(shape["m"], shape["k"], shape["is_a_transposed"], element)
        b = operand(shape["k"], shape["n"], shape["is_b_transposed"], element)
        return Contender(name, kind, b.nbytes, lambda: gemm(a, b))
    return make


def packed_bf16(shape):
    a = operand(shape["m"], shape["k"], False, torch.bfloat16)
    b = torch.ops.mkldnn._reorder_linear_weight(operand(shape["n"], shape["k"], False, torch.bfloat16), shape["m"])
    return Contender("PyTorch bf16", "bf16 dot", 2 * shape["n"] * shape["k"],
                     lambda: torch.ops.mkldnn._linear_pointwise(a, b, None, "none", [], ""), True)


def packed_int8(shape):
    """int8 with one scale for a, one for each column of b, and an f32 output."""
    columns = shape["n"]
    a = operand(shape["m"], shape["k"], False, torch.int8)
    b = torch.ops.onednn.qlinear_prepack(operand(shape["k"], columns, False, torch.int8), None)
    scales, zeros = torch.rand(columns), torch.zeros(columns, dtype=torch.int32)
    return Contender("PyTorch int8", "int8 dot", columns * shape["k"], lambda: torch.ops.onednn.qlinear_pointwise(
        a, 0.01, 0, b, scales, zeros, None, 1.0, 0, torch.float32, "none", [], ""), True)


def bf16_by_int8(shape):
    a = operand(shape["m"], shape["k"], False, torch.bfloat16)
    b = operand(shape["n"], shape["k"], False, torch.int8)
    scales = torch.rand(shape["n"]).bfloat16()
    return Contender("PyTorch bf16 x int8", "bf16 dot", b.nbytes,
                     lambda: torch.ops.aten._weight_int8pack_mm(a, b, scales), True)


def bf16_by_int4(shape):
    a = operand(shape["m"], shape["k"], False, torch.bfloat16)
    codes = torch.randint(0, 16, (shape["n"], shape["k"]), dtype=torch.int32)
    b = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1)
    scales = torch.rand(shape["k"] // GROUP, shape["n"], 2).bfloat16()
    return Contender("PyTorch bf16 x int4", "bf16 dot", b.nbytes + scales.nbytes,
                     lambda: torch.ops.aten._weight_int4pack_mm_for_cpu(a, b, GROUP, scales), True)


MAKERS = {
    "f32": plain("PyTorch f32", "f32", torch.float32, torch.mm),
    "bf16": plain("PyTorch bf16", "bf16 dot", torch.bfloat16, torch.mm),
    "int8": plain("PyTorch int8", "int8 dot", torch.int8, torch._int_mm),
    "bf16, packed": packed_bf16, "int8, packed": packed_int8,
    "bf16 x int8": bf16_by_int8, "bf16 x int4": bf16_by_int4,
}


def contenders(shape, threads):
    """Returns (contenders, lines that state omitted ones with the reason)."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    found, left_out = [], []
    for name, make in MAKERS.items():
        if "packed" in name and (shape["is_a_transposed"] or not shape["is_b_transposed"]):
            continue
        try:
            contender = make(shape)
            contender.run()
            found.append(contender)
        except (RuntimeError, AttributeError) as error:
            left_out.append(f"PyTorch {name}: {str(error).splitlines()[0]}")
    return found, left_out
