"""What is imported before any test of a program runs: LiveCodeBench's prelude, and what the program names.

`worker.py` loads this file by its path. Standard library only.
"""

import contextlib
import importlib.util
import os
import re
import site
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

__all__ = ["import_named", "prelude_names"]

# The import block that LiveCodeBench puts in front of every program (MIT, see THIRD_PARTY_NOTICES.md).
PRELUDE = """\
from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from sys import *
from json import *
from builtins import *
from typing import *
import string
import re
import datetime
import collections
import heapq
import bisect
import copy
import math
import random
import statistics
import itertools
import functools
import operator
import io
import sys
import json
"""
# What many programs begin with. It is run before any fork, so that what it fills, such as the caches of
# `typing`, need not be filled in each test.
_WARMING = """\
class Solution:
    def solve(self, a: List[int], b: List[List[int]], c: str, d: Optional[int]) -> List[str]:
        return a
"""
_IMPORTED = re.compile(rb"^([ \t]*)(?:import|from)[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*)", re.MULTILINE)
# Modules of the standard library that do something to be seen when they are imported.
_SEEN = ("antigravity", "idlelib", "this", "turtle", "turtledemo")


def prelude_names() -> dict[str, Any]:
    """The names that LiveCodeBench's import block defines, and `quit` and `exit` among the builtins."""
    site.setquit()
    site.setcopyright()
    site.sethelper()
    names: dict[str, Any] = {}
    exec(compile(PRELUDE, "<prelude>", "exec"), names)
    exec(_WARMING, dict(names))
    names.pop("__builtins__", None)
    return names


def import_named(source: bytes, folders: Iterable[str]) -> None:
    """Import what a program names, so that its tests share the cost.

    That is modules of the standard library, and those installed modules that it names at its top level. A
    module that fails to import fails again, visibly, in the tests.
    """
    roots = tuple(os.path.join(folder, "") for folder in folders)
    found = {
        (bool(indent), name.strip().partition(b".")[0].decode("ascii"))
        for indent, names in _IMPORTED.findall(source)
        for name in names.split(b",")
    }
    for deep, module in sorted(found):
        if module in sys.modules or module in _SEEN:
            continue
        with contextlib.suppress(Exception, SystemExit):
            if module in sys.stdlib_module_names:
                import_module(module)
            elif not deep and module:
                spec = importlib.util.find_spec(module)
                if spec is not None and (spec.origin or "").startswith(roots):
                    import_module(module)
