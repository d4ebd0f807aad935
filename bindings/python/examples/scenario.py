"""The scenario of tests/bindings/scenario.c in Python, with the standard library only. It prints the same lines and digests.

python3 scenario.py [reference]: with an argument, operations use the reference kernels.
"""
import array
import gc
import sys

import lpt

ROWS, COLUMNS, OUTPUTS = 4, 32, 8


def print_bytes(name, data):
    """Print a name and the FNV-1a digest of a buffer."""
    digest = 0xCBF29CE484222325
    for byte in memoryview(data).tobytes():
        digest = (digest ^ byte) * 0x100000001B3 % 2 ** 64
    print(f"{name} {digest:016x}")


def filled(rows, columns, step):
    """Return a float32 matrix of multiples of step, from -6 · step to 6 · step."""
    numbers = array.array("f", [(i * 7 % 13 - 6) * step for i in range(rows * columns)])
    return memoryview(numbers).cast("B").cast("f", [rows, columns])


def quantize_both():
    source = filled(ROWS, COLUMNS, 0.25)
    nvfp4 = lpt.quantize(source, "nvfp4")
    for name, part in nvfp4.parts().items():
        print_bytes(f"nvfp4.{name}", part)
    print_bytes("nvfp4.numbers", nvfp4.dequantize())
    fp8 = lpt.quantize(source, "e4m3fn_row")
    print_bytes("e4m3fn.payload", fp8.part("payload"))
    print_bytes("e4m3fn.numbers", fp8.dequantize())
    lpt.quantize(source, out=fp8, rounding="stochastic", random=lpt.Random(seed=7))
    print_bytes("e4m3fn.stochastic", fp8.part("payload"))


def multiply():
    a, b = filled(ROWS, COLUMNS, 1), filled(OUTPUTS, COLUMNS, 1)
    c = lpt.gemm(a, b, b_transposed=True)
    print_bytes("gemm.f32", c)
    state = lpt.weights_save(lpt.weights_pack(lpt.quantize(b, "e4m3fn")))
    print_bytes("weights.state", state)
    lpt.gemm(a, lpt.weights_load(state), b_transposed=True, alpha=0.5, out=c)
    print_bytes("gemm.loaded", c)
    try:
        lpt.gemm(a, b, out=c)
    except lpt.Error as error:
        print(f"gemm.error {lpt.capi.lpt_status_string(error.status)}: {error}")


def train_layer():
    layer = lpt.Linear(COLUMNS, OUTPUTS, "mxfp8")
    layer.prepare(filled(OUTPUTS, COLUMNS, 1))
    y, saved = layer.forward(filled(ROWS, COLUMNS, 1))
    print_bytes("linear.output", y)
    _, weight_gradient, _ = layer.backward(saved, filled(ROWS, OUTPUTS, 1), input_gradient=None)
    print_bytes("linear.weight_gradient", weight_gradient)


def adamw():
    optimizer = lpt.Optimizer("adamw")
    optimizer.add(ROWS * COLUMNS, first_moment="e4m3fn_1x128", second_moment="e4m3fn_1x128", weight_decay=0.125)
    return optimizer


def optimize():
    parameter, gradient = filled(ROWS, COLUMNS, 0.25), filled(ROWS, COLUMNS, 1)
    first, second = adamw(), adamw()
    first.step([parameter], [gradient], learning_rate=0.5)
    print_bytes("adamw.parameter", parameter)
    state, = first.state()
    print_bytes("adamw.state", state)
    second.load_state([state])
    del first
    second.step([parameter], [gradient], learning_rate=0.5)
    print_bytes("adamw.loaded", parameter)
    damaged = bytearray(state)
    damaged[len(damaged) // 2] ^= 1
    try:
        second.load_state([damaged])
    except lpt.Error as error:
        print(f"adamw.damaged {lpt.capi.lpt_status_string(error.status)}")


def mask():
    source = filled(ROWS, COLUMNS, 0.25)
    chosen, _ = lpt.sparse_select(source)
    print_bytes("mask.2_4", chosen)
    print(f"mask.counts {lpt.sparse_values(source)['kept_count']} {lpt.sparse_check(chosen)}")


def reduce():
    numbers = filled(ROWS, COLUMNS, 1)
    with lpt.Comm.local(lpt.Group(1), 0) as comm:
        comm.all_reduce(numbers, out=numbers, factor=0.5, future=True).wait()
    print_bytes("reduce.numbers", numbers)


def outlive():
    """A part stays valid after the destruction of its tensor and of the context that created both."""
    part = lpt.empty((ROWS, COLUMNS)).part("payload")
    lpt.set_default_context(lpt.Context(1))
    gc.collect()
    memoryview(part).cast("B")[:] = filled(ROWS, COLUMNS, 0.25).tobytes()
    print_bytes("part.alone", part)


def main():
    lpt.set_default_context(lpt.Context(isa="reference" if len(sys.argv) > 1 else "auto"))
    print("abi", lpt.capi.lpt_abi_level())
    for chapter in (quantize_both, multiply, train_layer, optimize, mask, reduce, outlive):
        chapter()


if __name__ == "__main__":
    main()
