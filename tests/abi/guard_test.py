#!/usr/bin/env python3
"""The checks of the binary interface report every kind of break, and accept additions.

Usage: guard_test.py ROOT LIBLPT_SO EXPORTS_MAP
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT, LIBRARY, EXPORTS = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
sys.path.insert(0, str(ROOT / "tools"))
from abi_table import compare, lines_of, read_table  # noqa: E402
from check_exports import check_library  # noqa: E402
from check_header import CHECKS  # noqa: E402
from header_model import flattened, headers_of, read_header, read_text  # noqa: E402
from make_bindings import FILES, VERSIONS  # noqa: E402

HEADER = "include/lpt/research.h"
SEED = "  uint64_t seed;      /**< The key"  # of lpt_random
OPAQUE = "One rank of a communicator"  # brief of lpt_comm
THREADS = "lpt_context_set_threads(lpt_context *context, int32_t thread_count)"

# Text of the header, its replacement, the expected kind of change, and a part of the expected report.
CHANGES = [
    ("LPT_API int32_t lpt_abi_level(void);", "", "break", "function lpt_abi_level is gone"),
    ("LPT_API int32_t lpt_abi_level(void);", "LPT_API int64_t lpt_abi_level(void);", "break", "function lpt_abi_level is int64_t"),
    (THREADS, THREADS.replace("int32_t", "int64_t"), "break", "function lpt_context_set_threads"),
    ("lpt_log_level level, const char *text)", "const char *text, lpt_log_level level)", "break", "callback lpt_log_function"),
    ("LPT_UNSUPPORTED = 2,", "LPT_UNSUPPORTED = 22,", "break", "constant LPT_UNSUPPORTED is 22; it was 2"),
    ("LPT_GEMM_PORTABLE_ORDER = 4,", "LPT_GEMM_PORTABLE_ORDER = 4096,", "break", "constant LPT_GEMM_PORTABLE_ORDER"),
    ("typedef int32_t lpt_rounding;", "typedef int64_t lpt_rounding;", "break", "type lpt_rounding is int64_t"),
    (SEED, "  uint64_t more;\n" + SEED, "break", "member lpt_random.seed is 8"),
    ("  uint32_t step; ", "  uint32_t step;\n  uint64_t more; ", "break", "struct lpt_random is 40; it was 32"),
    ("  float running_amax; ", "  double running_amax; ", "break", "member lpt_scaler_info.running_amax"),
    ("  double damping;\n} lpt_sparse_fit_options;", "  double damping;\n  double more;\n} lpt_sparse_fit_options;", "new",
     "struct lpt_sparse_fit_options grew from 32 to 40"),
    ("LPT_API int32_t lpt_abi_level(void);", "LPT_API int32_t lpt_abi_level(void);\nLPT_API int32_t lpt_more(void);", "new",
     "function lpt_more is new"),
    ("LPT_BUSY = 11 ", "LPT_BUSY = 11, LPT_MORE = 12 ", "new", "constant LPT_MORE is new"),
]


# Text of the header, its replacement, the check that must fail, and a part of the expected report.
DEFECTS = [
    ("LPT_API int32_t lpt_abi_level(void);", "LPT_API int32_t lpt_abi_level(void);\nLPT_API int32_t lpt_more(void);", "exports",
     "lpt_more is declared but not in"),
    ("LPT_API int32_t lpt_abi_level(void);", "", "exports", "lpt_abi_level is in"),
    ("LPT_API int32_t lpt_abi_level(void);", "LPT_API int32_t lpt_more(void);", "link", "lpt_more"),
    ("LPT_API int32_t lpt_abi_level(void);", "using lpt_more = int32_t;\nLPT_API int32_t lpt_abi_level(void);", "compile", "-std=c99"),
    ("  int32_t reserved;         /**< 0. */\n  int64_t memory_bytes;", "  int64_t memory_bytes;", "compile", "padding"),
    (" * @param[in] status Any number.\n", "", "docs", "lpt_status_string has no @param for status"),
    (" * @return A static string of one line.\n", "", "docs", "lpt_build_info has no @return"),
    ("@retval LPT_WORK_FAILED Queued work failed;", "@retval LPT_WORK_FAILED\n * Queued work failed;", "docs",
     "lpt_context_synchronize has a @retval LPT_WORK_FAILED without a reason"),
    ("@retval LPT_WORK_FAILED Queued work failed;", "@return LPT_OK\n * @retval LPT_WORK_FAILED Queued work failed;", "docs",
     "lpt_context_synchronize has a @return"),
    ("@brief Returns the name of a status.", "@brief Returns the name of a status. It is static.", "docs", "a brief is no sentence"),
    ("@brief Returns the name of a status.", "@brief Returns the name of a status" + " of a call" * 40 + ".", "docs", "words, expected at most 25"),
    ("LPT_API int32_t lpt_abi_level(void);", "#define LPT_API_OF_C __attribute__((cold))\nLPT_API_OF_C int32_t lpt_abi_level(void);",
     "swig", "swig"),
]


def guarded(text, table):
    breaks, additions = compare(table, lines_of(read_text(text)))
    return {"break": breaks, "new": additions}


def bindings_that_stay(text):
    """Returns the files of bindings that stay the same when a constant, a member, a parameter, an opaque type and a name change."""
    changed = text.replace("LPT_UNSUPPORTED = 2,", "LPT_UNSUPPORTED_YET = 2,").replace(SEED, SEED.replace("uint64_t", "double"))
    changed = changed.replace(THREADS, THREADS.replace("int32_t", "int64_t")).replace(OPAQUE, OPAQUE + " of a rank")
    changed = changed.replace("lpt_device_info", "lpt_device_facts")
    before, after = read_text(text), read_text(changed)
    stay = [name for name, emit in FILES.items() if emit(before) == emit(after)]
    # The new member has the same size: a file of sizes and offsets stays the same.
    return [name for name in stay if not name.endswith("layout.rs")]


def exports_that_pass(exports):
    """Returns the maps of exports that differ from the library by one symbol and pass the check."""
    maps = {"one more": exports.replace("lpt_abi_level;", "lpt_abi_level;\n    lpt_more;", 1),
            "one less": exports.replace("lpt_abi_level;", "", 1)}
    passed = []
    for name, text in maps.items():
        with tempfile.NamedTemporaryFile("w", suffix=".map") as file:
            file.write(text)
            file.flush()
            if text == exports or not any("lpt_" in line for line in check_library(LIBRARY, file.name)[0]):
                passed.append(name)
    return passed


def header_checks_that_pass(text):
    """Returns the checks of the header that pass although the header has a defect they must report."""
    others = {"exports": [EXPORTS], "link": [LIBRARY]}
    passed = []
    for old, new, check, named in DEFECTS:
        with tempfile.TemporaryDirectory() as place:
            header = pathlib.Path(place, "lpt.h")
            header.write_text(text.replace(old, new, 1), encoding="utf-8")
            if old not in text or not any(named in line for line in CHECKS[check](header, *others.get(check, []))[0]):
                passed.append(f"check_header {check}: {named}")
    return passed


def stale_files_that_pass():
    """Returns the files of bindings that pass the check after one line of a copy was changed."""
    passed = []
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place)
        headers = [path.relative_to(ROOT.resolve()) for path in headers_of(ROOT / HEADER)]
        for name in [*FILES, *VERSIONS, *headers]:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        check = [sys.executable, ROOT / "tools/make_bindings.py", "check", copy]
        if subprocess.run(check, capture_output=True).returncode != 0:
            passed.append("an unchanged copy is rejected")
        for name in [*FILES, *VERSIONS]:
            good = (copy / name).read_text(encoding="utf-8")
            old = "0.1.0" if name in VERSIONS else good.splitlines()[-2]
            (copy / name).write_text(good.replace(old, "9.9.9"), encoding="utf-8")
            if subprocess.run(check, capture_output=True).returncode != 1:
                passed.append(name)
            (copy / name).write_text(good, encoding="utf-8")
    return passed


def main():
    text = flattened(ROOT / HEADER)
    # The table comes from the header, because another test reports a stale lpt_abi.txt.
    table = lines_of(read_header(ROOT / HEADER))
    missed = 0 if read_table(ROOT / "tests/abi/lpt_abi.txt") else 1
    for old, new, way, named in CHANGES:
        found = guarded(text.replace(old, new, 1), table) if old in text else {way: ["the header has no such line"]}
        if not any(named in line for line in found[way]) or (way == "new" and found["break"]):
            print(f"missed: {named}\n  found: {found}")
            missed += 1
    stay = bindings_that_stay(text) + exports_that_pass(EXPORTS.read_text(encoding="utf-8"))
    stay += header_checks_that_pass(text) + stale_files_that_pass()
    missed += len(stay)
    print("".join(f"missed: {name}\n" for name in stay), end="")
    changes = len(CHANGES) + len(DEFECTS) + len(FILES) + len(VERSIONS)
    print(f"guard_test: {changes} changes, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
