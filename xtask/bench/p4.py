"""A plain Python scorer of the diagnosis track's rules, for comparison only.

Reads the cases that the bench wrote (labels, and diagnoses with their raw text),
scores each diagnosis and prints seconds and sums as JSON. Labels are prepared once a case. Parsing is not timed, neither here nor there.
"""

import json
import re
import sys
import time

GENERIC = set(
    "accept add apply call clear close commit create delete execute flush get handle init invoke "
    "lock main next open poll process put read receive remove reset run send set start stop submit "
    "test unlock update wait write".split()
)
TOLERANCE = 5


def normalize(path):
    parts = []
    for part in path.strip().replace("\\", "/").split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if parts:
                parts.pop()
            continue
        parts.append(part)
    return "/".join(parts)


def paths_match(a, b):
    return bool(a) and bool(b) and (a == b or a in b or b in a)


def delete_balanced(text, opening, closing):
    if opening not in text:
        return text
    opened, ranges, previous = [], [], " "
    for at, c in enumerate(text):
        if c == opening:
            opened.append(at)
        elif c == closing and not (closing == ">" and previous == "-") and opened:
            start = opened.pop()
            while ranges and ranges[-1][0] > start:
                ranges.pop()
            ranges.append((start, at + 1))
        previous = c
    out, position = [], 0
    for start, end in ranges:
        out.append(text[position:start])
        position = end
    out.append(text[position:])
    return "".join(out)


RECEIVER = re.compile(r"^(?:func\s+)?\(\s*(?:\w+\s+)?\*?\s*([\w.]+)(?:\[[^)]*\])?\s*\)\s*\.?\s*(?=\w)")
INNER_RECEIVER = re.compile(r"\(\*?([\w.]+)(?:\[[^()]*\])?\)\.")
OPERATOR = re.compile(r"(?<!\w)operator(?!\w)")
LAMBDA = re.compile(r"lambda\$(\w+)\$\d+")
CLOSURE = re.compile(r"^(?:func|gowrap)\d+$")


def leading_type(name):
    if not name.startswith("<"):
        return name
    depth, previous, end = 0, " ", None
    for at, c in enumerate(name):
        if c == "<":
            depth += 1
        elif c == ">" and previous != "-":
            depth -= 1
            if depth == 0:
                return name[1 : at if end is None else end] + name[at + 1 :]
        elif c == " " and depth == 1 and end is None and name.startswith(" as ", at):
            end = at
        previous = c
    return name


def canonical(name):
    """(class or None, method), or None."""
    name = name.strip().replace("(anonymous namespace)::", "")
    if name.startswith("pub(") and ")" in name:
        name = name.split(")", 1)[1].lstrip()
    at = name.find("::{")
    if at > 0:
        name = name[:at]
    name = RECEIVER.sub(r"\1.", name, count=1)
    name = INNER_RECEIVER.sub(r"\1.", name)
    name = leading_type(name)
    name = name.replace("<init>", "\ue000").replace("<clinit>", "\ue001")
    name = name.replace("<locals>", "").replace("<lambda>", "")
    method = None
    found = OPERATOR.search(name)
    if found:
        after = name[found.end() :]
        symbol = "()" if after.startswith("()") else "".join(after.split("(", 1)[0].split())
        method = "operator" + symbol
        before = name[: found.start()]
        name = before if before.endswith((".", "#", "$", ":", "->")) else ""
    name = delete_balanced(delete_balanced(name, "<", ">"), "[", "]")
    words = name.split("(", 1)[0].split()
    name = words[-1].lstrip("*&") if words else ""
    name = re.sub(r"/\d+$", "", name).rsplit("/", 1)[-1]
    name = LAMBDA.sub(r"\1", name).replace("->", ".")
    parts = [p for p in re.split(r"[.#$:]", name) if p and not p.isdigit()]
    if method:
        parts.append(method)
    while len(parts) > 1 and CLOSURE.match(parts[-1]):
        parts.pop()
    for i, part in enumerate(parts):
        if part == "\ue000" and i:
            parts[i] = parts[i - 1]
        else:
            parts[i] = part.replace("\ue000", "<init>").replace("\ue001", "<clinit>")
    if not parts:
        return None
    return (parts[-2].lower() if len(parts) > 1 else None, parts[-1].lower())


def agree(a, b):
    return a[1] == b[1] and (a[0] == b[0] or (a[0] is None) != (b[0] is None))


def blocks_match(p, g, tolerance):
    if p["end_line"] <= p["start_line"] or g["end_line"] <= g["start_line"]:
        return False
    return p["start_line"] < g["end_line"] + tolerance and g["start_line"] < p["end_line"] + tolerance


def lines_of(blocks):
    return {
        (normalize(b["file"]), n)
        for b in blocks
        if normalize(b["file"])
        for n in range(b["start_line"], b["end_line"])
    }


def share(flags):
    flags = list(flags)
    return sum(flags) / len(flags) if flags else 0.0


def mention_text(raw):
    text = raw.lower()
    text = re.sub(r"\(\*(\w+)\)\.", r"\1.", text)
    text = re.sub(r"\(\w+\s+\*(\w+)\)\s*(?=\w)", r"\1.", text)
    text = text.replace("::", ".")
    text = re.sub(r"(?<=\w):(?=\w)", ".", text)
    return text.replace("#", ".").replace("$", ".")


def mentioned(name, text):
    if name is None:
        return False
    owner, method = name
    if method not in GENERIC:
        wanted = r"(?<!\w)" + re.escape(method) + r"(?!\w)"
    elif owner:
        wanted = r"(?<!\w)" + re.escape(owner + "." + method) + r"(?!\w)"
    else:
        wanted = r"(?<=\w\.)" + re.escape(method) + r"(?!\w)"
    return re.search(wanted, text) is not None


class Blocks:
    """Blocks with what is compared of them."""

    def __init__(self, blocks):
        self.blocks = blocks
        self.paths = [normalize(b["file"]) for b in blocks]
        self.files = set(self.paths) - {""}
        self.functions = [canonical(b.get("function") or "") for b in blocks]
        self.names = {n for n in self.functions if n}
        self.lines = lines_of(blocks)


def score(truth, predicted, text):
    predicted = Blocks(predicted)
    g_files, g_names, g_lines = truth.files, truth.names, truth.lines
    p_files, p_names, p_lines = predicted.files, predicted.names, predicted.lines

    def found(lines, others):
        return share(any(n == m and paths_match(f, g) for g, m in others) for f, n in lines)

    def near(blocks, others, tolerance):
        return share(
            any(
                paths_match(file, other) and blocks_match(o, b, tolerance)
                for other, o in zip(others.paths, others.blocks)
            )
            for file, b in zip(blocks.paths, blocks.blocks)
        )

    normal = mention_text(text)
    return (
        share(any(paths_match(f, g) for g in g_files) for f in p_files),
        share(any(paths_match(f, p) for p in p_files) for f in g_files),
        share(any(agree(n, m) for m in g_names) for n in p_names),
        share(any(agree(n, m) for m in p_names) for n in g_names),
        found(p_lines, g_lines),
        found(g_lines, p_lines),
        near(predicted, truth, TOLERANCE),
        near(truth, predicted, TOLERANCE),
        near(truth, predicted, 0),
        share(mentioned(name, normal) for name in truth.functions),
    )


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    best = None
    for _ in range(int(sys.argv[2])):
        # On a processor, so that what else the machine does does not count.
        start = time.process_time()
        scores = []
        for case in cases:
            truth = Blocks(case["labels"])
            scores.extend(score(truth, d["predicted"], d["text"]) for d in case["diagnoses"])
        spent = time.process_time() - start
        best = spent if best is None else min(best, spent)
    sums = [sum(column) for column in zip(*scores)]
    print(json.dumps({"seconds": best, "n": len(scores), "sums": sums, "python": sys.version.split()[0]}))


main()
