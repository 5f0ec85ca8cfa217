// Bundles the extension into dist/extension.js, and what is loaded only when it is needed beside it.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts", "src/graphviz.ts"],
  outdir: "dist",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode", "./graphviz.js"],
  minify: true,
  sourcemap: process.argv.includes("--sourcemap"),
  legalComments: "linked",
});
