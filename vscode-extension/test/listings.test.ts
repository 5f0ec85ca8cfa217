import { beforeEach, expect, test, vi } from "vitest";

// Which of two events comes first is the editor's affair: here it is played both ways.
const { opened, RESULT } = vi.hoisted(() => ({
  opened: [] as ((document: unknown) => void)[],
  RESULT: { text: "// sass\n", lines: [] },
}));
vi.mock("vscode", () => ({
  EventEmitter: class {
    event = () => ({ dispose() {} });
    fire() {}
    dispose() {}
  },
  CancellationTokenSource: class {
    token = {};
    cancel() {}
  },
  Uri: { parse: (text: string) => text },
  workspace: {
    textDocuments: [],
    onDidOpenTextDocument: (heard: (document: unknown) => void) => opened.push(heard),
    onDidCloseTextDocument() {},
    onDidChangeTextDocument() {},
  },
}));
vi.mock("../src/languages", () => ({ isSource: () => false }));
vi.mock("../src/requests", () => ({ ask: async () => RESULT }));

const { COMPILING, Listings } = await import("../src/listings");

const URI = { scheme: "tile", toString: () => "tile:/k.sass" };

beforeEach(() => {
  opened.length = 0;
});

async function open(text: string) {
  const reloaded: unknown[] = [];
  const server = {
    onDidChangeKernels() {},
    onDidChange() {},
    client: {
      getFeature: () => ({
        getProviders: () => [{ onDidChangeEmitter: { fire: (uri: unknown) => reloaded.push(uri) } }],
      }),
    },
  };
  // biome-ignore lint/suspicious/noExplicitAny: as much of a server as is asked
  const listings = new Listings(server as any);
  for (const heard of opened) heard({ uri: URI, getText: () => text, isClosed: false });
  await new Promise((resolve) => setTimeout(resolve));
  return { listings, reloaded };
}

test("a text that was there before its document takes the place of the word that it is compiling", async () => {
  expect((await open(COMPILING)).reloaded).toEqual([URI]);
});

test("a document that has its text is left alone", async () => {
  const { listings, reloaded } = await open(RESULT.text);
  expect(reloaded).toEqual([]);
  // biome-ignore lint/suspicious/noExplicitAny: it is asked for its text alone
  expect(listings.get(URI as any)).toBeDefined();
});
