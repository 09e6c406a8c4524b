#!/usr/bin/env python3
"""Works that sources and READMEs cite, "P3" or "Braess 1995", compared with doc/references.md: each has an entry there,
and each entry is cited somewhere. First, the rules must find the faults in made-up texts.

    test_references.py SRCDIR [-v]      -v: prints every citation that was found"""
import pathlib
import re
import sys
import unicodedata

FOLDERS = ("app", "configs", "core", "doc", "examples", "filters", "findings", "gpu", "lib", "tests")
KINDS = (".c", ".h", ".cu", ".cuh", ".inc", ".in", ".md", ".py", ".sh", ".cfg", ".build")
PAGE = "doc/references.md"
# Abaqus, Nastran and Medit use labels P1 to P6 of their own.
LABELS = ("core/files/", "tests/files/", "tests/app/test_from_file.sh", "examples/")

SURNAME = r"(?:van (?:der |de )?|von |de )?[A-ZÀ-Ž][a-zà-ž]+(?:-[A-Z][a-z]+)?"
AUTHORS = rf"(?P<first>{SURNAME})(?:(?:,? and |,? & |, ){SURNAME})*(?:,? et al\.?| and others)?"
YEAR = r"(?P<year>1[89]\d\d|20[0-4]\d)(?![-\w.,]*\d)"
# "Traeff et al. (2023)", "Gordon, Hall 1973"; and "(Braess, *Title*, Computing 55, 1995: 1.8)".
PLAIN = re.compile(rf"\b{AUTHORS}(?:,? \(|,? ){YEAR}")
LONG = re.compile(rf"\((?:[^()]*?[;:] |the [a-z ]+ of )?{AUTHORS}[^();]*?[ -]{YEAR}[^()]*\)")
# "Du and Olhoff (Struct. Multidisc. Optim. 34, 2007)".
APART = re.compile(rf"\b{AUTHORS} \([A-Z][^();]*?, {YEAR}\)")
# A title may stand before the year outside of parentheses: "(O. C. Zienkiewicz, J. Z. Zhu, ... 24 (1987)".
JOURNAL = re.compile(rf"\b{AUTHORS},? [^();]{{0,80}}?(?:J\.|Comput\.?|SIAM|Computing|Conf\.|Optim\.|Mech\.|Dyn\.|Eng\.|"
                     rf"Engng|NISTIR|Phys\.|Algorithms)[^();]{{0,60}}? \(?{YEAR}")
# Words that begin a sentence or do not name a person, and months.
OTHERS = set("""In Of The A An On At As By For From Since Until Before After With To And Or If Its It This That These
    January February March April May June July August September October November December Copyright SIGGRAPH
    Element Elements Node Nodes Line Lines Row Rows Face Faces Cell Cells Point Points Set Sets Case Cases Step Steps
    Part Parts Item Items Number Count Iteration Iterations Design Designs Size Sizes Total Abaqus Nastran Ansys Patran
    Gmsh Exodus Medit Marc Python Windows Meson Ninja Commit Tesla Quadro Xeon
    OpenMP Debian Ubuntu Version Release Report Table Figure Section Chapter Measured Sessions Programs Times Library Struct""".split())
ENTRY = re.compile(r"^- \*\*(.+?)\*\*", re.MULTILINE)


def ascii_name(name):
    for letter, plain in (("ø", "o"), ("ä", "ae"), ("ö", "oe"), ("ü", "ue")):
        name = name.replace(letter, plain)
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))


def key(name, year):
    return f"{ascii_name(name)} {year}"


def running(text):
    """Comments as running text, without comment marks at the beginning of lines."""
    return re.sub(r"\s*\n[ \t]*(?:\*(?!\*)|//|#)?[ \t]*", " ", text)


def citations(text):
    text = running(text)
    for rule in (PLAIN, LONG, APART, JOURNAL):
        for match in rule.finditer(text):
            if match.group("first") not in OTHERS:
                yield key(match.group("first"), match.group("year")), match.group(0)


def papers(text):
    """P1 and the other keys, but not in quotes or code."""
    text = re.sub(r"```.*?```|`[^`\n]*`|\"[^\"\n]*\"", " ", text, flags=re.DOTALL)
    return {int(n) for n in re.findall(r"(?<![\w.<])P([1-9]\d?)\b(?!\^)", text)}


def entries(text):
    """{P1, ...}, {key: ...} of the page, and the entries that occur twice."""
    keys, twice = set(), []
    for name in ENTRY.findall(text):
        match = re.fullmatch(rf"(?:{AUTHORS})(?: \({YEAR}\))?", name) if not re.fullmatch(r"P\d", name) else None
        found = name if not match else key(match.group("first"), match.group("year") or "")
        if found in keys:
            twice.append(found)
        keys.add(found)
    return keys, twice


def near(cite, text):
    """Whether name and year of an entry occur close together in a form that no rule above covers."""
    surname, _, year = cite.rpartition(" ")
    return year and re.search(rf"\b{surname}\b.{{0,160}}\b{year}\b", ascii_name(running(text)))


def faults_of(page, texts, verbose=False):
    """Faults of the page, compared with {file: text}."""
    known, twice = entries(page)
    undated = {k.strip() for k in known if k.endswith(" ")}
    faults = [f"{PAGE}: two entries '{k}'" for k in twice]
    cited = set()
    for name, text in texts.items():
        for cite, words in citations(text):
            cited.add(cite)
            if verbose:
                print(f"{name}: {cite}: {words[:90]}")
            if cite not in known:
                faults.append(f"{name}: no entry in {PAGE}: {words[:90]}")
        if not name.startswith(LABELS):
            for n in papers(text):
                cited.add(f"P{n}")
                if f"P{n}" not in known:
                    faults.append(f"{name}: no entry in {PAGE}: P{n}")
        cited.update(f"{u} " for u in undated if re.search(rf"\b{u}\b", running(text)))
    for k in sorted(known - cited):
        if not any(near(k, text) for text in texts.values()):
            faults.append(f"{PAGE}: '{k}' is cited nowhere")
    return faults, len(cited)


def check_rules():
    page = "- **P1** A: *B*.\n- **Träff (2023)** C.\n- **Golub and Van Loan** D.\n- **Braess (1995)** E.\n"
    good = {"a.h": "/* (P1; Traeff\n * et al. 2023); Golub and Van Loan */", "b.md": "(Braess, *T*, Computing 55, 1995: 1)"}
    assert faults_of(page, good)[0] == [], faults_of(page, good)[0]
    for text in ("/* P7 */", "(Sigmund 1997)", "Du and\n * Olhoff (2007)", "(Xu, Computing\n// 56, 1996)", "Hall 1973",
                 "(reliable updates of Clark et al., Comput. Phys.\n * Commun. 181, 2010)", "(van der Vorst and Ye 2000)",
                 "Ma and\n * Wu (Struct. Multidisc. Optim. 34, 2007)",
                 "(O. C. Zienkiewicz, J. Z. Zhu, Int. J. Numer. Meth. Engng 24 (1987) 337-357)"):
        assert faults_of(page, {**good, "c.h": text})[0], f"not found: {text}"
    for text in ("2026-11-28", "(NVIDIA H200, 2026-11-23, AMD)", "`P7`", "Debian 2024", "CB 2000 elements", "P7^2",
                 "Element 2001, Node 1999", "Nastran 2020"):
        assert not faults_of(page, {**good, "c.md": text})[0], f"taken for a citation: {text}"
    assert faults_of(page + "- **Shell (1959)** F.\n", good)[0], "an entry that nobody cites"
    assert faults_of(page + page, good)[0], "an entry twice"


def main(source, *options):
    root = pathlib.Path(source)
    check_rules()
    texts = {}
    for path in [*root.glob("*.md"), *(p for f in FOLDERS for p in (root / f).rglob("*"))]:
        name = path.relative_to(root).as_posix()
        if (path.suffix in KINDS and path.is_file() and name not in (PAGE, "CHANGELOG.md")
                and path.name != pathlib.Path(__file__).name):
            texts[name] = path.read_text(encoding="utf-8", errors="replace")
    faults, n_cited = faults_of((root / PAGE).read_text(encoding="utf-8"), texts, "-v" in options)
    print("\n".join(sorted(set(faults))))
    print(f"{n_cited} works cited in {len(texts)} files, {len(faults)} faults")
    return 1 if faults or n_cited < 40 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
