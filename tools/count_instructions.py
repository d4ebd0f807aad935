#!/usr/bin/env python3
"""Counts the instructions per multiply-add in the inner loops of GEMMs. It measures no time.

Usage: count_instructions.py show OBJECT...
       count_instructions.py write TABLE BUILD_TYPE OBJECT...
       count_instructions.py check TABLE BUILD_TYPE OBJECT...

Counts every function with a loop of tile multiplications, dot products or fused multiply-adds of vectors: of its innermost
loops, the one with the most multiply-adds. The instructions of the loop are those between its first one and its backward jump,
without padding. `around` are those of the enclosing loop if it has no other inner loop: work per block of k, such as scaling.
`check` compares with TABLE. It fails if either count is over 10 % higher, and if a function was added or removed, because no
test covers these cases. It exits with 77, skipped, if another compiler or build type made the objects.
"""
import csv
import re
import subprocess
import sys

TOLERANCE = 1.10
SKIPPED = 77
# Multiply-adds per 32-bit lane. The first one found in a loop defines the kind of the loop.
DOTS = {"vpdpbusd": 4, "vdpbf16ps": 2, "vpdpwssd": 2, "vfmadd": 1}
# Multiply-adds per tile instruction: 16 rows by 16 columns over 64 bytes of k.
TILES = {"tdpbf16ps": 16 * 16 * 32, "tdpbssd": 16 * 16 * 64}
PADDING = re.compile(r"(data16 |cs )*nop|xchg %ax,%ax")
LANES = {"zmm": 16, "ymm": 8, "xmm": 4}
COLUMNS = ["source", "function", "instruction", "instructions", "multiply_adds", "around"]
HEAD = """\
# One iteration of the inner loops of GEMMs, counted; tools/count_instructions.py says how.
# Made by: cmake --build --preset test --target gemm_instructions
"""


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def functions_of(path):
    """Yields (demangled name, [(address, mnemonic, operands)])."""
    name, code = None, []
    for line in output_of("objdump", "-d", "-C", "-w", "--no-show-raw-insn", path).splitlines():
        head = re.fullmatch(r"[0-9a-f]+ <(.*)>:", line)
        if head:
            if name:
                yield name, code
            name, code = head[1], []
            continue
        step = re.match(r"\s*([0-9a-f]+):\s+(?:\{\w+\}\s+)?(\S+)\s*(.*)", line)
        if step and name:
            code.append((int(step[1], 16), step[2], step[3]))
    if name:
        yield name, code


def loops_of(code):
    """Returns {first address: last address}. Backward jumps to one address are one loop."""
    ends = {}
    first_address = code[0][0] if code else 0
    for address, mnemonic, operands in code:
        target = re.match(r"([0-9a-f]+)\b", operands)
        if mnemonic.startswith("j") and target and first_address <= int(target[1], 16) <= address:
            ends[int(target[1], 16)] = address
    return ends


def within(code, start, end):
    return [step for step in code if start <= step[0] <= end and not PADDING.match(f"{step[1]} {step[2]}")]


def innermost_loops(code):
    """Yields the loops without inner loops, as (instructions, number of instructions around)."""
    loops = sorted(loops_of(code).items())
    inner = [(start, end) for start, end in loops
             if not any(start <= s and e <= end and (s, e) != (start, end) for s, e in loops)]
    for start, end in inner:
        loop = within(code, start, end)
        outer = min(((s, e) for s, e in loops if s <= start and end <= e and (s, e) != (start, end)),
                    key=lambda span: span[1] - span[0], default=None)
        is_alone = outer and sum(outer[0] <= s and e <= outer[1] for s, e in inner) == 1
        yield loop, len(within(code, *outer)) - len(loop) if is_alone else 0


def multiply_adds(loop):
    """Returns (the multiply instruction, multiply-adds of one iteration); ("", 0) if there are none."""
    for dot, each in TILES.items():
        if work := each * sum(mnemonic == dot for _, mnemonic, _ in loop):
            return dot, work
    for dot, each in DOTS.items():
        lanes = [LANES[re.findall(r"%([xyz]mm)\d+", operands)[-1]] for _, mnemonic, operands in loop
                 if mnemonic.startswith(dot) and (dot != "vfmadd" or mnemonic.endswith("ps"))]
        if lanes:
            return dot if dot != "vfmadd" else "vfmadd…ps", each * sum(lanes)
    return "", 0


def short_name(name):
    """Returns a function name without parameters and namespaces of the library."""
    name = re.sub(r"(lpt::|\(anonymous namespace\)::|^void )", "", name)
    depth = 0
    for i, sign in enumerate(name):
        depth += (sign == "<") - (sign == ">")
        if sign == "(" and depth == 0:
            tail = re.search(r"\s\[clone.*\]$", name)
            return name[:i] + (tail[0] if tail else "")
    return name


def source_of(path):
    """Returns kernels/gemm/x86/x86_avx2.cpp of …/lpt_kernels_x86_avx2.dir/gemm/x86/x86_avx2.cpp.o, or of its unity build."""
    return "kernels/" + re.search(r"(\w+/x86/\w+\.cpp)(?:_cxx\.cxx)?\.o$", path)[1]


def count(objects):
    """Returns {(source, function): (instruction, instructions, multiply-adds, instructions around)}."""
    table = {}
    for path in objects:
        for name, code in functions_of(path):
            counted = [(*multiply_adds(loop), len(loop), around) for loop, around in innermost_loops(code)]
            dot, work, length, around = max(counted, key=lambda entry: (entry[1], -entry[2]), default=("", 0, 0, 0))
            if work:
                key, twins = (source_of(path), short_name(name)), 2
                while key in table:  # overloads
                    key, twins = (source_of(path), f"{short_name(name)} #{twins}"), twins + 1
                table[key] = (dot, length, work, around)
    return table


def maker_of(objects, build_type):
    """Returns the compiler and build type, such as "GCC 12.2, RelWithDebInfo": loops of others are not comparable."""
    text = " ".join(output_of("readelf", "-p", ".comment", objects[0]).split())
    compiler = re.search(r"(GCC|clang)\D.*?\b(\d+\.\d+)\.\d+", text)
    return f"{compiler[1]} {compiler[2]}, {build_type}" if compiler else f"an unknown compiler, {build_type}"


def read_table(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    maker = next((line[len("# Maker: "):] for line in lines if line.startswith("# Maker: ")), "unknown")
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return maker, {(row["source"], row["function"]): (row["instruction"], int(row["instructions"]),
                                                      int(row["multiply_adds"]), int(row["around"])) for row in rows}


def write_table(path, maker, table):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"{HEAD}# Maker: {maker}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([*key, *entry] for key, entry in sorted(table.items()))


def compare(stored, found):
    offences = [f"{key[0]}: {key[1]} is gone, or has no loop of multiply-adds"
                for key in sorted(stored.keys() - found.keys())]
    offences += [f"{key[0]}: {key[1]} is new" for key in sorted(found.keys() - stored.keys())]
    for key in sorted(stored.keys() & found.keys()):
        (_, length_then, work_then, around_then), (dot, length, work, around) = stored[key], found[key]
        ratio = (length / work) / (length_then / work_then)
        if around / work > TOLERANCE * around_then / work_then:
            offences.append(f"{key[0]}: {key[1]}: {around} instructions around the loop, {around_then} before")
        if ratio > TOLERANCE:
            offences.append(f"{key[0]}: {key[1]}: {length} instructions for {work} multiply-adds by {dot}, "
                            f"{100 * (ratio - 1):.0f} % more for each than {length_then} for {work_then}")
    return offences


def check(path, maker, found):
    stored_maker, stored = read_table(path)
    if maker != stored_maker:
        print(f"count_instructions: skipped: the table is of {stored_maker}, the objects of {maker}")
        return SKIPPED
    offences = compare(stored, found)
    for offence in offences:
        print(offence)
    print(f"count_instructions: {len(found)} loops, {len(offences)} offences")
    if offences:
        print("where it is meant so: cmake --build --preset test --target gemm_instructions")
    return 1 if offences else 0


def main(arguments):
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    named = {"show": 0, "write": 2, "check": 2}.get(command)
    if named is None or len(rest) <= named:
        sys.exit(__doc__)
    try:
        objects = rest[named:]
        found = count(objects)
        if command == "show":
            for (source, function), (dot, length, work, around) in sorted(found.items()):
                print(f"{source:36} {function:56} {dot:10} {length:5} / {work:5} = {length / work:.4f}, "
                      f"{around:3} around")
            return 0
        maker = maker_of(objects, rest[1])
        if command == "check":
            return check(rest[0], maker, found)
        write_table(rest[0], maker, found)
        print(f"count_instructions: {len(found)} loops of {maker} in {rest[0]}")
        return 0
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as problem:
        sys.exit(f"count_instructions: {problem} {getattr(problem, 'stderr', '') or ''}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
