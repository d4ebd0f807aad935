"""Options as keyword arguments: types for editors, help() and the members of the structs name the same."""
import ast
import inspect
import pathlib
import re
import unittest

import lpt
from lpt import capi
from lpt._options import options

PLACE = pathlib.Path(lpt.__file__).parent


def functions_of(owner):
    """Yield (name, function) of all public functions, and of the methods of all classes."""
    for name, value in vars(owner).items():
        value = getattr(value, "__func__", value)
        if inspect.isclass(value) and not inspect.isclass(owner) and value.__module__.startswith("lpt."):
            yield from ((f"{name}.{inner}", function) for inner, function in functions_of(value))
        elif inspect.isfunction(value) and (not name.startswith("_") or name in ("__init__", "__call__")):
            yield name, value


def struct_options(name):
    """Return the options of a struct, which an unknown option lists."""
    try:
        options(getattr(capi, name), {"?": 1}, [])
    except TypeError as error:
        return set(str(error).split("expected ")[1].split(", "))


class Keywords(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        module = ast.parse((PLACE / "_keywords.py").read_text(encoding="utf-8"))
        cls.structs = {}
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                struct = re.fullmatch(r"Keywords of (\w+)\.", ast.get_docstring(node)).group(1)
                names = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign)]
                cls.structs[node.name] = struct, set(names)
                comments = [one for one in node.body if isinstance(one, ast.Expr)]
                assert len(comments) == 1 + len(names), node.name  # each has a comment

    def takers(self):
        """Yield the name, the function, its own arguments, and its TypedDict, of functions with options."""
        for name, function in functions_of(lpt):
            signature = inspect.signature(function)
            for parameter in signature.parameters.values():
                if parameter.kind is parameter.VAR_KEYWORD and not parameter.name.startswith("_"):
                    found = re.fullmatch(r"Unpack\[(\w+)\]", parameter.annotation)
                    self.assertTrue(found, f"{name} has **{parameter.name}: {parameter.annotation}")
                    yield name, function, set(signature.parameters), found.group(1)

    def test_every_option_has_a_type_or_is_an_argument(self):
        arguments = {}
        for name, _, own, kind in self.takers():
            arguments.setdefault(kind, set()).update(own)
        self.assertGreater(len(arguments), 20)
        for kind, own in arguments.items():
            struct, names = self.structs[kind]
            self.assertEqual(set(), names - struct_options(struct), kind)
            self.assertEqual(set(), struct_options(struct) - names - own - {"shared_columns"}, kind)

    def test_no_argument_has_the_name_of_an_option(self):
        for name, _, own, kind in self.takers():
            self.assertEqual(set(), own & self.structs[kind][1], name)

    def test_help_describes_every_option(self):
        for name, function, own, kind in self.takers():
            for option in self.structs[kind][1] - {"cast_a_to_bf16", "fast_accumulate"}:
                self.assertRegex(function.__doc__, rf"\n +{option}: \S", name)
        for function in (lpt.gemm, lpt.Recipe.set_product):
            self.assertIn("fast_accumulate: permit", function.__doc__)
        self.assertRegex(lpt.quantize.__doc__, r"rounding: Rounding of elements\. One of .*nearest_even")

    def test_named_values_are_accepted(self):
        """Each Literal of a keyword is a value that the options take."""
        text = (PLACE / "_keywords.py").read_text(encoding="utf-8")
        values = {name: re.findall(r'"(\w+)"', body) for name, body in re.findall(r"^(\w+) = Union\[Literal\[(.*?)\], int\]",
                                                                                 text, re.M | re.S)}
        self.assertIn("stochastic", values["Rounding"])
        count = 0
        for struct, body in re.findall(r'^class \w+\(TypedDict.*?Keywords of (\w+)\."""\n(.*?)(?=^class |\Z)', text, re.M | re.S):
            for name, kind in re.findall(r"^    (\w+): (\w+)$", body, re.M):
                for value in values.get(kind, ()):
                    options(getattr(capi, struct), {name: value}, [])
                    count += 1
        self.assertGreater(count, 100)


if __name__ == "__main__":
    unittest.main()
