"""`%%judge`: judge the program of a notebook's cell, with completion of problem ids.

`%load_ext lcbkit` turns it on.
"""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class

from lcbkit.dataset import load_problems
from lcbkit.errors import BadValueError, LcbkitError
from lcbkit.extract import has_statement
from lcbkit.judging.pool import judge
from lcbkit.judging.report import Report
from lcbkit.problems import ProblemSet

__all__ = ["JudgeMagics", "load_ipython_extension"]

_USAGE = "%%judge <problem id> [--problems NAME] [--tests hidden|all] [--time-limit SECONDS]"
_TESTS = ("hidden", "all")
_OPTIONS = ("--problems", "--tests", "--time-limit")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Turn `%%judge` on; `%load_ext lcbkit` calls it."""
    magics = JudgeMagics(shell)
    shell.register_magics(magics)

    @context_matcher()  # type: ignore[untyped-decorator]  # IPython's has no types
    def judge_matcher(context: CompletionContext) -> SimpleMatcherResult:
        before = context.text_until_cursor
        found = magics.complete(before) if before.startswith("%%judge ") else []
        completions = [SimpleCompletion(text=word, type="problem") for word in found]
        return {"completions": completions, "ordered": True, "suppress": bool(found)}

    shell.Completer.custom_matchers.append(judge_matcher)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What stands behind `%%judge`."""

    problem_id: str
    problems: str = ""
    tests: str = "hidden"
    time_limit: float = 6.0

    @classmethod
    def parse(cls, line: str) -> "_Line":
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise BadValueError(f"cannot read {line!r} ({error}); write {_USAGE}") from error
        found: dict[str, Any] = {}
        while words:
            word, *words = words
            name, given, value = word.partition("=")
            if not name.startswith("--"):
                if "problem_id" in found:
                    raise BadValueError(
                        f"one problem at a time: {found['problem_id']!r} or {word!r}? Write {_USAGE}"
                    )
                found["problem_id"] = word
                continue
            if name not in _OPTIONS:
                raise BadValueError(f"%%judge has no option {name}; write {_USAGE}")
            if not given:
                if not words:
                    raise BadValueError(f"{name} needs a value; write {_USAGE}")
                value, *words = words
            found[name[2:].replace("-", "_")] = value
        return cls._checked(found)

    @classmethod
    def _checked(cls, found: dict[str, Any]) -> "_Line":
        if "problem_id" not in found:
            raise BadValueError(f"which problem? Write {_USAGE}")
        if found.get("tests", "hidden") not in _TESTS:
            raise BadValueError(f"--tests is {found['tests']!r}; say hidden or all")
        if "time_limit" in found:
            text = found["time_limit"]
            try:
                found["time_limit"] = float(text)
            except ValueError:
                found["time_limit"] = 0.0
            if not 0 < found["time_limit"] < float("inf"):
                raise BadValueError(f"--time-limit is {text!r}; give CPU seconds for each test, above 0")
        return cls(**found)


@magics_class
class JudgeMagics(Magics):
    """The `%%judge` magic of one shell; it reads a source of problems once."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._names: dict[str, Any] = shell.user_ns
        self._sets: dict[str, ProblemSet] = {}

    @cell_magic
    def judge(self, line: str, cell: str) -> Report:
        """Judge this cell's program: `%%judge <problem id>`, then the program.

        The problem is one of `LCB_DATASET`, else of the shipped sample. `--problems NAME` takes it from the
        variable NAME, a `ProblemSet`. `--tests all` adds the public tests. `--time-limit SECONDS` is CPU time
        for each test, 6 unless given. The report is the cell's value.
        """
        try:
            wanted = _Line.parse(line)
            problem = self._problems(wanted.problems)[wanted.problem_id]
            if not has_statement(cell):
                raise BadValueError(
                    "this cell holds no program (no statement, or it does not parse); nothing is judged"
                )
            return judge(cell, problem, tests=wanted.tests, time_limit=wanted.time_limit)  # type: ignore[arg-type]
        except LcbkitError as error:
            raise UsageError(str(error)) from None
        except KeyboardInterrupt:
            raise UsageError("interrupted before the verdict; nothing is left running") from None

    def complete(self, before: str) -> list[str]:
        """What can follow a line's beginning, `%%judge` included: ids, options and their values."""
        words = before.split()
        typed = "" if before.endswith(" ") else words.pop()
        match words[-1]:
            case "--tests":
                found: Sequence[str] = _TESTS
            case "--problems":
                found = sorted(name for name, value in self._names.items() if isinstance(value, ProblemSet))
            case _ if typed.startswith("-"):
                found = [option for option in _OPTIONS if option not in words]
            case _:
                found = self._ids(words)
        return [word for word in found if word.startswith(typed)]

    def _ids(self, words: Sequence[str]) -> Sequence[str]:
        name = words[words.index("--problems") + 1] if "--problems" in words else ""
        try:
            return self._problems(name).ids
        except LcbkitError:
            return ()  # a completion has no place for a sentence; running the cell shows it

    def _problems(self, name: str) -> ProblemSet:
        if name:
            value = self._names.get(name)
            if not isinstance(value, ProblemSet):
                what = f"is a {type(value).__name__}" if name in self._names else "does not exist"
                raise BadValueError(
                    f"--problems {name}: that variable {what}; name a ProblemSet from load_problems"
                )
            return value
        source = os.environ.get("LCB_DATASET") or "sample"
        if source not in self._sets:
            self._sets[source] = load_problems(source)
        return self._sets[source]
