#!/usr/bin/env python3
"""Checks that the sources follow the layers of ARCHITECTURE.md.

The table LAYERS below is the law: what each module may use. Three things are held against it:
the USES of each module's CMakeLists.txt (they must name a subset of it), every #include of the
sources, tests, applications and fuzz targets (its module must be in the table and declared), and the
third-party headers, each of which belongs to a few modules and to no public header. Standard library only, no compiler: it reads the text.

usage: check_layers.py [ROOT]
Exit code: 0 all arrows followed, 1 violations (one a line: file:line: what; fix), 2 no sources.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

# module -> the modules it may use, together with what those may use. Below the libraries come the
# programs on top, by their folders.
LAYERS = {
    "base": [],
    "frame": ["base"],
    "flow": ["frame"],
    "kernels": ["frame"],
    "webnn": ["kernels"],
    "backends": ["webnn"],
    "models": ["webnn"],
    "roi": ["flow"],
    "packing": ["base"],
    "train": ["frame"],
    "adapt": ["models", "train", "flow"],
    "track": ["base"],
    "metrics": ["base"],
    "io": ["frame"],
    "compose": ["io"],
    "pipeline": ["models", "roi", "packing", "adapt", "track", "metrics", "io"],
    "streams": ["pipeline", "roi", "packing", "track"],
    "apps/common": ["streams", "backends", "compose"],
    "apps/cli": ["streams", "backends", "compose"],
    "apps/bench": ["streams", "backends", "compose"],
    "apps/server": ["streams", "backends"],
    "bindings/python": ["streams", "backends"],
    "bindings/wasm": ["kernels"],
    "tests": ["streams", "backends", "compose"],
    "fuzz": ["streams", "backends", "compose"],
}

LIBRARIES = {module for module in LAYERS if "/" not in module} - {"tests", "fuzz"}

# The tests of a module may also use these: a fake to run on needs no arrow in the library.
TEST_EXTRAS = {
    "webnn": ["backends"],
    "models": ["backends"],
    "pipeline": ["backends"],
    "streams": ["backends"],
}

# A third-party header (by the start of its path) -> the modules that may include it. "test" stands
# for every test, "apps" for every program. What is not listed here may be included nowhere.
THIRD_PARTY = {
    "openvino/": ["backends", "apps/bench"],
    "hwy/": ["kernels", "flow", "train", "adapt", "metrics", "apps/bench"],
    "libavformat/": ["io"],
    "libavcodec/": ["io"],
    "libavutil/": ["io", "models"],
    "libswscale/": ["io", "apps/bench"],
    "nlohmann/": ["io", "models", "streams", "apps", "test"],
    "CLI/": ["apps"],
    "spdlog/": ["apps"],
    "gtest/": ["test"],
    "gmock/": ["test"],
    "benchmark/": ["apps/bench", "bench"],
    "opencv2/ml.hpp": ["apps/cli"],
    "opencv2/": ["flow", "roi", "apps/bench"],
    "libyuv.h": ["apps/bench"],
    "libyuv/": ["apps/bench"],
    "dnnl": ["train"],
    "oneapi/dnnl/": ["train"],
    "onnx/": ["train"],
}

# Headers of the operating system, which any source (no public header) may use.
SYSTEM = re.compile(
    r"^(sys/|linux/|netinet/|arpa/)[\w./]+$|"
    r"^(unistd|fcntl|pthread|sched|poll|glob|dirent|dlfcn|pwd|termios|signal|spawn|cpuid|immintrin|"
    r"x86intrin|arm_neon|malloc)\.h$"
)
# <vector>, <cstdint>: the standard library has no dot and no slash. C headers are asked for by
# their C++ names.
STANDARD = re.compile(r"^[a-z_0-9]+$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCE_SUFFIXES = {".h", ".cc", ".cpp", ".hpp", ".inc"}
MAX_LINES = 600


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    text: str
    warning: bool = False

    def __str__(self) -> str:
        kind = "warning: " if self.warning else ""
        return f"{self.path}:{self.line}: {kind}{self.text}"


def closure(layers: dict[str, list[str]]) -> dict[str, set[str]]:
    """What each module may use, arrows followed to the end. Raises ValueError on a cycle."""
    done: dict[str, set[str]] = {}

    def visit(module: str, path: tuple[str, ...]) -> set[str]:
        if module in path:
            cycle = path[path.index(module) :] + (module,)
            raise ValueError("cycle: " + " -> ".join(cycle))
        if module not in done:
            reached: set[str] = set()
            for used in layers.get(module, []):
                reached |= {used} | visit(used, path + (module,))
            done[module] = reached
        return done[module]

    for module in layers:
        visit(module, ())
    return done


def module_of(relative: Path) -> str | None:
    """The module or program a file belongs to; None for files that are not ours to check."""
    parts = relative.parts
    if len(parts) > 3 and parts[:2] in (("src", "sparing"), ("include", "sparing")):
        return parts[2]
    if parts[0] in ("apps", "bindings") and len(parts) > 2:
        return "/".join(parts[:2])
    if parts[0] == "bench":
        return "apps/bench"
    if parts[0] in ("tests", "fuzz"):
        return parts[0]
    return None


def is_test(relative: Path) -> bool:
    """x_test.cc, and what tests share: x_test_util.h, test_video.h."""
    return bool(re.search(r"(^|_)test(_|$)", relative.stem)) or relative.parts[0] == "tests"


# --- declarations ------------------------------------------------------------------------------


def strip_comments(text: str) -> str:
    return re.sub(r"#[^\n]*", lambda match: " " * len(match.group()), text)


@dataclass(frozen=True)
class Declaration:
    """One sparing_module() call. Several may share a folder (backend_openvino and backend_fake in
    backends/): together they are that folder's module."""

    path: Path
    line: int
    name: str
    uses: list[str]
    test_uses: list[str]

    @property
    def folder(self) -> str:
        return self.path.parts[2]


def declarations(root: Path) -> list[Declaration]:
    found = []
    for path in sorted(root.glob("src/sparing/*/CMakeLists.txt")):
        text = strip_comments(path.read_text(encoding="utf-8"))
        for call in re.finditer(r"\bsparing_module\s*\(([^)]*)\)", text):
            words = call.group(1).split()
            sections: dict[str, list[str]] = {}
            current: list[str] = []
            for word in words[1:]:
                if re.fullmatch(r"SOURCES|USES|PRIVATE|TESTS|TEST_USES", word):
                    current = sections.setdefault(word, [])
                else:
                    current.append(word)
            found.append(
                Declaration(
                    path.relative_to(root), text.count("\n", 0, call.start()) + 1,
                    words[0] if words else "", sections.get("USES", []),
                    sections.get("TEST_USES", []),
                )
            )
    return found


def declared_reach(found: list[Declaration]) -> dict[tuple[str, bool], set[str]]:
    """(folder, in a test?) -> the folders its CMake declarations reach."""
    folders = {d.name: d.folder for d in found}
    graph: dict[str, list[str]] = {}
    for d in found:
        graph.setdefault(d.folder, []).extend(
            folders.get(used, used) for used in d.uses if folders.get(used, used) != d.folder
        )
    reach = closure(graph)
    result = {}
    for d in found:
        extra: set[str] = set()
        for used in d.test_uses:
            folder = folders.get(used, used)
            extra |= {folder} | reach.get(folder, set())
        result[d.folder, False] = reach[d.folder]
        result[d.folder, True] = result.get((d.folder, True), reach[d.folder]) | extra
    return result


def check_declarations(found: list[Declaration], allowed: dict[str, set[str]]) -> list[Finding]:
    findings = []
    folders = {d.name: d.folder for d in found}
    for d in found:
        if d.folder not in allowed:
            findings.append(Finding(str(d.path), d.line, unknown_module_text(d.folder)))
            continue
        for used in d.uses:
            target = folders.get(used, used)
            if target != d.folder and target not in allowed[d.folder]:
                findings.append(Finding(str(d.path), d.line, arrow_text(d.folder, target, allowed)))
    try:
        closure({d.name: d.uses for d in found})
    except ValueError as error:
        findings.append(Finding("src/sparing", 1, f"CMake declarations form a {error}"))
    return findings


def unknown_module_text(own: str) -> str:
    return (
        f"module '{own}' is not in the table of layers; add its row to ARCHITECTURE.md and to "
        "LAYERS in tools/check_layers.py"
    )


def arrow_text(own: str, target: str, allowed: dict[str, set[str]]) -> str:
    permitted = ", ".join(sorted(allowed[own])) or "nothing"
    return (
        f"'{own}' uses '{target}', but may use only: {permitted}; "
        "move the code to a module that may, or pass the data in as a value"
    )


# --- includes ----------------------------------------------------------------------------------


class IncludeChecker:
    def __init__(self, allowed: dict[str, set[str]], reach: dict[tuple[str, bool], set[str]]):
        self.allowed = allowed  # by the table
        self.reach = reach  # by the CMake declarations

    def check_file(self, root: Path, relative: Path) -> list[Finding]:
        own = module_of(relative)
        if own is None:
            return []
        if own not in self.allowed:
            return [Finding(str(relative), 1, unknown_module_text(own))]
        text = (root / relative).read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()
        findings = []
        if relative.parts[0] == "src" and len(lines) > MAX_LINES:
            problem = f"{len(lines)} lines, more than {MAX_LINES}; split it by responsibility"
            findings.append(Finding(str(relative), len(lines), problem, warning=True))
        for number, line in enumerate(lines, start=1):
            match = INCLUDE.match(line)
            if not match:
                continue
            problem = self.include_problem(relative, own, match.group(2), match.group(1) == '"')
            if problem:
                findings.append(Finding(str(relative), number, problem))
        return findings

    def include_problem(self, relative: Path, own: str, path: str, quoted: bool) -> str | None:
        if path.startswith("sparing/"):
            return self.sparing_problem(relative, own, path)
        if quoted and "/" not in path:
            # Beside the file. The libraries name their headers in full, so that it stays plain which
            # module a line reaches.
            if relative.parts[0] in ("src", "include"):
                return f'#include "{path}" names no module; write "sparing/{own}/{path}"'
            return None
        if STANDARD.match(path):
            return None
        if relative.parts[0] == "include":
            return (
                f"public header includes <{path}>, which is not the standard library; keep it in "
                f"src/sparing/{own}/ behind a value or an opaque type"
            )
        if SYSTEM.match(path):
            return None
        return third_party_problem(relative, own, path)

    def sparing_problem(self, relative: Path, own: str, path: str) -> str | None:
        parts = path.split("/")
        if len(parts) == 2:
            return None  # of the project as a whole: sparing/version.h
        target = parts[1]
        in_library = own in LIBRARIES
        if target not in LIBRARIES:
            return f'#include "{path}": there is no module \'{target}\' in the table of layers'
        extras = TEST_EXTRAS.get(own, []) if is_test(relative) else []
        if target == own or target in extras:
            return None
        if target not in self.allowed[own]:
            return f'#include "{path}": ' + arrow_text(own, target, self.allowed)
        declared = self.reach.get((own, is_test(relative)), set())
        if in_library and target not in declared:
            return (
                f'#include "{path}": \'{own}\' may use \'{target}\' but does not declare it; add it '
                f"to USES in src/sparing/{own}/CMakeLists.txt"
            )
        return None


def third_party_problem(relative: Path, own: str, path: str) -> str | None:
    for prefix, owners in THIRD_PARTY.items():
        if path.startswith(prefix):
            groups = {own, own.split("/")[0]} | ({"test"} if is_test(relative) else set())
            if groups & set(owners):
                return None
            places = ", ".join("tests" if owner == "test" else owner for owner in owners)
            return (
                f"'{own}' includes <{path}>, which belongs to: {places}; use that module's "
                "interface instead"
            )
    return (
        f"unknown header <{path}>; if it is a new dependency, give it its owners in THIRD_PARTY of "
        "tools/check_layers.py"
    )


# --- all together ------------------------------------------------------------------------------


def source_files(root: Path) -> list[Path]:
    files = []
    for folder in ["include", "src", "apps", "bindings", "bench", "tests", "fuzz"]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                files.append(path.relative_to(root))
    return files


def check(root: Path) -> list[Finding]:
    allowed = closure(LAYERS)
    found = declarations(root)
    findings = check_declarations(found, allowed)
    try:
        checker = IncludeChecker(allowed, declared_reach(found))
    except ValueError as error:
        return findings + [Finding("src/sparing", 1, f"the modules' folders form a {error}")]
    for relative in source_files(root):
        findings += checker.check_file(root, relative)
    return findings


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(arguments) == 1 else 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    files = source_files(root)
    if not files:
        print(f"check_layers: '{root}' has no sources; name the checkout's folder", file=sys.stderr)
        return 2
    findings = check(root)
    for finding in findings:
        print(finding)
    errors = sum(not finding.warning for finding in findings)
    print(f"check_layers: {len(files)} files, {errors} violations, {len(findings) - errors} warnings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
