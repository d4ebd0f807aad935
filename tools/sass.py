#!/usr/bin/env python3
"""Reads compiled CUDA kernels: counts instructions and widths of loads and stores in cubins. Needs neither a GPU nor cuobjdump.

Usage: sass.py show CUBIN...
       sass.py write TABLE CUBIN...
       sass.py check TABLE CUBIN...
       sass.py need NAME LEAST KERNEL CUBIN...

A CUBIN may also be the host object of nvcc, FAMILY/NAME.cu.o, which contains the cubin of sm_90a.

A kernel is a section `.text.<name>` of 16-byte instructions (sm_70 and later). The low twelve bits of an instruction are its
opcode, bits 73 to 75 of a load or store its width. `check` fails if a kernel accesses local memory (register spills, arrays
with a variable index), if it has over 10 % more instructions than TABLE, if fewer of its loads and stores are 128 bits wide,
and if a kernel was added or removed. `need` fails if a kernel whose name begins with KERNEL has fewer than LEAST instructions
of a NAME, or if there is no such kernel. `check` exits with 77, skipped, if another toolkit made the cubins. The counts are of
the full kernel, including its slow paths: ends of rows, values that are not finite.
"""
import csv
import pathlib
import re
import struct
import subprocess
import sys

TOLERANCE = 1.10
SKIPPED = 77
INSTRUCTION = 16
GLOBAL_LOADS, GLOBAL_STORES = {0x981, 0x381}, {0x986, 0x386}
LOCAL = {0x983, 0x383, 0x387, 0x987}
PADDING = {0x918}  # NOP
NAMED = {"HMMA": {0x23C}, "IMMA": {0x237}, "HGMMA": {0x9F0, 0xDF0}, "QGMMA": {0x9F3, 0xDF3},  # of tensor cores
         "LDGSTS": {0xFAE}}  # asynchronous copies to shared memory
WIDE = 6  # 128 bits
FAT_HEAD, FAT_CUBIN = 16, 2
COLUMNS = ["family", "kernel", "instructions", "global", "wide", "local"]
HEAD = """\
# CUDA kernels, counted; tools/sass.py says how.
# Made by: cmake --build --preset test --target cuda_instructions
"""


def sections_of(image):
    """Yields (name, bytes) of the sections of a 64-bit ELF file."""
    if image[:5] != b"\x7fELF\x02":
        raise ValueError("no 64-bit ELF file")
    (start,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, start + i * size) for i in range(count)]
    names = headers[names_at][4]
    for name_at, kind, _, _, offset, length in headers:
        end = image.index(b"\0", names + name_at)
        yield image[names + name_at:end].decode(), b"" if kind == 8 else image[offset:offset + length]


def cubin_in(image):
    """Returns the cubin of sm_90a in an nvcc object. A 16-byte header precedes entries with kind, size, architecture."""
    fat = next((data for name, data in sections_of(image) if name == ".nv_fatbin"), b"")
    at = FAT_HEAD
    while at < len(fat):
        kind, _, head, size = struct.unpack_from("<HHIQ", fat, at)
        (architecture,) = struct.unpack_from("<I", fat, at + 28)
        if (kind, architecture) == (FAT_CUBIN, 90):
            return fat[at + head:at + head + size]
        at += head + size
    raise ValueError("no cubin of sm_90a")


def cubin_of(path):
    image = path.read_bytes()
    return cubin_in(image) if path.suffix == ".o" else image


def family_of(path):
    """Returns the family of kernels, by the folder of an object or the first word of a cubin: quantize."""
    if path.suffix != ".o":
        return path.name.split(".")[0]
    return (path.parent.parent if path.parent.name == "cuda" else path.parent).name


def toolkit_of(image):
    """Returns the compiler version stored in the file: 13.0."""
    found = re.search(rb"Cuda compilation tools, release (\d+\.\d+)", image)
    return found[1].decode() if found else "unknown"


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True, text=True).stdout
    return text.splitlines()


def short_name(name):
    """Returns a name without namespaces, casts and arguments: quantize_fragments<5, 2, 0, true>."""
    name = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    name = re.sub(r"\([\w:]+\)(?=\d)", "", name)  # casts in front of numbers
    name = re.sub(r"\([^()]*\)$", "", name)  # arguments
    return re.sub(r"\b(\d+)u?l\b", r"\1", name).replace("lpt::", "")


def counted(code):
    """Returns {column: number} of one kernel."""
    words = struct.iter_unpack("<QQ", code)
    steps = [(low & 0xFFF, high >> 9 & 7) for low, high in words]
    steps = [(opcode, width) for opcode, width in steps if opcode not in PADDING]
    moves = [width for opcode, width in steps if opcode in GLOBAL_LOADS | GLOBAL_STORES]
    return {
        "instructions": len(steps),
        "global": len(moves),
        "wide": sum(width == WIDE for width in moves),
        "local": sum(opcode in LOCAL for opcode, _ in steps),
    }


def codes_of(path):
    """Yields (kernel, its instructions) of a cubin."""
    code = {name[len(".text."):]: data for name, data in sections_of(cubin_of(path)) if name.startswith(".text.")}
    for name, data in zip(demangled(code), code.values()):
        yield short_name(name), data


def kernels_of(paths):
    """Returns the rows of the table, by (family, kernel)."""
    rows = {}
    for path in map(pathlib.Path, paths):
        for kernel, data in codes_of(path):
            rows[family_of(path), kernel] = {"family": family_of(path), "kernel": kernel} | counted(data)
    return rows


def maker_of(paths):
    return "nvcc " + ", ".join(sorted({toolkit_of(pathlib.Path(path).read_bytes()) for path in paths}))


def show(rows, out=sys.stdout):
    table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows[key] for key in sorted(rows))


def write(path, paths):
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEAD + f"# Maker: {maker_of(paths)}\n")
        show(kernels_of(paths), out)


def read(path):
    """Returns (maker, rows) of a table."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    maker = next((line[len("# Maker: "):] for line in lines if line.startswith("# Maker: ")), "")
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return maker, {(row["family"], row["kernel"]): row for row in rows}


def offences_of(row, stored):
    """Returns the offences of one kernel. `stored` is None if the table has none."""
    if row["local"]:
        yield f"{row['local']} accesses of local memory: expected none"
    if stored is None:
        yield "is not in the table: expected what `write` puts there"
        return
    most = int(int(stored["instructions"]) * TOLERANCE)
    if row["instructions"] > most:
        yield f"{row['instructions']} instructions: expected at most {most}"
    if row["wide"] * int(stored["global"]) < int(stored["wide"]) * row["global"]:
        yield f"{row['wide']} of {row['global']} accesses are 128 bits wide: expected {stored['wide']} of {stored['global']}"


def check(path, paths):
    maker, stored = read(path)
    if maker != maker_of(paths):
        print(f"skipped: the table is of {maker}, the cubins of {maker_of(paths)}")
        return SKIPPED
    rows = kernels_of(paths)
    bad = [f"{key[0]}: {key[1]}: {why}" for key in sorted(rows) for why in offences_of(rows[key], stored.get(key))]
    bad += [f"{key[0]}: {key[1]}: is in the table, and nowhere else" for key in sorted(stored) if key not in rows]
    print("\n".join(bad + [f"sass: {len(rows)} kernels, {len(bad)} offences"]))
    return 1 if bad or not rows else 0


def need(name, least, beginning, paths):
    bad = count = 0
    for path in map(pathlib.Path, paths):
        for kernel, data in codes_of(path):
            if not kernel.startswith(beginning):
                continue
            found = sum(low & 0xFFF in NAMED[name] for low, _ in struct.iter_unpack("<QQ", data))
            count += 1
            bad += found < least
            if found < least:
                print(f"{path.name}: {kernel}: {found} {name}: expected at least {least}")
    print(f"sass: {count} kernels, {bad} without {name}")
    return 1 if bad or not count else 0


def main(arguments):
    if len(arguments) > 1 and arguments[0] == "show":
        return show(kernels_of(arguments[1:]))
    if len(arguments) > 2 and arguments[0] == "write":
        return write(arguments[1], arguments[2:])
    if len(arguments) > 2 and arguments[0] == "check":
        return check(arguments[1], arguments[2:])
    if len(arguments) > 4 and arguments[0] == "need" and arguments[1] in NAMED:
        return need(arguments[1], int(arguments[2]), arguments[3], arguments[4:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
