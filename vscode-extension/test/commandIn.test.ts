import { expect, test } from "vitest";
import { commandIn } from "../src/commandIn";

test.each([
  [
    "triton is not installed in /e/python\n/e/python -m pip install 'triton>=3.6'",
    "/e/python -m pip install 'triton>=3.6'",
  ],
  ["x\n/e/python -m ensurepip && /e/python -m pip install x\n", "/e/python -m ensurepip && /e/python -m pip install x"],
  ["x\nuv pip install --python /e/python x", "uv pip install --python /e/python x"],
  ["This workspace is not trusted.\nTrust the workspace.", undefined],
  ["'(' was never closed", undefined],
  ["x\nrm -rf y; /e/python -m pip install x", undefined],
])("%j", (message, command) => {
  expect(commandIn(message)).toBe(command);
});
