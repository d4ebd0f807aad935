#!/usr/bin/env python3
"""Checks the prose of README.md, CONTRIBUTING.md, CHANGELOG.md and docs/.

Usage: prose.py sentences ROOT   a sentence has at most 25 words, and the sentences of a page have at most 18 on average
       prose.py spelling ROOT    hunspell's dictionary or words.txt has every word, also those of comments in include/

Code is left out; a code span counts as one word. Tables and headings are checked for spelling only. Exit status 1 if something is found,
77 if hunspell is missing.
"""
import pathlib
import re
import shutil
import subprocess
import sys

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
WORDS = pathlib.Path(__file__).with_name("words.txt")
MOST_WORDS, MOST_MEAN = 25, 18
FENCE = re.compile(r"\s*(`{3,}|~{3,}|:{3,})\s*(.*)")
# Directives whose content is prose; that of a fence of colons always is.
PROSE = re.compile(r"\{(admonition|attention|caution|hint|important|note|seealso|tip|warning)\}")
ITEM = re.compile(r"\s*([-*+]|\d+[.)]|>|\[\^[^\]]+\]:)\s")
OTHER = re.compile(r"\s*(\||#)")  # a row of a table, or a heading
SKIPPED = re.compile(r"\s*(:[\w-]+:|\([\w-]+\)=$|[-=^+*_ ]+$)")  # an option of a directive, a label, a rule
# Markup, and what replaces it.
MARKUP = ((r"(?s)(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "code"), (r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1"), (r"\[\^[^\]]+\]", ""),
          (r"<?https?://[^\s>)]+>?", "link"), (r"</?[A-Za-z][^>]*>", ""), (r"\*+|(?<!\w)_|_(?!\w)", ""))
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|al|approx|resp|Fig|Sec|Eq)\.(?=\s)")
END = re.compile(r"(?<=[^.][.!?])[\"')\]]*(?:\s+|$)")
# Words without digits and underscores, and not part of a file name. Those with capitals inside are names.
WORD = re.compile(r"(?<![\w@\\+])(?<!\w\.)[^\W\d_ᵀ]{2,}(?:'[a-z]+)?(?![\w(]|\.[a-z]|/\w+[/.]\w)")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def lines_of(found):
    return "\n" * found.group(0).count("\n")


def blocks(text):
    """Line, text and whether it is prose, of each paragraph, item, row of a table and heading."""
    text = re.sub(r"<!--.*?-->", lines_of, text, flags=re.S)
    code, open_fences, found, is_new, is_list = None, [], [], True, False
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence:
            mark, title = fence.groups()
            if code:
                code = None if mark.startswith(code) and not title else code
            elif open_fences and mark.startswith(open_fences[-1]) and not title:
                open_fences.pop()
            elif mark[0] == ":" or PROSE.match(title):
                open_fences.append(mark)
                found.append([number, title.partition("}")[2], False])
            else:
                code = mark
        is_code = code or (line.startswith("    ") and is_new and not is_list)
        if fence or is_code or not line.strip() or SKIPPED.match(line):
            is_new = True
            continue
        item, is_other = ITEM.match(line), OTHER.match(line)
        # A number begins a list, but is part of a paragraph that goes on.
        item = item if item and (is_new or is_list or not item.group(1)[0].isdigit()) else None
        is_list = bool(item) or (is_list and (line[0] == " " or not is_new))
        if is_new or item or is_other:
            found.append([number, line[item.end():] if item else line, not is_other])
        else:
            found[-1][1] += "\n" + line
        is_new = bool(is_other)
    for number, text, is_prose in found:
        for pattern, replacement in MARKUP:
            text = re.sub(pattern, lambda one: one.expand(replacement) + (lines_of(one) if replacement != r"\1" else ""), text)
        yield number, text, is_prose


def long_sentences(page):
    """Line, count and text of each sentence that is too long, and the mean of the page."""
    counts = []
    for number, text, is_prose in blocks(page.read_text(encoding="utf-8")):
        text, begin = ABBREVIATION.sub(r"\1", text), 0
        for end in [one.end() for one in END.finditer(text)] + [len(text)]:
            sentence = text[begin:end]
            count = sum(bool(re.search(r"\w", word)) for word in sentence.split())
            if is_prose and count > MOST_WORDS:
                yield number + text.count("\n", 0, begin), f"{count} words: {' '.join(sentence.split())}"
            # Shorter ones are labels.
            if is_prose and count > 2 and sentence.rstrip(" \n\"')]")[-1:] in (".", "!", "?", ":"):
                counts.append(count)
            begin = end
    if counts and sum(counts) > MOST_MEAN * len(counts):
        yield 1, f"{sum(counts) / len(counts):.1f} words a sentence on average: expected at most {MOST_MEAN}"


def comments(header):
    """Line and text of each comment of a header, without code."""
    text = header.read_text(encoding="utf-8")
    for found in COMMENT.finditer(text):
        comment = re.sub(r"@code.*?@endcode", lines_of, found.group(0), flags=re.S)
        comment = re.sub(r"`[^`]*`|\"[^\"\n]*\"|https?://\S+|@(param\S*\s+\w+(, \w+)*|file\s+\S+)", lines_of, comment)
        yield text.count("\n", 0, found.start()) + 1, comment, True


def misspelled(words):
    """Those of the words that are not in the dictionary; None if there is no dictionary."""
    if not shutil.which("hunspell"):
        return None
    run = subprocess.run(["hunspell", "-d", "en_US", "-i", "utf-8", "-l"], input="\n".join(words), capture_output=True, encoding="utf-8")
    return set(run.stdout.split()) if run.returncode == 0 else None


def spelling(root, pages):
    """Page, line and text of each misspelled word; None if there is no dictionary."""
    texts = [(page, *one) for page in pages for one in blocks(page.read_text(encoding="utf-8"))]
    texts += [(header, *one) for header in sorted(root.glob("include/**/*.h")) for one in comments(header)]
    words = [(page, number + text.count("\n", 0, word.start()), re.sub("'s$|(?<=[A-Z]{2})s$", "", word.group(0)))
             for page, number, text, _ in texts for word in WORD.finditer(text)]
    words = [one for one in words if one[2].isupper() or one[2][1:].islower()]
    unknown = misspelled({one[2] for one in words})
    if unknown is None:
        return None
    listed = WORDS.read_text(encoding="utf-8").splitlines()
    unknown -= {form for word in listed for form in (word, word.capitalize(), word.upper())}
    unsorted = [] if listed == sorted(set(listed), key=str.lower) else [(WORDS.resolve(), 1, "the words are not sorted")]
    return unsorted + [one for one in words if one[2] in unknown]


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("sentences", "spelling"):
        sys.exit(__doc__)
    root = pathlib.Path(arguments[1]).resolve()
    pages = sorted(page for pattern in PAGES for page in root.glob(pattern))
    if arguments[0] == "sentences":
        found = [(page, *one) for page in pages for one in long_sentences(page)]
    else:
        found = spelling(root, pages)
    if found is None:
        print("prose: skipped: hunspell or its dictionary en_US is missing; scripts/bootstrap installs them")
        return 77
    for path, number, finding in found:
        print(f"{path.relative_to(root)}:{number}: {finding}")
    print(f"prose {arguments[0]}: {len(pages)} pages, {len(found)} findings")
    return 1 if found or len(pages) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
