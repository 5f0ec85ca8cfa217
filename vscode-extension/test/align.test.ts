import { describe, expect, test } from "vitest";
import { align } from "../src/align.ts";

const lines = (text: string) => text.split(" ");

describe("align", () => {
  test.each([
    ["a text that stays", "a b c", "a b c", "0 1 2"],
    ["lines put in before", "a b c", "x y a b c", "2 3 4"],
    ["lines taken out", "a b c d", "a d", "0 0 0 1"],
    ["lines put in between", "a b c", "a x b y c", "0 2 4"],
    ["an instruction that became another", "a b c", "a x c", "0 1 2"],
    ["repeated lines go with their neighbours", "a n n b n", "x a n n b n", "1 2 3 4 5"],
    ["a block that moved", "a b c x y", "x y a b c", "2 3 4 4 4"],
    ["nothing in common", "a b c", "x", "0 0 0"],
    ["a text that vanished", "a b", "", "0 0"],
  ])("%s", (_, before, after, wanted) => {
    const moved = align(lines(before), lines(after));
    expect(lines(before).map((__, line) => moved(line))).toEqual(lines(wanted).map(Number));
  });

  test("addresses, scheduling and line numbers do not tell instructions apart", () => {
    const before = [
      "    // matmul.py:38: acc = ct.mma(a, b, acc)",
      "    /*0000*/       LDC R1, c[0x0][0x28] ;                               /* B------:R-:W1:-:S02 */",
      "    /*0010*/       EXIT ;                                               /* B------:R-:W1:-:S02 */",
    ];
    const after = [
      "    /*0000*/       NOP ;                                                /* B------:R-:W1:-:S02 */",
      "    // matmul.py:41: acc = ct.mma(a, b, acc)",
      "    /*0010*/       LDC R1, c[0x0][0x28] ;                               /* B0-----:R-:W1:-:S04 */",
      "    /*0020*/       EXIT ;                                               /* B------:R-:W1:-:S02 */",
    ];
    const moved = align(before, after);
    expect(before.map((_, line) => moved(line))).toEqual([1, 2, 3]);
  });

  test("a position past the end is the end", () => {
    expect(align(["a"], ["b", "a"])(7)).toBe(1);
  });

  test("a thousand lines that shift keep their order", () => {
    const before = Array.from({ length: 1000 }, (_, index) => (index % 3 ? `i${index}` : "NOP"));
    const after = ["new", ...before.filter((_, index) => index % 10 !== 9)];
    const moved = align(before, after);
    const places = before.map((_, line) => moved(line));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(after[moved(500)]).toBe(before[500]);
  });
});
