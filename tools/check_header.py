#!/usr/bin/env python3
"""Checks the public headers. HEADER is include/lpt/research.h, which includes all others.

Usage: check_header.py compile HEADER                   each separately, as C99, C11, C++11, C++20; HEADER also with clang
       check_header.py swig    HEADER                   SWIG reads it without a warning
       check_header.py link    HEADER LIBLPT_SO         every declared function is in the library, and every struct in
                                                        lpt_struct_init()
       check_header.py exports HEADER EXPORTS_MAP       declared functions are the exported ones, both ways
       check_header.py docs    HEADER                   functions and parameters are documented, sentences short
       check_header.py names   HEADER                   constants, context parameters and members follow the rules

Prints one line per offence, exit status 1.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from check_exports import read_map
from header_model import flattened, headers_of, read_header

WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-Wpadded"]
LANGUAGES = [("c", "c99"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++20")]
COMPILERS = {"c": ["gcc", "clang-14"], "c++": ["g++", "clang++-14"]}

Function = collections.namedtuple("Function", "name returns parameters comment")


def run(command, **options):
    """Runs a command. Returns (succeeded, its output)."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    except FileNotFoundError:
        return False, f"{command[0]} is missing; scripts/bootstrap installs it\n"
    return done.returncode == 0, done.stdout


def comment_before(text, offset):
    """Returns the documentation comment before the declaration whose name is at `offset`; "" without one."""
    end = text.rfind(b"*/", 0, offset)
    # A ';' or '}' between them ends another declaration, to which the comment belongs.
    if end < 0 or re.search(rb"[;}]", text[end:offset]):
        return ""
    begin = text.rfind(b"/*", 0, end)
    return text[begin:end].decode() if text.startswith(b"/**", begin) else ""


def declared_functions(header):
    """Returns the lpt_ functions of the header, as clang parses it."""
    source = flattened(header)
    command = ["clang-14", "-x", "c", "-std=c99", "-fsyntax-only", "-Xclang", "-ast-dump=json", "-"]
    good, output = run(command, input=source)
    if not good:
        raise ValueError(output)
    text = source.encode()
    functions = []
    for node in json.loads(output)["inner"]:
        if node["kind"] == "FunctionDecl" and node["name"].startswith("lpt_"):
            parameters = [inner.get("name", "") for inner in node.get("inner", []) if inner["kind"] == "ParmVarDecl"]
            returns = node["type"]["qualType"].split("(")[0].strip()
            functions.append(Function(node["name"], returns, parameters, comment_before(text, node["loc"]["offset"])))
    if not functions:
        raise ValueError(f"{header} declares no lpt_ function")
    return functions


def initializers(header):
    """Returns [("LPT_X_INIT", "lpt_x")]."""
    return [(f"LPT_{name}_INIT", f"lpt_{name.lower()}")
            for name in re.findall(r"^#define LPT_(\w+)_INIT\b", flattened(header), flags=re.M)]


def initializer_uses(header):
    """Returns C functions that use every LPT_X_INIT for an lpt_x, because a compiler checks a macro only where it is used."""
    pattern = "void use_{1}({1} *x);\nvoid use_{1}({1} *x) {{\n  static const {1} init = {0};\n  *x = init;\n}}\n"
    return "".join(pattern.format(*one) for one in initializers(header))


def check_compile(header):
    offences, count = [], 0
    for one in headers_of(header):
        # Twice, to test the include guard.
        source = f'#include "{one.name}"\n' * 2 + initializer_uses(one)
        for language, standard in LANGUAGES:
            flags = WARNINGS + (["-Wc++-compat"] if language == "c" else [])
            for compiler in COMPILERS[language][:None if one == header.resolve() else 1]:
                command = [compiler, "-x", language, f"-std={standard}", *flags, f"-I{one.parent}", "-fsyntax-only", "-"]
                good, output = run(command, input=source)
                offences += [] if good else [f"{one.name} by {compiler} -std={standard}: not clean\n{output}"]
                count += 1
    return offences, f"{count} compilations"


def check_swig(header):
    interface = f'%module lpt\n%{{\n#include "lpt.h"\n%}}\n%include "stdint.i"\n%include "lpt.h"\n'
    with tempfile.TemporaryDirectory() as place:
        pathlib.Path(place, "lpt.i").write_text(interface)
        pathlib.Path(place, "lpt.h").write_text(flattened(header), encoding="utf-8")
        # LPT_STATIC makes LPT_API empty, because SWIG cannot parse its attribute.
        command = ["swig", "-python", "-Wall", "-Werror", "-DLPT_STATIC", "lpt.i"]
        good, output = run(command, cwd=place)
    # Some warnings leave the exit status of SWIG at 0.
    return ([] if good and not output.strip() else [f"swig: not clean\n{output}"]), "1 run"


def check_link(header, library):
    functions = declared_functions(header)
    library = pathlib.Path(library).resolve()
    addresses = "".join(f"  (any_function){function.name},\n" for function in functions)
    structs = "".join(f'  {{\n    {name} x = {macro};\n    missing += lpt_struct_init("{name}", &x, sizeof x) != 1;\n  }}\n'
                      for macro, name in initializers(header) if name != "lpt_random")
    source = (f'#include "{header.name}"\ntypedef void (*any_function)(void);\n'
              f"static const any_function all[] = {{\n{addresses}}};\n"
              "int main(void) {\n  int missing = 0;\n  size_t i;\n"
              "  for (i = 0; i < sizeof all / sizeof *all; ++i) missing += all[i] == NULL;\n"
              f"{structs}  return missing;\n}}\n")
    with tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, "all")
        good, output = run(["gcc", "-x", "c", "-std=c99", *WARNINGS, f"-I{header.parent}", "-", "-x", "none",
                            str(library), f"-Wl,-rpath,{library.parent}", "-o", program], input=source)
        if not good:
            return [f"a program that takes every address does not link\n{output}"], f"{len(functions)} functions"
        good, output = run([program])
    offences = [] if good else [f"a function is NULL or a struct has no defaults\n{output}"]
    return offences, f"{len(functions)} functions"


def check_exports(header, exports_map):
    declared = {function.name for function in declared_functions(header)}
    listed = read_map(exports_map).keys()
    offences = [f"{name} is declared but not in {exports_map}" for name in sorted(declared - listed)]
    offences += [f"{name} is in {exports_map} but not declared" for name in sorted(listed - declared)]
    return offences, f"{len(declared)} functions"


MOST_WORDS, MOST_BRIEF = 25, 120  # of a sentence; characters
# A documentation comment, and the function with a status after it.
COMMENT = re.compile(r"/\*\*<?(.*?)\*/(?:\s*LPT_API lpt_status (\w+))?", re.S)
# A label at the beginning of a paragraph, such as "Shapes    ", and commands with their arguments.
LABEL = re.compile(r"^(?:[A-Z]\w+ {2,}|Ownership )|^@(?:brief|return|param\S*\s+[\w, ]+? |retval\s+\w+|section\s+\w+)\s*", re.M)


def plain_text(comment):
    """Returns the text of a comment without comment markers."""
    return re.sub(r"^[ \t]*\*(?: |$)", "", comment, flags=re.M).strip()


def paragraphs(text):
    """Returns the text between empty lines and commands, each part on one line, without labels and commands."""
    text = re.sub(r"@code.*?@endcode", "", text, flags=re.S)
    # Commands, and list items, which are indented by two.
    text = re.sub(r"\n(?=@|  \S)", "\n\n", text)
    return [" ".join(LABEL.sub("", part.strip()).split()) for part in re.split(r"\n\s*\n", text)]


def sentences(paragraph):
    """Splits a paragraph into sentences. Code counts as one word."""
    return [part for part in re.split(r"(?<=[.!?])\s+", re.sub(r"`[^`]*`", "code", paragraph)) if part]


def prose_offences(header):
    """Returns the sentences of one header that are too long, and the briefs that are not a single short sentence."""
    offences = []
    for found in COMMENT.finditer(header.read_text(encoding="utf-8")):
        text, function = plain_text(found.group(1)), found.group(2)
        brief = re.search(r"@brief\s+(.*?)(?:\n\s*\n|\n@|$)", text, flags=re.S)
        if brief:
            line = " ".join(brief.group(1).split())
            if len(line) > MOST_BRIEF or len(sentences(line)) != 1 or not line.endswith("."):
                offences.append(f"{header.name}: a brief is no sentence of at most {MOST_BRIEF} characters: {line}")
        if function and "@return" in text:
            offences.append(f"{header.name}: {function} has a @return: expected @retval for each status of its own")
        for sentence in (one for part in paragraphs(text) for one in sentences(part)):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > MOST_WORDS:
                offences.append(f"{header.name}: {len(words)} words, expected at most {MOST_WORDS}: {sentence}")
    return offences


def doc_offences(function):
    """Returns missing parts of the comment of a function, and unknown parameters in it."""
    lines = plain_text(function.comment.removeprefix("/**"))
    if not lines:
        return ["has no documentation comment"]
    # "@param a, b  text" documents both.
    lists = re.findall(r"@param(?:\[[a-z,]+\])?\s+(\w+(?:\s*,\s*\w+)*)[ \t]+\S", lines)
    named = [name for names in lists for name in re.split(r"\s*,\s*", names)]
    offences = [f"has no @param for {name}" for name in function.parameters if name not in named and name != "context"]
    offences += [f"has a @param for {name}, which is no parameter" for name in named if name not in function.parameters]
    offences += [f"has two @param for {name}" for name, count in collections.Counter(named).items() if count > 1]
    offences += [f"has a @retval {status} without a reason"
                 for status, reason in re.findall(r"@retval[ \t]+(\w+)[ \t]*(.*)", lines) if not reason]
    if not re.sub(r"@brief\s+", "", lines).strip().partition("@")[0]:
        offences.append("does not say what it does")
    if function.returns == "void" and "@return" in lines:
        offences.append("has a @return but gives nothing")
    # lpt_status_values and @retval describe the meaning of a status.
    if function.returns not in ("void", "lpt_status") and "@return" not in lines:
        offences.append("has no @return")
    return offences


def check_docs(header):
    functions, headers = declared_functions(header), headers_of(header)
    offences = [f"{function.name} {offence}" for function in functions for offence in doc_offences(function)]
    offences += [offence for one in headers for offence in prose_offences(one)]
    return offences, f"{len(functions)} functions, {len(headers)} headers"


FREE_CONSTANTS = {"lpt_status", "lpt_flags"}  # a flag begins with the struct that accepts it


def check_names(header):
    """Checks rules that bindings depend on: names of constants, positions of the context and outputs, pairs of members."""
    model = read_header(header)
    offences = []
    for kind in model.kinds:
        if kind.name not in FREE_CONSTANTS:
            offences += [f"{name} does not begin with {kind.name.upper()}_" for name, _ in kind.constants
                         if not name.startswith(kind.name.upper() + "_")]
    values = [value for kind in model.kinds if kind.name == "lpt_flags" for _, value in kind.constants]
    if any(value & (value - 1) for value in values) or len(set(values)) != len(values):
        offences.append("two values of lpt_flags share a bit, or a value has several bits")
    for function in model.functions:
        names = [name for _, name in function.parameters]
        if function.returns == "lpt_status" and names[0] != "context" and function.name != "lpt_context_create":
            offences.append(f"{function.name} returns a status but does not begin with a context")
        last_input = max((i for i, name in enumerate(names) if not name.startswith("out_")), default=-1)
        if any(name.startswith("out_") for name in names[:last_input]):
            offences.append(f"{function.name} has an input after out_ parameters")
    for struct in model.structs:
        end = struct.members[-1]
        if struct.size != end.offset + end.bytes:
            offences.append(f"{struct.name} ends with padding, which no caller clears")
    return offences, f"{len(model.functions)} functions, {len(model.structs)} structs"


CHECKS = {
    "compile": check_compile,
    "swig": check_swig,
    "link": check_link,
    "exports": check_exports,
    "docs": check_docs,
    "names": check_names,
}


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in CHECKS:
        sys.exit(__doc__)
    try:
        offences, size = CHECKS[arguments[0]](pathlib.Path(arguments[1]), *arguments[2:])
    except (OSError, ValueError) as problem:
        sys.exit(f"check_header: {problem}")
    for offence in offences:
        print(offence)
    print(f"check_header {arguments[0]}: {size}, {len(offences)} offences")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
