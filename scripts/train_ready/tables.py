"""Writes a table as Markdown; knows nothing of what stands in it."""


def table(head, lines):
    """The head and the lines as a Markdown table in columns; numbers and what follows them stand on the right."""
    cells = [[str(cell) for cell in line] for line in [head, *lines]]
    widths = [max(len(line[at]) for line in cells) for at in range(len(head))]
    right = [all(isinstance(line[at], (int, float)) or line[at][:1].isdigit() for line in lines) for at in range(len(head))]
    written = ["| " + " | ".join(cell.rjust(width) if on_right else cell.ljust(width)
               for cell, width, on_right in zip(line, widths, right)) + " |" for line in cells]
    rule = "|" + "|".join("-" * (width + 1) + (":" if on_right else "-") for width, on_right in zip(widths, right)) + "|"
    return "\n".join([written[0], rule, *written[1:]])
