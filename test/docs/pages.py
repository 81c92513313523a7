"""The examples of a page of docs/."""


def blocks_of(page):
    """The indented parts of a page, behind blank lines, which do not end one; a point's further lines are none."""
    block, before = [], ""
    for line in page.split("\n") + ["end"]:
        if (line.startswith("    ") and (block or not before)) or (not line and block):
            block.append(line[4:])
        elif block:
            yield "\n".join(block)
            block = []
        before = line
