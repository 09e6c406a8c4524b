"""Tables that programs print, read by tests in Python."""

import re


def cells(said, title):
    """Rows of cells of the table whose header contains the title."""
    lines = said[said.index(title):].split("\n")[1:]
    table = []
    for line in lines:
        row = re.split(r"  +", line.strip())
        if not line.startswith("  ") or (table and len(row) != len(table[0])):
            break
        table.append(row)
    return table


def number(text):
    return float(text.replace(",", "").rstrip("x%").strip())
