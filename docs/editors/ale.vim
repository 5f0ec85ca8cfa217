" tile-lsp in Vim 8.2 or newer with ALE 3.3 or newer: diagnostics, hover (:ALEHover), code actions (:ALECodeAction).
" :Tile sass opens that view of the kernel under the cursor; stages: types, typed, tileir, ptx, sass, resources, …

function! s:Root(buffer) abort
  for l:marker in ['tile-lsp.toml', 'pyproject.toml']
    let l:found = ale#path#FindNearestFile(a:buffer, l:marker)
    if !empty(l:found)
      return fnamemodify(l:found, ':h')
    endif
  endfor
  return expand('#' . a:buffer . ':p:h')
endfunction

for s:language in ['python', 'cuda']
  call ale#linter#Define(s:language, {
  \   'name': 'tile_lsp',
  \   'lsp': 'stdio',
  \   'executable': 'tile-lsp',
  \   'command': '%e --stdio',
  \   'project_root': function('s:Root'),
  \   'lsp_config': {'tile-lsp': get(g:, 'tile_lsp_settings', {})},
  \})
endfor

" Where a view was written to is told as a message.
let g:ale_lsp_show_message_severity = 'information'
" A view is rewritten when its kernel changes.
set autoread
autocmd CursorHold * if getcmdwintype() ==# '' | silent! checktime | endif

command! -nargs=1 Tile call s:Ask(<q-args>)

function! s:Ask(stage) abort
  let l:here = {'line': line('.') - 1, 'character': 0}
  call ale#lsp_linter#SendRequest(bufnr(), 'tile_lsp', [0, 'textDocument/codeAction', {
  \   'textDocument': {'uri': ale#path#ToFileURI(expand('%:p'))},
  \   'range': {'start': l:here, 'end': l:here},
  \   'context': {'diagnostics': [], 'only': ['source.tile.' . a:stage]},
  \}], function('s:Show', [bufnr()]))
endfunction

function! s:Show(buffer, answer) abort
  if empty(get(a:answer, 'result', []))
    echo 'No kernel here, or no such view of it'
    return
  endif
  let l:command = a:answer.result[0].command
  call ale#lsp_linter#SendRequest(a:buffer, 'tile_lsp', [0, 'workspace/executeCommand', {
  \   'command': l:command.command, 'arguments': l:command.arguments,
  \}], {answer -> execute('vsplit ' . fnameescape(ale#path#FromFileURI(answer.result.uri)))})
endfunction
