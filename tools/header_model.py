"""The public headers as data: types as parsed by clang, layouts as measured by gcc.

For tools that generate or check declarations of other languages, and for the check of the binary interface. They read
include/lpt/research.h, which includes all others.

Usage: header_model.py HEADER FLAT [SWIG]
FLAT: the header with its public includes expanded, for tools that read one file. SWIG: a line of bindings/python/capi.i for
each handle and struct with defaults.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

Function = collections.namedtuple("Function", "name returns parameters brief")  # parameters: [(type, name)]
Struct = collections.namedtuple("Struct", "name members size brief")  # members: [Member]
Member = collections.namedtuple("Member", "name type offset bytes")
Kind = collections.namedtuple("Kind", "name base brief constants")  # a typedef of a number; constants: [(name, value)]
Header = collections.namedtuple("Header", "functions structs opaques kinds callbacks")


# Includes of other public headers: in quotes, relative to the including header.
INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.M)


def flattened(path, done=None):
    """Returns the text of a header with its public includes expanded once each. Adds the paths of all to `done`, if given."""
    path, done = pathlib.Path(path).resolve(), [] if done is None else done
    if path in done:
        return ""
    done.append(path)
    return INCLUDE.sub(lambda found: flattened(path.parent / found.group(1), done), path.read_text(encoding="utf-8"))


def headers_of(path):
    """Returns the header and all public headers that it includes."""
    paths = []
    flattened(path, paths)
    return paths


def parsed(text):
    command = ["clang-14", "-x", "c", "-std=c99", "-fsyntax-only", "-Xclang", "-ast-dump=json", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr)
    return json.loads(done.stdout)["inner"]


def brief_before(text, offset):
    """Returns the first sentence of the comment before the declaration at `offset`, on one line."""
    end = text.rfind(b"*/", 0, offset)
    if end < 0 or re.search(rb"[;}]", text[end:offset]):
        return ""
    comment = text[text.rfind(b"/**", 0, end):end].decode()
    said = re.search(r"@brief\s+(.*?)(?:\n\s*\*?\s*\n|\n\s*\*\s*@|$)", comment, flags=re.S)
    return re.sub(r"\s*\n\s*\*\s*", " ", said.group(1)).strip() if said else ""


def spelled(node):
    return node["type"]["qualType"]


def measured(text, structs, constants):
    """Returns sizes, offsets and values from gcc: {(struct, member or None): (offset, bytes)}, {constant: value}."""
    lines = []
    for name, members in structs.items():
        lines.append(f'printf("{name} . 0 %zu\\n", sizeof({name}));')
        lines += [f'printf("{name} {member} %zu %zu\\n", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));'
                  for member, _ in members]
    lines += [f'printf("{name} = %lld 0\\n", (long long){name});' for name in constants]
    source = text + "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, "measure")
        subprocess.run(["gcc", "-x", "c", "-std=c99", "-", "-o", program], input=source, text=True, check=True)
        output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    places, values = {}, {}
    for line in output.splitlines():
        name, member, first, second = line.split()
        if member == "=":
            values[name] = int(first)
        else:
            places[name, member] = (int(first), int(second))
    return places, values


def kind_of(tag, names, typedefs):
    """Returns the typedef whose values an enum lists: by its tag, else by the prefix of its constants."""
    for ending in ("_values", "_kind_values"):
        if tag.endswith(ending) and tag[:-len(ending)] in typedefs:
            return tag[:-len(ending)]
    fitting = [name for name in typedefs if names[0].startswith(name.upper() + "_")]
    if not fitting:
        raise ValueError(f"enum {tag} belongs to no typedef")
    return max(fitting, key=len)


def read_header(header):
    return read_text(flattened(header))


def read_text(text):
    """Returns the interface that a header text declares. The text includes no other public header."""
    source = text.encode()
    functions, structs, enums, typedefs, callbacks, briefs, known = [], {}, {}, {}, {}, {}, set()
    for node in parsed(text):
        name, kind, inner = node.get("name", ""), node["kind"], node.get("inner", [])
        if not name.startswith("lpt_"):
            continue
        brief = brief_before(source, node["loc"]["offset"]) if "offset" in node["loc"] else ""
        if kind == "FunctionDecl":
            parameters = [(spelled(one), one["name"]) for one in inner if one["kind"] == "ParmVarDecl"]
            functions.append(Function(name, spelled(node).split("(")[0].strip(), parameters, brief))
        elif kind == "RecordDecl":
            known.add(name)
            briefs.setdefault(name, brief)
            if node.get("completeDefinition"):
                structs[name] = [(one["name"], spelled(one)) for one in inner if one["kind"] == "FieldDecl"]
        elif kind == "EnumDecl":
            enums[name] = [one["name"] for one in inner if one["kind"] == "EnumConstantDecl"]
        elif kind == "TypedefDecl" and re.fullmatch(r"u?int\d+_t", spelled(node)):
            typedefs[name] = spelled(node)
            briefs[name] = brief
        elif kind == "TypedefDecl" and "(*)" in spelled(node):
            returns, arguments = re.fullmatch(r"(.*?)\s*\(\*\)\((.*)\)", spelled(node)).groups()
            callbacks[name] = (returns, [one.strip() for one in arguments.split(",")])
    places, values = measured(text, structs, [name for names in enums.values() for name in names])
    constants = collections.defaultdict(list)
    for tag, names in enums.items():
        constants[kind_of(tag, names, typedefs)] += [(name, values[name]) for name in names]
    return Header(
        functions,
        [Struct(name, [Member(member, type_, *places[name, member]) for member, type_ in members],
                places[name, "."][1], briefs[name]) for name, members in structs.items()],
        [(name, briefs[name]) for name in sorted(known - structs.keys())],
        [Kind(name, base, briefs[name], constants[name]) for name, base in typedefs.items()],
        callbacks)


def short_names(constants):
    """Returns constants without their common prefix: {LPT_FORMAT_NVFP4: NVFP4}."""
    common = os.path.commonprefix([name for name, _ in constants])
    cut = common.rfind("_") + 1 if len(constants) > 1 else len("LPT_")
    return {name: name[cut:] for name, _ in constants}


def swig_lines(text):
    """Returns LPT_HANDLE(lpt_tensor), LPT_STRUCT(lpt_gemm_options) of a flattened header."""
    found = {"HANDLE": re.findall(r"^LPT_API void (lpt_\w+)_destroy\(", text, re.M),
             "STRUCT": re.findall(r"^#define LPT_\w+_INIT\s*\\\n\s*\{\s*(?:\\\n\s*)?sizeof\((lpt_\w+)\)", text, re.M)}
    return "".join(f"LPT_{kind}({name})\n" for kind, names in found.items() for name in names)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    for path, text_of in zip(sys.argv[2:], (str, swig_lines)):
        pathlib.Path(path).write_text(text_of(flattened(sys.argv[1])), encoding="utf-8")
