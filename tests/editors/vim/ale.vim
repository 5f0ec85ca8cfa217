" docs/editors/ale.vim in Vim with ALE. A check that fails does not keep the next ones from running.
set encoding=utf-8 hidden columns=30
scriptencoding utf-8

function! s:Report(record) abort
  call writefile([json_encode(a:record)], $CHECKS, 'a')
endfunction

function! s:Check(name, body) abort
  let v:errors = []
  try
    call a:body()
  catch
    call add(v:errors, v:throwpoint . ': ' . v:exception)
  endtry
  call s:Report(empty(v:errors) ? {'check': a:name} : {'check': a:name, 'problem': join(v:errors, "\n")})
endfunction

" Wait until the condition gives something, and return it. Sleeping is when Vim reads from its channels.
function! s:Wait(what, condition) abort
  let l:start = reltime()
  while reltimefloat(reltime(l:start)) < 120
    let l:value = a:condition()
    if !empty(l:value)
      return l:value
    endif
    sleep 20m
  endwhile
  throw 'waited in vain for ' . a:what
endfunction

function! s:Go(text) abort
  call cursor(1, 1)
  if !search('\V' . a:text, 'cW')
    throw 'no ' . a:text
  endif
endfunction

" Replace the first occurrence of a text in the source.
function! s:Edit(old, new) abort
  execute 'buffer' s:source
  call s:Go(a:old)
  call setline('.', substitute(getline('.'), '\V' . a:old, a:new, ''))
  doautocmd <nomodeline> TextChanged
endfunction

" What ALE shows in its preview window: hovers, and messages that are longer than a line.
function! s:Shown() abort
  return join(getbufline('ALEPreviewWindow', 1, '$'), "\n")
endfunction

function! s:Diagnostics() abort
  return copy(ale#engine#GetLoclist(s:source))
endfunction

function! s:Text() abort
  return join(getline(1, '$'), "\n")
endfunction

function! s:HoverShowsTheType() abort
  call s:Go('acc = multiply')
  " Asked again until the kernel is known.
  let l:shown = s:Wait('a hover', {-> [execute('ALEHover'), execute('sleep 100m'), s:Shown()][2]})
  call assert_match('acc: Tile\[float32,(128,128)\]', l:shown)
endfunction

function! s:DiagnosticsComeAndGo() abort
  call assert_equal([], s:Diagnostics())
  call s:Edit('ct.mma(a, b, acc)', 'ct.mma(a, missing, acc)')
  let l:found = s:Wait('a diagnostic', {-> s:Diagnostics()})
  call assert_match('missing', l:found[0].text)
  call assert_equal('missing', getline(l:found[0].lnum)[l:found[0].col - 1 : l:found[0].end_col - 1])
  call s:Edit('ct.mma(a, missing, acc)', 'ct.mma(a, b, acc)')
  call s:Wait('no diagnostics', {-> empty(s:Diagnostics())})
endfunction

function! s:CommandOpensAView() abort
  call s:Go('acc = multiply')
  Tile sass
  call s:Wait('the view', {-> expand('%') =~# 'matmul\.nvsass$'})
  let s:view = bufnr()
  call assert_match('SASS of matmul for sm_90', s:Text())
  call assert_match('HGMMA', s:Text())
  call assert_true(&readonly)
  execute 'buffer' s:source
endfunction

function! s:ActionTellsWhereAViewIs() abort
  call s:Go('acc = multiply')
  let l:actions = []
  call ale#codefix#Execute(0, {data, items -> extend(l:actions, map(copy(items), {_, item -> [data, item[1]]}))})
  call s:Wait('actions', {-> !empty(l:actions)})
  let [l:data, l:action] = filter(copy(l:actions), {_, item -> item[1].title ==# 'Show PTX of matmul'})[0]
  call ale#codefix#ApplyLSPCodeAction(l:data, l:action)
  let l:path = s:Wait('the path', {-> matchstr(s:Shown(), 'matmul\.ptx: \zs/[^\n]*')})
  call assert_match('\.target sm_90', join(readfile(l:path), "\n"))
endfunction

function! s:ViewFollowsItsKernel() abort
  call s:Edit('tm=128 tn=128 tk=64', 'tm=128 tn=128 tk=32')
  " ALE forgets a change that waits to be sent when another buffer is entered.
  call s:Wait('the new file', {-> join(readfile(bufname(s:view)), "\n") =~# 'tk=32'})
  execute 'buffer' s:view
  checktime
  call assert_match('tk=32', s:Text())
  call assert_match('HGMMA', s:Text())
endfunction

let g:tile_lsp_settings = {'targets': ['sm_90']}
let g:ale_linters = {'python': ['tile_lsp']}
let &runtimepath .= ',' . $PLUGIN . ',' . $PLUGIN . '/after'
filetype plugin on
runtime plugin/ale.vim
source $DOCS/ale.vim

execute 'edit' fnameescape($WORKSPACE . '/matmul.py')
let s:source = bufnr()
ALELint

call s:Check('hover shows the type', function('s:HoverShowsTheType'))
call s:Check('diagnostics come with a fault and go with it', function('s:DiagnosticsComeAndGo'))
call s:Check('a command opens a view', function('s:CommandOpensAView'))
call s:Check('a code action tells where a view is', function('s:ActionTellsWhereAViewIs'))
call s:Check('an open view follows its kernel', function('s:ViewFollowsItsKernel'))
call s:Report({'check': 'end'})
qall!
