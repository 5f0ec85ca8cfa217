import type { TextDocument } from "vscode";
import type { TextDocumentFilter } from "vscode-languageclient/node";

const CUDA = ["cuda-cpp", "cuda"];

/** What the server is told of: files that kernels are in, notebooks' cells, headers that kernels include, and listings. */
export const SELECTOR: TextDocumentFilter[] = [
  { scheme: "file", language: "python" },
  { scheme: "vscode-notebook-cell", language: "python" },
  ...CUDA.map((language) => ({ scheme: "file", language })),
  { scheme: "file", pattern: "**/*.{cu,cuh,h,hh,hpp,hxx,inl,inc}" },
  { scheme: "tile" },
];

export function isCuda(document: TextDocument): boolean {
  return CUDA.includes(document.languageId) || /\.cuh?$/.test(document.uri.path);
}

/** Whether kernels may stand in a document. */
export function isSource(document: TextDocument | undefined): boolean {
  return document !== undefined && (document.languageId === "python" || isCuda(document));
}
