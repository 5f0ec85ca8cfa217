import { expect, test } from "vitest";
import { layoutPage } from "../src/layoutPage";

const RESULT = {
  title: "acc",
  kernel: "matmul",
  label: "sm_90 · num_warps=4",
  problem: "",
  layouts: [
    {
      type: "tensor<4xf32, #blocked>",
      facts: ["4 over 1 warp"],
      legend: ["a colour is a warp"],
      svg: "<svg></svg>",
      problem: "",
    },
    { type: "tensor<4xf32, #odd>", facts: [], legend: [], svg: "", problem: "no picture & no words" },
  ],
};

test("a page says what it is of, has the type, what it means, and the picture; only the picture is markup", () => {
  const page = layoutPage(RESULT);
  expect(page).toContain("<p>acc in matmul for sm_90 · num_warps=4</p>");
  expect(page).toContain(
    '<h2>tensor&#60;4xf32, #blocked&#62;</h2><ul><li>4 over 1 warp</li><li class="legend">a colour is a warp</li></ul>',
  );
  expect(page).toContain('<div class="picture"><svg></svg></div>');
  expect(page).toContain("<li>no picture &#38; no words</li>");
  expect(page).toContain("default-src 'none'");
  expect(page).not.toContain("Not up to date");
});

test("a picture that the text has left behind says why, and is dimmed", () => {
  const page = layoutPage(RESULT, "undefined name <x>");
  expect(page).toContain('<p class="problem">Not up to date: undefined name &#60;x&#62;</p><div class="old">');
});
