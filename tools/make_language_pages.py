#!/usr/bin/env python3
"""Writes the Python, Rust and Julia reference of the documentation site from the doc comments of the bindings.

Usage: make_language_pages.py FOLDER     writes python-reference.md, rust-reference.md and julia-reference.md

scripts/docs runs it. Its output is not committed.
"""
import ast
import pathlib
import re
import sys

BINDINGS = pathlib.Path(__file__).resolve().parent.parent / "bindings"


def code(language, *lines):
    return [f"```{language}", *lines, "```", ""]


# Python.

def python_directive(node, owner=""):
    """Returns a class, function, method, property or type alias as a Sphinx directive."""
    doc = python_text(node) if not isinstance(node, ast.Assign) else ""
    if isinstance(node, ast.Assign):
        name, lines = node.targets[0].id, [f":canonical: {ast.unparse(node.value)}"]
        return [f"````{{py:type}} {name}", *lines, "````", ""]
    if isinstance(node, ast.ClassDef):
        made = next((member for member in node.body if isinstance(member, ast.FunctionDef)
                     and member.name in ("__new__", "__init__")), None)
        kind = "exception" if python_is_error(node) else "class"
        rest = keyword_text(made) if made else ""
        lines = [f"`````{{py:{kind}}} {node.name}{python_signature(made, True, False) if made else ''}", "", doc, rest, ""]
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                lines += python_directive(member, node.name)
        return [*lines, "`````", ""]
    doc += keyword_text(node)
    is_property = "property" in map(ast.unparse, node.decorator_list)
    if is_property:
        lines = [f"````{{py:property}} {node.name}", *([f":type: {ast.unparse(node.returns)}"] if node.returns else [])]
    else:
        lines = [f"````{{py:{'method' if owner else 'function'}}} {node.name}{python_signature(node, bool(owner))}"]
    return [*lines, "", doc, "", "````", ""]


def python_text(node):
    """Returns a docstring as Markdown."""
    return re.sub(r"\b(__\w+?__)\b", r"`\1`", ast.get_docstring(node) or "")


def keyword_text(function):
    """Names the struct whose members are keyword arguments, and removes its annotation, which is for type checkers only."""
    keywords = function.args.kwarg
    if keywords is None or not isinstance(keywords.annotation, ast.Subscript):
        return ""
    words = re.findall("[A-Z][a-z]+", ast.unparse(keywords.annotation.slice))
    keywords.annotation = None
    return f"\n\nOther keyword arguments are members of `lpt_{'_'.join(words).lower()}`."


def python_is_error(node):
    return any(ast.unparse(base) in ("Error", "Exception") for base in node.bases)


def python_signature(function, is_method, is_result_shown=True):
    arguments = function.args
    if is_method:
        arguments.args = arguments.args[1:]
    result = f" -> {ast.unparse(function.returns).strip(chr(39))}" if function.returns and is_result_shown else ""
    return f"({re.sub(r'{q}([A-Z][A-Za-z]+){q}'.format(q=chr(39)), chr(92) + '1', ast.unparse(arguments))}){result}"


def exported_names(tree):
    """Returns the list __all__ of a module."""
    return next(ast.literal_eval(node.value) for node in tree.body
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")


def python_reference():
    """Returns the names that __init__.py imports or defines, by the module that defines them."""
    folder = BINDINGS / "python/lpt"
    package = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in package.body if isinstance(node, ast.ImportFrom) and node.module]
    public = {"*", *exported_names(package)}
    names = {node.module: {alias.name for alias in node.names} & public for node in imports}
    aliases = [node for node in ast.walk(ast.parse((folder / "_tensor.py").read_text(encoding="utf-8")))
               if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("Format", "Shape")]
    lines = ["# Python reference", "", python_text(package), "", "```{py:module} lpt", "```", ""]
    for title, module in (("Tensors", "_tensor"), ("Casts and GEMM", "_ops"), ("Layers", "_nn"), ("Sparsity", "_sparse"),
                          ("Training", "_train"), ("Loss scaling", "_loss_scaler"), ("Autopilot", "_autopilot"),
                          ("Random numbers", "_options"), ("Contexts and devices", "_context"), ("Ranks", "_comm"),
                          ("Codecs", "_codec"), ("Monitors and costs", "_monitor"), ("Schedules", "_schedule"),
                          ("Lossy links", "_lossy"), ("Exceptions", "_errors")):
        lines += [f"## {title}", ""]
        tree = ast.parse((folder / f"{module}.py").read_text(encoding="utf-8"))
        missing = names.pop(module)
        if missing == {"*"}:
            missing = set(exported_names(tree))
        branches = [node for branch in tree.body if isinstance(branch, ast.If) for node in branch.body]
        for node in [*tree.body, *branches, *(aliases if module == "_tensor" else [])]:
            name = node.targets[0].id if node in aliases else getattr(node, "name", "")
            if node in aliases or name in missing:
                lines += python_directive(node)
                missing.discard(name)
        assert not missing, (module, missing)
    assert not names, names
    return lines


# Rust.

RUST_ITEM = re.compile(r"( *)(pub )?(?:unsafe )?(fn|struct|trait|const) (\w+)")
RUST_IMPL = re.compile(r"(?:unsafe )?impl(?:<[^>]*>)? (\w+)")
RUST_MACRO = re.compile(r"(?:handle|options)! \{\n((?: *///.*\n)+) *(\w+), \w+(?:, \w+| \{([^}]*)\})")
RUST_FIELD = re.compile(r"    pub (\w+: .+),$")


class RustItem:
    def __init__(self, name, signature="", doc=()):
        self.name, self.signature, self.doc = name, signature or f"pub struct {name}", doc
        self.fields, self.constants, self.setters, self.methods = [], [], [], []


def rust_comment(line):
    return line.strip()[3:].removeprefix(" ")


def rust_text(lines):
    """Returns a doc comment as Markdown: links to items become code; code lines that rustdoc hides are omitted."""
    result, is_code = [], False
    for line in re.sub(r"\[(`[^`]*`)\](\([^)]*\))?", r"\1", "\n".join(lines)).split("\n"):
        if line.startswith("```"):
            is_code = not is_code
            line = "```rust" if is_code else "```\n"
        elif not is_code:
            line = re.sub(r"^#+ (.*)", r"**\1**\n", line)
        if not (is_code and line.startswith("# ")):
            result.append(line)
    return result


def rust_signature(lines):
    """Returns the declaration that begins a list of lines, without its body."""
    text = re.sub(r"\s+", " ", " ".join(lines))
    text = re.split(r" ?\{|;| = ", text, maxsplit=1)[0].strip()
    return text.replace("( ", "(").replace(", )", ")")


def read_rust(text, items):
    """Adds the public items of a source to `items`, methods to their types."""
    for comment, name, members in RUST_MACRO.findall(text):
        item = items.setdefault(name, RustItem(name))
        item.doc = [rust_comment(line) for line in comment.strip().split("\n")]
        for kind, member, value in re.findall(r"(\w+) (\w+): ([\w<'>]+),", members):
            argument = {"number": value, "kind": value, "random": value, "tensor": f"&'a {value}"}.get(kind, "bool")
            item.setters.append(f"pub fn {member}(self, value: {argument}) -> Self")
    owner, is_trait, doc, lines = None, False, [], text.split("\n")
    for number, line in enumerate(lines):
        if line.strip().startswith("///"):
            doc.append(rust_comment(line))
            continue
        item, implemented, field = RUST_ITEM.match(line), RUST_IMPL.match(line), RUST_FIELD.match(line)
        if implemented:
            owner, is_trait = implemented.group(1) if " for " not in line else None, False
        elif item and (item.group(2) or is_trait):
            indent, _, kind, name = item.groups()
            signature = rust_signature(lines[number:number + 12])
            if not indent:
                items.setdefault(name, RustItem(name)).__dict__.update(signature=signature, doc=doc)
                owner, is_trait = name, kind == "trait"
            elif owner and kind == "const":
                items.setdefault(owner, RustItem(owner)).constants.append(name)
            elif owner:
                items.setdefault(owner, RustItem(owner)).methods.append(RustItem(name, signature, doc))
        elif field and owner:
            items[owner].fields.append((field.group(1), " ".join(doc)))
        elif line == "}":
            owner, is_trait = None, False
        if not line.strip().startswith("#["):
            doc = []


def rust_page(item):
    lines = [f"### `{item.name}`", "", *code("rust", item.signature), *rust_text(item.doc), ""]
    lines += [f"- `{field}`: {doc}" for field, doc in item.fields] + [""]
    if item.constants:
        lines += ["Constants: " + ", ".join(f"`{name}`" for name in item.constants) + ".", ""]
    if item.setters:
        lines += code("rust", *item.setters)
    for method in item.methods:
        lines += [f"#### `{item.name}::{method.name}`", "", *code("rust", method.signature), *rust_text(method.doc), ""]
    return lines


def rust_reference():
    folder, items = BINDINGS / "rust/lpt/src", {}
    sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.rs"))}
    for name, text in sources.items():
        if name not in ("handle", "callbacks"):  # they have no public item
            read_rust(text, items)
    public = set(re.findall(r"\w+", " ".join(re.findall(r"^pub use (.*?);", sources["lib"], re.M | re.S))))
    values = set(re.findall(r"pub struct (\w+)", sources["kinds"]))
    options = {name for _, name, _ in RUST_MACRO.findall(sources["options"])} | {"Random"}
    functions = set(re.findall(r"^pub fn (\w+)", sources["lib"], re.M))
    lines = ["# Rust reference", "", "The crate `lpt`. The crate `lpt-sys` declares every C function.", ""]
    lines += rust_text([rust_comment(line) for line in sources["lib"].split("\n") if line.startswith("//!")]) + [""]
    for title, names in (("Types", public & set(items) - values - options), ("Functions", functions), ("Options", options),
                         ("Values", values)):
        lines += [f"## {title}", ""]
        for name in sorted(names):
            lines += rust_page(items[name])
    return lines


# Julia.

JULIA_ITEM = re.compile(r'^(?:"""\n((?:.*\n)*?)"""|"((?:[^"\\]|\\.)*)")\n(.*(?:\n +.*)*)', re.M)
JULIA_TYPE = re.compile(r"(?:mutable struct|struct|abstract type) (\w+)")


def julia_signature(text):
    """Returns a declaration without its body."""
    text = re.sub(r"\s+", " ", text.strip().removeprefix("function "))
    depth = 0
    for index, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0 and character == ")":
            return text[:index + 1]
    return text


def julia_items(text):
    """Yields name, signatures and text of each documented item."""
    for long, short, declaration in JULIA_ITEM.findall(text):
        doc, is_type = long or short.replace('\\"', '"'), JULIA_TYPE.match(declaration)
        given = re.match(r"    (.*)\n\n", doc)
        if given:  # the text begins with the signature
            doc, signatures = doc[given.end():], [given.group(1)]
        elif is_type:
            name = is_type.group(1)
            inner = re.findall(rf"^    (?:function )?({name}\(.*)", declaration, re.M)
            signatures = [julia_signature(constructor) for constructor in inner if "raw::" not in constructor] or [name]
        else:
            signatures = [julia_signature(declaration)]
        yield is_type.group(1) if is_type else re.match(r"[\w.!]+", signatures[0]).group(0), signatures, doc.strip()


def julia_reference():
    folder = BINDINGS / "julia/LPT/src"
    package = (folder / "LPT.jl").read_text(encoding="utf-8")
    exported = set(re.findall(r"[\w!]+", " ".join(re.findall(r"^export (.*(?:\n +.*)*)", package, re.M))))
    items = [item for path in sorted(folder.glob("*.jl")) if path.name != "LPT.jl"
             for item in julia_items(path.read_text(encoding="utf-8"))]
    lines = ["# Julia reference", "", "The package `LPT`. The module `LPT.Lib` declares every C function.", ""]
    lines += [re.match(r'"""\n(.*?)"""', package, re.S).group(1)]
    types = {name for name, _, _ in items if name[0].isupper() and not name.startswith("Base.")} & exported
    functions = {name for name, _, _ in items if name.removeprefix("Base.") in exported or name.startswith("Base.")} - types
    for title, names in (("Types", types), ("Functions", functions)):
        lines += [f"## {title}", ""]
        for name in sorted(names, key=lambda name: name.removeprefix("Base.")):
            lines += [f"### `{name}`", ""]
            for _, signatures, doc in (item for item in items if item[0] == name):
                lines += [*code("julia", *signatures), doc, ""]
    return lines


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    folder = pathlib.Path(arguments[0])
    (folder / "python-reference.md").write_text("\n".join(python_reference()), encoding="utf-8")
    (folder / "rust-reference.md").write_text("\n".join(rust_reference()), encoding="utf-8")
    (folder / "julia-reference.md").write_text("\n".join(julia_reference()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
