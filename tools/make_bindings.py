#!/usr/bin/env python3
"""Generates the declarations of lpt.h for Rust, C# and Julia, or checks that the committed files are up to date.

Usage: make_bindings.py write|check [ROOT]

  bindings/rust/lpt-sys/src/kinds.rs     constants and their types
  bindings/rust/lpt-sys/src/structs.rs   handles, callbacks, structs, and the defaults of option structs
  bindings/rust/lpt-sys/src/functions.rs functions
  bindings/rust/lpt-sys/tests/layout.rs  sizes and offsets of structs, from gcc
  bindings/rust/lpt-sys/tests/bindgen.rs comparison with declarations from bindgen
  bindings/rust/lpt/src/kinds.rs         types of enumerations
  bindings/csharp/Lpt/Kinds.cs           enumerations
  bindings/csharp/Lpt/Structs.cs         members of structs
  bindings/csharp/Lpt/Defaults.cs        defaults of option structs
  bindings/csharp/Lpt/Handles.cs         opaque types as SafeHandles
  bindings/csharp/Lpt/Native.cs          functions for .NET 7 and later
  bindings/csharp/Lpt/Native.DllImport.cs  functions for other runtimes
  bindings/julia/LPT/src/lib/*.jl        constants and their types, structs, functions
"""
import difflib
import pathlib
import re
import sys

from header_model import flattened, read_header, short_names

COMMAND = "python3 tools/make_bindings.py write"
NUMBERS = {  # C: (Rust, C#, Julia)
    "int32_t": ("i32", "int", "Int32"), "uint32_t": ("u32", "uint", "UInt32"), "int64_t": ("i64", "long", "Int64"),
    "uint64_t": ("u64", "ulong", "UInt64"), "size_t": ("usize", "UIntPtr", "Csize_t"), "float": ("f32", "float", "Cfloat"),
    "int8_t": ("i8", "sbyte", "Int8"), "uint8_t": ("u8", "byte", "UInt8"), "int16_t": ("i16", "short", "Int16"),
    "uint16_t": ("u16", "ushort", "UInt16"), "double": ("f64", "double", "Cdouble"), "char": ("c_char", "byte", "UInt8"), "void": ("c_void", "void", "Cvoid"),
}


def levels(c_type):
    """Returns the pointed-to base type, and for each star whether its target is const, innermost first."""
    parts = c_type.split("*")
    base = re.sub(r"\b(const|struct)\b", "", parts[0]).strip()
    # Types of other libraries, such as a DLPack tensor, are only used by pointer.
    is_foreign = base not in NUMBERS and not base.startswith("lpt_")
    return "void" if is_foreign else base, ["const" in part for part in parts[:-1]]


def array_of(c_type):
    """Returns ("char", 32) for char[32]; None if the type is not an array."""
    found = re.fullmatch(r"(\w+)\[(\d+)\]", c_type)
    return (found.group(1), int(found.group(2))) if found else None


def function_of(c_type):
    """Returns ("int32_t", ["void *", "int64_t"]) for a pointer to such a function; None for other types."""
    found = re.fullmatch(r"(.*?)\s*\(\*\)\((.*)\)", c_type)
    return (found.group(1), [one.strip() for one in found.group(2).split(",")]) if found else None


def pascal(name):
    """Converts names: lpt_gemm_options → GemmOptions, X86_AVX2 → X86Avx2, INT4_1X32 → Int4_1x32."""
    words = re.sub(r"^lpt_", "", name).split("_")
    return re.sub(r"(\d)_(?=\D)", r"\1", "".join(("_" if word[0].isdigit() else "") + word.capitalize() for word in words))


def defaults(header):
    """Returns the structs that begin with their size, for which lpt_struct_init() has defaults."""
    return [struct for struct in header.structs if struct.members[0].name == "struct_size"]


# Rust.


def rust_type(c_type):
    if array_of(c_type):
        return "[{}; {}]".format(NUMBERS[array_of(c_type)[0]][0], array_of(c_type)[1])
    if function_of(c_type):
        return rust_callback(*function_of(c_type))
    base, stars = levels(c_type)
    text = NUMBERS[base][0] if base in NUMBERS else base
    for is_const in stars:
        text = f"*{'const' if is_const else 'mut'} {text}"
    return text


def rust_function(returns, parameters):
    tail = "" if returns == "void" else f" -> {rust_type(returns)}"
    return f"({', '.join(parameters)}){tail}"


def rust_callback(returns, arguments):
    return f'Option<unsafe extern "C" fn{rust_function(returns, [rust_type(argument) for argument in arguments])}>'


def rust_doc(brief, indent=""):
    """Escapes brackets outside of code, which rustdoc would parse as links or tags."""
    pieces = [re.sub(r"([\[\]<>])", r"\\\1", piece) if place % 2 == 0 else piece for place, piece in enumerate(brief.split("`"))]
    return [f"{indent}/// {'`'.join(pieces)}"] if brief else []


def rust_sys(content, *uses):
    return [f"//! {content} of lpt.h; the header documents the contracts. Written by `{COMMAND}`.", "#![cfg_attr(rustfmt, rustfmt_skip)]",
            *(f"use {name};" for name in uses), ""]


def rust_sys_kinds(header):
    lines = rust_sys("Constants and types of constants")
    for kind in header.kinds:
        lines += rust_doc(kind.brief) + [f"pub type {kind.name} = {rust_type(kind.base)};"]
        lines += [f"pub const {name}: {kind.name} = {value};" for name, value in kind.constants] + [""]
    return lines[:-1]


def rust_sys_structs(header):
    lines = rust_sys("Handles, callbacks and structs", "crate::functions::lpt_struct_init", "crate::kinds::*",
                     "std::os::raw::{c_char, c_void}")
    for name, brief in header.opaques:
        lines += rust_doc(brief) + ["#[repr(C)]", f"pub struct {name} {{", "    _opaque: [u8; 0],",
                                    "    _unshared: std::marker::PhantomData<*mut u8>,", "}"]
    lines.append("")
    for name, (returns, arguments) in header.callbacks.items():
        lines.append(f"pub type {name} = {rust_callback(returns, arguments)};")
    for struct in header.structs:
        lines += ["", *rust_doc(struct.brief), "#[repr(C)]", "#[derive(Clone, Copy)]", f"pub struct {struct.name} {{"]
        lines += [f"    pub {member.name}: {rust_type(member.type)}," for member in struct.members] + ["}"]
    lines += ["", "macro_rules! defaults_of_the_library {", "    ($($name:ident)*) => {$(", "        impl Default for $name {",
              "            fn default() -> Self {", "                let mut value = std::mem::MaybeUninit::<Self>::zeroed();",
              "                // All members accept any bytes, so that zeros are valid.", "                unsafe {",
              '                    let name = concat!(stringify!($name), "\\0").as_ptr().cast();',
              "                    lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());",
              "                    value.assume_init()", "                }", "            }", "        }", "    )*};", "}", "",
              "defaults_of_the_library! {"]
    lines += [f"    {struct.name}" for struct in defaults(header)] + ["}"]
    return lines


def rust_sys_functions(header):
    lines = rust_sys("Functions", "crate::kinds::*", "crate::structs::*", "std::os::raw::{c_char, c_void}") + ["extern \"C\" {"]
    for function in header.functions:
        parameters = [f"{name}: {rust_type(type_)}" for type_, name in function.parameters]
        lines += rust_doc(function.brief, "    ")
        lines.append(f"    pub fn {function.name}{rust_function(function.returns, parameters)};")
    return lines + ["}"]


def rust_bindgen(header):
    lines = [f"//! Compares the declarations with those that bindgen generates from lpt.h. Written by `{COMMAND}`.",
             '#![cfg(feature = "bindgen")]', "#![cfg_attr(rustfmt, rustfmt_skip)]", "use lpt_sys::bindgen as made;",
             "use std::mem::size_of;", "", "#[test]", "fn sizes_of_structs_equal_those_of_bindgen() {"]
    lines += [f"    assert_eq!(size_of::<lpt_sys::{struct.name}>(), size_of::<made::{struct.name}>());"
              for struct in header.structs]
    lines += ["}", "", "#[test]", "fn constants_equal_those_of_bindgen() {"]
    lines += [f"    assert_eq!(lpt_sys::{name} as i64, made::{name} as i64);"
              for kind in header.kinds for name, _ in kind.constants]
    lines += ["}", "", "#[test]", "fn functions_equal_those_of_bindgen() {"]
    for name in [function.name for function in header.functions]:
        lines.append(f"    assert_eq!(lpt_sys::{name} as *const () as usize, made::{name} as *const () as usize);")
    return lines + ["}"]


def rust_layout(header):
    lines = [f"//! Sizes and offsets of the structs of lpt.h, measured by gcc. Written by `{COMMAND}`.",
             "#![cfg_attr(rustfmt, rustfmt_skip)]", "use lpt_sys::*;", "use std::mem::{size_of, MaybeUninit};",
             "use std::ptr::addr_of;", "", "macro_rules! offset {", "    ($struct:ty, $member:ident) => {{",
             "        let value = MaybeUninit::<$struct>::uninit();",
             "        // Only addresses are computed; nothing is read.",
             "        unsafe { addr_of!((*value.as_ptr()).$member) as usize - value.as_ptr() as usize }", "    }};", "}"]
    for struct in header.structs:
        lines += ["", "#[test]", f"fn {struct.name}_is_laid_out_as_in_c() {{",
                  f"    assert_eq!(size_of::<{struct.name}>(), {struct.size});"]
        lines += [f"    assert_eq!(offset!({struct.name}, {member.name}), {member.offset});" for member in struct.members]
        lines.append("}")
    return lines


def rust_kinds(header):
    lines = ["//! Enumerations of lpt.h as types that wrap the C integer, so that values of later releases are not undefined",
             f"//! behaviour. Written by `{COMMAND}`.", "#![cfg_attr(rustfmt, rustfmt_skip)]", "use lpt_sys as sys;"]
    for kind in header.kinds:
        name = pascal(kind.name)
        brief = re.split(r"; (?=one of lpt_)|\. Small numbers", kind.brief)[0].rstrip(".")
        brief = f"One of lpt.h's {kind.name}_values" if brief.startswith("One of") else brief
        lines += ["", *rust_doc(brief + "."), "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]", "#[repr(transparent)]",
                  f"pub struct {name}(pub sys::{kind.name});", "", "#[allow(missing_docs)]", f"impl {name} {{"]
        lines += [f"    pub const {short}: {name} = {name}(sys::{long});"
                  for long, short in short_names(kind.constants).items()] + ["}"]
    return lines


# C#.


def csharp_type(header, c_type, is_destroyed=False):
    base, stars = levels(c_type)
    kinds = {kind.name for kind in header.kinds}
    opaques = {name for name, _ in header.opaques}
    if base in header.callbacks:
        return "IntPtr"
    if base in opaques:
        return (pascal(base) if len(stars) == 1 and not is_destroyed else "IntPtr" + "*" * (len(stars) - 1))
    text = NUMBERS[base][1] if base in NUMBERS else pascal(base)
    if base in kinds:
        text = pascal(base)
    return text + "*" * len(stars)


def csharp_member(header, member):
    if array_of(member.type):
        return f"public fixed {NUMBERS[array_of(member.type)[0]][1]} {pascal(member.name)}[{array_of(member.type)[1]}];"
    text = csharp_type(header, member.type)
    is_pointer = "*" in member.type or levels(member.type)[0] in header.callbacks
    return f"public {'IntPtr' if is_pointer else text} {pascal(member.name)};"


def csharp_name(name):
    return "@" + name if name in ("lock", "out", "ref", "params", "base", "object", "string", "event") else name


def csharp_functions(header):
    """Returns `static partial` or `static extern` declarations, which follow one of the two attributes."""
    for function in header.functions:
        is_end = function.name.endswith("_destroy")
        parameters = ", ".join(f"{csharp_type(header, type_, is_end)} {csharp_name(name)}" for type_, name in function.parameters)
        yield function.brief, f"{csharp_type(header, function.returns)} {function.name}({parameters});"


def csharp_file(content, *uses):
    return [f"// {content} of lpt.h; the header documents the contracts. Written by `{COMMAND}`.",
            "#pragma warning disable CS1591 // lpt.h documents members without a comment", *(f"using {name};" for name in uses),
            *([""] if uses else []), "namespace Lpt", "{"]


def csharp_kinds(header):
    lines = csharp_file("Enumerations")
    for kind in header.kinds:
        lines += [f"    /// <summary>{escaped(kind.brief)}</summary>",
                  f"    public enum {pascal(kind.name)} : {NUMBERS[kind.base][1]}", "    {"]
        lines += [f"        {pascal(short)} = {dict(kind.constants)[long]}," for long, short in short_names(kind.constants).items()]
        lines += ["    }", ""]
    return lines[:-1] + ["}"]


def csharp_structs(header):
    lines = csharp_file("Structs", "System", "System.Runtime.InteropServices")
    for struct in header.structs:
        lines += [f"    /// <summary>{escaped(struct.brief)}</summary>", "    [StructLayout(LayoutKind.Sequential)]",
                  f"    public unsafe partial struct {pascal(struct.name)}", "    {"]
        lines += [f"        {csharp_member(header, member)}" for member in struct.members]
        lines += ["    }", ""]
    return lines[:-1] + ["}"]


def csharp_defaults(header):
    lines = csharp_file("Defaults of structs")
    for struct in defaults(header):
        name = pascal(struct.name)
        lines += [f"    public unsafe partial struct {name}", "    {",
                  "        /// <summary>Returns the defaults of the library.</summary>",
                  f"        public static {name} Default() {{ var value = default({name}); "
                  f'Text.Initialize("{struct.name}", &value, sizeof({name})); return value; }}', "    }", ""]
    return lines[:-1] + ["}"]


def csharp_handles(header):
    lines = csharp_file("Opaque types", "System")
    for opaque, brief in header.opaques:
        name = pascal(opaque)
        lines += [f"    /// <summary>{escaped(brief)}</summary>", f"    public sealed partial class {name} : Handle", "    {",
                  f"        /// <summary>NULL, for an optional {name} that is not used.</summary>",
                  f"        public static readonly {name} None = new {name}(IntPtr.Zero);",
                  f"        internal {name}(IntPtr raw) : base(raw) {{ }}",
                  f"        protected override void Destroy() {{ Native.{opaque}_destroy(handle); }}", "    }", ""]
    return lines[:-1] + ["}"]


def csharp_native_file(header, condition, members, declaration):
    lines = csharp_file("Functions", "System", "System.Runtime.InteropServices")
    lines += ["    /// <summary>The functions of lpt.h. All arguments are numbers, pointers, or handles.</summary>",
              "    public static unsafe partial class Native", "    {", *members, condition]
    lines += [f"        {declaration} {text}" for _, text in csharp_functions(header)]
    return lines + ["#endif", "    }", "}"]


def csharp_native(header):
    return csharp_native_file(header, "#if NET7_0_OR_GREATER", ['        internal const string Library = "lpt";', ""],
                              "[LibraryImport(Library)] public static partial")


def csharp_dll_import(header):
    return csharp_native_file(header, "#if !NET7_0_OR_GREATER", [],
                              "[DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern")


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Julia.


def julia_type(header, c_type, is_result=False):
    if array_of(c_type):
        return f"NTuple{{{array_of(c_type)[1]},{NUMBERS[array_of(c_type)[0]][2]}}}"
    base, stars = levels(c_type)
    if base in header.callbacks or function_of(c_type):
        return "Ptr{Cvoid}"
    if base == "char" and stars == [True]:
        return "Cstring"
    if base in {name for name, _ in header.opaques}:
        text, stars = "Ptr{Cvoid}", stars[1:]
    else:
        text = NUMBERS[base][2] if base in NUMBERS else base
    for _ in stars:
        text = f"Ptr{{{text}}}"
    return text


def julia_name(name):
    return f'var"{name}"' if name in ("begin", "end", "function", "module", "quote", "local", "global", "const") else name


def julia_structs(header):
    """Returns the structs in an order in which every struct is after those that it contains or points to."""
    written, waiting, names = set(), list(header.structs), {struct.name for struct in header.structs}
    while waiting:
        struct = next(one for one in waiting
                      if all(levels(member.type)[0] in written | {one.name} for member in one.members
                             if levels(member.type)[0] in names))
        waiting.remove(struct)
        written.add(struct.name)
        yield struct


def julia_file(content):
    return [f"# {content} of lpt.h; the header documents the contracts. Written by `{COMMAND}`.", ""]


def julia_kinds(header):
    lines = julia_file("Constants and types of constants")
    for kind in header.kinds:
        lines.append(f"const {kind.name} = {NUMBERS[kind.base][2]}")
        lines += [f"const {name} = {kind.name}({value})" for name, value in kind.constants] + [""]
    return lines[:-1]


def julia_struct_types(header):
    lines = julia_file("Structs")
    for struct in julia_structs(header):
        lines += [f"struct {struct.name}"]
        lines += [f"    {julia_name(member.name)}::{julia_type(header, member.type)}" for member in struct.members] + ["end", ""]
    return lines[:-1]


def julia_functions(header):
    lines = julia_file("Functions") + ["# Functions that write the defaults of structs."]
    lines += [f'_defaults(::Type{{{struct.name}}}, value) = lpt_struct_init("{struct.name}", value, sizeof({struct.name}))'
              for struct in defaults(header)]
    lines.append("")
    for function in header.functions:
        names = [julia_name(name) for _, name in function.parameters]
        types = [julia_type(header, type_) for type_, _ in function.parameters]
        comma = "," if len(types) == 1 else ""
        call = ", ".join([f"_symbol(:{function.name})", julia_type(header, function.returns), f"({', '.join(types)}{comma})"] + names)
        lines.append(f"{function.name}({', '.join(names)}) = ccall({call})")
    return lines


FILES = {
    "bindings/rust/lpt-sys/src/kinds.rs": rust_sys_kinds,
    "bindings/rust/lpt-sys/src/structs.rs": rust_sys_structs,
    "bindings/rust/lpt-sys/src/functions.rs": rust_sys_functions,
    "bindings/rust/lpt-sys/tests/layout.rs": rust_layout,
    "bindings/rust/lpt-sys/tests/bindgen.rs": rust_bindgen,
    "bindings/rust/lpt/src/kinds.rs": rust_kinds,
    "bindings/csharp/Lpt/Kinds.cs": csharp_kinds,
    "bindings/csharp/Lpt/Structs.cs": csharp_structs,
    "bindings/csharp/Lpt/Defaults.cs": csharp_defaults,
    "bindings/csharp/Lpt/Handles.cs": csharp_handles,
    "bindings/csharp/Lpt/Native.cs": csharp_native,
    "bindings/csharp/Lpt/Native.DllImport.cs": csharp_dll_import,
    "bindings/julia/LPT/src/lib/kinds.jl": julia_kinds,
    "bindings/julia/LPT/src/lib/structs.jl": julia_struct_types,
    "bindings/julia/LPT/src/lib/functions.jl": julia_functions,
}


# Files with a release number, which must equal that of the header.
VERSIONS = ["bindings/rust/lpt-sys/Cargo.toml", "bindings/rust/lpt/Cargo.toml", "bindings/julia/LPT/Project.toml",
            "bindings/csharp/Lpt/Lpt.csproj", "bindings/csharp/Lpt.Native/Lpt.Native.csproj"]


def other_versions(root):
    """Returns a message for each file whose release differs from that of the header."""
    numbers = re.findall(r"#define LPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", flattened(root / "include/lpt.h"))
    release = ".".join(numbers)
    stated = re.compile(r'^(?:version = "|\s*<Version>)([\d.]+)', re.M)
    return [f"{name}: release is {found}: expected {release}, as in the header" for name in VERSIONS
            for found in stated.findall((root / name).read_text(encoding="utf-8")) or ["none"] if found != release]


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0] not in ("write", "check"):
        sys.exit(__doc__)
    root = pathlib.Path(arguments[1] if len(arguments) == 2 else ".")
    header = read_header(root / "include/lpt/research.h")
    stale = 0
    for name, emit in FILES.items():
        path, text = root / name, "\n".join(emit(header)) + "\n"
        if arguments[0] == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            print("\n".join(list(difflib.unified_diff(old, text.splitlines(), name, "from lpt.h", n=0, lineterm=""))[:20]))
            stale += 1
    others = other_versions(root)
    print("\n".join(others), end="\n" if others else "")
    print(f"make_bindings {arguments[0]}: {len(header.functions)} functions, {len(header.structs)} structs, {stale} stale files")
    if stale:
        print(f"the header has changed; write what follows from it with: {COMMAND}")
    return 1 if stale or others else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
