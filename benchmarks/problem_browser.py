"""How the problem browser does with as many problems as a whole release has.

    python benchmarks/problem_browser.py            # the Python side: opening, filters, memory
    python benchmarks/problem_browser.py --page     # also in JupyterLab and Chromium, as a reader sees it

Targets: it opens in under a second and a filter answers in under 150 ms. The problems are generated: sizes as
in LiveCodeBench (1,055 problems, statements of about 1,700 characters), hidden tests small.
"""

import argparse
import base64
import json
import pickle
import random
import statistics
import sys
import tempfile
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lcbkit
from lcbkit.problems import Problem, ProblemSet
from lcbkit.widgets.problem_browser import ProblemBrowser

COUNT = 1_055
WORDS = (
    "array",
    "tree",
    "graph",
    "path",
    "string",
    "count",
    "minimum",
    "integer",
    "pair",
    "query",
    "edge",
    "grid",
)
QUERIES: dict[str, dict[str, Any]] = {
    "difficulty": {"difficulty": "hard"},
    "platform and mode": {"platform": "leetcode", "mode": "functional"},
    "two words": {"text": "shortest path7"},
    "dates": {"start_date": "2024-01-01", "end_date": "2024-06-30"},
    "nothing": {},
}


def generated(count: int = COUNT) -> ProblemSet:
    """Problems of the usual size, the same at every call."""
    rng = random.Random(0)
    return ProblemSet((Problem.from_row(_row(i, rng)) for i in range(count)), source=f"{count} generated")


def _row(number: int, rng: random.Random) -> dict[str, str]:
    functional = number % 3 == 0
    tests = [
        {"input": f"{k}\n", "output": f"{k}\n", "testtype": "functional" if functional else "stdin"}
        for k in range(20)
    ]
    text = " ".join(rng.choices(WORDS, k=250))
    return {
        "question_title": f"{rng.choice(WORDS).title()} of the shortest path{number % 10} <{number}>",
        "question_content": f"Given $N$ numbers.\n\n{text}\n\nSample Input 1\n\n3\n\nSample Output 1\n\n3\n",
        "platform": ("leetcode", "codeforces", "atcoder")[number % 3],
        "question_id": f"{2_700 + number}"
        if functional
        else f"abc{300 + number // 7}_{'abcdefg'[number % 7]}",
        "contest_id": f"contest-{number // 7}",
        "contest_date": f"202{3 + number // 500}-{1 + number % 12:02}-{1 + number % 28:02}T00:00:00",
        "starter_code": "class Solution:\n    def solve(self, n: int) -> int:\n        "
        if functional
        else "",
        "difficulty": ("easy", "medium", "hard")[number * 7 % 3 if number % 2 else number % 3],
        "public_test_cases": json.dumps(tests[:2]),
        "private_test_cases": base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode(),
        "metadata": "{}",
    }


def seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """The median of several times."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def python_side(problems: ProblemSet) -> None:
    """Opening, filters and memory without a front end."""
    print(f"open:   {1000 * seconds(lambda: ProblemBrowser(problems)):7.1f} ms")
    browser = ProblemBrowser(problems)
    for name, query in QUERIES.items():
        took = seconds(lambda query=query: browser.filter(**query))  # type: ignore[misc]
        print(f"filter: {1000 * took:7.1f} ms  {name} ({len(browser.found)} problems)")
    print(f"select: {1000 * seconds(lambda: [browser.select(i) for i in problems.ids[:2]]) / 2:7.1f} ms")
    print(f"sent at opening: {len(json.dumps(browser._view.table.get_state())) / 1024:.0f} KiB of rows")
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    second = ProblemBrowser(problems)
    taken = (tracemalloc.get_traced_memory()[0] - before) / 2**20
    print(f"memory: {taken:.1f} MiB for the browser, problems aside")
    tracemalloc.stop()
    second.close()
    browser.close()


PAGE = """
import sys; sys.path.insert(0, {folder!r})
from problem_browser import generated
import lcbkit
problems = generated()
"""
# From the order to run until the rows are on the page and painted.
OPENED = """async () => {
  const before = document.querySelectorAll('.lcb-table').length, begun = performance.now();
  window.jupyterapp.commands.execute('notebook:run-cell-and-select-next');
  const painted = () => new Promise(done => requestAnimationFrame(done));
  while (!document.querySelectorAll('.lcb-table')[before]?.querySelector('tbody tr')) await painted();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - begun;
}"""
FILTERED = """async ([label, value]) => {
  const labels = [...document.querySelectorAll('.lcb-field')];
  const field = labels.find(box => box.textContent.startsWith(label)).querySelector('select, input');
  const grid = document.querySelector('[role=grid]'), before = grid.getAttribute('aria-rowcount');
  const begun = performance.now();
  field.value = value;
  field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
  const painted = () => new Promise(done => requestAnimationFrame(done));
  while (grid.getAttribute('aria-rowcount') === before) await painted();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - begun;
}"""
FIELDS = (("Difficulty", "hard"), ("Difficulty", "any"), ("Search", "path7"), ("Platform", "atcoder"))
SORTED = """async () => {
  const begun = performance.now();
  document.querySelector('[title="Sort by title"]').click();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - begun;
}"""


def on_a_page() -> None:
    """The same as a reader sees it: from a click until the rows are painted."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM
    from tests.browser.lab import NotebookPage, start_lab, stop_lab

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lab = start_lab(Path(folder) / "lab")
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = NotebookPage(
                chromium.new_page(viewport={"width": 1280, "height": 1000}), lab, Path(folder)
            )
            setup = PAGE.format(folder=str(Path(__file__).parent))
            page.open([setup, "lcbkit.browse(problems)", "lcbkit.browse(problems)"])
            page.page.evaluate(
                "() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next').then(() => 1)"
            )
            first, again = page.page.evaluate(OPENED), page.page.evaluate(OPENED)
            print(f"page, open:   {first:6.0f} ms the first time, which loads ipywidgets on both sides")
            print(f"page, open:   {again:6.0f} ms again")
            page.page.wait_for_function("() => document.querySelector('.lcb-page .jp-RenderedMarkdown')")
            for label, value in FIELDS:
                took = page.page.evaluate(FILTERED, [label, value])
                print(f"page, filter: {took:6.0f} ms  {label} {value}")
            print(f"page, sort:   {page.page.evaluate(SORTED):6.0f} ms")
            page.close()
        finally:
            chromium.close()
            stop_lab(lab)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="also in JupyterLab and Chromium")
    arguments = parser.parse_args()
    print(f"lcbkit {lcbkit.__version__}, {COUNT} problems")
    python_side(generated())
    if arguments.page:
        on_a_page()


if __name__ == "__main__":
    main()
