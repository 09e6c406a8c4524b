"""Shared by test_report.py and test_report_browser.py: makes runs to report on, and parses the page."""

import base64
import html.parser
import json
import subprocess

CONFIG = """
title = "{title}";
units = "N, mm, MPa";
mesh = {{ generator = "cantilever"; nx = {nx}; ny = {ny}; nz = {ny}; }};
material = {{ E = 210000.0; nu = 0.3; density = 7.85e-9; }};
supports = ( {{ set = "left"; fix = "xyz"; }} );
loads = ( {{ set = "right-lower-edge"; total_force = [0.0, 0.0, -100.0]; }} );
optimization = {{ volume_fraction = {volume}; rho_min = 0.01; iterations = {iterations};
                 filter = {{ kind = "density"; radius = 1.5; }}; {limits} }};
solver = {{ device = "cpu"; operator = "ebe"; }};
output = {{ directory = "{folder}"; every = 2; fields = ({fields}); }};
"""

DEFAULTS = {"title": "A cantilever", "nx": 12, "ny": 6, "volume": 0.4, "iterations": 4, "limits": "",
            "fields": '"density", "von_mises"'}

n_failed = 0


def check(condition, text):
    global n_failed
    if not condition:
        n_failed += 1
        print(f"failed: {text}")
    return condition


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    check(done.returncode == status, f"{command[1:]}: exit status {done.returncode}, not {status}: "
                                     f"{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def make_run(hextop, folder, **words):
    """A finished run in the folder, below the working directory."""
    with open(f"{folder}.cfg", "w", encoding="utf-8") as out:
        out.write(CONFIG.format(**{**DEFAULTS, "folder": folder, **words}))
    run(hextop, "-q", "run", f"{folder}.cfg")


VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(html.parser.HTMLParser):
    """Checks that tags close in order and that nothing refers to another file; collects texts and attributes by tag."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text, self.scripts, self.data = [], [], [], [], {}
        self.part = None
        self.parts = []
        self.ids = set()
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        self.feed(self.source)
        self.close()
        check(not self.open, f"{path}: tags without an end: {self.open}")

    def handle_starttag(self, tag, attrs):
        words = dict(attrs)
        check(len(words) == len(attrs), f"<{tag}> has an attribute twice: {attrs}")
        self.tags.append((tag, words))
        for name, value in attrs:
            outside = name in ("src", "href", "srcset", "action", "poster") and not (value or "").startswith("#")
            check(not outside, f"<{tag} {name}={value}> asks for another file")
            check(not name.startswith("on"), f"<{tag} {name}> has a script in an attribute")
        if "id" in words:
            check(words["id"] not in self.ids, f"the id {words['id']} twice")
            self.ids.add(words["id"])
        if "data-part" in words:
            self.part = {"about": json.loads(words["data-part"]), "data": {}}
            self.parts.append(self.part)
        if tag not in VOID:
            self.open.append((tag, words))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if check(self.open and self.open[-1][0] == tag, f"</{tag}> closes {self.open[-1:]}"):
            self.open.pop()

    def handle_data(self, data):
        tag, words = self.open[-1] if self.open else ("", {})
        if tag == "script" and "data-name" in words:
            self.part["data"][words["data-name"]] = base64.b64decode(data, validate=True)
        elif tag == "script":
            self.scripts.append(data)
        elif tag != "style":
            self.text.append((tag, data))

    def words(self):
        return " ".join(" ".join(text.split()) for _, text in self.text)

    def texts_of(self, tag):
        return [text for at, text in self.text if at == tag]


def decode_triangles(data):
    """Decodes the differences of corner indices."""
    corners, last, code, shift = [], 0, 0, 0
    for byte in data:
        code |= (byte & 127) << shift
        shift += 7
        if byte > 127:
            continue
        last += -((code + 1) // 2) if code & 1 else code // 2
        corners.append(last)
        code = shift = 0
    return corners
