"""The smallest program that needs the installed package. smoke.py [FOLDER]: below which all of it has to lie."""
import array
import os
import sys

import lpt

numbers = lpt.quantize(array.array("f", [1.0, -2.5]), "e4m3fn")
assert numbers.tolist() == [1.0, -2.5]
assert os.path.exists(os.path.join(lpt.get_include(), "lpt.h"))
with open("/proc/self/maps") as file:
    places = {line.split()[-1] for line in file if "/liblpt.so" in line or "/_capi." in line}
expected = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else "/"
assert all(os.path.realpath(place).startswith(expected) for place in places), places
print("LPT", lpt.__version__, "in Python", ".".join(map(str, sys.version_info[:3])))
