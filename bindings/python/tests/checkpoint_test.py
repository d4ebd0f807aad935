"""lpt.checkpoint: reports, sharded checkpoints, files and errors, compared with values that the test computes."""
import array
import json
import math
import os
import tempfile
import unittest
from unittest import mock

import lpt
import lpt.checkpoint
from support import Draws, read_safetensors, write_safetensors

TOOL = os.path.join(os.path.dirname(lpt.__file__), "bin", "lpt")
SEED = int(os.environ.get("LPT_TEST_SEED", 20261128))


@unittest.skipUnless(os.path.exists(TOOL), "the tool is not built")
class Checkpoint(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(place.name)
        draws = Draws(SEED)
        self.tensors = {"a.weight": ([32, 64], draws.list(32 * 64)), "b.weight": ([16, 128], draws.list(16 * 128)),
                        "a.bias": ([32], draws.list(32))}
        write_safetensors("model.safetensors", self.tensors)

    def values(self, name):
        return array.array("f", self.tensors[name][1])

    def decibels(self, path, name):
        exact, found = self.values(name), read_safetensors(path)[name]
        error = sum((one - other) ** 2 for one, other in zip(exact, found))
        return 10 * math.log10(sum(one ** 2 for one in exact) / error)

    def test_convert_reports_the_errors_that_decoding_shows(self):
        report = lpt.checkpoint.convert("model.safetensors", "q.safetensors", "nvfp4", exclude="^b", verify=True, threads=1)
        self.assertEqual(("nvfp4", "nvfp4-pack-quantized", True), (report["format"], report["convention"], report["is_verified"]))
        self.assertEqual(os.path.getsize("q.safetensors"), report["output_bytes"])
        self.assertEqual({"a.weight": "quantized", "b.weight": "copied", "a.bias": "copied"},
                         {one["name"]: one["action"] for one in report["tensors"]})
        lpt.checkpoint.convert("q.safetensors", "back.safetensors", "f32")
        quantized = next(one for one in report["tensors"] if one["action"] == "quantized")
        self.assertAlmostEqual(self.decibels("back.safetensors", "a.weight"), quantized["decibels"], places=4)
        self.assertEqual([32, 64], quantized["shape"])
        self.assertEqual(self.values("b.weight"), read_safetensors("back.safetensors")["b.weight"])

    def test_inspect_reports_statistics(self):
        report = lpt.checkpoint.inspect("model.safetensors", ["nvfp4", "int8"], picture="look.svg", include="weight")
        self.assertEqual(os.path.getsize("model.safetensors"), report["file_bytes"])
        self.assertEqual(["a.weight", "b.weight"], [one["name"] for one in report["tensors"]])
        for tensor in report["tensors"]:
            values = self.values(tensor["name"])
            self.assertAlmostEqual(max(map(abs, values)), tensor["amax"], places=6)
            self.assertEqual(len(values), sum(tensor["exponents"].values()))
            self.assertEqual(["nvfp4", "int8"], list(tensor["decibels"]))
        with open("look.svg", encoding="utf-8") as file:
            self.assertIn("<svg", file.read())

    def test_sharded_checkpoints_are_read_by_index_and_by_directory(self):
        os.mkdir("shards")
        names = list(self.tensors)
        shards = {"one.safetensors": names[:1], "two.safetensors": names[1:]}
        for file, listed in shards.items():
            write_safetensors(os.path.join("shards", file), {name: self.tensors[name] for name in listed})
        index = os.path.join("shards", "model.safetensors.index.json")
        with open(index, "w", encoding="utf-8") as file:
            json.dump({"metadata": {}, "weight_map": {name: file for file, them in shards.items() for name in them}}, file)
        found = {one["name"]: one["shard"] for one in lpt.checkpoint.inspect(index, ["fp8"])["tensors"]}
        self.assertEqual({name: file for file, them in shards.items() for name in them}, found)
        for source, target in (("shards", "one.safetensors"), ("model.safetensors", "other.safetensors")):
            lpt.checkpoint.convert(source, target, "fp8-row")
        self.assertEqual(read_safetensors("other.safetensors"), read_safetensors("one.safetensors"))

    def test_errors_have_the_text_of_the_tool(self):
        convert, inspect = lpt.checkpoint.convert, lpt.checkpoint.inspect
        open("exists.safetensors", "w", encoding="utf-8").close()
        for text, call in (("^missing.safetensors: ", lambda: inspect("missing.safetensors")),
                           ("nvfp5", lambda: convert("model.safetensors", "q.safetensors", "nvfp5")),
                           ("--include", lambda: inspect("model.safetensors", include="(")),
                           ("--memory", lambda: inspect("model.safetensors", memory_mebibytes=0)),
                           ("exists.safetensors", lambda: convert("model.safetensors", "exists.safetensors", "fp8"))):
            with self.assertRaisesRegex(lpt.Error, text):
                call()
        convert("model.safetensors", "exists.safetensors", "fp8", force=True)
        with self.assertRaisesRegex(TypeError, 'formats is "fp8": expected a sequence of formats'):
            inspect("model.safetensors", "fp8")

    def test_names_that_begin_like_options_are_files(self):
        os.rename("model.safetensors", "--quiet")
        self.assertEqual(3, len(lpt.checkpoint.inspect("--quiet", ["fp8"])["tensors"]))

    def test_a_missing_tool_is_an_error(self):
        with mock.patch("os.path.exists", lambda _: False), mock.patch("shutil.which", lambda _: None):
            with self.assertRaisesRegex(FileNotFoundError, "found neither .* nor a program lpt on PATH"):
                lpt.checkpoint.inspect("model.safetensors")


if __name__ == "__main__":
    print(f"LPT_TEST_SEED={SEED}")
    unittest.main()
