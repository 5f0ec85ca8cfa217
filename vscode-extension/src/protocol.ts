// Made by scripts/protocol.mjs from schemas/requests.json: change those, then run `npm run protocol`.

export type Argument = {
  name: string;
  /** In the front end's notation: `f16[4096,4096]`. */
  spec: string;
  /** `comment`, `settings`, `recorded`, `launch`, `default`, `annotation`, `assumed`. */
  origin: string;
  detail: string;
};

/** `tile/document`: a served document with its links, by its URI, or by kernel and stage. */
export type DocumentParams = {
  uri?: string | null;
  textDocument?: TextDocument | null;
  kernel?: string | null;
  stage?: string | null;
  /** Token of the job to pin the view to; left out, the view follows the active one. */
  job?: string | null;
};

export type DocumentResult = {
  uri: string;
  /** URI of the file that holds the kernel. */
  source: string;
  languageId: string;
  kernel: string;
  stage: string;
  text: string;
  /** True if this is not what the present text compiles to. */
  stale: boolean;
  /** Token of the job that is shown. */
  job: string | null;
  /** Of that job: `sm_90 · num_ctas=2`. */
  label: string;
  pinned: boolean;
  /** How the text stands to the source. */
  state: "blocked" | "compiling" | "failed" | "fresh" | "stale";
  /** Why it is not fresh. */
  problems: string[];
  /** For each line of the text, the places it came from, most specific first; each with its call sites after it. */
  lines: Location[][][];
};

export type GraphBlock = {
  /** Of the node in the DOT, and of its group in an SVG that Graphviz makes of it. */
  id: string;
  function: string;
  name: string;
  /** Line of the listing with its first instruction. */
  first: number;
  last: number;
  /** What most of it comes from. */
  source: Location | null;
};

/** `tile/graph`: the control-flow graph of a listing of SASS or LLVM IR, by its URI, or by kernel and stage. */
export type GraphParams = {
  uri?: string | null;
  textDocument?: TextDocument | null;
  kernel?: string | null;
  stage?: string | null;
  /** Token of the job; left out, the active one's. */
  job?: string | null;
};

export type GraphResult = {
  /** Of the listing. */
  uri: string;
  /** URI of the file that holds the kernel. */
  source: string;
  kernel: string;
  stage: string;
  /** Of the job: `sm_90 · num_ctas=2`. */
  label: string;
  /** The graph in Graphviz' language; empty where there is none. */
  dot: string;
  blocks: GraphBlock[];
  /** Why there is none, or why it is not fresh. */
  problems: string[];
};

/** One configuration of a kernel. */
export type Job = {
  /** Digest of the whole job. */
  key: string;
  /** The job as one word, for URIs and the command line. */
  token: string;
  /** Short, for pickers: `sm_90 · num_ctas=2`. */
  label: string;
  target: string | null;
  hints: Record<string, unknown>;
  arguments: Argument[];
  /** True for the one that hovers, hints and unpinned views follow. */
  active: boolean;
  /** One line, once known. */
  resources: string | null;
  /** What went wrong in code generation. */
  problems: string[];
  /** Stage → URI of the document that is pinned to this job. */
  documents: Record<string, string>;
};

/** `tile/jobs`: kernels and their jobs, of one file or of the whole workspace. */
export type JobsParams = {
  textDocument?: TextDocument | null;
};

export type JobsResult = {
  kernels: Kernel[];
};

export type Kernel = {
  uri: string;
  /** Qualified: `make_kernel.<locals>.kernel`. */
  name: string;
  frontend: string;
  range: Range;
  selectionRange: Range;
  state: "blocked" | "compiling" | "failed" | "fresh" | "stale";
  /** Those that can be shown, in the order of lowering. */
  stages: string[];
  jobs: Job[];
  notes: string[];
  problems: string[];
  /** Stage → URI of the document that follows the active job. */
  documents: Record<string, string>;
};

/** Kernels of a file, their states, jobs or resources are new. */
export type KernelsChangedParams = {
  uri: string;
};

export type Layout = {
  /** As TTGIR writes it: `tensor<128x32xf16, #blocked>`. */
  type: string;
  /** What the layout means, a line each. */
  facts: string[];
  /** How the picture is to be read, a line each. */
  legend: string[];
  /** A picture of the upper left corner; empty where there is none. */
  svg: string;
  /** Why there is none. */
  problem: string;
};

/** `tile/layout`: how the values at a position lie over threads, or in shared memory: of a line of a TTGIR document, or of a name in the source, for the active job. */
export type LayoutParams = {
  textDocument: TextDocument;
  position: Position;
};

export type LayoutResult = {
  /** The name, or the line, that the layouts are of. */
  title: string;
  /** Empty where there is none. */
  kernel: string;
  /** Of the job: `sm_90 · num_ctas=2`. */
  label: string;
  layouts: Layout[];
  /** Why there are no layouts. */
  problem: string;
};

export type Location = {
  uri: string;
  range: Range;
};

export type Position = {
  line: number;
  character: number;
};

export type Range = {
  start: Position;
  end: Position;
};

/** `tile/selectJob`: the job that all views of a kernel follow. */
export type SelectJobParams = {
  textDocument: TextDocument;
  kernel: string;
  index: number;
};

export type SelectJobResult = {
  kernel: Kernel;
};

/** `tile/stats`: counters of what really ran. */
export type StatsParams = Record<string, never>;

export type StatsResult = {
  inferences: number;
  codegens: number;
  /** Starts of external tools, by name. */
  tools: Record<string, number>;
  /** `hits` and `misses`. */
  store: Record<string, number>;
  /** Attempts in flight. */
  running: number;
  /** Forks of a worker that executed user code. */
  loads: number;
};

/** `tile/status`: for a status bar. */
export type StatusParams = Record<string, never>;

/** Also the parameters of the notification `tile/statusChanged`. */
export type StatusResult = {
  state: "busy" | "idle";
  running: number;
  /** What is being done, for people; empty when idle. */
  title: string;
  trusted: boolean;
  kernels: number;
  /** Faults of the environment, each once. */
  problems: string[];
  version: string;
};

export type TextDocument = {
  uri: string;
};

export interface Requests {
  "tile/jobs": { params: JobsParams; result: JobsResult };
  "tile/document": { params: DocumentParams; result: DocumentResult };
  "tile/graph": { params: GraphParams; result: GraphResult };
  "tile/stats": { params: StatsParams; result: StatsResult };
  "tile/selectJob": { params: SelectJobParams; result: SelectJobResult };
  "tile/status": { params: StatusParams; result: StatusResult };
  "tile/layout": { params: LayoutParams; result: LayoutResult };
}

export interface Notifications {
  "tile/statusChanged": StatusResult;
  "tile/kernelsChanged": KernelsChangedParams;
}
