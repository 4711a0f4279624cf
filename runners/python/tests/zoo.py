"""Hostile subjects, each with the outcome of a run: the table that test_zoo.py runs through.

Each function below makes a row of one kind: it puts lines of Python into a module that would
conform without them, or names functions of zoo.c.
"""

import textwrap
from typing import NamedTuple


class Outcome(NamedTuple):
    """How the program ends, and what it says."""

    exit: int
    #: The requirement of the first violation of a MUST in the run file.
    requirement: str | None = None
    #: Words of the output: why there is no verdict, or what is refused.
    says: str = ""


CONFORMS = Outcome(0)


def violates(requirement: str, says: str = "") -> Outcome:
    """The subject violates this requirement first."""
    return Outcome(1, requirement, says)


def no_verdict(says: str) -> Outcome:
    """The subject harmed the record, so the case has no verdict."""
    return Outcome(3, None, says)


def refused(says: str) -> Outcome:
    """The subject cannot be used."""
    return Outcome(2, None, says)


class Row(NamedTuple):
    """A subject."""

    name: str
    side: str
    #: The argument SUBJECT; `{library}` stands for the compiled zoo.c.
    subject: str
    cases: str
    outcome: Outcome
    #: The text of the module `subject`.
    module: str = ""
    #: What zoo.c does while it is loaded.
    on_load: str = ""
    options: tuple[str, ...] = ()
    #: Whether it leaves files: what a subject writes outside of the run's folder is its own, and
    #: nobody removes that folder when allocert is killed.
    leaves_files: bool = False


_IMPORTS = "import atexit, ctypes, gc, json, os, resource, signal, sys, tempfile, threading, time\n"
_PLACE = """\
driver = ctypes.CDLL("libcuda.so.1")

class Allocator:
    def malloc(self, size, device):
        address = ctypes.c_uint64()
{body}
        if driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)):
            raise MemoryError
        return address.value

    def free(self, address, device):
        driver.cuCtxSynchronize()
        driver.cuMemFree_v2(ctypes.c_uint64(address))
"""
_EMM = """\
from allocert_mutants.emm.conforming_plugin import Manager as Conforming

class Manager(Conforming):
    def memalloc(self, size):
{body}
        return super().memalloc(size)
"""
_PRODUCER = """\
from allocert_mutants.cai_producer.conforming_producer import Array as Conforming, adapter

class Array(Conforming):
{body}

Producer = adapter(Array)
"""
_CONSUMER = """\
from allocert_mutants.cai_consumer.conforming_consumer import Consumer as Conforming

class Consumer(Conforming):
{body}
"""


def place(
    name: str, body: str, outcome: Outcome, leaves_files: bool = False, imported: str = ""
) -> Row:
    """An allocator whose malloc() begins with these lines."""
    module = _IMPORTS + imported + "\n" + _PLACE.format(body=_indented(body, 8))
    return Row(
        name,
        "place",
        "subject:Allocator",
        "place/alloc/serves/place:cuda/size:64",
        outcome,
        module,
        options=("--abi", "cupy"),
        leaves_files=leaves_files,
    )


def imported(name: str, body: str, outcome: Outcome, leaves_files: bool = False) -> Row:
    """An allocator whose module begins with these lines."""
    return place(name, "pass", outcome, leaves_files, imported=_indented(body, 0))


def emm(
    name: str, body: str, outcome: Outcome, cases: str = "emm/alloc/exact-size/size:4096"
) -> Row:
    """A plugin for Numba whose memalloc() begins with these lines."""
    module = _IMPORTS + _EMM.format(body=_indented(body, 8))
    return Row(name, "emm", "subject:Manager", cases, outcome, module)


def producer(name: str, body: str, outcome: Outcome) -> Row:
    """A library of arrays whose arrays have this method."""
    module = _IMPORTS + _PRODUCER.format(body=_indented(body, 4))
    return Row(name, "cai-producer", "subject", "cai-producer/data/first-element*", outcome, module)


def consumer(name: str, body: str, outcome: Outcome) -> Row:
    """A library that imports arrays, with this method."""
    module = _IMPORTS + _CONSUMER.format(body=_indented(body, 4))
    return Row(name, "cai-consumer", "subject", "cai-consumer/data/contiguous*", outcome, module)


def module(side: str, name: str, text: str, outcome: Outcome) -> Row:
    """A module of its own."""
    return Row(name, side, "subject:attribute", f"{side}/*", outcome, _IMPORTS + text)


def native(name: str, outcome: Outcome) -> Row:
    """An allocator whose malloc() is this function of zoo.c."""
    return Row(
        f"native-{name}",
        "place",
        "{library}",
        "place/alloc/serves/place:cpu/size:64",
        outcome,
        options=("--abi", f"malloc:{name.replace('-', '_')},give"),
    )


def handler(name: str, outcome: Outcome) -> Row:
    """A handler of NumPy whose malloc() is this function of zoo.c."""
    subject = "{library}:" + name.replace("-", "_") + "_handler"
    return Row(f"handler-{name}", "nep49", subject, "nep49/alloc/serves/size:80", outcome)


def loaded(name: str, body: str, outcome: Outcome) -> Row:
    """A library that does this while it is loaded."""
    row = native("behaves", outcome)
    return row._replace(name=f"loaded-{name}", on_load=body)


def _indented(body: str, columns: int) -> str:
    return textwrap.indent(textwrap.dedent(body).strip("\n"), " " * columns)


#: What a terminal obeys, and lines that are commands of GitHub and of Azure Pipelines.
ESCAPES = r"\x1b[2J\x1b]0;title\x07\r\n::error file=x::no\n::add-mask::a\n##vso[task.complete]\n"
_FOLDER = "os.path.dirname(os.environ['LD_LIBRARY_PATH'].split(':')[0])"
_ENDS = violates("PLACE-EXIT-01")
_HANGS = violates("PLACE-EXIT-02")
_RAISES = violates("PLACE-ALLOC-01")
_FORGED = "the worker's lines stopped making sense"

#: It ends or does not end.
EXITS = [
    emm("raises-base-exception", "raise BaseException('no')", violates("EMM-EXIT-01")),
    emm("raises-keyboard-interrupt", "raise KeyboardInterrupt", violates("EMM-EXIT-01")),
    emm("exits-at-once", "os._exit(0)", violates("EMM-EXIT-01")),
    place("raises-system-exit", "sys.exit(0)", _ENDS),
    place("kills-itself", "os.kill(os.getpid(), signal.SIGKILL)", _ENDS),
    place("stops-itself", "os.kill(os.getpid(), signal.SIGSTOP)", _HANGS),
    place("kills-its-group", "os.killpg(0, signal.SIGKILL)", _ENDS),
    place(
        "kills-its-parent",
        "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)",
        no_verdict("the worker was ended by signal 9"),
    ),
    place(
        "kills-allocert",
        """
        stat = open(f"/proc/{os.getppid()}/stat").read()
        os.kill(int(stat.rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        time.sleep(60)
        """,
        Outcome(-9),
        leaves_files=True,
    ),
    place("executes-a-program", "os.execv('/bin/true', ['true'])", _ENDS),
    place(
        "executes-its-worker",
        "os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])",
        violates("PLACE-EXIT-01", "cannot be connected to"),
    ),
    place("reads-address-0", "ctypes.string_at(0)", _ENDS),
    place(
        "reads-address-0-with-faulthandler",
        "import faulthandler; faulthandler.enable(); ctypes.string_at(0)",
        _ENDS,
    ),
    place("aborts", "os.abort()", _ENDS),
    place(
        "overflows-the-stack",
        "f = lambda n: [*map(f, [n])]\nsys.setrecursionlimit(1 << 30)\nf(0)",
        _ENDS,
    ),
    place("recurses", "self.malloc(size, device)", _RAISES),
    place(
        "ignores-signals-and-hangs",
        """
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(3600)
        """,
        _HANGS,
    ),
    place("sets-a-timer", "signal.setitimer(signal.ITIMER_REAL, 0.001)\ntime.sleep(60)", _ENDS),
    place(
        "uses-up-its-cpu-time",
        "resource.setrlimit(resource.RLIMIT_CPU, (0, 0))\nwhile True: pass",
        _ENDS,
    ),
    emm(
        "exits-at-exit",
        "atexit.register(os._exit, 9)",
        violates("EMM-EXIT-03"),
        cases="emm/exit/live-device-memory",
    ),
    emm(
        "has-a-thread-at-exit",
        "threading.Thread(target=time.sleep, args=(3600,)).start()",
        violates("EMM-EXIT-03"),
        cases="emm/exit/live-device-memory",
    ),
]

#: It starts processes and threads.
PROCESSES = [
    # The parent waits: what it does after the child would else be a race.
    place(
        "forks-and-the-child-returns",
        "child = os.fork()\nif child: os.waitpid(child, 0)",
        no_verdict("brings that about"),
    ),
    place("forks-and-the-child-waits", "if not os.fork(): time.sleep(3600)", CONFORMS),
    place("forks-many", "for _ in range(40):\n    if not os.fork(): time.sleep(3600)", CONFORMS),
    place(
        "daemonizes",
        """
        if not os.fork():
            os.setsid()
            if not os.fork():
                time.sleep(3600)
            os._exit(0)
        os.wait()
        """,
        CONFORMS,
    ),
    place(
        "starts-a-shell",
        """
        import subprocess
        command = ["sh", "-c", "sleep 3600 & sleep 3600"]
        subprocess.Popen(command, start_new_session=True)
        """,
        CONFORMS,
    ),
    place("leaves-its-group", "os.setpgid(0, os.getpgid(os.getppid()))", CONFORMS),
    place(
        "starts-an-endless-thread",
        "threading.Thread(target=time.sleep, args=(3600,)).start()",
        CONFORMS,
    ),
]

#: It writes where it should not.
OUTPUT = [
    place("floods-stdout", "for _ in range(320): os.write(1, b'x' * 65536)", CONFORMS),
    place("floods-stderr", "for _ in range(320): os.write(2, b'x' * 65536)", CONFORMS),
    place("prints-escapes", f'print("{ESCAPES}", flush=True)', CONFORMS),
    place("raises-escapes", f'raise ValueError("{ESCAPES}")', _RAISES),
    place("prints-no-utf-8", r"os.write(1, b'\xff\xfe\x00\x80')", CONFORMS),
    place(
        "writes-to-all-descriptors",
        r"""
        for descriptor in range(1 << 14):
            try: os.write(descriptor, b'{"done":{"id":"x"}}\n')
            except OSError: pass
        """,
        no_verdict(_FORGED),
    ),
    place("closes-all-descriptors", "os.closerange(0, 1 << 20)", _ENDS),
    place("has-no-stdout", "sys.stdout = sys.stderr = None", CONFORMS),
    place("closes-stdout", "sys.stdout.close(); sys.stderr.close()", CONFORMS),
    place(
        "calls-the-driver-without-end",
        "for _ in range(140_000): driver.cuDriverGetVersion(ctypes.byref(address))",
        no_verdict("makes more calls than the trace holds"),
    ),
    place("truncates-the-trace", "os.truncate(os.environ['ALLOCERT_TRACE'], 0)", _ENDS),
    place("removes-the-trace", "os.unlink(os.environ['ALLOCERT_TRACE'])", CONFORMS),
    place("removes-the-run-folder", f"import shutil; shutil.rmtree({_FOLDER})", CONFORMS),
    place("locks-the-run-folder", f"os.chmod({_FOLDER}, 0)", CONFORMS),
    place(
        "fills-the-run-folder", f"open({_FOLDER} + '/big', 'wb').write(bytes(1 << 20))", CONFORMS
    ),
    place(
        "fills-the-temporary-folder",
        "tempfile.NamedTemporaryFile(delete=False).write(bytes(1 << 20))",
        CONFORMS,
        leaves_files=True,
    ),
    place("unlinks-its-own-file", "os.unlink(__file__)", CONFORMS),
]

#: It changes what the process has.
SETTINGS = [
    place("deletes-its-directory", "os.chdir(tempfile.mkdtemp())\nos.rmdir(os.getcwd())", CONFORMS),
    place("limits-descriptors", "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))", CONFORMS),
    place("limits-file-sizes", "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))", CONFORMS),
    place("limits-processes", "resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))", CONFORMS),
    place("limits-memory", "resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))", CONFORMS),
    place(
        "takes-all-memory",
        """
        resource.setrlimit(resource.RLIMIT_AS, (1 << 33, 1 << 33))
        blocks = []
        while True: blocks.append(bytearray(1 << 26))
        """,
        _RAISES,
    ),
    place("clears-the-environment", "os.environ.clear()", CONFORMS),
    place("sets-a-preload", "os.environ['LD_PRELOAD'] = '/nowhere.so'", CONFORMS),
    place("is-nice", "os.nice(19)", CONFORMS),
    place("binds-to-one-core", "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])", CONFORMS),
    place("changes-the-locale", "import locale; locale.setlocale(locale.LC_ALL, 'C')", CONFORMS),
    place("changes-the-umask", "os.umask(0o777)", CONFORMS),
    place(
        "masks-signals",
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
        CONFORMS,
    ),
    place("freezes-the-collector", "gc.disable(); gc.freeze()", CONFORMS),
    place(
        "destroys-the-context",
        """
        context = ctypes.c_void_p()
        driver.cuCtxGetCurrent(ctypes.byref(context))
        driver.cuCtxDestroy_v2(context)
        driver.cuInit(7)
        driver.cuDevicePrimaryCtxReset_v2(0)
        """,
        _RAISES,
    ),
]

#: It changes Python.
PYTHON = [
    place(
        "patches-builtins",
        """
        import builtins
        for name in ("len", "isinstance", "type", "str", "next", "iter"):
            setattr(builtins, name, None)
        """,
        _ENDS,
    ),
    place(
        "patches-json-and-os", "json.dumps = os.write = json.JSONEncoder.encode = None", CONFORMS
    ),
    place("patches-time", "time.sleep = time.monotonic = time.time = None", CONFORMS),
    place("clears-modules", "sys.modules.clear()", CONFORMS),
    place("traces", "sys.settrace(lambda *a: 1 / 0); sys.setprofile(lambda *a: 1 / 0)", _RAISES),
    place("audits", "sys.addaudithook(lambda *a: 1 / 0)", _ENDS),
    place(
        "has-no-hooks",
        "sys.excepthook = sys.unraisablehook = threading.excepthook = None",
        CONFORMS,
    ),
    place(
        "changes-its-path",
        "sys.argv[:] = []; sys.path[:] = [None, 3]; sys.executable = None",
        CONFORMS,
    ),
    emm(
        "clears-the-faults",
        "ctypes.CDLL('libcuda.so.1').allocert_fault_clear()",
        no_verdict("does not fail, although the case makes it fail"),
        cases="emm/oom/other-error/*",
    ),
    emm(
        "patches-numba",
        """
        from numba.cuda.cudadrv import driver
        for name in [name for name in vars(driver) if not name.startswith("__")]:
            setattr(driver, name, None)
        """,
        violates("EMM-ALLOC-01"),
    ),
]

#: It raises and returns what is hard to show.
VALUES = [
    place(
        "raises-what-cannot-be-shown",
        """
        class Odd(Exception):
            def __str__(self): raise SystemExit
            __repr__ = __hash__ = __eq__ = __str__
        raise Odd
        """,
        _RAISES,
    ),
    place("raises-a-long-message", "raise ValueError('x' * (1 << 26))", _RAISES),
    place("raises-odd-characters", r"raise ValueError('\0\ud800\u202e\ufeff\u2028')", _RAISES),
    place(
        "raises-a-name-of-lines",
        r"raise type('A\n::error::x\n\x1b[31m', (Exception,), {})('x')",
        _RAISES,
    ),
    place(
        "raises-a-cycle",
        "error = ValueError('a')\nerror.__cause__ = error.__context__ = error\nraise error",
        _RAISES,
    ),
    place("raises-a-huge-code", "raise type('Odd', (Exception,), {'code': 1 << 80})", _RAISES),
    place("returns-ellipsis", "return ...", _RAISES),
    place("returns-nan", "return float('nan')", _RAISES),
    place("returns-a-list-of-itself", "cycle = []; cycle.append(cycle)\nreturn cycle", _RAISES),
    place("returns-a-huge-integer", "return 1 << 100_000", _RAISES),
    emm(
        "answers-every-attribute",
        """
        class Every:
            def __getattr__(self, name): return self
            def __call__(self, *args, **kwargs): return self
        return Every()
        """,
        violates("EMM-ALLOC-03"),
    ),
    emm(
        "raises-in-every-attribute",
        """
        class Odd:
            def __getattribute__(self, name): raise BaseException(name)
        return Odd()
        """,
        violates("EMM-EXIT-01"),
    ),
    emm(
        "claims-another-class",
        """
        from numba.cuda import MemoryPointer
        class Odd:
            __class__ = MemoryPointer
        return Odd()
        """,
        violates("EMM-ALLOC-03"),
    ),
    emm(
        "has-a-lying-metaclass",
        """
        class Meta(type):
            def mro(cls): return [cls, object]
            def __instancecheck__(cls, instance): return True
            __name__ = property(lambda cls: 1 / 0)
        class Odd(metaclass=Meta): pass
        return Odd()
        """,
        violates("EMM-ALLOC-01"),
    ),
    emm(
        "has-a-finalizer-that-raises",
        """
        memory = super().memalloc(size)
        memory.extra = type("Odd", (), {"__del__": lambda self: 1 / 0})()
        return memory
        """,
        violates("EMM-FINAL-07"),
    ),
    emm(
        "has-a-finalizer-that-blocks",
        """
        memory = super().memalloc(size)
        memory.extra = type("Odd", (), {"__del__": lambda self: time.sleep(3600)})()
        return memory
        """,
        violates("EMM-EXIT-02"),
    ),
    producer(
        "exports-a-cycle",
        "def shape(self):\n    cycle = []; cycle.append(cycle)\n    return cycle",
        violates("CAI-DATA-08"),
    ),
    producer(
        "exports-huge-integers",
        "def data(self): return 1 << 100_000, 1 << 100_000",
        violates("CAI-DATA-08"),
    ),
    producer(
        "exports-a-dict-that-raises",
        """
        def interface(self):
            class Odd(dict):
                def _raise(self, *args): raise SystemExit(0)
                __getitem__ = __iter__ = __len__ = __contains__ = get = items = keys = _raise
            return Odd(super().interface())
        """,
        violates("CAI-DICT-01"),
    ),
    producer(
        "exports-odd-names",
        r"def interface(self): return {'\ud800\n::error::': self, **super().interface()}",
        CONFORMS,
    ),
    consumer(
        "describes-nan",
        "def describe(self, view): return {**super().describe(view), 'pointer': float('nan')}",
        CONFORMS,
    ),
    consumer(
        "describes-a-cycle",
        """
        def describe(self, view):
            told = super().describe(view)
            told["shape"] = told
            return told
        """,
        violates("CAI-SHAPE-55"),
    ),
    consumer(
        "clears-the-dict",
        """
        def entries(self, exporter):
            exporter.__cuda_array_interface__.clear()
            return super().entries(exporter)
        """,
        CONFORMS,
    ),
    consumer(
        "exits-in-accept",
        "def accept(self, exporter, ignore_stream): os._exit(0)",
        violates("CAI-EXIT-51"),
    ),
]

_IMPORT_RAISED = "error[subject-refused]"
_NOT_LOADED = "error[subject-unloadable]"

#: It is hostile while it is imported or loaded.
IMPORTS = [
    imported("import-raises-system-exit", "sys.exit(0)", refused(_IMPORT_RAISED)),
    imported("import-raises-base-exception", "raise BaseException('no')", refused(_IMPORT_RAISED)),
    imported("import-raises-escapes", f'raise ValueError("{ESCAPES}")', refused(_IMPORT_RAISED)),
    imported("import-recurses", "f = lambda: f()\nf()", refused(_IMPORT_RAISED)),
    imported("import-exits", "os._exit(0)", refused(_NOT_LOADED)),
    imported("import-kills-its-group", "os.killpg(0, signal.SIGKILL)", refused(_NOT_LOADED)),
    imported(
        "import-kills-allocert",
        "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)",
        Outcome(-9),
        leaves_files=True,
    ),
    imported("import-reads-address-0", "ctypes.string_at(0)", refused(_NOT_LOADED)),
    imported("import-closes-all-descriptors", "os.closerange(0, 1 << 20)", refused(_NOT_LOADED)),
    imported("import-executes-a-program", "os.execv('/bin/true', ['true'])", refused(_NOT_LOADED)),
    imported(
        "import-executes-its-worker",
        """
        os.environ["LD_PRELOAD"] = "/nowhere.so"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
        """,
        refused("only a subject starts it again"),
    ),
    imported("import-forks", "os.fork()", CONFORMS),
    imported("import-floods", "for _ in range(320): os.write(1, b'x' * 65536)", CONFORMS),
    imported(
        "import-starts-a-thread",
        "threading.Thread(target=time.sleep, args=(3600,)).start()",
        CONFORMS,
    ),
    imported(
        "import-ignores-signals",
        "for n in range(1, 32):\n    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)",
        CONFORMS,
    ),
    imported(
        "import-waits-for-children", "signal.signal(signal.SIGCHLD, lambda *a: os.wait())", CONFORMS
    ),
    imported("import-clears-the-environment", "os.environ.clear()", no_verdict("no markers")),
    imported("import-clears-modules", "sys.modules.clear()", refused(_IMPORT_RAISED)),
    imported(
        "import-removes-itself",
        "sys.modules[__name__] = None",
        refused("puts None in its own place"),
    ),
    imported(
        "import-replaces-itself",
        """
        class Every:
            def __getattr__(self, name): return self
        sys.modules[__name__] = Every()
        """,
        refused("a subject of --abi cupy is"),
    ),
    imported(
        "import-patches-os",
        "os.fork = os.pipe = None",
        refused("after the import the worker raised TypeError"),
    ),
    module("emm", "is-ellipsis", "attribute = ...", refused("is an instance of ellipsis")),
    module(
        "emm",
        "raises-as-an-attribute",
        "def __getattr__(name): raise SystemExit(name)",
        refused(_IMPORT_RAISED),
    ),
    module("emm-host", "is-a-host-of-nothing", "attribute = object()", refused("is not a host")),
    module("nep49", "is-no-text", "\0", refused("null bytes")),
    loaded("exits", "_exit(0)", refused(_NOT_LOADED)),
    loaded("kills-its-group", "kill(0, SIGKILL)", refused(_NOT_LOADED)),
    loaded("kills-allocert", "kill(getppid(), SIGKILL); sleep(60)", Outcome(-9))._replace(
        leaves_files=True
    ),
    loaded(
        "closes-all-descriptors", "for (int n = 0; n < 1 << 14; n++) close(n)", refused(_NOT_LOADED)
    ),
    loaded("prints-and-aborts", "fprintf(stderr, ESCAPES); abort()", refused(_NOT_LOADED)),
    loaded("ignores-children", "signal(SIGCHLD, SIG_IGN)", CONFORMS),
    loaded("forks", "fork()", CONFORMS),
    loaded("removes-the-trace", 'unlink(getenv("ALLOCERT_TRACE"))', no_verdict("was destroyed")),
]

#: It is a library.
NATIVE = [
    native("segfaults", _ENDS),
    native("exits", _ENDS),
    native("kills-its-parent", no_verdict("the worker was ended by signal 9")),
    native("forks-and-the-child-returns", no_verdict("brings that about")),
    native("forks-and-the-child-waits", CONFORMS),
    native("daemonizes", CONFORMS),
    native("leaves-its-thread", _ENDS),
    native("starts-an-endless-thread", CONFORMS),
    native("overflows-the-stack", _ENDS),
    native("hangs", _HANGS),
    native("floods", CONFORMS),
    native("prints-escapes", CONFORMS),
    native("writes-everywhere", no_verdict(_FORGED)),
    native("closes-everything", _ENDS),
    native("executes-another-program", _ENDS),
    native("limits-memory", CONFORMS),
    native("truncates-the-trace", _ENDS),
    native("returns-a-wild-address", violates("PLACE-ALLOC-02")),
    handler("aborts", violates("NEP49-EXIT-01")),
    handler("divides-by-zero", violates("NEP49-EXIT-01")),
    handler("exits-at-once", violates("NEP49-EXIT-01")),
    handler("kills-its-group", violates("NEP49-EXIT-01")),
    handler("clears-the-environment", CONFORMS),
    handler("returns-a-wild-address", violates("NEP49-ALLOC-02")),
]

ROWS = [*EXITS, *PROCESSES, *OUTPUT, *SETTINGS, *PYTHON, *VALUES, *IMPORTS, *NATIVE]
