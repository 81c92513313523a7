"""The examples of a page of docs/."""


def blocks_of(page):
    """The indented parts of a page; blank lines do not end one."""
    block = []
    for line in page.split("\n") + ["end"]:
        if line.startswith("    ") or (not line and block):
            block.append(line[4:])
        elif block:
            yield "\n".join(block)
            block = []
