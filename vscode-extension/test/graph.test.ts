// A graph of the server's as Graphviz draws it, and the page around it.
import { expect, test } from "vitest";
import { graphPage } from "../src/graphPage";
import { draw } from "../src/graphviz";

const DOT = `digraph {
  node [shape=box];
  b0_0 [id="b0_0", label="entry · 1 instruction\\\\lBRA <x> & \\"y\\"\\\\l"];
  b0_1 [id="b0_1", label=".L_x_0\\\\l"];
  b0_0 -> b0_1 [label="!P0"];
  b0_1 -> b0_1 [class=back];
}`;

test("each block is a group of its own name, and an edge that closes a loop is told apart", async () => {
  const svg = await draw(DOT);
  for (const id of ["b0_0", "b0_1"]) expect(svg).toContain(`<g id="${id}" class="node">`);
  expect(svg).toMatch(/class="edge back"/);
  expect(svg).toContain("!P0");
  expect(svg).not.toContain("BRA <x>");
});

test("what is no graph is an error", async () => {
  await expect(draw("digraph {")).rejects.toThrow();
});

test("the page runs its own script alone", () => {
  const page = graphPage("0f");
  expect(page).toContain("script-src 'nonce-0f'");
  expect(page).toContain('<script nonce="0f">');
  expect(page).toContain("default-src 'none'");
});
