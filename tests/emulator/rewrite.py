"""Turns CUDA C++ into C++ that g++ compiles: rewrite.py SOURCE OUTPUT.

Launches, shared arrays and inline PTX become calls of the emulator, and every kernel says its name; every line keeps
its number. Sources keep to what this understands: one launch per statement, shared arrays without initialisers, plain
asm statements.
"""

import re
import sys
from pathlib import Path

EMULATOR = "::ridgebench::emulator::"
BRACKETS = {"(": ")", "[": "]", "{": "}"}


def blank_comments_and_strings(text: str) -> str:
    """The same length and lines, with comments and what is between quotes turned into spaces."""

    def blank(match: re.Match) -> str:
        token = match.group(0)
        spaces = re.sub(r"[^\n]", " ", token)
        return token[0] + spaces[1:-1] + token[-1] if token[0] in "\"'" else spaces

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.DOTALL)


def closing(code: str, start: int) -> int:
    """Index of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(code)):
        depth += (code[i] in BRACKETS) - (code[i] in BRACKETS.values())
        if depth == 0:
            return i
    raise SystemExit("a bracket is not closed")


def split(code: str, separator: str, begin: int, end: int, angles: bool = False) -> list[tuple[int, int]]:
    """Ranges of code[begin:end] between separators outside all brackets."""
    opening = "([{<" if angles else "([{"
    shutting = ")]}>" if angles else ")]}"
    ranges, depth, first = [], 0, begin
    for i in range(begin, end):
        depth += (code[i] in opening) - (code[i] in shutting)
        if depth == 0 and code[i] == separator:
            ranges.append((first, i))
            first = i + 1
    return ranges + [(first, end)]


def kernel_start(code: str, end: int) -> int:
    """Start of the expression that ends before `end`: a qualified name with or without template arguments."""
    i = len(code[:end].rstrip())
    if code[i - 1] == ">":
        angles = rounds = 0
        while True:
            i -= 1
            rounds += (code[i] == ")") - (code[i] == "(")
            angles += ((code[i] == ">") - (code[i] == "<")) * (rounds == 0)
            if angles == 0:
                break
    return re.search(r"[\w:]+\s*$", code[:i]).start()


def same_lines(new: str, old: str) -> str:
    """`new`, with as many line breaks as `old` has."""
    new = re.sub(r"\s*\n\s*", " ", new)
    return new + "\n" * old.count("\n")


def launches(text: str, code: str):
    for match in re.finditer("<<<", code):
        begin = kernel_start(code, match.start())
        depth, end = 0, match.end()
        while not (depth == 0 and code.startswith(">>>", end)):
            depth += (code[end] in "([{") - (code[end] in ")]}")
            end += 1
        arguments = code.index("(", end)
        last = closing(code, arguments) + 1
        kernel = " ".join(text[begin : match.start()].split())
        given = text[arguments + 1 : last - 1].strip()
        configuration = [text[slice(*part)].strip() for part in split(code, ",", match.end(), end, angles=True)]
        # The runtime knows kernels that may have much dynamic memory by their addresses.
        address = f".of({kernel})" if len(configuration) > 2 and configuration[2] != "0" else ""
        new = (
            f'{EMULATOR}Launch("{kernel}", {text[match.end() : end].strip()}){address}'
            f"([=](auto... emulated) {{ {kernel}(emulated...); }}{', ' if given else ''}{given})"
        )
        yield begin, last, same_lines(new, text[begin:last])


def launches_by_address(text: str, code: str):
    for match in re.finditer(r"(::)?\bcudaLaunchKernelEx\b", code):
        yield match.start(), match.end(), f"{EMULATOR}launch_kernel"


def kernels(text: str, code: str):
    """The kernel's name, at the start of its body: a launch by address does not know it."""
    for match in re.finditer(r"\b__global__\b", code):
        end = match.end()
        while code[end] != "{" and code[end] != ";":
            start = code.index("(", end)
            name = re.search(r"(\w+)\s*$", code[:start]).group(1)
            end = closing(code, start) + 1
            end += len(code[end:]) - len(code[end:].lstrip())
        if code[end] == "{":
            call = f'{EMULATOR}Block::current().enter_kernel("{name}", ::std::source_location::current());'
            yield end + 1, end + 1, f" {call}"


def dynamic_memory(text: str, code: str):
    attribute = r"(?:\balignas\s*\(([^()]*)\)\s*)?"
    for match in re.finditer(attribute + r"\bextern\s+__shared__\s+" + attribute + r"([^;]*?)\b(\w+)\s*\[\s*\]\s*;", code):
        before, after, element, name = match.groups()
        element = element.strip()
        alignment = before or after or f"alignof({element})"
        memory = f"{EMULATOR}Block::current().shared().dynamic({alignment})"
        new = f"{element}* const {name} = reinterpret_cast<{element}*>({memory});"
        yield match.start(), match.end(), same_lines(new, text[slice(*match.span())])


def shared_arrays(text: str, code: str):
    for match in re.finditer(r"(?<!extern )\b__shared__\b", code):
        end = code.index(";", match.end())
        aligned = re.match(r"\s*alignas\s*\([^)]*\)", text[match.end() : end])
        begin = match.end() + (aligned.end() if aligned else 0)
        names = [
            re.search(r"(\w+)\s*(\[[^\[\]]*\]\s*)*$", code[slice(*declarator)]).group(1)
            for declarator in split(code, ",", begin, end, angles=True)
        ]
        entries = "".join(
            f" {EMULATOR}Block::current().shared().enter(&{name}, sizeof({name}), __alignof__({name}));" for name in names
        )
        new = f"{aligned.group(0).strip() + ' ' if aligned else ''}static{text[begin:end]};{entries}"
        yield match.start(), end + 1, same_lines(new, text[match.start() : end + 1])


def assembly(text: str, code: str):
    for match in re.finditer(r"\basm\b(\s+volatile)?\s*\(", code):
        begin, end = match.end(), closing(code, match.end() - 1)
        sections = split(code, ":", begin, end)
        template = text[slice(*sections[0])].strip()
        operands = []
        for section in sections[1:3]:
            for first, last in split(code, ",", *section):
                if code[first:last].strip():
                    bracket = code.index("(", first)
                    operands.append(text[bracket : closing(code, bracket) + 1])
        new = ", ".join([f"{EMULATOR}ptx(::std::source_location::current()", template, *operands]) + ")"
        yield match.start(), end + 1, same_lines(new, text[match.start() : end + 1])


def rewrite(text: str) -> str:
    code = blank_comments_and_strings(text)
    steps = (launches, launches_by_address, kernels, dynamic_memory, shared_arrays, assembly)
    edits = sorted(edit for step in steps for edit in step(text, code))
    parts, position = [], 0
    for begin, end, new in edits:
        parts += [text[position:begin], new]
        position = end
    return "".join([*parts, text[position:]])


def main() -> None:
    source, output = map(Path, sys.argv[1:])
    prefix = "" if source.suffix == ".cuh" else "#include <cuda_runtime.h>\n"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(f'{prefix}#line 1 "{source}"\n{rewrite(source.read_text(encoding="utf-8"))}', encoding="utf-8")


if __name__ == "__main__":
    main()
