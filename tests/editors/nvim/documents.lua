-- docs/editors/nvim.lua with nvim-documents.lua: views are `tile:` buffers.
local checks = require("checks")
local check, wait, expect = checks.check, checks.wait, checks.expect

checks.configure("nvim.lua", "nvim-documents.lua")
local source = checks.open("matmul.py")
local view

local function attached(buffer)
  return #vim.lsp.get_clients({ bufnr = buffer, name = "tile-lsp" }) == 1
end

local function show(stage)
  vim.lsp.buf.code_action({ context = { only = { "source.tile." .. stage }, diagnostics = {} }, apply = true })
  return wait("a view of " .. stage, function()
    local buffer = vim.api.nvim_get_current_buf()
    return vim.api.nvim_buf_get_name(buffer):find("^tile:/" .. stage) and attached(buffer) and buffer
  end)
end

check("a code action shows the listing", function()
  checks.go("acc = multiply")
  view = show("sass")
  expect(checks.text(view), "SASS of matmul for sm_90")
  expect(checks.text(view), "HGMMA")
  assert(not vim.bo[view].modifiable)
end)

check("definition goes from an instruction to the source", function()
  checks.go("matmul.py:27: acc = ct.mma(a, b, acc)")
  vim.cmd.normal("j")
  vim.lsp.buf.definition()
  wait("the source", function()
    return vim.api.nvim_get_current_buf() == source
  end)
  expect(vim.api.nvim_get_current_line(), "^        acc = ct.mma%(a, b, acc%)$")
  -- On the statement or the call, whichever the compiler noted.
  local rest = vim.api.nvim_get_current_line():sub(vim.fn.col("."))
  assert(rest == "acc = ct.mma(a, b, acc)" or rest == "ct.mma(a, b, acc)", rest)
end)

check("what came from one line of the source is marked together", function()
  vim.cmd.buffer(view)
  local answer = checks.client():request_sync(
    "textDocument/documentHighlight",
    vim.lsp.util.make_position_params(0, "utf-8"),
    120000,
    view
  )
  assert(#answer.result > 1)
  for _, mark in ipairs(answer.result) do
    expect(vim.fn.getline(mark.range.start.line + 1), "^ +/[/*]")
  end
  vim.cmd.buffer(source)
end)

check("implementation goes from a source line to its instructions", function()
  checks.go("acc = ct.mma(a, b, acc)")
  local found
  vim.lsp.buf.implementation({
    on_list = function(list)
      found = list.items
    end,
  })
  wait("instructions", function()
    return found
  end)
  assert(#found > 0)
  for _, item in ipairs(found) do
    assert(item.bufnr == view or vim.fn.bufnr(item.filename) == view, vim.inspect(item))
    expect(item.text, "^ +/%*%x+%*/")
  end
end)

check("hover explains an instruction", function()
  vim.cmd.buffer(view)
  checks.go("HGMMA")
  expect(checks.hover(), "matmul.py:%d+")
end)

check("the listing is highlighted", function()
  local row = vim.fn.line(".") - 1
  local tokens = wait("semantic tokens", function()
    local tokens = vim.lsp.semantic_tokens.get_at_pos(view, row, vim.fn.col(".") - 1)
    return tokens and tokens[1] and tokens
  end)
  assert(tokens[1].type == "function", vim.inspect(tokens))
end)

check("a view follows its kernel", function()
  checks.edit(source, "tm=128 tn=128 tk=64", "tm=128 tn=128 tk=32")
  wait("the new listing", function()
    return checks.text(view):find("tk=32")
  end)
  expect(checks.text(view), "HGMMA")
  assert(not vim.bo[view].modifiable)
end)

check("a fault stands above the last good listing, and goes with it", function()
  checks.edit(source, "ct.mma(a, b, acc)", "ct.mma(a, missing, acc)")
  local text = wait("the fault", function()
    local text = checks.text(view)
    return text:find("error: [^\n]*missing") and text
  end)
  expect(text, "HGMMA")
  checks.edit(source, "ct.mma(a, missing, acc)", "ct.mma(a, b, acc)")
  wait("no fault", function()
    return not checks.text(view):find("error:")
  end)
end)

check("a document opens by its URI", function()
  local jobs = checks.client():request_sync("tile/jobs", vim.empty_dict(), 120000, source)
  local uri = jobs.result.kernels[1].documents.ptx
  vim.cmd.edit(vim.fn.fnameescape(uri))
  local buffer = vim.api.nvim_get_current_buf()
  assert(vim.api.nvim_buf_get_name(buffer) == uri)
  wait("PTX", function()
    return checks.text(buffer):find("\n%.target sm_90")
  end)
end)

checks.finish()
