-- The views of tile-lsp as read-only buffers with hover, highlighting and definitions, always up to date. Load after nvim.lua.

local function fill(buffer)
  local client = vim.lsp.get_clients({ name = "tile-lsp" })[1]
  if not client then
    return
  end
  client:request("tile/document", { uri = vim.api.nvim_buf_get_name(buffer) }, function(problem, document)
    if not vim.api.nvim_buf_is_valid(buffer) then
      return
    end
    local text = problem and problem.message or document.text:gsub("\n$", "")
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n"))
    vim.bo[buffer].modifiable = false
    vim.bo[buffer].modified = false
    vim.lsp.buf_attach_client(buffer, client.id)
  end)
end

vim.api.nvim_create_autocmd("BufReadCmd", {
  group = vim.api.nvim_create_augroup("tile-lsp-documents", {}),
  pattern = "tile:/*",
  callback = function(event)
    vim.bo[event.buf].buftype = "nofile"
    vim.bo[event.buf].swapfile = false
    vim.bo[event.buf].filetype = "tile"
    fill(event.buf)
  end,
})

vim.lsp.config("tile-lsp", {
  init_options = { documents = "content" },
  handlers = {
    ["workspace/textDocumentContent/refresh"] = function(_, params)
      local buffer = vim.fn.bufnr("^" .. vim.fn.escape(params.uri, "?*[]{}\\,") .. "$")
      if buffer ~= -1 and vim.api.nvim_buf_is_loaded(buffer) then
        fill(buffer)
      end
      return vim.NIL
    end,
  },
})
