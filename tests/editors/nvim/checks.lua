-- What the scripts share. A check that fails does not keep the next ones from running.
local M = {}

local results = assert(io.open(os.getenv("CHECKS"), "a"))
local docs, workspace = os.getenv("DOCS"), os.getenv("WORKSPACE")

local function report(record)
  results:write(vim.json.encode(record), "\n")
  results:flush()
end

function M.check(name, body)
  local ok, problem = xpcall(body, debug.traceback)
  report({ check = name, problem = not ok and tostring(problem) or nil })
end

--- Wait until the condition gives a value, and return it.
function M.wait(what, condition)
  local value
  local function holds()
    value = condition()
    return value
  end
  assert(vim.wait(120000, holds, 20), "waited in vain for " .. what)
  return value
end

function M.expect(text, pattern)
  assert(text:find(pattern), ("no %q in:\n%s"):format(pattern, text))
end

function M.text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false), "\n")
end

--- Load files of docs/editors as they are, after the settings that a user would make.
function M.configure(...)
  vim.cmd("filetype on")
  vim.opt.shortmess:append("F")
  vim.lsp.config("tile-lsp", { settings = { ["tile-lsp"] = { targets = { "sm_90" } } } })
  for _, name in ipairs({ ... }) do
    dofile(docs .. "/" .. name)
  end
end

function M.client()
  return assert(vim.lsp.get_clients({ name = "tile-lsp" })[1], "no client")
end

--- Open a file of the workspace; returns its buffer once its types are known.
function M.open(name)
  vim.cmd.edit(vim.fn.fnameescape(workspace .. "/" .. name))
  local buffer = vim.api.nvim_get_current_buf()
  M.wait("types in " .. name, function()
    return #vim.lsp.inlay_hint.get({ bufnr = buffer }) > 0
  end)
  return buffer
end

--- Put the cursor on the first occurrence of a plain text.
function M.go(text)
  vim.fn.cursor(1, 1)
  assert(vim.fn.search("\\V" .. vim.fn.escape(text, "\\"), "cW") > 0, "no " .. text)
end

--- Replace the first occurrence of a plain text in a buffer, which need not be shown.
function M.edit(buffer, old, new)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local first, last = line:find(old, 1, true)
    if first then
      vim.api.nvim_buf_set_text(buffer, row - 1, first - 1, row - 1, last, { new })
      return
    end
  end
  error("no " .. old)
end

--- The text of the window that a hover opens, once the server has something to say here: types come when they come.
function M.hover()
  local client = M.client()
  M.wait("something to hover", function()
    local here = vim.lsp.util.make_position_params(0, client.offset_encoding)
    local answer = client:request_sync("textDocument/hover", here, 120000, 0)
    return answer and answer.result and answer.result ~= vim.NIL
  end)
  vim.lsp.buf.hover()
  local window = M.wait("a hover", function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then
        return window
      end
    end
  end)
  local text = M.text(vim.api.nvim_win_get_buf(window))
  vim.api.nvim_win_close(window, true)
  return text
end

--- Stop the server in the way that Neovim does when it quits.
function M.finish()
  local client = M.client()
  client:stop()
  M.wait("the server's end", function()
    return client:is_stopped()
  end)
  report({ check = "end" })
end

return M
