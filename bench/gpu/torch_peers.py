#!/usr/bin/env python3
"""PyTorch results for the operations of gpu_bench, in the same row format: optimizer step, casts, softmax, four-bit weights.

Usage: torch_peers.py FILE [SECONDS]

Without torch or a GPU, FILE contains the reason. After SECONDS no new measurement starts.
"""
import json
import statistics
import sys
import time

ROUNDS = 9
SECONDS_OF_ROUND = 0.02


def seconds_of(torch, run, runs):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(runs):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / runs


def timed(torch, run):
    run()
    runs = max(1, min(1000, int(SECONDS_OF_ROUND / max(seconds_of(torch, run, 3), 1e-6))))
    return statistics.median(seconds_of(torch, run, runs) for _ in range(ROUNDS))


def fused_adamw(torch):
    parameter = torch.nn.Parameter(torch.randn(1 << 27, device="cuda"))
    parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.AdamW([parameter], fused=True)
    return optimizer.step, {"elements": parameter.numel(), "bytes": 28 * parameter.numel()}


def cast_with_amax(torch):
    numbers = torch.randn(1 << 28, device="cuda", dtype=torch.bfloat16)
    cast = torch.compile(lambda x: ((x * 3.0).clamp(-448, 448).to(torch.float8_e4m3fn), x.abs().amax()))
    return lambda: cast(numbers), {"bytes": 3 * numbers.numel()}


def softmax(torch):
    numbers = torch.randn(16384, 8192, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.softmax(numbers, -1), {"bytes": 4 * numbers.numel()}


def int4_weights(rows):
    def make(torch):
        n, k = 28672, 8192
        codes = torch.randint(0, 255, (n, k // 2), device="cuda", dtype=torch.uint8)
        packed = torch.ops.aten._convert_weight_to_int4pack(codes, 8)
        scales = torch.rand(k // 128, n, 2, device="cuda", dtype=torch.bfloat16)
        a = torch.randn(rows, k, device="cuda", dtype=torch.bfloat16)
        return (lambda: torch.ops.aten._weight_int4pack_mm(a, packed, 128, scales),
                {"bytes": n * k // 2 + 2 * scales.numel() + 2 * rows * (n + k), "flops": 2 * rows * n * k})
    return make


PEERS = {"fused adamw": fused_adamw, "cast with amax, compiled": cast_with_amax, "softmax": softmax,
         "int4 weights, 1 row": int4_weights(1), "int4 weights, 16 rows": int4_weights(16)}


def rows_of(torch, limit):
    begin = time.monotonic()
    for who, make in PEERS.items():
        row = {"group": "torch", "who": who}
        try:
            if time.monotonic() - begin > limit:
                raise TimeoutError("the time was up")
            run, counts = make(torch)
            row |= counts | {"seconds": timed(torch, run)}
        except Exception as why:  # a failure of a peer is reported, whatever its type
            row["missing"] = f"{type(why).__name__}: {str(why)[:200]}"
        torch.cuda.empty_cache()
        print(row, flush=True)
        yield row


def figures(limit):
    try:
        import torch
    except ImportError as why:
        return {"missing": str(why)}
    if not torch.cuda.is_available():
        return {"missing": f"torch {torch.__version__} finds no GPU"}
    return {"torch": torch.__version__, "rows": list(rows_of(torch, limit))}


def main(path, limit=90.0):
    result = figures(float(limit))
    with open(path, "w", encoding="utf-8") as out:
        json.dump(result, out, indent=1)
    if "missing" in result:
        print(f"no figures of torch: {result['missing']}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: torch_peers.py FILE [SECONDS]")
    main(*sys.argv[1:])
