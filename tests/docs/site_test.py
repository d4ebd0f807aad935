#!/usr/bin/env python3
"""The documentation site works in a browser, at the width of a desktop and of a phone.

Usage: site_test.py ROOT FOLDER     builds FOLDER/site; writes screenshots to FOLDER/screenshots

The exit status is 77 without Chromium, its driver, Selenium or Sphinx.
"""
import functools
import http.server
import pathlib
import shutil
import subprocess
import sys
import threading
import urllib.parse

try:
    from selenium import webdriver
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
SECTIONS = ("Get started", "Guides", "Concepts", "Reference", "Languages", "Benchmarks", "Contributing")
PAGES_OF_SCREENSHOTS = ("index", "guides/gemm", "reference/c-api/gemm", "reference/formats")
# A link is alive when its file exists and its page has the element that it names.
FACTS = """return {
  links: [...document.querySelectorAll('a[href]')].map(a => a.href),
  ids: [...document.querySelectorAll('[id]')].map(e => e.id),
  broken: [...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.src),
  pictures: document.images.length,
  text: document.querySelector('h1') ? document.querySelector('h1').innerText : '',
  wide: [...document.querySelectorAll('body, main, article, .content, .page')].map(e => e.scrollWidth).filter(w => w > innerWidth),
  window: innerWidth,
}"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def start_browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-device-scale-factor=1"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def set_width(browser, width, height):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


class Site:
    def __init__(self, browser, address, folder):
        self.browser, self.address, self.folder, self.problems = browser, address, folder, []

    def check(self, is_true, page, problem):
        if not is_true:
            self.problems.append(f"{page}: {problem}")

    def open(self, page):
        """Opens a page and returns its facts."""
        self.browser.get(f"{self.address}/{page}")
        for entry in self.browser.get_log("browser"):
            self.check(entry["level"] not in ("SEVERE", "WARNING"), page, f"the console has: {entry['message']}")
        return self.browser.execute_script(FACTS)

    def check_pages(self, pages):
        """Every page opens with a title, pictures and links; returns the number of links and pictures."""
        facts = {page: self.open(page) for page in pages}
        ids = {page: {*fact["ids"], "", "top"} for page, fact in facts.items()}
        links = {(page, link) for page, fact in facts.items() for link in fact["links"] if link.startswith(self.address)}
        for page, fact in facts.items():
            self.check(fact["text"] or page in ("search.html", "genindex.html"), page, "no heading")
            self.check(not fact["broken"], page, f"pictures that do not load: {fact['broken']}")
        for page, link in sorted(links):
            path, anchor = urllib.parse.urldefrag(urllib.parse.unquote(link.removeprefix(self.address + "/")))
            path = path.split("?")[0] or "index.html"
            self.check((self.folder / path).is_file(), page, f"dead link {path}")
            self.check(path not in ids or anchor in ids[path], page, f"dead link {path}#{anchor}")
        return len(links), sum(fact["pictures"] for fact in facts.values())

    def check_widths(self, pages, width):
        for page in pages:
            fact = self.open(page)
            self.check(not fact["wide"] and fact["window"] == width, page, f"is {fact['wide']} wide in a window of {fact['window']}")

    def check_search(self, word, expected):
        """The results of a word have the address that ends as expected; they arrive one after another."""
        self.browser.get(f"{self.address}/search.html?q={word}")
        try:
            WebDriverWait(self.browser, 20).until(
                lambda browser: browser.find_elements(By.CSS_SELECTOR, f"#search-results li a[href$='{expected}']"))
        except TimeoutException:
            self.check(False, "search.html", f"{word} does not find {expected}")

    def check_navigation(self):
        self.open("index.html")
        shown = {link.get_attribute("textContent") for link in self.browser.find_elements(By.CSS_SELECTOR, ".sidebar-tree .toctree-l1 > a")}
        for section in SECTIONS:
            self.check(section in shown, "index.html", f"no section {section} in the navigation")

    def set_theme(self, theme):
        self.browser.get(f"{self.address}/index.html")
        self.browser.execute_script("localStorage.setItem('theme', arguments[0])", theme)

    def check_themes(self):
        """Dark mode is dark."""
        backgrounds = []
        for theme in ("light", "dark"):
            self.set_theme(theme)
            self.open("index.html")
            color = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            backgrounds.append(sum(int(part) for part in color.strip("rgba()").split(",")[:3]))
        self.check(backgrounds[0] > 600 and backgrounds[1] < 200, "index.html", f"light and dark have the backgrounds {backgrounds}")

    def take_screenshots(self, name, folder):
        for page in PAGES_OF_SCREENSHOTS:
            self.open(f"{page}.html")
            self.browser.save_screenshot(str(folder / f"{page.replace('/', '-')}-{name}.png"))


def test(folder, screenshots):
    """The problems that a browser finds."""
    handler = functools.partial(QuietHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pages = sorted(page.relative_to(folder).as_posix() for page in folder.rglob("*.html") if "_static" not in page.parts)
    browser = start_browser()
    try:
        site = Site(browser, f"http://127.0.0.1:{server.server_port}", folder)
        set_width(browser, *WIDTHS["desktop"])
        links, pictures = site.check_pages(pages)
        site.check_navigation()
        site.check_search("lpt_gemm", "reference/c-api/gemm.html#c.lpt_gemm")
        site.check_themes()
        for theme in ("light", "dark"):
            site.set_theme(theme)
            site.take_screenshots(f"desktop-{theme}", screenshots)
        site.set_theme("light")
        set_width(browser, *WIDTHS["phone"])
        site.check_widths(pages, WIDTHS["phone"][0])
        site.take_screenshots("phone", screenshots)
    finally:
        browser.quit()
        server.shutdown()
    print(f"site: {len(pages)} pages, {links} links, {pictures} pictures")
    return site.problems


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    root, folder = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("site: skipped: chromium, chromium-driver or python3-selenium is not installed")
        return 77
    screenshots = folder / "screenshots"
    screenshots.mkdir(parents=True, exist_ok=True)
    status = subprocess.run([root / "scripts" / "docs", (folder / "site").resolve()], check=False).returncode
    if status:
        print(f"site: scripts/docs ends with status {status}")
        return status
    problems = test((folder / "site").resolve(), screenshots)
    print("".join(f"{problem}\n" for problem in problems), end="")
    print(f"site: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
