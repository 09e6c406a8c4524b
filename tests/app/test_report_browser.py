#!/usr/bin/env python3
"""The page of `hextop report` in a real browser without network: no error; the part is drawn, turns, is cut and changes
colours; nothing is wider than a phone; text has contrast in both themes; and without WebGL a message appears.

    test_report_browser.py HEXTOP SRCDIR [FOLDER]     FOLDER: screenshots go there

Exit status 77: no Chromium (Debian: chromium)."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import report_page
from report_page import check, make_run, run

# Runs in the page; results are in an attribute that --dump-dom prints.
PROBE = """
<script>addEventListener("load", () => {
  const root = document.documentElement, found = { errors: [], asked: performance.getEntriesByType("resource").length };
  const shade = e => { // of the first background below that is not transparent
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  function look(name) {
    let least = 99, worst = "";
    for (const e of document.querySelectorAll("h1,h2,h3,p,dt,dd,dd span,td,th,li,summary,figcaption,figcaption span,button,label,small,code,caption,.state")) {
      if (!e.textContent.trim() || !e.offsetParent || e.closest(".stage")) continue;
      const c = contrast(getComputedStyle(e).color.match(/[\\d.]+/g).map(Number), shade(e));
      if (c < least) { least = c; worst = e.tagName + "." + e.className + ": " + e.textContent.slice(0, 30); }
    }
    for (const e of document.querySelectorAll(".axes text")) {
      const c = contrast(getComputedStyle(e).fill.match(/[\\d.]+/g).map(Number), shade(e.closest("figure")));
      if (c < least) { least = c; worst = "text of an axis"; }
    }
    for (const e of document.querySelectorAll(".line")) {
      const c = contrast(getComputedStyle(e).stroke.match(/[\\d.]+/g).map(Number), shade(e.closest("figure")));
      found[name + "Line"] = Math.min(found[name + "Line"] || 99, c);
    }
    found[name] = { contrast: least, worst, paper: getComputedStyle(document.body).backgroundColor };
  }
  const canvases = [...document.querySelectorAll("canvas")];
  const pixels = c => { // colours of the part's own, and how many pixels they have
    const gl = c.getContext("webgl2"), p = new Uint8Array(4 * c.width * c.height), seen = new Set();
    gl.readPixels(0, 0, c.width, c.height, gl.RGBA, gl.UNSIGNED_BYTE, p);
    let n = 0, sum = 0;
    for (let i = 0; i < p.length; i += 4) if (p[i + 3]) { n++; seen.add(p[i] >> 4 << 8 | p[i + 1] >> 4 << 4 | p[i + 2] >> 4); sum = (sum * 31 + p[i] * 7 + p[i + 1] * 3 + p[i + 2] + i) % 1000000007; }
    return { n, colours: seen.size, sum };
  };
  // Without a screen frames come late or never: what is printed is drawn at once.
  const frame = async () => { dispatchEvent(new Event("beforeprint")); };
  const key = (c, k) => c.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true, cancelable: true }));
  async function play() {
    found.width = innerWidth;
    found.page = root.scrollWidth;
    found.marks = [...document.querySelectorAll(".marks, .bar, .place")].filter(e => e.offsetParent).map(e => e.innerText);
    found.ticks = document.querySelectorAll('.bar[data-field="stress"] .map i').length;
    found.theme = document.querySelector("#theme").textContent;
    look("first");
    if (!document.querySelector(".without") && canvases.length) {
      const c = canvases[0], tools = c.closest("figure").querySelector(".tools");
      const set = async (name, value) => {
        const e = tools.querySelector("[name=" + name + "]");
        if (e.type === "checkbox") e.checked = value; else e.value = value;
        e.dispatchEvent(new Event("input", { bubbles: true }));
        await frame();
        return canvases.map(pixels);
      };
      await frame();
      found.start = canvases.map(pixels);
      for (const k of ["ArrowLeft", "ArrowUp", "+"]) key(c, k);
      await frame();
      found.turned = canvases.map(pixels);
      key(c, "z");
      await frame();
      found.top = canvases.map(pixels);
      found.plain = await set("colour", "");
      found.density = await set("colour", "density");
      found.edges = await set("edges", true);
      found.cut = await set("axis", "0");
      found.place = tools.querySelector("output").textContent;
      const b = c.getBoundingClientRect();
      const at = (type, x, y) => c.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: b.left + x, clientY: b.top + y, bubbles: true }));
      c.setPointerCapture = () => {};
      at("pointerdown", 100, 100); at("pointermove", 160, 130); at("pointerup", 160, 130);
      await frame();
      found.dragged = canvases.map(pixels);
    }
    document.querySelector("#theme").click();
    await frame();
    look("second");
    document.querySelectorAll("details").forEach(d => { d.open = true; });
    found.opened = root.scrollWidth;
  }
  play().catch(e => found.errors.push(String(e))).finally(() => {
    if (root.dataset.error) found.errors.push(root.dataset.error);
    found.ready = root.dataset.ready;
    if (parent === window) root.setAttribute("data-found", JSON.stringify(found));
    else parent.postMessage(JSON.stringify(found), "*");
  });
});</script></body>"""


# A window is at least 500 pixels wide, so narrower layouts are tested in a frame.
FRAME = """<!DOCTYPE html><html style="color-scheme: light dark"><body><iframe src="{page}" style="border: 0;
color-scheme: light dark" width="{width}" height="860"></iframe><script>
addEventListener("message", e => document.documentElement.setAttribute("data-found", e.data));</script></body></html>"""


def browser():
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


def probe(page, width, *options):
    """What the page measures of itself in a window of that width."""
    with open(page, encoding="utf-8") as source:
        text = source.read()
    probed = os.path.abspath(page.replace(".html", "_probed.html"))
    with open(probed, "w", encoding="utf-8") as out:
        out.write(text.replace("</body>", PROBE))
    if width < 500:
        framed, probed = probed, probed.replace(".html", "_framed.html")
        with open(probed, "w", encoding="utf-8") as out:
            out.write(FRAME.format(page=framed, width=width))
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [browser(), "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--no-first-run",
             f"--user-data-dir={profile}", f"--window-size={width},900", "--virtual-time-budget=10000",
             "--dump-dom", *options, f"file://{probed}"],
            capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'data-found="([^"]*)"', done.stdout)
    if not check(found, f"the page did not finish: {done.stderr[-2000:]}"):
        return None
    return json.loads(html.unescape(found.group(1)))


def check_themes(found, what):
    for name in ("first", "second"):
        theme = found[name]
        check(theme["contrast"] >= 4.5, f"{what}: contrast {theme['contrast']:.2f}, {name} theme, {theme['worst']}")
        check(found[name + "Line"] >= 3.0, f"{what}: contrast of a line {found[name + 'Line']:.2f}, {name} theme")
    check(found["first"]["paper"] != found["second"]["paper"], f"{what}: the switch changes nothing")


def check_calm(found, what, width):
    check(not found["errors"] and found["ready"] == "yes", f"{what}: {found['errors']}")
    check(found["asked"] == 0, f"{what}: asks for {found['asked']} files")
    check(found["width"] == width, f"{what}: the window is {found['width']} wide")
    for name in ("page", "opened"):
        check(found[name] <= width, f"{what}: the page is {found[name]} wide in a window of {width}")


def check_drawn(found, n_view):
    def differs(a, b, i, what):
        check(found[a][i]["sum"] != found[b][i]["sum"], what)

    check(len(found["start"]) == n_view, "views")
    for i in range(n_view):
        check(found["start"][i]["n"] > 8000, f"view {i} has {found['start'][i]['n']} pixels")
        check(found["start"][i]["colours"] > 40, f"view {i} has {found['start'][i]['colours']} colours")
        differs("start", "turned", i, f"view {i} does not turn with the first")
        differs("turned", "top", i, f"view {i} does not look along z")
        differs("top", "density", i, f"view {i}: the colours stay")
        differs("density", "edges", i, f"view {i}: no edges")
        differs("cut", "dragged", i, f"view {i} is not dragged")
        check(found["plain"][i]["colours"] < 0.7 * found["density"][i]["colours"], f"view {i}: plain is coloured")
        check(0.3 < found["cut"][i]["n"] / found["top"][i]["n"] < 1.001, f"view {i}: cut to {found['cut'][i]}")
    check(found["place"] == "12 mm", f"place of the section: {found['place']}")


def main(hextop, shots):
    if not browser():
        print("SKIPPED: no Chromium (Debian: chromium)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_run(hextop, "one", nx=24, ny=12)
        make_run(hextop, "two", nx=24, ny=12, volume=0.3)
        run(hextop, "-q", "report", "one", "two", "-o", "both.html")
        run(hextop, "-q", "report", "one", "-o", "one.html")
        make_run(hextop, "strong", nx=24, ny=12, limits='constraints = ( { kind = "stress"; max = 5.0; } );')
        run(hextop, "-q", "report", "strong", "-o", "strong.html")
        strong = probe("strong.html", 1000)
        if strong:
            check_calm(strong, "stresses", 1000)
            check_themes(strong, "stresses")
            check_drawn(strong, 1)
            check(len(strong["marks"]) == 2 and "limit 'stress': 5 MPa" in strong["marks"][1]
                  and "zones without limits" in strong["marks"][1], f"legend of stresses: {strong['marks']}")
            check(strong["ticks"] == 1, f"{strong['ticks']} ticks of one limit")
        desktop = probe("both.html", 1280)
        phone = probe("one.html", 390, "--blink-settings=preferredColorScheme=0")
        blind = probe("one.html", 800, "--disable-3d-apis")
        if desktop and phone and blind:
            check_calm(desktop, "desktop", 1280)
            check_calm(phone, "phone", 390)
            check_calm(blind, "without WebGL", 800)
            check_themes(desktop, "desktop")
            check_themes(phone, "phone")
            check_drawn(desktop, 2)
            check_drawn(phone, 1)
            check(desktop["theme"] == "Dark" and phone["theme"] == "Light", "the theme that the system prefers")
            check("start" not in blind, "drawn without WebGL")
        if shots:
            shutil.copytree(".", shots, dirs_exist_ok=True)
        os.chdir("/")
    print(f"report in a browser: {report_page.n_failed} failed")
    return 1 if report_page.n_failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else None))
