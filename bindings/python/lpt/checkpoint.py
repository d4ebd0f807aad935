"""lpt.checkpoint: statistics and conversions of checkpoints, by the command-line tool of this package.

    import lpt.checkpoint
    report = lpt.checkpoint.convert("model.safetensors", "model-nvfp4.safetensors", "nvfp4", exclude="embed")
    print(report["decibels"], report["output_bytes"])

A source is a safetensors file, a GGUF file, the index of a sharded checkpoint, or its directory. docs/reference/cli.md describes
files, formats and reports.
"""
from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import Any, Dict, List, Optional, Sequence, TypedDict, Union

from ._errors import Error
from ._tool import tool_path

__all__ = ["ConvertedTensor", "Conversion", "Inspection", "InspectedTensor", "convert", "inspect"]

Path = Union[str, "os.PathLike[str]"]


class ConvertedTensor(TypedDict, total=False):
    """One tensor of a Conversion; a copied tensor has only the first five members."""
    name: str
    action: str  # "quantized", "copied", "cast" or "decoded"
    input_bytes: int
    output_bytes: int
    reason: str  # why the tensor is copied, or decoded without a request
    shape: List[int]
    has_short_group: bool  # rows end within a group of elements that share a scale
    amax: float
    decibels: Optional[float]  # signal to error ratio; None: no error
    largest_error: float
    lost: int  # finite numbers that became NaN or infinite
    made_finite: int  # the reverse


class Conversion(TypedDict):
    """The report of convert()."""
    input: str
    output: str
    format: str
    convention: str  # the format of compressed-tensors; "": none
    input_bytes: int
    predicted_bytes: int
    output_bytes: int
    decibels: Optional[float]  # signal to error ratio of all quantized tensors; None: no error
    is_verified: bool
    tensors: List[ConvertedTensor]


class InspectedTensor(TypedDict, total=False):
    """One tensor of an Inspection; a tensor without floats has only the first five members."""
    name: str
    dtype: str
    shape: List[int]
    bytes: int
    shard: str  # the file of a sharded checkpoint
    amax: float
    nan_count: int
    infinite_count: int
    zero_count: int
    exponents: Dict[str, int]  # the number of values for each exponent of 2
    decibels: Dict[str, Optional[float]]  # signal to error ratio for each format; None: no error


class _Inspection(TypedDict):
    file: str
    file_bytes: int
    tensors: List[InspectedTensor]


class Inspection(_Inspection, total=False):
    """The report of inspect()."""
    metadata: List[Dict[str, Any]]  # of a GGUF file: key, type and value of each entry


def convert(source: Path, target: Path, format: str, *, source_format: Optional[str] = None, include: Optional[str] = None,
            exclude: Optional[str] = None, whole_blocks: bool = False, verify: bool = False, restart: bool = False,
            force: bool = False, memory_mebibytes: int = 512, threads: int = 0) -> Conversion:
    """Quantize the matrices of a checkpoint to a safetensors file, or decode them, and return the report (lpt convert).

    An interrupted call continues when it is repeated.

    format: of `lpt convert --to`, such as "nvfp4", "fp8-row", "int4-g128" or the name of a format; "f32", "bf16" or "f16" decode.
    source_format: the format of quantized tensors of another program.
    include, exclude: regular expressions that are searched in the names of tensors; by default all matrices are quantized.
    whole_blocks: copy matrices whose rows end within a block, which compressed-tensors does not read.
    verify: read the output and compare it with a new cast.
    restart: discard an unfinished run.
    force: replace the target, and keep matrices whose signal to error ratio is below 10 dB.
    memory_mebibytes: bound of memory in MiB. threads: number of threads; 0: one for each core.

    Raises lpt.Error with the text of the tool, and FileNotFoundError without the tool.
    """
    flags = {"verify": verify, "restart": restart, "force": force, "whole-blocks": whole_blocks}
    with tempfile.TemporaryDirectory() as place:
        report = os.path.join(place, "report.json")
        values = {"to": format, "from": source_format, "include": include, "exclude": exclude, "report": report,
                  "memory": memory_mebibytes, "threads": threads}
        _run("convert", values, [f"--{name}" for name, is_set in flags.items() if is_set], [source, target])
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def inspect(source: Path, formats: Sequence[str] = (), *, include: Optional[str] = None, picture: Optional[Path] = None,
            memory_mebibytes: int = 512, threads: int = 0) -> Inspection:
    """Return statistics of the values of a checkpoint, and the error of formats on them (lpt inspect).

    formats: the formats whose error is measured, as for convert(); by default seven usual ones.
    include: a regular expression that is searched in the names of tensors.
    picture: an SVG file to write. Other arguments and errors are those of convert().
    """
    if isinstance(formats, str):
        raise TypeError(f'formats is "{formats}": expected a sequence of formats, such as ["{formats}"]')
    values = {"include": include, "picture": picture, "memory": memory_mebibytes, "threads": threads}
    return json.loads(_run("inspect", values, ["--json", *(f"--format={one}" for one in formats)], [source]))


def _run(command: str, values: Dict[str, Any], flags: List[str], files: List[Path]) -> str:
    """Run the tool and return its output. values: options by name; None: the default of the tool."""
    options = [f"--{name}={os.fspath(value) if name == 'picture' else value}" for name, value in values.items()
               if value is not None]
    paths: List[str] = [os.fspath(file) for file in files]
    names = [os.path.join(".", path) if path.startswith("-") else path for path in paths]
    done = subprocess.run([tool_path(), command, "--quiet", *options, *flags, *names],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape")
    if done.returncode:
        text = done.stderr.strip().rpartition("\n")[2]
        raise Error(text[len("lpt: "):] if text.startswith("lpt: ") else text or f"lpt {command} ended with {done.returncode}")
    return done.stdout
