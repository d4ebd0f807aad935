#!/usr/bin/env python3
"""Converts corpora of the fuzz targets: one input per line in hexadecimal digits; a line that begins with # is a comment.

Usage: fuzz_corpus.py expand CORPUS FOLDER     writes each input to a file, as libFuzzer reads them
       fuzz_corpus.py collect FOLDER CORPUS    replaces the inputs of the corpus by those of the folder

A corpus is updated from the findings of scripts/fuzz. For `api`:

    build/fuzz/tests/fuzz/fuzz_api -merge=1 -max_len=256 build/fuzz/fewest build/fuzz/grown/api build/fuzz/seeds/api
    tools/fuzz_corpus.py collect build/fuzz/fewest tests/fuzz/corpus/api.txt

Of more than 48 inputs, a subset is kept that is evenly spread over the lengths.
"""
import hashlib
import pathlib
import sys

MOST_INPUTS = 48


def lines_of(corpus):
    return corpus.read_text(encoding="ascii").splitlines() if corpus.exists() else []


def expand(corpus, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for line in lines_of(corpus):
        if not line.startswith("#"):
            data = bytes.fromhex(line)
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def collect(folder, corpus):
    inputs = sorted((file.read_bytes() for file in folder.iterdir()), key=lambda data: (len(data), data))
    if len(inputs) > MOST_INPUTS:
        inputs = [inputs[i * (len(inputs) - 1) // (MOST_INPUTS - 1)] for i in range(MOST_INPUTS)]
    comments = [line for line in lines_of(corpus) if line.startswith("#")]
    corpus.write_text("\n".join([*comments, *(data.hex() for data in inputs)]) + "\n", encoding="ascii")


def main(arguments):
    if len(arguments) != 3 or arguments[0] not in ("expand", "collect"):
        print(__doc__, file=sys.stderr)
        return 2
    {"expand": expand, "collect": collect}[arguments[0]](*map(pathlib.Path, arguments[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
