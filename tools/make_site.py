#!/usr/bin/env python3
"""Writes the sources of the documentation site: copies of the guides, and the pages of the C reference.

Usage: make_site.py TREE XML     TREE: empty folder to write; XML: output of Doxygen for include/

scripts/docs runs it. Its output is not committed.
"""
import os
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
# Pages outside docs/ that are part of the site.
OTHER_PAGES = {"CONTRIBUTING.md": "contributing/guide.md", "CHANGELOG.md": "reference/changelog.md"}


# Guides.

def copy_guides(tree):
    """Copies the pages. Links out of docs/ point to copies of the files."""
    pages = {path: tree / path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*") if path.is_file()}
    pages |= {ROOT / source: tree / page for source, page in OTHER_PAGES.items()}
    for source, page in pages.items():
        page.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            text = LINK.sub(lambda link: new_link(link, source, pages, tree), source.read_text(encoding="utf-8"))
            page.write_text(text, encoding="utf-8")
        else:
            shutil.copy(source, page)


def new_link(link, source, pages, tree):
    text, target, anchor = link.groups(default="")
    path = pathlib.Path(os.path.normpath(source.parent / target))
    if "://" in target or not path.exists():
        return link.group(0)
    if path in pages:
        return f"[{text}]({os.path.relpath(pages[path], pages[source].parent)}{anchor})"
    if path.is_dir():
        return text
    copy = tree / "files" / path.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, copy)
    return f"[{text}](/{copy.relative_to(tree)})"


# C.

SECTIONS = (("Functions", "function", "doxygenfunction"), ("Structs", "struct", "doxygenstruct"), ("Enumerations", "enum", "doxygenenum"),
            ("Types", "typedef", "doxygentypedef"), ("Macros", "define", "doxygendefine"))


def text_of(node):
    return re.sub(r"\s+", " ", "".join(node.itertext())).strip() if node is not None else ""


def escaped(text):
    """Escapes text for a Markdown table cell."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text)


class Header:
    """A topic header: its brief, and its members as (kind, name, brief) in file order."""

    def __init__(self, compound, structs):
        names_of_structs = {text_of(struct.find("compoundname")) for struct in structs.values()}
        self.label = compound.get("id")  # Doxygen links to it where a text contains the file name
        self.path = compound.find("location").get("file")
        self.page = self.path.removeprefix("lpt/").removesuffix(".h")
        self.brief = text_of(compound.find("briefdescription"))
        names = {struct.get("refid"): text_of(struct) for struct in compound.findall("innerclass")}
        members = [(int(structs[key].find("location").get("line")), "struct", name, text_of(structs[key].find("briefdescription")))
                   for key, name in names.items()]
        for member in compound.iter("memberdef"):
            name = member.findtext("name")
            # The typedef of a struct has the name of the struct. Include guards are not part of the interface.
            if name not in names_of_structs and not (member.get("kind") == "define" and name.endswith("_H")):
                brief = text_of(member.find("briefdescription"))
                members.append((int(member.find("location").get("line")), member.get("kind"), name, brief))
        self.members = [member[1:] for member in sorted(members)]


def read_headers(xml):
    """Returns the topic headers by path."""
    compounds = [ElementTree.parse(file).getroot().find("compounddef") for file in sorted(xml.glob("*.xml"))
                 if file.name not in ("index.xml", "Doxyfile.xml")]
    structs = {compound.get("id"): compound for compound in compounds if compound.get("kind") == "struct"}
    headers = [Header(compound, structs) for compound in compounds if compound.get("kind") == "file"]
    return {header.path: header for header in headers if header.members}


def write_header_page(folder, header):
    umbrella = "lpt/research.h" if "/research/" in header.path else "lpt.h"
    lines = [f"({header.label})=", f"# {header.path}", "", escaped(header.brief), "", "```c", f"#include <{umbrella}>", "```", ""]
    for title, kind, directive in SECTIONS:
        members = [name for member_kind, name, _ in header.members if member_kind == kind]
        if members:
            lines += [f"## {title}", ""]
        for name in members:
            options = [":members:", ":undoc-members:"] if kind == "struct" else []
            lines += [f"```{{{directive}}} {name}", *options, "```", ""]
    page = folder / f"{header.page}.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines), encoding="utf-8")


def write_c_reference(tree, xml):
    """Writes a page for each topic header, the rules of lpt.h, and an index in the order of lpt.h."""
    folder, headers = tree / "reference" / "c-api", read_headers(xml)
    lines = ["(research_8h)=", "# C interface", "", "`#include <lpt.h>` declares everything except the research features, which `<lpt/research.h>` adds.",
             "[The rules of the interface](rules.md) hold for every function.", "", "```{toctree}", ":hidden:", "", "rules"]
    groups = re.findall(r"^/\* (.*?)\. \*/\n((?:#include .*\n)+)", (ROOT / "include/lpt.h").read_text(encoding="utf-8"), re.M)
    groups = [(title, [f"lpt/{name}" for name in re.findall(r'"lpt/(.*?)"', includes)]) for title, includes in groups]
    groups.append(("Research features", sorted(path for path in headers if "/research/" in path)))
    listed = [headers[path] for _, paths in groups for path in paths]
    assert len(listed) == len(headers), sorted(set(headers) - {header.path for header in listed})
    lines += [*(header.page for header in listed), "```", "", "## Headers", ""]
    for title, paths in groups:
        lines += [f"**{title}**", "", "| header | content |", "|---|---|"]
        lines += [f"| [{path}]({headers[path].page}.md) | {escaped(headers[path].brief)} |" for path in paths] + [""]
    lines += ["## Functions", "", "| function | purpose |", "|---|---|"]
    functions = sorted((name, brief) for header in listed for kind, name, brief in header.members if kind == "function")
    lines += [f"| {{c:func}}`{name}` | {escaped(brief)} |" for name, brief in functions]
    folder.mkdir(parents=True)
    (folder / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "rules.md").write_text("(lpt_8h)=\n# Rules of the C interface\n\n```{doxygenfile} lpt.h\n:sections: detaileddescription\n```\n",
                                     encoding="utf-8")
    for header in listed:
        write_header_page(folder, header)


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    tree, xml = map(pathlib.Path, arguments)
    copy_guides(tree)
    write_c_reference(tree, xml)


if __name__ == "__main__":
    main(sys.argv[1:])
