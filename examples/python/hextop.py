"""hextop from Python; needs only ctypes and numpy:

    import hextop
    with hextop.Session(text, "beam.cfg", {"mesh.size": 2}) as beam:
        for step in beam:                  # one iteration after another
            print(step.iteration, step.compliance)
        rho = beam.array("density")        # a numpy view without a copy
        beam.write("beam.vtk")

The library is searched in HEXTOP_LIBRARY (a file or folder), in the build folders of this tree, by
pkg-config and in the system's library path, in this order."""
import ctypes
import glob
import json
import math
import os
import subprocess

import numpy as np

ABI = 1
_HERE = os.path.dirname(os.path.abspath(__file__))
_NAME = "libhextop_session.so"


class Error(RuntimeError):
    """A failed call with hextop's message; `code` is one of HEXTOP_E... in hextop.h."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Iteration(ctypes.Structure):
    """The record of an analysed design: hextop_iteration of hextop.h."""
    _fields_ = [(name, ctypes.c_int32) for name in
                ("iteration", "iterations", "pcg_iterations", "pcg_converged")] + \
               [(name, ctypes.c_double) for name in
                ("compliance", "volume", "change", "greyness", "penalty", "beta", "seconds")]

    def __repr__(self):
        return "Iteration(" + ", ".join(f"{name}={getattr(self, name):g}" for name, _ in self._fields_) + ")"


_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
_WATCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Iteration))


def _candidates():
    asked = os.environ.get("HEXTOP_LIBRARY")
    if asked:
        return [os.path.join(asked, _NAME) if os.path.isdir(asked) else asked]
    found = sorted(glob.glob(os.path.join(_HERE, "..", "..", "*", "lib", _NAME)))
    try:
        folder = subprocess.run(["pkg-config", "--variable=libdir", "hextop_session"], check=True,
                                capture_output=True, text=True).stdout.strip()
        found.append(os.path.join(folder, _NAME))
    except (OSError, subprocess.CalledProcessError):
        pass
    return found + [f"{_NAME}.{ABI}"]


def _load():
    said = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            said.append(str(error))
            continue
        if library.hextop_abi() != ABI:
            said.append(f"{path}: ABI is {library.hextop_abi()}, must be {ABI}")
            continue
        return library
    raise ImportError(f"cannot load {_NAME} (set HEXTOP_LIBRARY to its path or folder): " + "; ".join(said))


def _declare(library):
    handle, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    shape = ctypes.POINTER(ctypes.c_int64)
    for name, result, *arguments in (
            ("version", text), ("open", number, ctypes.POINTER(handle), text, text),
            ("set", number, handle, text), ("on_log", None, handle, _LOG, handle),
            ("on_iteration", None, handle, _WATCH, handle), ("prepare", number, handle),
            ("run", number, handle, number),
            ("array", ctypes.POINTER(ctypes.c_double), handle, text, number, shape),
            ("indices", ctypes.POINTER(ctypes.c_int32), handle, text, shape),
            ("number", ctypes.c_double, handle, text), ("summary", text, handle),
            ("write", number, handle, text), ("code", number, handle), ("error", text, handle),
            ("close", None, handle)):
        function = getattr(library, "hextop_" + name)
        function.restype, function.argtypes = result, arguments


_library = _load()
_declare(_library)
version = _library.hextop_version().decode()


class _Handle:
    """The C side; lives as long as the session or one of its arrays."""

    def __init__(self):
        self.pointer = ctypes.c_void_p()
        self.calls = []  # callbacks that the C side refers to

    def __del__(self):
        _library.hextop_close(self.pointer)


def _word(value):
    """A value in libconfig's syntax."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(_word(v) if not isinstance(v, str) else json.dumps(v) for v in value) + ")"
    return repr(float(value)) if isinstance(value, np.floating) else str(value)


class Session:
    """A config and its design. `text`: the config, or None to read the file `path`; mesh files are
    searched in the folder of `path`. `keys`: for example {"optimization.volume_fraction": 0.3}.
    `log(level, line)` receives what the program would print: 0 details, 1 information, 2 warnings."""

    def __init__(self, text=None, path="config.cfg", keys=None, log=None):
        self._handle = _Handle()
        self._raised = None
        rc = _library.hextop_open(ctypes.byref(self._handle.pointer), None if text is None else text.encode(),
                                  os.fsencode(path))
        self._check(rc)
        if log:
            self._hold(_library.hextop_on_log, _LOG(lambda _, level, line: log(level, line.decode())))
        for key, value in (keys or {}).items():
            self._check(_library.hextop_set(self._pointer, f"{key}={_word(value)}".encode()))

    @property
    def _pointer(self):
        if not self._handle:
            raise ValueError("this session is closed")
        return self._handle.pointer

    def _hold(self, function, call):
        self._handle.calls.append(call)
        function(self._pointer, call, None)

    def _check(self, rc):
        if rc < 0:
            raise Error(rc, _library.hextop_error(self._pointer).decode())
        return rc

    def prepare(self):
        """Checks the config and creates mesh and solver; `run` calls it if necessary."""
        self._check(_library.hextop_prepare(self._pointer))
        return self

    def run(self, most=0, watch=None):
        """Runs at most `most` further iterations, 0: all. The run stops if watch(Iteration) returns
        a true value. Returns True if iterations of the config remain."""
        def call(_, iteration):
            try:
                return bool(watch(iteration.contents))
            except BaseException as error:  # re-raised below, once C has returned
                self._raised = error
                return 1
        held = _WATCH(call) if watch else ctypes.cast(None, _WATCH)
        _library.hextop_on_iteration(self._pointer, held, None)
        rc = _library.hextop_run(self._pointer, most)
        _library.hextop_on_iteration(self._pointer, ctypes.cast(None, _WATCH), None)
        if self._raised:
            error, self._raised = self._raised, None
            raise error
        return self._check(rc) > 0

    def __iter__(self):
        """Yields an Iteration per design, until the end of the run."""
        more = True
        while more:
            step = []
            more = self.run(1, lambda it: step.append(Iteration.from_buffer_copy(it)))
            if not step:
                return
            yield step[0]

    def _view(self, pointer, shape):
        if not pointer:
            self._check(_library.hextop_code(self._pointer))
        rows, columns = shape
        address = ctypes.addressof(pointer.contents)
        memory = (pointer._type_ * (rows * columns)).from_address(address)
        memory.handle = self._handle  # the array keeps it alive
        view = np.frombuffer(memory, dtype=pointer._type_)
        view.flags.writeable = False
        return view if columns == 1 else view.reshape(rows, columns)

    def array(self, name, case=0):
        """An array of hextop_array: "density", "displacement", ... It is a read-only view of the C
        side's memory, which the next request after further iterations overwrites: copy() what you
        keep. It may be used after close()."""
        shape = (ctypes.c_int64 * 2)()
        return self._view(_library.hextop_array(self._pointer, name.encode(), case, shape), shape)

    def indices(self, name):
        """An array of hextop_indices: "cells" or "cell_types"."""
        shape = (ctypes.c_int64 * 2)()
        return self._view(_library.hextop_indices(self._pointer, name.encode(), shape), shape)

    def number(self, name):
        """A number of hextop_number: "compliance", "elements", ..."""
        value = _library.hextop_number(self._pointer, name.encode())
        if math.isnan(value) and name != "mass":
            self._check(_library.hextop_code(self._pointer))
        return value

    def summary(self):
        """The content of summary.json as a dict."""
        text = _library.hextop_summary(self._pointer)
        if text is None:
            self._check(_library.hextop_code(self._pointer))
        return json.loads(text)

    def write(self, path):
        """Writes .vtk, a surface (.stl, .3mf, ...), .json or .cfg, by the extension of `path`."""
        self._check(_library.hextop_write(self._pointer, os.fsencode(path)))

    def close(self):
        """Closes the session; its memory is freed with the last array in use."""
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
