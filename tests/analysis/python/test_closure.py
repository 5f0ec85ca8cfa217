"""Slices: exactly the statements that a kernel needs, and they run, and nothing else does."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.analysis.python.fixtures import HEAD, closure_of, execute, files_of, members, site, sliced, workspace
from tile_lsp.analysis.python import build_closure
from tile_lsp.model.closure import Loading


@dataclasses.dataclass
class Case:
    name: str
    text: str
    members: str
    """Ids, separated by blanks, without the common `main/`; those of other modules whole."""
    result: str
    kernel: str | None = None
    bindings: dict[str, str] = dataclasses.field(default_factory=dict)
    arguments: tuple = ()


CASES = [
    Case(
        "helpers and constants, not the script around them",
        """\
import cuda.tile as ct

import os, socket
import torch
print("top level")
os.system("touch /tmp/ran")
TILE = 64
OTHER = torch.zeros(3)
def unused(): return OTHER
def scale(x): return x * TILE
@ct.kernel
def k(x):
    return scale(x)
k(OTHER)
""",
        "ct TILE scale k",
        "128",
        arguments=(2,),
    ),
    Case(
        "locals, parameters, comprehensions and nested functions hide module names",
        """\
import cuda.tile as ct
a = b = c = d = e = f = g = h = 1 / 1
import nothing as z
G = 5
@ct.kernel
def k(a):
    b = 1
    for c in range(2): pass
    d = [e for e in range(3)]
    def inner(f):
        nonlocal b
        b = f + G
        return b
    if (g := 3): pass
    h = lambda z: z
    return inner(1) + g + h(a) + d[2]
""",
        "ct G k",
        "12",
        arguments=(1,),
    ),
    Case(
        "a comprehension's first iterable is the module's, a class body doesn't hide from its methods",
        """\
import cuda.tile as ct
x = [1, 2]
class C:
    x = 'class'
    def m(self): return x
    y = [x for _ in 'a']
@ct.kernel
def k():
    return [x for x in C().m()] + C.y
""",
        "ct x C k",
        "[1, 2, [1, 2]]",
    ),
    Case(
        "global statements, match, except and with bind",
        """\
import cuda.tile as ct
p = q = r = s = t = 0
state = 1
@ct.kernel
def k(v):
    global state
    match v:
        case [p, *q]: pass
        case {'a': r, **s}: pass
    try: pass
    except ValueError as t: pass
    return (p, q, state)
""",
        "ct state k",
        "(1, [2], 1)",
        arguments=([1, 2],),
    ),
    Case(
        "defaults, decorator arguments and annotations are read outside the function",
        """\
import cuda.tile as ct
N = 3
OCC = 2
I = ct.Constant[int]
@ct.kernel(occupancy=OCC)
def k(x: I, n=N):
    N = 1
    return n
""",
        "ct N OCC I k",
        "3",
        arguments=(0,),
    ),
    Case(
        "annotations in quotes and under the future import",
        """\
from __future__ import annotations
import cuda.tile as ct
I = ct.Constant[int]
J = ct.Constant[int]
@ct.kernel
def k(x: I, y: 'J', z: Missing = 1):
    return 1
""",
        "ct I J k",
        "1",
        arguments=(0, 0),
    ),
    Case(
        "statements that change a needed name",
        """\
import cuda.tile as ct
X = []
X.append(1)
D = {}
D['k'] = 2
N = 1
N += 2
class Cfg: A = 1
Cfg.A = 7
setattr(Cfg, 'B', 8)
Y = []
Y.append(print('no'))
x = y = 1
del y
@ct.kernel
def k():
    return X, D, N, Cfg.A, Cfg.B
""",
        "ct X X#2 D D#2 N N#2 Cfg Cfg#2 Cfg#3 k",
        "([1], {'k': 2}, 3, 7, 8)",
    ),
    Case(
        "a function that sets a global, and its call",
        """\
import cuda.tile as ct
def setup():
    global SIZE
    SIZE = 9
setup()
def other():
    global Z
    Z = 1
other()
@ct.kernel
def k():
    return SIZE
""",
        "ct setup setup#2 k",
        "9",
    ),
    Case(
        "classes, enums and dataclasses with what they need",
        """\
import cuda.tile as ct
import dataclasses, enum
BASE = 4
class Mode(enum.Enum):
    A = BASE
@dataclasses.dataclass
class Cfg:
    mode: Mode = Mode.A
    size: int = 3
cfg = Cfg(size=5)
@ct.kernel
def k():
    return cfg.mode.value, cfg.size
""",
        "ct dataclasses BASE Mode Cfg cfg k",
        "(4, 5)",
    ),
    Case(
        "compound statements are cut to what binds needed names",
        """\
import cuda.tile as ct
import sys
if sys.version_info > (3, 0):
    print('no')
    A = 1
    unused = torch.x
else:
    A = 2
for i in range(3):
    print(i)
    B = i
    if i == 1: break
with open('/dev/null') as handle:
    print('no')
    C = 3
@ct.kernel
def k():
    return A, B, C
""",
        "ct sys A i C k",
        "(1, 1, 3)",
    ),
    Case(
        "try with a fallback import keeps what may fail",
        """\
import cuda.tile as ct
try:
    print('no')
    import not_installed_at_all
    FAST = True
except ImportError:
    print('no')
    FAST = False
finally:
    print('no')
@ct.kernel
def k():
    return FAST
""",
        "ct FAST k",
        "False",
    ),
    Case(
        "what is caught steers what a try or a suppress comes to",
        """\
import cuda.tile as ct
import contextlib
A = B = C = 0
class Unsound(Exception): pass
try:
    unneeded()
    if A == 0:
        raise Unsound
    A = 1
except Unsound:
    A = 2
try:
    assert A > 2
    B = 1
except AssertionError:
    pass
with contextlib.suppress(ImportError):
    import nowhere_to_be_found
    C = 1
for i in range(9):
    try:
        if i == 3: raise Unsound
        D = i
    except Unsound:
        break
try:
    unneeded = 1
    raise Unsound
except Unsound: pass
raise SystemExit
@ct.kernel
def k():
    return A, B, C, D
""",
        "ct contextlib A Unsound A#2 B C i k",
        "(2, 0, 0, 2)",
    ),
    Case(
        "methods that change what they are called on, wherever they are called",
        """\
import cuda.tile as ct
L = [1, 2, 3]
last = L.pop()
[L.append(i) for i in range(2)]
L.append(9) if last else None
f = lambda: L.clear()
def g(): L.clear()
length = L.count(1)
@ct.kernel
def k():
    return L
""",
        "ct L last L#2 L#3 k",
        "[1, 2, 0, 1, 9]",
    ),
    Case(
        "names bound in the heads of definitions and by assertions",
        """\
import cuda.tile as ct
def same(x): return lambda f: f
@same(A := 1)
def f(x=(B := 2), *, y=(C := 3)): (NO := 1)
class K(*(D := ())): pass
g = lambda x=(E := 5): (NO := 2)
assert (F := 6)
@ct.kernel
def k():
    return A, B, C, D, E, F
""",
        "ct same A D E F k",
        "(1, 2, 3, (), 5, 6)",
    ),
    Case(
        "a package whose star import leads back to its own submodule",
        """\
import cuda.tile as ct
from pkg.ops import N
@ct.kernel
def k():
    return N
-- pkg/__init__.py
from .ops import *
-- pkg/ops.py
from . import consts
N = consts.TWO * 4
-- pkg/consts.py
import pkg
TWO = 2
""",
        "ct N k pkg/consts pkg.consts/TWO pkg.ops/consts pkg.ops/N",
        "8",
    ),
    Case(
        "a package that imports its own submodule by name",
        """\
import cuda.tile as ct
from pkg import consts
@ct.kernel
def k():
    return consts.TWO
-- pkg/__init__.py
from . import consts
import torch
-- pkg/consts.py
import torch
TWO = 2
""",
        "ct consts k pkg/consts pkg.consts/TWO",
        "2",
    ),
    Case(
        "a module whose name a call from another module binds",
        """\
import cuda.tile as ct
from shim import chosen
@ct.kernel
def k():
    return chosen
-- shim.py
import backend
import torch
backend.choose(4)
torch.cuda.init()
try:
    backend.choose(2)
    chosen = backend.get()
except ImportError:
    chosen = None
-- backend.py
found = None
def choose(value):
    global found
    found = value
def get():
    return found
""",
        "ct chosen k backend/found backend/choose backend/get shim/backend shim/backend#2 shim/chosen",
        "2",
    ),
    Case(
        "what only type checkers see isn't loaded",
        """\
from __future__ import annotations
from typing import TYPE_CHECKING
import cuda.tile as ct
if TYPE_CHECKING:
    from heavy import Array
@ct.kernel
def k(x: Array):
    return x
-- heavy.py
import torch
class Array: pass
""",
        "ct k",
        "1",
        arguments=(1,),
    ),
    Case(
        "imports are cut to the names needed",
        """\
import cuda.tile as ct
import math, os.path as osp, json
from functools import reduce, partial
@ct.kernel
def k():
    return math.floor(2.5), reduce(max, [1, 3])
""",
        "ct math reduce k",
        "(2, 3)",
    ),
    Case(
        "an attribute of a workspace module narrows to that member",
        """\
import cuda.tile as ct
import helpers
from pkg import ops
import pkg.sub.deep
@ct.kernel
def k(x):
    return helpers.gelu(x), ops.two(), pkg.sub.deep.three
-- helpers.py
import torch
print('no')
S = 10
def gelu(x): return x * S
class Heavy(torch.nn.Module): pass
-- pkg/__init__.py
import torch
print('no')
-- pkg/ops.py
def one(): return torch
def two(): return 2
-- pkg/sub/__init__.py
print('no')
-- pkg/sub/deep.py
three = 3
four = torch
""",
        "ct helpers ops pkg k helpers/S helpers/gelu pkg.ops/two pkg.sub.deep/three",
        "(10, 2, 3)",
        arguments=(1,),
    ),
    Case(
        "a module used as a value is taken whole, its bare calls left out",
        """\
import cuda.tile as ct
import cfg
def total(m): return m.A + m.B
N = total(cfg)
@ct.kernel
def k():
    return N
-- cfg.py
print('no')
A = 1
B = 2
if __name__ == '__main__':
    import torch
""",
        "ct cfg total N k cfg/A cfg/B",
        "3",
    ),
    Case(
        "star imports: by the module that binds the name, honouring __all__",
        """\
from base import *
@ct.kernel
def k():
    return A, B, C
-- base.py
import cuda.tile as ct
from more import *
A = 1
C = 'not exported'
__all__ = ['ct', 'A', 'B']
-- more.py
B = 2
C = 3
-- last.py
""",
        "A k base/ct base/B base/A more/B",
        "error",
    ),
    Case(
        "star imports of an external module",
        """\
from cuda.tile import *
from cuda.tile import kernel
@kernel
def k(x):
    return max(x, 1)
""",
        "* kernel k",
        "('tile.max', 2, 1)",
        arguments=(2,),
    ),
    Case(
        "relative imports, re-exports, and packages that import themselves",
        """\
-- pkg/__init__.py
VERSION = 3
from .a import first
from .b import second
-- pkg/a.py
from . import VERSION
first = 1
import torch
-- pkg/b.py
from . import VERSION
from .a import first
def second(): return VERSION + first
-- main.py
import cuda.tile as ct
from pkg import second
@ct.kernel
def k():
    return second()
""",
        "ct second k pkg/VERSION pkg/second pkg.a/first pkg.b/VERSION pkg.b/first pkg.b/second",
        "4",
    ),
    Case(
        "import a.b as c",
        """\
import cuda.tile as ct
import pkg.sub as s
@ct.kernel
def k():
    return s.x
-- pkg/__init__.py
import torch
-- pkg/sub.py
x = 1
y = torch
""",
        "ct s k pkg.sub/x",
        "1",
    ),
    Case(
        "namespace packages",
        """\
import cuda.tile as ct
from space.inner import x
@ct.kernel
def k():
    return x
-- space/inner.py
x = 1
""",
        "ct x k space.inner/x",
        "1",
    ),
    Case(
        "circular imports",
        """\
import cuda.tile as ct
SCALE = 2
from other import helper
@ct.kernel
def k(x):
    return helper(x)
-- other.py
import main
from main import SCALE
def helper(x): return x * SCALE * main.SCALE
""",
        "ct SCALE helper k other/main other/SCALE other/helper",
        "12",
        arguments=(3,),
    ),
    Case(
        "imports inside helpers",
        """\
import cuda.tile as ct
def helper():
    from lazy import value
    import lazy2
    return value + lazy2.v
@ct.kernel
def k():
    return helper()
-- lazy.py
import torch
value = 1
-- lazy2.py
v = 2
w = torch
""",
        "ct helper k lazy/value lazy2/v",
        "3",
    ),
    Case(
        "a kernel in a class: needed attributes only, bases dropped",
        """\
import cuda.tile as ct
import torch
class Ops(torch.nn.Module):
    TILE = 4
    WASTE = torch.zeros(1)
    @staticmethod
    @ct.kernel(occupancy=TILE)
    def scale(x, t=TILE):
        return x * t
    def run(self): torch.run(self.scale)
""",
        "ct Ops",
        "8",
        arguments=(2,),
    ),
    Case(
        "a kernel in a class that it reads: the whole class",
        """\
import cuda.tile as ct
class Base: pass
class Ops(Base):
    TILE = 4
    @ct.kernel
    def scale(x):
        return x * Ops.TILE
    def run(self): pass
""",
        "ct Base Ops",
        "8",
        arguments=(2,),
    ),
    Case(
        "a factory: reduced, called as a module-level assignment calls it",
        """\
import cuda.tile as ct
import torch
def make(t, name='x'):
    '''Doc.'''
    print('no')
    half = t // 2
    waste = torch.x
    def helper(x):
        return x + half
    @ct.kernel
    def kernel(x):
        return helper(x) * t
    return {'k': kernel, 'n': name}
def run(n):
    return make(n)
make(8)
k32 = make(32)
""",
        "ct make",
        "544",
        arguments=(1,),
    ),
    Case(
        "a factory: a call inside a function with arguments of module level",
        """\
import cuda.tile as ct
N = 16
def make(t, unused):
    @ct.kernel
    def kernel():
        return t
    return kernel
def run(x):
    make(x, 1)
    make(N + 1, x)
""",
        "ct N make",
        "17",
    ),
    Case(
        "a factory: defaults",
        """\
import cuda.tile as ct
def make(t=3):
    @ct.kernel
    def kernel():
        return t
""",
        "ct make",
        "3",
    ),
    Case(
        "a factory: what a comment gives wins",
        """\
import cuda.tile as ct
def make(t, u):
    @ct.kernel
    def kernel():
        return t, u
    return kernel
k = make(1, u=2)
""",
        "ct make",
        "(7, 2)",
        bindings={"t": "7"},
    ),
    Case(
        "factories within factories, and in branches",
        """\
import cuda.tile as ct
def outer(a):
    if a > 1:
        b = a + 1
    else:
        b = 0
    def inner(c, d=4):
        try:
            @ct.kernel
            def kernel():
                return a, b, c, d
        finally:
            pass
        return kernel
    return inner(c=b * 2)
k = outer(5)
""",
        "ct outer",
        "(5, 6, 12, 4)",
    ),
    Case(
        "a method as a factory, its object unused",
        """\
import cuda.tile as ct
class Builder:
    def build(self, n):
        @ct.kernel
        def kernel():
            return n
        return kernel
k = Builder().build(6)
""",
        "ct Builder",
        "6",
    ),
    Case(
        "parametrized tests are factories",
        """\
import cuda.tile as ct
import pytest
@pytest.mark.parametrize('a, b', [(1, 2), (3, 4)])
@pytest.mark.parametrize('c', [pytest.param(5, id='x')])
def test_it(a, b, c, monkeypatch):
    @ct.kernel
    def kernel():
        return a, b, c
""",
        "ct test_it",
        "(1, 2, 5)",
    ),
    Case(
        "kernels in if, try, with and the main block",
        """\
if __name__ == '__main__':
    import cuda.tile as ct
    N = 3
    print('no')
    try:
        with ctx():
            if x:
                @ct.kernel
                def k():
                    return N
    except E:
        pass
""",
        "ct N k",
        "3",
    ),
    Case(
        "what a script sets in its main block isn't the module's",
        """\
import cuda.tile as ct
N = 1
@ct.kernel
def k():
    return N
if __name__ == '__main__':
    N = 2
""",
        "ct N k",
        "1",
    ),
    Case(
        "wrapping calls",
        """\
import cuda.tile as ct
def fn(x):
    return x + 1
k1 = ct.kernel(fn)
k2 = ct.kernel(occupancy=2)(fn)
""",
        "ct fn k2",
        "2",
        kernel="k2",
        arguments=(1,),
    ),
    Case(
        "a function of another module made a kernel",
        """\
import cuda.tile as ct
from lib import fn
k = ct.kernel(fn)
-- lib.py
import torch
Z = 4
def fn(x):
    return x + Z
""",
        "ct fn k lib/Z lib/fn",
        "5",
        arguments=(1,),
    ),
    Case(
        "decorators: those on the function stay, those on the kernel go",
        """\
import cuda.tile as ct
import torch
def twice(f):
    def g(x): return 2 * f(x)
    g.__qualname__ = f.__qualname__
    return g
@torch.bench(1)
@register('k')
@ct.kernel
@twice
def k(x):
    return x
""",
        "ct twice k",
        "6",
        arguments=(3,),
    ),
    Case(
        "a kernel defined twice: each is itself",
        """\
import cuda.tile as ct
A = 1
@ct.kernel
def k():
    return A
B = 2
""",
        "ct A k",
        "1",
    ),
    Case(
        "Unicode names are one name in every spelling",
        """\
import cuda.tile as ct
ﬁne = 3
гамма = 4
@ct.kernel
def k():
    return fine + гамма
""",
        "ct fine гамма k",
        "7",
    ),
    Case(
        "a docstring that is read is part of the meaning",
        """\
'''Module.'''
import cuda.tile as ct
def f():
    '''Five.'''
@ct.kernel
def k():
    return f.__doc__, __doc__
""",
        "__doc__ ct f k",
        "('Five.', 'Module.')",
    ),
    Case(
        "names of the module itself",
        """\
import cuda.tile as ct
import os
HERE = os.path.basename(__file__)
@ct.kernel
def k():
    return HERE, __name__
""",
        "ct os HERE k",
        "('main.py', 'main')",
    ),
    Case(
        "kernels in loops: the last one, with what the loop binds",
        """\
import cuda.tile as ct
for t in (16, 32):
    print("no")
    u = t * 2
    @ct.kernel
    def k():
        return t, u
""",
        "ct t k",
        "(32, 64)",
    ),
    Case(
        "a kernel in the try that imports its language",
        """\
try:
    import cuda.tile as ct
    @ct.kernel
    def k():
        return HAS
except ImportError:
    HAS = False
else:
    HAS = True
""",
        "ct k",
        "True",
    ),
    Case(
        "a class in a function, a walrus, unpacking, with, del",
        """\
import cuda.tile as ct
import contextlib
first, *rest = [1, 2, 3]
if (n := first + 1) > 0:
    print("no")
with contextlib.nullcontext(7) as held:
    pass
gone = 1
del gone
def make(x):
    y = x + 1
    class Inner:
        z = y
        @ct.kernel
        def k(w=z):
            return w, rest, n, held
    return Inner
make(1)
""",
        "ct contextlib first n held make",
        "(2, [2, 3], 2, 7)",
    ),
    Case(
        "a loop that steers itself",
        """\
import cuda.tile as ct
values = []
while True:
    print("no")
    values.append(len(values))
    if len(values) > 2:
        print("no")
        break
@ct.kernel
def k():
    return values
""",
        "ct values values#2 k",
        "[0, 1, 2]",
    ),
    Case(
        "names that a script's main block alone binds",
        """\
import cuda.tile as ct
def make(n):
    @ct.kernel
    def k():
        return n
    return k
if __name__ == "__main__":
    import torch
    size = 12
    k12 = make(size)
    torch.run(k12)
""",
        "ct make size",
        "12",
    ),
]


def _ids(case: Case) -> list[str]:
    return [word if "/" in word else f"main/{word}" for word in case.members.split()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_slices(case: Case):
    closure = sliced(case.text, case.kernel, case.bindings)
    assert list(members(closure)) == _ids(case)
    assert closure.loading is Loading.SLICE
    if case.result != "error":
        assert execute(closure, *case.arguments) == case.result


def test_unresolved_names_widen_the_version_to_their_module():
    text = HEAD + "@ct.kernel\ndef k():\n    return missing\n"
    first, second = sliced(text), sliced(text + "unrelated = 1\n")
    assert first.version != second.version
    assert first.notes[0].message.startswith("`missing`")
    assert sliced(text + "# comment\n").version == first.version


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("TABLE = {}\nfill(TABLE)\n", "fill(TABLE)"),
        ("TABLE = {}\nother = TABLE\nother['n'] = 3\n", "other['n'] = 3"),
        (
            "TABLE = {}\ndef register(f):\n    TABLE[f.__name__] = f\n    return f\n@register\ndef n(): ...\n",
            "@register",
        ),
        ("TABLE = {}\ndef fill():\n    TABLE.update(n=3)\nfill()\n", "fill()"),
        # Changes that are followed, readers, and what can't be changed in place.
        ("TABLE = {}\nTABLE['n'] = 3\n", None),
        ("TABLE = {'n': 3}\nprint(TABLE)\n", None),
        ("TABLE = (1, 2)\nfill(TABLE)\n", None),
        ("TABLE = {}\ndef fill(TABLE):\n    TABLE['n'] = 3\n", None),
        ("TABLE = {}\nif __name__ == '__main__':\n    fill(TABLE)\n", None),
    ],
)
def test_changes_that_a_slice_does_not_follow_are_told(module: str, code: str | None):
    closure = sliced(HEAD + module + "@ct.kernel\ndef k():\n    return TABLE\n")
    told = [note.message for note in closure.notes]
    assert [message.split("`")[3] for message in told] == ([code] if code else [])


def test_a_module_is_imported_where_the_settings_say_so():
    fill = "TABLE = {}\ndef fill(table):\n    table['n'] = 3\nfill(TABLE)\n"
    world = workspace(files_of(HEAD + fill + "@ct.kernel\ndef k():\n    return TABLE['n']\n"))
    world.whole = True
    closure = build_closure(site(world), world).closure
    assert closure is not None
    assert closure.loading is Loading.IMPORT
    assert execute(closure) == "3"


def test_injected_globals_need_the_whole_module():
    text = HEAD + "globals()['N'] = 3\n@ct.kernel\ndef k():\n    return N\n"
    closure = sliced(text)
    assert closure.loading is Loading.IMPORT
    assert list(members(closure)) == ["main/__module__"]
    assert "`N`" in closure.notes[0].message
    assert closure.notes[0].span is not None
    assert execute(closure) == "3"


def test_injection_that_nothing_depends_on_is_left_alone():
    text = HEAD + "N = 1\nexec('print(1)')\n@ct.kernel\ndef k():\n    return N\n"
    assert sliced(text).loading is Loading.SLICE


def test_a_module_getattr_is_an_injection_in_its_own_module():
    text = (
        HEAD + "import lib\n@ct.kernel\ndef k():\n    return lib.anything\n"
        "-- lib.py\ndef __getattr__(name):\n    return name\n"
    )
    closure = sliced(text)
    assert closure.loading is Loading.IMPORT
    assert list(members(closure)) == ["main/__module__", "lib/__module__"]
    assert execute(closure) == "'anything'"


def test_a_factory_that_nothing_calls_says_what_to_write():
    result = closure_of(HEAD + "def make(t, u):\n    @ct.kernel\n    def kernel():\n        return t, u\n")
    assert result.closure is None
    assert result.blocked_by is not None
    assert result.blocked_by.help == "write a comment above the kernel: # tile-lsp: t=… u=…"
    assert result.blocked_by.at is not None
    assert result.blocked_by.at.span.line == 2


def test_all_calls_of_a_factory_are_listed():
    result = closure_of(
        HEAD + "def make(t):\n    @ct.kernel\n    def kernel():\n        return t\n    return kernel\n"
        "for n in ():\n    make(2)\na = make(1)\n"
    )
    assert result.instances == ("make(1)", "make(2)")


def test_a_kernel_is_blocked_by_what_it_needs_and_others_live():
    text = (
        HEAD + "def helper(:\n    pass\n@ct.kernel\ndef a():\n    return helper()\n@ct.kernel\ndef b():\n    return 1\n"
    )
    blocked = closure_of(text, "a").blocked_by
    assert blocked is not None
    assert blocked.syntax
    assert blocked.at is not None
    assert blocked.at.span.line == 2
    assert execute(sliced(text, "b")) == "1"


def test_what_is_broken_in_another_file_is_told_with_that_file():
    text = (
        HEAD + "from lib import helper\n@ct.kernel\ndef k():\n    return helper()\n-- lib.py\ndef helper(:\n    pass\n"
    )
    blocked = closure_of(text).blocked_by
    assert blocked is not None
    assert blocked.message.startswith("`helper`, which `k` needs, is in broken text of lib.py: ")


def test_a_broken_kernel_is_blocked_where_the_parser_points():
    blocked = closure_of(HEAD + "@ct.kernel\ndef a():\n    x = = 1\n").blocked_by
    assert blocked is not None
    assert blocked.syntax
    assert blocked.at is not None
    assert blocked.at.span.line == 4


def test_files_are_those_read_and_missing_those_looked_for():
    result = closure_of(
        HEAD + "import lib, torch\n@ct.kernel\ndef k():\n    return lib.x, torch.y\n-- lib.py\nx = 1\n-- other.py\n"
    )
    assert result.files == {"/ws/main.py", "/ws/lib.py"}
    assert "/ws/lib/__init__.py" in result.missing
    assert result.closure is not None
    assert result.closure.externals == ("cuda", "torch")


def test_only_functions_that_python_never_calls_may_be_left_out():
    text = HEAD + (
        "import functools\ndef entered(x): return deeper(x)\ndef deeper(x): return x\ndef pick(): return also()\n"
        "def also(): return 3\nN = pick()\ndef listed(): pass\nOPS = [listed]\ndef default(): return 1\n"
        "@functools.lru_cache\ndef cached(): pass\ndef deco(f): return f\n@deco\ndef decorated(): return deeper2()\n"
        "def deeper2(): pass\n"
        "@ct.kernel\ndef k(x=default()):\n    return entered(N), OPS, cached, decorated\n"
    )
    closure = sliced(text)
    functions = {m.id.removeprefix("main/") for module in closure.modules for m in module.members if m.function}
    assert functions == {"entered", "deeper", "cached"}


def test_a_comment_in_the_cache_key_is_no_path():
    text = HEAD + "@ct.kernel\ndef k():\n    return 1\n"
    assert "/ws" not in repr(sliced(text).modules[0].members)


def test_versions_are_the_same_in_every_process():
    script = (
        "from tests.analysis.python.fixtures import sliced\n"
        "from tests.analysis.python.test_closure import CASES\n"
        "print([sliced(case.text, case.kernel, case.bindings).version for case in CASES])\n"
    )
    versions = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(versions) == 1


@pytest.mark.parametrize(
    "broken", ["from lib import\n", "from lib import (\n    helper,\n\n", "from lib import helper as\n", "x = (\n"]
)
def test_a_name_that_broken_text_may_bind_blocks(broken: str):
    blocked = closure_of(HEAD + broken + "@ct.kernel\ndef k():\n    return helper()\n").blocked_by
    assert blocked is not None
    assert blocked.syntax
