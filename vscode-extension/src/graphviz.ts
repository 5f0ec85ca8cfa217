// Graphviz, which is a megabyte: a bundle of its own, loaded with the first graph.
import { instance } from "@viz-js/viz";

/** A drawing of a graph in Graphviz' language, as SVG. Throws where it can't be read. */
export async function draw(dot: string): Promise<string> {
  const graphviz = await instance();
  return graphviz.renderString(dot, { format: "svg", engine: "dot" });
}
