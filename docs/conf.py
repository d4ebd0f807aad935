"""The documentation site. scripts/docs copies this folder, adds the generated pages and runs Sphinx on the copy."""
import pathlib
import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

ROOT = next(folder for folder in pathlib.Path(__file__).resolve().parents if (folder / "include" / "lpt.h").exists())

project = "LPT"
author = "the LPT authors"
copyright = author
release = version = re.search(r"project\(lpt VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)

extensions = ["breathe", "myst_parser", "sphinx_design"]
exclude_patterns = ["files"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"LPT {release}"
html_static_path = ["_static"]
html_logo = html_favicon = "_static/lpt.svg"
html_css_files = ["site.css"]
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

breathe_projects = {"lpt": str(ROOT / "build" / "docs" / "xml")}
breathe_default_project = "lpt"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
breathe_order_parameters_first = True
c_id_attributes = ["LPT_API"]

# Types of the C and C++ standards, and of other libraries.
nitpick_ignore_regex = [("c:identifier", r"u?int\d+_t|size_t|uintptr_t"),
                        ("py:class", r"Any|Callable|Dict|List|Optional|QuantizeOptions|ReduceOptions|Sequence|Tuple|Union")]


class LinkNames(SphinxTransform):
    """Adds links to the pages and functions that a text names: docs/reference/formats.md, `lpt_gemm()`."""

    default_priority = 500

    def apply(self):
        for literal in list(self.document.findall(nodes.literal)):
            function = re.fullmatch(r"(lpt_\w+)\(\)", literal.astext())
            if function and not isinstance(literal.parent, (nodes.reference, pending_xref)):
                literal.replace_self(self.link(literal.deepcopy(), "c", "func", function.group(1)))
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, (nodes.reference, nodes.literal_block, pending_xref)):
                continue
            parts = re.split(r"docs/([\w/-]+)\.md", text)
            if len(parts) == 1 or not set(parts[1::2]) <= self.env.found_docs:
                continue
            old = text.parent if isinstance(text.parent, nodes.literal) else text
            new = [self.link(nodes.inline(), "std", "doc", f"/{part}") if index % 2 else nodes.Text(part)
                   for index, part in enumerate(parts) if part]
            old.parent.replace(old, new)

    def link(self, node, domain, kind, target):
        return pending_xref("", node, refdomain=domain, reftype=kind, reftarget=target, refexplicit=False,
                            refdoc=self.env.docname, refwarn=True)


def setup(app):
    app.add_transform(LinkNames)
