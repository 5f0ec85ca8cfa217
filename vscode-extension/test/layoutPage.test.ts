import { expect, test } from "vitest";
import { layoutPage } from "../src/layoutPage";

test("a page has the type, what it means, and the picture; only the picture is markup", () => {
  const page = layoutPage({
    title: "acc",
    problem: "",
    layouts: [
      { type: "tensor<4xf32, #blocked>", facts: ["4 over 1 warp"], svg: "<svg></svg>", problem: "" },
      { type: "tensor<4xf32, #odd>", facts: [], svg: "", problem: "no picture & no words" },
    ],
  });
  expect(page).toContain("<h2>tensor&#60;4xf32, #blocked&#62;</h2><ul><li>4 over 1 warp</li></ul><svg></svg>");
  expect(page).toContain("<li>no picture &#38; no words</li>");
  expect(page).toContain("default-src 'none'");
});
