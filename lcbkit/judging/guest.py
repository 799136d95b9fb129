"""What happens inside a test's own process: a program's run, and how it ends.

`worker.py` loads this file by its path, before it forks, and calls it after the fork, so a program meets a
warm interpreter that behaves as one started for it. Standard library only.

Where a judge and an interpreter could differ, the interpreter wins: non-daemon threads are awaited, exit
handlers run, streams are flushed and a failed flush is exit status 120. Leaving by `os._exit` after a fork
skips all of that, so it is done here, by hand and in the interpreter's order.
"""

import atexit
import builtins
import contextlib
import ctypes
import decimal
import faulthandler
import fractions
import gc
import json
import os
import random
import re
import sys
import threading
import types
from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from typing import Any, NoReturn

__all__ = ["Program", "compile_program", "encode_value"]

RECURSION_LIMIT = 50_000
INT_DIGITS = 50_000

# Deep enough for any answer; far from the C stack's end and within reach of the parent's decoder.
_DEEPEST = 400
_ENCODE_RECURSION = 1_500
# Words of programs in which objects may do something when they are destroyed, such as writing what they hold.
# For all others the memory is left to the kernel, which is much faster than taking it apart.
_LATE = re.compile(
    rb"open|Writer|Wrapper|Buffered|File|__del__|__a?exit__|finalize|finally|contextmanager|tempfile"
    rb"|GeneratorExit|BaseException"
)
_CATCH_ALL = re.compile(rb"except\s*:")  # in a generator, its own end too
# Words of programs whose output may lie in the C library's buffers, where no stream of Python's knows of it.
_NATIVE = re.compile(rb"ctypes|cffi|numba|cython", re.IGNORECASE)
# Words without which no program uses the random numbers that the prelude's module hands out.
_RANDOM = re.compile("|".join([*random.__all__, "tempfile", "exec", "eval", "import_"]).encode())
_SEQUENCES: tuple[tuple[type[Any], str], ...] = ((list, "l"), (tuple, "t"), (set, "s"), (frozenset, "s"))
_REPR_LIMIT = 1_000
# Address space that a program out of memory gets back to say so; never touched, so it costs nothing.
_RESERVE_BYTES = 16 * 1024**2

# fmt: off
_DISABLED = (
    "kill", "system", "putenv", "remove", "removedirs", "rmdir", "fchdir", "setuid", "fork", "forkpty",
    "killpg", "rename", "renames", "truncate", "replace", "unlink", "fchmod", "fchown", "chmod", "chown",
    "chroot", "lchflags", "lchmod", "lchown", "getcwd", "chdir",
)
# fmt: on
_DISABLED_IN = {"shutil": ("rmtree", "move", "chown"), "subprocess": ("Popen",)}
_HIDDEN_MODULES = ("ipdb", "joblib", "resource", "psutil", "tkinter")

_exit = os._exit  # programs may overwrite what they reach by name
_write = os.write
_dump = json.JSONEncoder(separators=(",", ":")).encode
_load = json.JSONDecoder().decode


def compile_program(source: bytes, path: str) -> types.CodeType | BaseException:
    """Compile a program as the interpreter compiles a file: byte order mark, CRLF, `__future__` imports.

    A line that names an encoding says nothing, since programs come as text: `compile` heeds it in bytes.

    Returns:
        The code, or the exception to raise in every test.
    """
    try:
        return compile(source.decode("utf-8-sig"), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        return error.with_traceback(None)


class Program:
    """A program on the eve of its run: everything is done that all its tests share, before they are forked.

    Args:
        code: what `compile_program` returned.
        source: the program's text.
        path: where the program's text lies.
        names: the prelude's names; empty for none, and then no limit of the interpreter is raised either.
        module: what the program runs in; holds these names already.
        function: what functional tests call; empty for a program that reads standard input.
    """

    def __init__(
        self,
        code: types.CodeType | BaseException,
        source: bytes,
        path: str,
        names: dict[str, Any],
        module: types.ModuleType,
        function: str,
    ) -> None:
        self.code, self.names, self.function = code, names, function
        self.ends_late = _ends_late(source)
        self.prints_natively = _NATIVE.search(source) is not None
        self.draws = _RANDOM.search(source) is not None
        self.fork_hooks: Sequence[dict[str, Any]] = ()
        self.module = module
        module.__dict__.update(
            {
                "__name__": "solution" if function else "__main__",
                "__doc__": None,
                "__builtins__": builtins,
                "__file__": path,
            }
        )
        self.size = len(self.module.__dict__)
        # No public name; without, a thread would have the worker's number.
        self.renumber = getattr(threading.main_thread(), "_set_native_id", None)
        self.reserve = bytes(_RESERVE_BYTES)
        if names and hasattr(sys, "set_int_max_str_digits"):
            sys.set_int_max_str_digits(INT_DIGITS)
        sys.argv = [path]
        sys.orig_argv = [sys.executable, path]
        sys.modules["__main__"] = types.ModuleType("__main__")
        sys.modules[self.module.__name__] = self.module
        if function:
            _disable_destructive_functions(source)

    def run(self, arguments: list[Any], channel: int) -> NoReturn:
        """Run the program in this process, which is a test's own, and end it.

        Args:
            arguments: what the function is called with; unused without one.
            channel: descriptor that takes the encoded value.
        """
        status = 1
        try:
            for hooks in self.fork_hooks:
                os.register_at_fork(**hooks)
            if self.renumber is not None:
                self.renumber()
            if self.draws:
                random.seed()
            if self.names:
                sys.setrecursionlimit(RECURSION_LIMIT)
            if self.function:  # not for all tests at once: `os.wait4` imports `resource` by name
                for name in _HIDDEN_MODULES:
                    sys.modules[name] = None  # type: ignore[assignment]
            try:
                _execute(self.code, self.module)
                if self.function:
                    self._call(arguments, channel)
                status = 0
            except BaseException as error:
                self.reserve = b""
                status = _exit_status(error)
            if not self.function:
                status = self._finalize(status)
            elif status:
                _flush("stderr")
        finally:
            _exit(status)

    def _finalize(self, status: int) -> int:
        if self._has_last_words():
            for step in (threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
                with contextlib.suppress(BaseException):
                    step()
        flushed = _flush("stdout") & _flush("stderr")
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        if self.ends_late:
            self._let_names_die()
        flushed &= _flush("stdout") & _flush("stderr")
        if self.prints_natively:
            ctypes.CDLL(None).fflush(None)
        return status if flushed else 120

    def _has_last_words(self) -> bool:
        """Whether it has threads or has registered what to do at its end; without, that end is cheap."""
        try:
            late = threading._threading_atexits or atexit._ncallbacks()  # type: ignore[attr-defined]
            return bool(late) or len(threading._active) > 1  # type: ignore[attr-defined]
        except Exception:  # it has taken these modules apart
            return True

    def _own_names(self) -> list[str]:
        """What the program has put into its namespace; to look at all of the prelude would copy its pages."""
        namespace = self.module.__dict__
        new = list(islice(reversed(namespace), max(0, len(namespace) - self.size)))
        used = getattr(self.code, "co_names", ())
        return new + [name for name in used if namespace.get(name) is not self.names.get(name)]

    def _let_names_die(self) -> None:
        names = self._own_names()
        with contextlib.suppress(BaseException):
            for private in (True, False):
                for name in names:
                    if name[:2] != "__" and (name[:1] == "_") is private:
                        self.module.__dict__[name] = None
            gc.collect()

    def _call(self, arguments: list[Any], channel: int) -> None:
        value = self._find_function()(*arguments)
        if issubclass(type(value), tuple):
            value = list(value)
        view = memoryview(encode_value(value) + b"\n")
        while view:
            view = view[_write(channel, view) :]

    def _find_function(self) -> Any:
        solution = self.module.__dict__.get("Solution")
        if solution is not None:
            found, owner = getattr(solution(), self.function, None), "class Solution"
        else:
            found, owner = self.module.__dict__.get(self.function), "the program"
            if found is not None and found is self.names.get(self.function):
                found = None  # a name of the prelude, not the program's own
        if found is None:
            raise AttributeError(f"{owner} has no function {self.function!r}, which the tests call")
        return found


def _ends_late(source: bytes) -> bool:
    return bool(_LATE.search(source)) or (b"yield" in source and bool(_CATCH_ALL.search(source)))


def _execute(code: types.CodeType | BaseException, module: types.ModuleType) -> None:
    if isinstance(code, BaseException):
        raise code
    exec(code, module.__dict__)


def _exit_status(error: BaseException) -> int:
    """Print what the interpreter prints for an exception that nobody caught, and return its exit status."""
    if issubclass(type(error), SystemExit):  # `isinstance` would believe a `__class__` that lies
        code = getattr(error, "code", None)
        if code is None:
            return 0
        if isinstance(code, int):
            return (code if -(2**63) <= code < 2**63 else -1) & 0xFF
        with contextlib.suppress(BaseException):
            print(code, file=sys.stderr)  # noqa: T201  the interpreter prints it too
        return 1
    trace = error.__traceback__
    if issubclass(type(error), MemoryError):
        _clear_frames(trace)
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:  # no memory left, or the program's own hook failed
        with contextlib.suppress(BaseException):
            _write(2, type(error).__name__.encode() + b"\n")
    return 130 if issubclass(type(error), KeyboardInterrupt) else 1


def _clear_frames(trace: types.TracebackType | None) -> None:
    """Let go of what the frames of an exception hold."""
    while trace is not None:
        with contextlib.suppress(RuntimeError):  # it is still running
            trace.tb_frame.clear()
        trace = trace.tb_next


def _flush(name: str) -> bool:
    stream = getattr(sys, name, None)
    try:
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()
    except BaseException as error:  # whatever the program made of its streams
        with contextlib.suppress(BaseException):
            _write(2, f"could not flush a standard stream: {error!r}\n".encode("utf-8", "replace"))
        return False
    return True


def encode_value(value: Any) -> bytes:
    """Write a value as typed plain data: tuples, sets and odd numbers stay apart from lists and ints.

    `J` and JSON when JSON holds the value without loss, else `T` and JSON whose lists all start with a tag:
    `l` list, `t` tuple, `s` set, `d` pairs of a dict, `n` big int, `c` complex, `D` Decimal, `F` Fraction,
    `o` anything else (the text is for people; it equals nothing).
    """
    sys.setrecursionlimit(_ENCODE_RECURSION)  # JSON's C code would run into the end of the stack first
    try:
        text = _dump(value)
        if _load(text) == value:
            return b"J" + text.encode("ascii")
    except Exception:  # not JSON, a cycle, too deep, or an `__eq__` that raises
        pass
    return b"T" + _dump(_tagged(value, 0)).encode("ascii")


def _tagged(value: Any, depth: int) -> Any:
    if value is None or value is True or value is False:
        return value
    numpy = sys.modules.get("numpy")
    kind = type(value)
    if numpy is not None and issubclass(kind, numpy.generic) and not issubclass(kind, (str, bytes)):
        value = value.item()
        kind = type(value)
        if kind is numpy.longdouble:  # no number of Python's holds it
            finite = numpy.isfinite(value)
            value = fractions.Fraction(*value.as_integer_ratio()) if finite else float(value)
            kind = type(value)
    if issubclass(kind, int):
        number = int.__add__(value, 0)
        return number if number.bit_length() < 4_000 else ["n", hex(number)]
    if issubclass(kind, float):
        return float.__add__(value, 0.0)
    if issubclass(kind, str):
        return str.__add__(value, "")
    if depth < _DEEPEST:
        if issubclass(kind, dict):
            return ["d", *([_tagged(k, depth + 1), _tagged(v, depth + 1)] for k, v in dict.items(value))]
        for base, tag in _SEQUENCES:
            if issubclass(kind, base):
                return [tag, *(_tagged(item, depth + 1) for item in base.__iter__(value))]
    if issubclass(kind, complex):
        plain = complex.__add__(value, 0j)
        return ["c", plain.real, plain.imag]
    if kind is decimal.Decimal:
        return ["D", str(value)]
    if kind is fractions.Fraction:
        return ["F", hex(value.numerator), hex(value.denominator)]
    return ["o", _describe(value)]


def _describe(value: Any) -> str:
    try:
        text = repr(value)
    except BaseException:  # a `__repr__` of the program, a number with too many digits
        text = object.__repr__(value)
    return text if len(text) <= _REPR_LIMIT else text[:_REPR_LIMIT] + "..."


def _disable_destructive_functions(source: bytes) -> None:
    """Take away what LiveCodeBench's checker takes away; the sandbox is the boundary, not this.

    Modules that a program does not name are not loaded for that.
    """
    faulthandler.disable()
    os.environ["OMP_NUM_THREADS"] = "1"
    builtins.quit = None  # type: ignore[assignment]
    builtins.help = None  # type: ignore[assignment]
    for name in _DISABLED:
        setattr(os, name, None)
    for module, names in _DISABLED_IN.items():
        if module in sys.modules or module.encode() in source:
            for name in names:
                setattr(import_module(module), name, None)
