#!/usr/bin/env python3
"""Counts words that the project replaces by standard terms: in identifiers, comments and texts.

Usage: check_words.py [--most N] [--list] PATH...   PATH: files or folders, from the root of the project

A name is split at '_' and at capitals. Prints one line per word and its count, the sums of the folders, and the total. Exit
status 1 if the total exceeds N, which is 0 by default. --list: prints one line per occurrence instead.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Parts of names, and words of comments.
PARTS = re.compile(
    r"loose|loosen|thin|thinness|letters?|patience|parcels?|mailbox|crew|seat|ticket|wanted|ask(s|ed|ing)?|unasked|(un)?told|truths?"
    r"|travel(s|led|ling)?|turn(s|ed|ing)?|swaps?|strips?|stretch|spots?|meets?|met|meeting|wish(es)?|lift|woven|weave|tame|spoils?"
    r"|nobody|dialects?|numeral|worths|octet|heed|news|refus(al|als|e|ed|es|ing)|anew|processors?")
PHRASES = re.compile(
    r"[Mm]atrix products?|[Ww]hole products?|library.s products?|// Products? (whose|by (weights|rows))|GPUs? of NVIDIA|\w_there\b"
    r"|[a-z]There\b|\bRow<|\b(Device|Gemm|Library)Row\b|\b(four floors|rooms?)\b|that (day|evening)|the same day"
    r"|minutes of|bars? (of|met)\b|\blies\b|\bsave (where|for|that)")
# Uses that are standard.
EXCEPTIONS = re.compile(
    r"processor_count|multiProcessorCount|\bPROCESSORS\b|CMAKE_STRIP|(\.|->|::|\bto_)strip(ped)?\(|\bl?r?strip\(|std::swap|(\.|->)swap\(|\bstd::(iter_)?swap|processor\s*:"
    r"|CMAKE_SYSTEM_PROCESSOR|07_late_residual|\bin turn\b|\breturns?\b|OUTPUT_STRIP_TRAILING_WHITESPACE|\"[Ss]trip\"|--strip-unneeded"
    r"|\.strip_prefix\(|STRIP_FROM_\w+|octet-stream|ProcessorCount\b"
    r"|post_processor|SentencePieceProcessor|tokenizers\.processors|\"processors\"")
WORD = re.compile(r"[A-Za-z]+")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SKIPPED = ("tests/golden/", "tests/abi/clients", "tools/check_words.py")
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".inc", ".py", ".i", ".txt", ".cmake", ".md", ".sh", ".rs", ".cs", ".jl", ""}


def files_of(paths):
    """Yields the text files at or below each path, as names from the root."""
    for path in paths:
        found = [ROOT / path] if (ROOT / path).is_file() else sorted((ROOT / path).rglob("*"))
        for file in found:
            name = file.relative_to(ROOT).as_posix()
            if file.is_file() and file.suffix in SUFFIXES and "__pycache__" not in name and not name.startswith(SKIPPED):
                yield name


def words_of(line):
    """Yields the replaced words of a line."""
    line = EXCEPTIONS.sub("", line)
    for word in WORD.findall(line):
        for part in PIECE.findall(word):
            if PARTS.fullmatch(part.lower()):
                yield part.lower()
    for phrase in PHRASES.finditer(line):
        yield phrase.group(0)


def main(arguments):
    most, is_list, paths = 0, False, []
    while arguments:
        argument = arguments.pop(0)
        if argument == "--most":
            most = int(arguments.pop(0))
        elif argument == "--list":
            is_list = True
        else:
            paths.append(argument)
    if not paths:
        sys.exit(__doc__)
    words, folders = collections.Counter(), collections.Counter()
    for name in files_of(paths):
        try:
            lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate([name, *lines]):
            for word in words_of(line):
                words[word] += 1
                folders[name.split("/")[0]] += 1
                if is_list:
                    print(f"{name}:{number}: {word}: {line.strip()}")
    if not is_list:
        print("".join(f"{count:6} {word}\n" for word, count in words.most_common()), end="")
    total = sum(folders.values())
    print("".join(f"{folder}: {count}\n" for folder, count in sorted(folders.items())), end="")
    print(f"check_words: {total} words, at most {most} allowed")
    return 1 if total > most else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
