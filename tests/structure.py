"""Prints how the packages depend on each other: `python -m tests.structure [FOLDER]`.

Per package: its entries (files and folders below it), the floor each stands on (0 imports no sibling; each other stands one
above the highest sibling it imports), the imports that close a circle between entries, and circles between modules. Folders
whose entries form no circle have an order in which no import runs back up. FOLDER (default: this checkout) may be a checkout
of another version, so that two structures can be compared.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("knowledge", "chat", "llm_worker", "web", "compression", "ingest", "features", "config")
# Django's own furniture: prescribed names, imported by no layer.
PRESCRIBED = {"__init__", "apps", "management", "migrations"}

Graph = Mapping[str, set[str]]
Imports = set[tuple[str, str]]


@dataclass(frozen=True)
class Structure:
    """Of one package. Circles are sets of names that import each other, directly or not."""

    package: str
    entries: list[str]
    floors: dict[str, int]
    circles: list[set[str]]
    back_up: Imports  # the module imports that close the circles, as few as a greedy search finds
    module_circles: list[set[str]]


def structures(folder: Path) -> list[Structure]:
    sys.path.insert(0, str(folder))
    try:
        present = [name for name in PACKAGES if (folder / name).is_dir()]
        graph = grimp.build_graph(*present, cache_dir=None)
    finally:
        sys.path.remove(str(folder))
    imports = {
        (importer, imported)
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if ".migrations" not in importer
    }
    return [_structure(folder, name, imports) for name in present]


def _structure(folder: Path, package: str, imports: Imports) -> Structure:
    inside = {(a, b) for a, b in imports if _is_in(a, package) and _is_in(b, package)}
    between = _between_entries(package, inside)
    circles = _circles(between)
    back_up = _closing(between, circles)
    return Structure(
        package=package,
        entries=sorted(_entries(folder / package)),
        floors=_floors(between, {pair for pair in between if pair in back_up}),
        circles=circles,
        back_up={pair for entry_pair in back_up for pair in between[entry_pair]},
        module_circles=_circles(inside),
    )


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _entries(folder: Path) -> Iterable[str]:
    for path in folder.iterdir():
        if path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py"))):
            yield path.stem


def _between_entries(package: str, imports: Imports) -> dict[tuple[str, str], Imports]:
    """The imports between two different entries, by the pair of entries."""
    between: dict[tuple[str, str], Imports] = defaultdict(set)
    for importer, imported in imports:
        pair = _entry(package, importer), _entry(package, imported)
        if pair[0] != pair[1] and package not in pair:
            between[pair].add((importer, imported))
    return dict(between)


def _entry(package: str, module: str) -> str:
    return module.removeprefix(f"{package}.").partition(".")[0]


def _graph(pairs: Iterable[tuple[str, str]]) -> Graph:
    graph: dict[str, set[str]] = defaultdict(set)
    for importer, imported in pairs:
        graph[importer].add(imported)
        graph.setdefault(imported, set())
    return graph


def _circles(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The strongly connected components with more than one member."""
    graph = _graph(pairs)
    reached = {node: _reached_from(node, graph) for node in graph}
    components = {frozenset({other for other in reached[node] if node in reached[other]}) for node in graph}
    return sorted((set(one) for one in components if len(one) > 1), key=sorted)


def _reached_from(start: str, graph: Graph) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for node in graph[waiting.pop()] - seen:
            seen.add(node)
            waiting.append(node)
    return seen


def _closing(pairs: Mapping[tuple[str, str], Imports], circles: list[set[str]]) -> set[tuple[str, str]]:
    """Pairs of entries without which there is no circle; those with the fewest imports are taken first."""
    kept, closing = dict(pairs), set()
    while circles:
        in_circle = [pair for pair in kept if any(set(pair) <= circle for circle in circles)]
        thinnest = min(in_circle, key=lambda pair: (len(kept[pair]), pair))
        closing.add(thinnest)
        del kept[thinnest]
        circles = _circles(kept)
    return closing


def _floors(pairs: Iterable[tuple[str, str]], left_out: set[tuple[str, str]]) -> dict[str, int]:
    graph = _graph(pair for pair in pairs if pair not in left_out)
    floors: dict[str, int] = {}
    for node in TopologicalSorter(graph).static_order():
        floors[node] = 1 + max((floors[below] for below in graph[node]), default=-1)
    return floors


def _lines(one: Structure) -> Iterable[str]:
    own = [name for name in one.entries if name not in PRESCRIBED]
    yield f"{one.package}: {len(own)} entries of its own, {len(one.back_up)} imports back up, {len(one.circles)} circles"
    by_floor: dict[int, list[str]] = defaultdict(list)
    for name, floor in one.floors.items():
        by_floor[floor].append(name)
    for floor in sorted(by_floor, reverse=True):
        yield f"  {floor:2}  {'  '.join(sorted(by_floor[floor]))}"
    for importer, imported in sorted(one.back_up):
        yield f"  back up: {importer} -> {imported}"
    for circle in one.module_circles:
        yield f"  circle of modules: {'  '.join(sorted(circle))}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Print how the packages depend on each other.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT)
    for structure in structures(parser.parse_args().folder.resolve()):
        print("\n".join(_lines(structure)))


if __name__ == "__main__":
    main()
