-- docs/editors/nvim.lua alone: views are files.
local checks = require("checks")
local check, wait, expect = checks.check, checks.wait, checks.expect

checks.configure("nvim.lua")
local source = checks.open("matmul.py")

check("hover shows the type", function()
  checks.go("acc = multiply")
  expect(checks.hover(), "acc: Tile%[float32,%(128,128%)%]")
end)

local function hint_after(buffer, name)
  for _, item in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
    local place = item.inlay_hint.position
    local line = vim.api.nvim_buf_get_lines(buffer, place.line, place.line + 1, false)[1]
    if line:sub(1, place.character):find(name .. "$") then
      return item.inlay_hint.label
    end
  end
end

check("inlay hints stand after the names that they are of", function()
  expect(hint_after(source, "  acc"), "^: Tile%[float32,%(128,128%)%]$")
end)

check("wide characters before a name", function()
  local wide = checks.open("wide.py")
  assert(checks.client().offset_encoding == "utf-8")
  checks.go("acc = multiply")
  expect(checks.hover(), "acc: Tile%[float32,%(128,128%)%]")
  expect(hint_after(wide, "'😋é'; acc"), "^: Tile%[float32,%(128,128%)%]$")
  vim.cmd.buffer(source)
end)

check("diagnostics come with a fault and go with it", function()
  assert(#vim.diagnostic.get(source) == 0, vim.inspect(vim.diagnostic.get(source)))
  checks.edit(source, "ct.mma(a, b, acc)", "ct.mma(a, missing, acc)")
  local found = wait("a diagnostic", function()
    return vim.diagnostic.get(source)[1]
  end)
  local line = vim.api.nvim_buf_get_lines(source, found.lnum, found.lnum + 1, false)[1]
  assert(line:sub(found.col + 1, found.end_col) == "missing", vim.inspect(found))
  expect(found.message, "missing")
  checks.edit(source, "ct.mma(a, missing, acc)", "ct.mma(a, b, acc)")
  wait("no diagnostics", function()
    return #vim.diagnostic.get(source) == 0
  end)
end)

check("lenses name the stages and the config, and open views", function()
  vim.cmd.buffer(source)
  local lenses = wait("lenses", function()
    vim.api.nvim_exec_autocmds("CursorHold", { buffer = source })
    local lenses = vim.lsp.codelens.get(source)
    return #lenses > 0 and vim.iter(lenses):all(function(lens)
      return lens.command
    end) and lenses
  end)
  local titles = vim.iter(lenses):map(function(lens)
    return lens.command.title
  end)
  expect(titles:join(" "), "Types Typed IR Tile IR PTX SASS sm_90")
  checks.go("def matmul(")
  vim.ui.select = function(items, options, done)
    for _, item in ipairs(items) do
      if options.format_item(item):find("^PTX") then
        return done(item)
      end
    end
  end
  vim.lsp.codelens.run()
  local view = wait("the view", function()
    return vim.api.nvim_buf_get_name(0):find("matmul%.ptx$") and vim.api.nvim_get_current_buf()
  end)
  expect(checks.text(view), "\n%.target sm_90")
  vim.cmd.buffer(source)
end)

local shown

check("a code action shows each stage", function()
  checks.go("acc = multiply")
  local jobs = checks.client():request_sync("tile/jobs", vim.empty_dict(), 120000, source)
  local kernel = vim.iter(jobs.result.kernels):find(function(kernel)
    return kernel.name == "matmul"
  end)
  assert(#kernel.stages >= 5)
  for _, stage in ipairs(kernel.stages) do
    vim.cmd.buffer(source)
    -- With one action left Neovim can apply it without asking.
    vim.lsp.buf.code_action({ context = { only = { "source.tile." .. stage }, diagnostics = {} }, apply = true })
    local view = wait("a view of " .. stage, function()
      local buffer = vim.api.nvim_get_current_buf()
      return buffer ~= source and buffer
    end)
    local text = checks.text(view)
    assert(not text:find("error:"), text)
    assert(vim.bo[view].readonly, "what is typed into a view would be lost")
    if stage == "sass" then
      expect(text, "SASS of matmul for sm_90")
      expect(text, "HGMMA")
      shown = view
    end
  end
  vim.cmd.buffer(source)
end)

check("the menu of code actions has it too", function()
  vim.ui.select = function(items, options, done)
    for _, item in ipairs(items) do
      if options.format_item(item):find("Show SASS of matmul", 1, true) then
        return done(item)
      end
    end
  end
  checks.go("acc = multiply")
  vim.lsp.buf.code_action()
  wait("the view", function()
    return vim.api.nvim_get_current_buf() == shown
  end)
end)

check("an open view follows its kernel", function()
  checks.edit(source, "tm=128 tn=128 tk=64", "tm=128 tn=128 tk=32")
  -- Without a main loop `:checktime` does nothing from within an autocommand.
  local looks = vim.api.nvim_get_autocmds({ group = "tile-lsp-views", event = "CursorHold" })[1].callback
  wait("the new listing", function()
    looks()
    return checks.text(shown):find("tk=32")
  end)
  expect(checks.text(shown), "HGMMA")
end)

checks.finish()
