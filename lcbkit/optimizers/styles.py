"""Ways to write a role's prompt: presets and dimensions to combine; values."""

import random
from collections.abc import Mapping

__all__ = ["DIMENSIONS", "PRESETS", "style_texts"]

PRESETS: tuple[str, ...] = (
    "Rigorous: every claim is justified by the statement's limits, and each step that could fail is checked.",
    "Systematic: a fixed order of stages, each with a clear result that the next one builds on.",
    "Pattern-based: first name the known kind of problem, then adapt its standard solution to the details.",
    "Test-driven: think of the cases that decide first, and write only what makes them pass.",
    "Efficiency-minded: settle what the largest input allows before anything else is decided.",
    "Sceptical: assume that the first idea is wrong, and look for the input that shows it.",
    "Plain: the simplest approach that meets the limits, with as little code as possible.",
    "Example-led: work through the given examples by hand before the general method is chosen.",
    "Invariant-led: say what stays true throughout the computation, and build on it.",
    "Careful reader: restate input, output and limits exactly before any thought about a method.",
)
"""The first styles of every pool."""

DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "reasoning": (
        "deduce from the limits",
        "argue by cases",
        "work backwards from the output",
        "reduce to a problem that is known",
        "look for an invariant",
        "compare two approaches and choose",
        "start from brute force and improve it",
        "generalize from small inputs",
        "divide the problem into independent parts",
        "question each assumption",
    ),
    "form of the notes": (
        "short numbered steps",
        "a few full sentences",
        "a checklist that is ticked off",
        "headings with one line each",
        "only the decisions and their reasons",
        "questions, each with its answer",
        "a table in words: case, expectation, result",
        "one paragraph before the result",
        "terse notes, no full sentences",
        "first the result in words, then the reasons",
    ),
    "depth": (
        "only what decides",
        "a sketch, then the details",
        "every detail that could fail",
        "deep on the hardest step alone",
        "deep on the limits",
        "deep on the data structures",
        "equal depth everywhere",
        "shallow first, deeper where in doubt",
        "deep on correctness, short on the rest",
        "deep on the cost of each step",
    ),
    "verification": (
        "trace the examples by hand",
        "try the smallest and the largest input",
        "compare with a brute force in thought",
        "check each line for its types and ranges",
        "read the program once more as its critic",
        "check the output format character by character",
        "test a random small case",
        "check that every branch is reached",
        "check the cost against the time limit",
        "check ties and repeated values",
    ),
    "understanding the task": (
        "restate it in one sentence",
        "list input, output and limits",
        "name what is not said",
        "explain each example",
        "separate the story from the problem",
        "define every term",
        "find the quantity that is asked for",
        "ask what a wrong reading would be",
        "note the order of the input",
        "note what may be empty or missing",
    ),
    "decomposition": (
        "read, compute, print",
        "one function per idea",
        "solve a smaller version first",
        "split by the kind of input",
        "separate the model from the algorithm",
        "preprocess, then answer quickly",
        "state, transition, answer",
        "no more parts than needed",
        "hardest part first",
        "from the outside in",
    ),
    "handling of errors": (
        "expect empty and single-element inputs",
        "guard against overflow of recursion",
        "mind the ends of ranges",
        "mind zero and negative numbers",
        "mind repeated elements",
        "mind blank lines and extra spaces",
        "prefer integers to floating point",
        "name what cannot happen and why",
        "find the cause before any repair",
        "change one thing at a time",
    ),
    "validation of the answer": (
        "accept only what was verified",
        "reread the statement at the end",
        "compare with the examples once more",
        "say how sure you are, and of what not",
        "look for one more counterexample",
        "check that nothing else is printed",
        "check names and signatures",
        "check the complexity once more",
        "prefer the version that was tested",
        "leave alone what is right",
    ),
    "strategy": (
        "greedy if it can be proven",
        "sort first, see what that gives",
        "dynamic programming over the smallest state",
        "binary search over the answer",
        "count instead of enumerate",
        "graph view of the problem",
        "two pointers or a window",
        "precompute sums or tables",
        "simulate if the limits allow it",
        "mathematics before loops",
    ),
    "length": (
        "under eighty words",
        "about a hundred words",
        "about a hundred and fifty words",
        "about two hundred words",
        "as short as it can be",
        "a third shorter than the original",
        "as long as the original",
        "a third longer than the original",
        "long where it matters, short elsewhere",
        "one dense paragraph",
    ),
}
"""Ten dimensions with ten options each; none says anything of fences or of the form of a program."""

_COMBINED = 4


def style_texts(count: int, rng: random.Random) -> list[str]:
    """Styles to write variants in: the presets, then random combinations of four dimensions.

    Args:
        count: how many.
        rng: draws the combinations.
    """
    styles = list(PRESETS[:count])
    while len(styles) < count:
        chosen = rng.sample(sorted(DIMENSIONS), _COMBINED)
        styles.append("; ".join(f"{name}: {rng.choice(DIMENSIONS[name])}" for name in chosen) + ".")
    return styles
