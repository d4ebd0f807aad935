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
                        ("py:class", r"Any|Callable|Dict|List|Optional|Sequence|Tuple|Union")]


class LinkPages(SphinxTransform):
    """Makes a link of each page that a comment or a page names, such as docs/reference/formats.md."""

    default_priority = 500

    def apply(self):
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, (nodes.reference, nodes.literal_block, pending_xref)):
                continue
            parts = re.split(r"docs/([\w/-]+)\.md", text)
            if len(parts) == 1 or not set(parts[1::2]) <= self.env.found_docs:
                continue
            old = text.parent if isinstance(text.parent, nodes.literal) else text
            old.parent.replace(old, [part for index, word in enumerate(parts) for part in self.linked(index, word)])

    def linked(self, index, word):
        if index % 2 == 0:
            return [nodes.Text(word)] if word else []
        link = pending_xref("", nodes.inline("", ""), refdomain="std", reftype="doc", reftarget=f"/{word}", refexplicit=False,
                            refdoc=self.env.docname, refwarn=True)
        return [link]


def setup(app):
    app.add_transform(LinkPages)
