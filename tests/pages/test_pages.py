"""What headless Chromium makes of the pages that commands write; `cargo xtask ci --only pages` runs it."""

import functools
import importlib.util
import io
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from browser import Browser
from PIL import Image, ImageChops, ImageStat

HERE = Path(__file__).parent
CHECKS = (HERE / "checks.js").read_text()
# Deque's axe-core: names, headings, landmarks, labels, and ninety more rules. Contrast is ours: axe sees none in pictures.
AXE = Path(*importlib.util.find_spec("axe_playwright_python").submodule_search_locations, "axe.min.js").read_text()
RUN_AXE = """axe.run({rules: {"color-contrast": {enabled: false}}})
    .then(told => told.violations.map(rule => `axe-${rule.id}: ${rule.nodes.map(node => node.target)}`))"""

BENCH = "--profile short --threads 1,2 --time 10ms --rounds 1 --latency-rounds 1 --seed 1 --html {page}"
GUEST = f"--qemu {HERE}/qemu --image {HERE}/qemu --accel tcg --vcpus 2"
THREADS = "import threading; [threading.Thread(target=sum, args=[range(10**6)]).start() for _ in range(4)]"
SIM = "sim --lock byte,ticket --threads 1,2,4 --seeds 2 --time 20ms"
COMPARE = "run --compare --lock libc,stanchion --rounds 5 --seed 1"
REPORT = "report {page}.1 {page}.3 --unlike arguments --html {page}"
# How each page is made (by one command, or several), how its title begins, and how many pictures it shows at least.
PAGES = {
    "sim": (f"{SIM} --seed 1 --html {{page}}", "stanchion sim, ", 5 + 3),
    "sim-all": ("sim --threads 1,2,4 --seeds 1 --time 5ms --seed 1 --html {page}", "stanchion sim, ", 5 + 3),
    "timeline": ("sim --lock ticket --threads 4 --seeds 1 --seed 1 --timeline {page}", "ticket on small-vm", 1),
    "bench": (f"bench --lock stanchion,ticket --peers std {BENCH}", "stanchion bench, ", 4),
    "bench-rw": (f"bench --rw --lock qrw --peers std --reads 90 {BENCH}", "stanchion bench, ", 4),
    "guest": (f"guest {GUEST} --lock ticket --seed 1 --html {{page}}", "stanchion guest, ", 0),
    "advise": (f"advise --machine small-vm --seeds 2 --html {{page}} -- {sys.executable} -c '{THREADS}'", "stanchion advise, ", 1 + 2),
    "reproduce": ("reproduce --table locktorture,xen-pv --quick --html {page}", "stanchion reproduce, ", 2),
    "fit": ("fit --table pvq-westmere-ex-pinned --seeds 1 --dry-run --html {page}", "stanchion fit, ", 0),
    "torture": ("torture --lock qspin --writers 2 --time 100ms --seed 1 --html {page}", "stanchion torture, ", 0),
    "explore": ("explore --lock qspin,ticket --schedules 50 --seed 1 --html {page}", "stanchion explore, ", 0),
    "run-compare": (f"{COMPARE} --html {{page}} true", "stanchion run --compare, ", 0),
    "report": (f"{SIM} --seed 1 --json {{page}}.1 && {SIM} --seed 3 --json {{page}}.3 && {REPORT}", "Results side by side", 1),
    "report-run": (f"{COMPARE} --json {{page}}.1 true && {COMPARE} --json {{page}}.3 true && {REPORT}", "Results side by side", 1),
}


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    # If it hangs, the tests end all the same.
    signal.alarm(600)
    yield browser
    browser.close()
    signal.alarm(0)


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """The file of each page, made when it is first asked for."""

    @functools.cache
    def made(name):
        file = tmp_path_factory.mktemp(name) / f"{name}.{'svg' if name == 'timeline' else 'html'}"
        for words in PAGES[name][0].format(page=file).split(" && "):
            command = ["cargo", "run", "--quiet", "--release", "-p", "stanchion-lab", "--", *shlex.split(words)]
            subprocess.run(command, check=True, cwd=HERE.parents[1])
        return file

    return made


def complaints(browser, file, title, plots, axe=True):
    """Everything that is wrong with a page, wide and light as it opens, and narrow and dark with all that can be chosen."""
    found, papers = [], []
    for width, scheme in [(1280, "light"), (360, "dark")]:
        browser.look(width, scheme)
        browser.open(file.as_uri())
        browser.run(CHECKS)
        browser.run(f"checks.unfold({str(scheme == 'dark').lower()})")
        found += browser.run("checks.seen()") + by_keyboard(browser)
        told, count, is_html = (browser.run(what) for what in ["document.title", "checks.plots()", "document.body !== null"])
        if not told.startswith(title):
            found.append(f"title: {told}")
        if count < plots:
            found.append(f"plots: {count} of {plots}")
        papers.append(browser.run("checks.brightness()"))
        for event in browser.events:
            found += told_by(event, file.as_uri())
    if is_html and not papers[0] > 0.8 > 0.2 > papers[1]:
        found.append(f"dark: the page's brightness is {papers}")
    if is_html and axe:
        browser.run(AXE)
        found += browser.run(RUN_AXE)
    return found


def told_by(event, page):
    """What an event of the browser has against a page."""
    method, params = event["method"], event["params"]
    if method in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"]:
        return [f"console: {params}"]
    url = params["request"]["url"] if method == "Network.requestWillBeSent" else page
    return [] if url == page or url.startswith("data:") else [f"request: {url}"]


def by_keyboard(browser):
    """What the keyboard does not reach, or not visibly, and choices that it cannot make."""
    found = []
    for _ in range(500):
        browser.press("Tab", 9)
        at = browser.run("checks.focused()")
        if at is None:
            break
        found += at
    if browser.run("checks.choose()"):
        drawn = browser.run("checks.drawn()")
        browser.press("ArrowDown", 40)
        if browser.run("checks.drawn()") == drawn:
            found.append("choice: another scale shows the same plot")
    return found + browser.run("checks.missed()")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound(browser, page, name):
    _, title, plots = PAGES[name]
    assert complaints(browser, page(name), title, plots) == []


# In the page of a simulation: what is replaced, by what, and all kinds of complaints that there must be.
PICTURE = '<svg viewBox="0 0 600.*?</svg>'
CONTENT = '(<svg viewBox="0 0 600[^>]*>).*?</svg>'
IN_PAGE = [
    ("</main>", "<script>no.such()</script>", "console"),
    ("</main>", "<script>console.warn(1)</script>", "console"),
    ("</main>", "<img alt='' src='http://stanchion.invalid/a.png'>", "console request"),
    ("</style>", "@font-face{font-family:a;src:url(http://stanchion.invalid/a)} h1{font-family:a}</style>", "console request"),
    (PICTURE, "", "plots choice"),
    (CONTENT, r"\1</svg>", "plot"),
    ("<polyline[^>]*>", "", "plot"),
    (r"@media \(prefers.*?}\n}", "", "dark"),
    ("</main>", "<div style='width: 400px'>wide</div>", "wide"),
    ("gap: 14px 20px; overflow-x: auto", "gap: 14px 20px", "wide"),
    ("--soft: #9aa5b6", "--soft: #5a6475", "contrast"),
    (' aria-label="[^"]*"', "", "name axe-svg-img-alt"),
    ("<th [^>]*>", "<td>", "table"),
    ('<text x="[^"]*"', '<text x="590"', "cut covered"),
    ('y="[^"]*" class="tick end"', 'y="99" class="tick end"', "covered"),
    (".switch { position: absolute;", ".switch { position: absolute; margin-top: 12px;", "covered"),
    ("</style>", "*:focus{outline:none}</style>", "outline"),
    ("<summary>", "<summary tabindex='-1'>", "tab"),
    (' class="to-log"', "", "choice"),
    ("<title>stanchion sim", "<title>", "title"),
    ("</?main>", "", "axe-landmark-one-main axe-region"),
    ("<html lang=.en.>", "<html>", "axe-html-has-lang"),
    ("<(/?)h2", r"<\1h4", "axe-heading-order"),
]
IN_TIMELINE = [
    ('fill="#ffffff"', 'fill="#888888"', "contrast"),
    ("<path fill[^>]*></path>", "", "plot"),
    (">20 ms<", ">20 milliseconds<", "cut"),
    ('role="img"', "", "name"),
    ("</svg>\n$", "<script>no.such()</script></svg>", "console"),
]
FAULTS = [("sim", *fault) for fault in IN_PAGE] + [("timeline", *fault) for fault in IN_TIMELINE]


@pytest.mark.parametrize(("name", "what", "by", "kinds"), FAULTS)
def test_a_fault_is_complained_of(browser, page, tmp_path, name, what, by, kinds):
    _, title, plots = PAGES[name]
    sound, file = page(name).read_text(), tmp_path / page(name).name
    file.write_text(re.sub(what, by, sound, flags=re.DOTALL))
    assert file.read_text() != sound
    found = complaints(browser, file, title, plots, axe="axe" in kinds)
    assert {line.split(":")[0] for line in found} == set(kinds.split()), found


# So much may a picture, grey and 48 columns wide, differ from the one that is kept: on the mean, of 255. Another run makes
# 0.004, letters with serifs 0.3, letters of one width 0.7. Plots with nothing in them make 3.4, no plots 8, no style sheet
# 60 in light and 168 in dark. The test holds both sides to a factor of two.
BOUND = 1.5


def picture(browser, file, scheme, size=None):
    """A page down to its last section, which tells where it comes from."""
    browser.look(1280, scheme)
    browser.open(file.as_uri())
    png = browser.picture(browser.run("document.querySelector('h2:last-of-type').getBoundingClientRect().top"))
    whole = Image.open(io.BytesIO(png)).convert("L")
    return whole.resize(size or (48, 48 * whole.height // whole.width), Image.Resampling.BOX)


def difference(one, other):
    return ImageStat.Stat(ImageChops.difference(one, other)).mean[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_simulation_looks_as_it_did(browser, page, tmp_path, scheme):
    kept, file = HERE / f"sim-{scheme}.png", tmp_path / "page.html"
    if not kept.exists():
        picture(browser, page("sim"), scheme).save(kept)
        pytest.fail(f"{kept} is new: look at it")
    reference, sound = Image.open(kept), page("sim").read_text()
    assert difference(picture(browser, page("sim"), scheme, reference.size), reference) < BOUND

    def changed(what, by):
        file.write_text(re.sub(what, by, sound, flags=re.DOTALL))
        assert file.read_text() != sound
        return difference(picture(browser, file, scheme, reference.size), reference)

    for face in ["serif", "monospace"]:
        assert changed("system-ui.*?sans-serif", face) < BOUND / 2, face
    for fault, by in [(PICTURE, ""), (CONTENT, r"\1</svg>"), ("<style>.*?</style>", "")]:
        assert changed(fault, by) > BOUND * 2, fault
