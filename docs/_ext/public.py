"""What is public and what is the house's own: the one place that says it.

The reference lists the public rooms, and ``tests/test_documentation.py`` holds their docstrings to
numpydoc and asks of every new room where it belongs.
"""

# Title in the reference to room. What ``import sparsieve`` gives is listed under that name.
ROOMS = {
    "In one line": "oneline",
    "Comparing methods": "comparing",
    "Looking at data first": "diagnosis",
    "Data frames": "frames",
    "Files": "io",
    "Memory": "memory",
    "Device": "device",
    "Saving and loading": "saved",
    "Displays": "displays",
    "Reports": "report",
    "Studies": "studies",
    "Measuring": "evaluation",
    "The papers' experiments": "papers",
    "Data sets": "datasets",
}
# Rooms of selectors and what belongs to them, which the reference finds by itself: all their names
# are given by ``import sparsieve``.
SELECTORS = ("selectors", "filters", "choose", "discovery")
# Rooms that may change with any version, and why nobody has to import them.
INTERNAL = {
    "cli": "the command line is used by its commands",
    "design": "what X can do; selectors make designs from arrays, frames, files and tensors",
    "kernels": "mathematics; selectors take kernels by name or as functions",
    "penalties": "mathematics; every selector has its penalty",
    "solvers": "selectors name solvers by text or by settings, which are public",
}
