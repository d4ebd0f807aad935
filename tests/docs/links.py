#!/usr/bin/env python3
"""Every relative link of the documentation leads to a file and a heading, and every page that a source file names exists.

Usage: links.py ROOT
"""
import collections
import pathlib
import re
import sys

PAGES = ("*.md", "docs/**/*.md", "bindings/**/README*")
SOURCES = (".ci", "bench", "bindings", "cmake", "docs", "include", "kernels", "samples", "scripts", "src", "tests", "tools")
LINK = re.compile(r"\]\(<?([^)<>\s]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.M)
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.M)
FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2`*$", re.M | re.S)
MENTION = re.compile(r"(?<![\w/.-])docs/[\w./-]+\.md\b")


def blank(found):
    """As many lines as the match has, without text."""
    return "\n" * found.group(0).count("\n")


def prose_of(path):
    """The text without fenced code blocks."""
    return FENCE.sub(blank, path.read_text(encoding="utf-8"))


def anchors_of(text):
    """The anchors of a page: explicit labels, and headings by the rules of GitHub, which MyST shares."""
    anchors, count = set(LABEL.findall(text)), collections.Counter()
    for heading in HEADING.findall(text):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        anchors.add(f"{slug}-{count[slug]}" if count[slug] else slug)
        count[slug] += 1
    return anchors


def dead_links(root, page, text):
    """Line, link and reason of each link that leads nowhere."""
    for link in LINK.finditer(re.sub(r"`[^`\n]*`", lambda code: " " * len(code.group(0)), text)):
        target, _, anchor = link.group(1).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = page.parent / target if target else page
        line = text.count("\n", 0, link.start()) + 1
        if not path.exists() or root not in path.resolve().parents:
            yield line, link.group(1), "no such file"
        elif anchor and (path.suffix != ".md" or anchor not in anchors_of(prose_of(path))):
            yield line, link.group(1), "no such heading"


def missing_pages(root, text):
    """Line, name and reason of each page that a file names and that does not exist."""
    for mention in MENTION.finditer(text):
        if not (root / mention.group(0)).exists():
            yield text.count("\n", 0, mention.start()) + 1, mention.group(0), "no such page"


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    root = pathlib.Path(arguments[0]).resolve()
    pages = sorted({page for pattern in PAGES for page in root.glob(pattern)})
    sources = sorted(file for folder in SOURCES for file in (root / folder).rglob("*") if file.is_file())
    links = dead = 0
    for page in pages:
        text = prose_of(page)
        links += len(LINK.findall(text))
        for line, target, reason in dead_links(root, page, text):
            print(f"{page.relative_to(root)}:{line}: {target}: {reason}")
            dead += 1
    for file in sorted({*pages, *sources, root / "CMakeLists.txt"}):
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for line, target, reason in missing_pages(root, text):
            print(f"{file.relative_to(root)}:{line}: {target}: {reason}")
            dead += 1
    print(f"links: {len(pages)} pages, {links} links, {dead} dead")
    return 1 if dead or links < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
