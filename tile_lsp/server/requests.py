"""The custom requests, `tile/…`: their parameters and results. JSON Schemas and TypeScript types are made from these.

Lines and characters are those of the protocol: 0-based, in the negotiated encoding.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class _Wire(msgspec.Struct, frozen=True, rename="camel"):
    pass


State = Literal["fresh", "compiling", "stale", "failed", "blocked"]


class Position(_Wire, frozen=True):
    line: int
    character: int


class Range(_Wire, frozen=True):
    start: Position
    end: Position


class Location(_Wire, frozen=True):
    uri: str
    range: Range


class TextDocument(_Wire, frozen=True):
    uri: str


class Argument(_Wire, frozen=True):
    name: str
    spec: str
    """In the front end's notation: `f16[4096,4096]`."""
    origin: str
    """`comment`, `settings`, `recorded`, `launch`, `default`, `annotation`, `assumed`."""
    detail: str


class Job(_Wire, frozen=True):
    """One configuration of a kernel."""

    key: str
    """Digest of the whole job."""
    token: str
    """The job as one word, for URIs and the command line."""
    label: str
    """Short, for pickers: `sm_90 · num_ctas=2`."""
    target: str | None
    hints: dict[str, Any]
    arguments: tuple[Argument, ...]
    active: bool
    """True for the one that hovers, hints and unpinned views follow."""
    resources: str | None
    """One line, once known."""
    problems: tuple[str, ...]
    """What went wrong in code generation."""
    documents: dict[str, str]
    """Stage → URI of the document that is pinned to this job."""


class Kernel(_Wire, frozen=True):
    uri: str
    name: str
    """Qualified: `make_kernel.<locals>.kernel`."""
    frontend: str
    range: Range
    selection_range: Range
    state: State
    stages: tuple[str, ...]
    """Those that can be shown, in the order of lowering."""
    jobs: tuple[Job, ...]
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    documents: dict[str, str]
    """Stage → URI of the document that follows the active job."""


class JobsParams(_Wire, frozen=True):
    """`tile/jobs`: kernels and their jobs, of one file or of the whole workspace."""

    text_document: TextDocument | None = None


class JobsResult(_Wire, frozen=True):
    kernels: tuple[Kernel, ...]


class DocumentParams(_Wire, frozen=True):
    """`tile/document`: a served document with its links, by its URI, or by kernel and stage."""

    uri: str | None = None
    text_document: TextDocument | None = None
    kernel: str | None = None
    stage: str | None = None
    job: str | None = None
    """Token of the job to pin the view to; left out, the view follows the active one."""


class DocumentResult(_Wire, frozen=True):
    uri: str
    source: str
    """URI of the file that holds the kernel."""
    language_id: str
    kernel: str
    stage: str
    text: str
    stale: bool
    """True if this is not what the present text compiles to."""
    job: str | None
    """Token of the job that is shown."""
    label: str
    """Of that job: `sm_90 · num_ctas=2`."""
    pinned: bool
    state: State
    """How the text stands to the source."""
    problems: tuple[str, ...]
    """Why it is not fresh."""
    lines: tuple[tuple[tuple[Location, ...], ...], ...]
    """For each line of the text, the places it came from, most specific first; each with its call sites after it."""


class StatsParams(_Wire, frozen=True):
    """`tile/stats`: counters of what really ran."""


class StatsResult(_Wire, frozen=True):
    inferences: int
    codegens: int
    tools: dict[str, int]
    """Starts of external tools, by name."""
    store: dict[str, int]
    """`hits` and `misses`."""
    running: int
    """Attempts in flight."""
    loads: int
    """Forks of a worker that executed user code."""


class SelectJobParams(_Wire, frozen=True):
    """`tile/selectJob`: the job that all views of a kernel follow."""

    text_document: TextDocument
    kernel: str
    index: int


class SelectJobResult(_Wire, frozen=True):
    kernel: Kernel


class StatusParams(_Wire, frozen=True):
    """`tile/status`: for a status bar."""


class StatusResult(_Wire, frozen=True):
    """Also the parameters of the notification `tile/statusChanged`."""

    state: Literal["idle", "busy"]
    running: int
    title: str
    """What is being done, for people; empty when idle."""
    trusted: bool
    kernels: int
    problems: tuple[str, ...]
    """Faults of the environment, each once."""
    version: str


class GraphParams(_Wire, frozen=True):
    """`tile/graph`: the control-flow graph of a listing of SASS or LLVM IR, by its URI, or by kernel and stage."""

    uri: str | None = None
    text_document: TextDocument | None = None
    kernel: str | None = None
    stage: str | None = None
    job: str | None = None
    """Token of the job; left out, the active one's."""


class GraphBlock(_Wire, frozen=True):
    id: str
    """Of the node in the DOT, and of its group in an SVG that Graphviz makes of it."""
    function: str
    name: str
    first: int
    """Line of the listing with its first instruction."""
    last: int
    source: Location | None
    """What most of it comes from."""


class GraphResult(_Wire, frozen=True):
    uri: str
    """Of the listing."""
    source: str
    """URI of the file that holds the kernel."""
    kernel: str
    stage: str
    label: str
    """Of the job: `sm_90 · num_ctas=2`."""
    dot: str
    """The graph in Graphviz' language; empty where there is none."""
    blocks: tuple[GraphBlock, ...]
    problems: tuple[str, ...]
    """Why there is none, or why it is not fresh."""


class LayoutParams(_Wire, frozen=True):
    """`tile/layout`: how the values at a position lie over threads, or in shared memory: of a line of a TTGIR document,
    or of a name in the source, for the active job."""

    text_document: TextDocument
    position: Position


class Layout(_Wire, frozen=True):
    type: str
    """As TTGIR writes it: `tensor<128x32xf16, #blocked>`."""
    facts: tuple[str, ...]
    """What the layout means, a line each."""
    legend: tuple[str, ...]
    """How the picture is to be read, a line each."""
    svg: str
    """A picture of the upper left corner; empty where there is none."""
    problem: str
    """Why there is none."""


class LayoutResult(_Wire, frozen=True):
    title: str
    """The name, or the line, that the layouts are of."""
    kernel: str
    """Empty where there is none."""
    label: str
    """Of the job: `sm_90 · num_ctas=2`."""
    layouts: tuple[Layout, ...]
    problem: str
    """Why there are no layouts."""


class KernelsChangedParams(_Wire, frozen=True):
    """Kernels of a file, their states, jobs or resources are new."""

    uri: str


class Request(msgspec.Struct, frozen=True):
    params: type[msgspec.Struct]
    result: type[msgspec.Struct]


REQUESTS = {
    "tile/jobs": Request(JobsParams, JobsResult),
    "tile/document": Request(DocumentParams, DocumentResult),
    "tile/graph": Request(GraphParams, GraphResult),
    "tile/stats": Request(StatsParams, StatsResult),
    "tile/selectJob": Request(SelectJobParams, SelectJobResult),
    "tile/status": Request(StatusParams, StatusResult),
    "tile/layout": Request(LayoutParams, LayoutResult),
}
STATUS_CHANGED = "tile/statusChanged"
KERNELS_CHANGED = "tile/kernelsChanged"
NOTIFICATIONS: dict[str, type[msgspec.Struct]] = {
    STATUS_CHANGED: StatusResult,
    KERNELS_CHANGED: KernelsChangedParams,
}
"""To a client that set `status` in its `initializationOptions`: method → parameters."""
