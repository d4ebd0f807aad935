#!/usr/bin/env python3
"""Compiles the C and C++ of the README, the guides and lpt.h, and runs programs.

Usage: snippets.py ROOT LIBRARY_FOLDER C_COMPILER CXX_COMPILER

A block that has a main() is a program. Another one is a fragment: it is compiled as the body of a function, after the handles of
prelude.h, and each call of the library in it may leave its status unlooked at, as text does. Paragraphs that begin with "static" are
functions, and stand before it.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(c|cpp)\n(.*?)^```$", re.M | re.S)
CODE = re.compile(r"^ \* @code\{\.(c)\}\n(.*?)^ \* @endcode$", re.M | re.S)
LANGUAGES = {"c": (2, ["-x", "c", "-std=c99"]), "cpp": (3, ["-x", "c++", "-std=c++20"])}


def source_of(text):
    if "main(" in text:
        return text
    paragraphs = text.split("\n\n")
    functions = [paragraph for paragraph in paragraphs if paragraph.startswith("static ")]
    body = "\n\n".join(paragraph for paragraph in paragraphs if paragraph not in functions)
    before = "\n".join(functions)
    return f'#include "prelude.h"\n{before}\nvoid fragment(void);\nvoid fragment(void) {{\n{body}}}\n'


def tried(root, libraries, compiler, flags, text, program):
    """None, or what the compiler or the program says of a block."""
    includes = [f"-I{root}/include", f"-I{root}/bindings/cpp", f"-I{root}/tests/docs"]
    is_program = "main(" in text
    link = ["-x", "none", f"-L{libraries}", "-llpt", f"-Wl,-rpath,{libraries}", "-o", program] if is_program else ["-fsyntax-only"]
    command = [compiler, *flags, "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused", *includes, "-", *link]
    done = subprocess.run(command, input=source_of(text), capture_output=True, text=True, check=False)
    if done.returncode == 0 and is_program:
        done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    return None if done.returncode == 0 else done.stdout + done.stderr


def main(arguments):
    if len(arguments) != 4:
        sys.exit(__doc__)
    root, libraries = pathlib.Path(arguments[0]), arguments[1]
    blocks = failed = 0
    with tempfile.TemporaryDirectory() as place:
        for path in [root / "include/lpt.h", root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
            text = path.read_text(encoding="utf-8")
            for block in (CODE if path.suffix == ".h" else BLOCK).finditer(text):
                which, flags = LANGUAGES[block.group(1)]
                code = re.sub(r"^ \* ?", "", block.group(2), flags=re.M) if path.suffix == ".h" else block.group(2)
                problem = tried(root, libraries, arguments[which], flags, code, f"{place}/program")
                blocks += 1
                if problem is not None:
                    line = text.count("\n", 0, block.start()) + 1
                    print(f"{path.relative_to(root)}:{line}: the block does not work\n{problem}")
                    failed += 1
    print(f"snippets: {blocks} blocks, {failed} that do not work")
    # Without any, the pattern is wrong.
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
