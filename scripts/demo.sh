#!/bin/sh
# The main job on one kernel of examples/: its types, then what it compiles to. $1: the tile-lsp command.
set -eu

tile_lsp=$1
kernel=examples/cutile/matmul.py::matmul

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }

# Stage, number of lines to show, further arguments.
show() {
    stage=$1 lines=$2
    shift 2
    say "\$ tile-lsp show $stage $kernel $*"
    "$tile_lsp" show "$stage" "$kernel" "$@" >"$output"
    head -n "$lines" "$output"
    total=$(wc -l <"$output")
    [ "$total" -le "$lines" ] || echo "  … $((total - lines)) more lines"
}

output=$(mktemp)
trap 'rm -f "$output"' EXIT

show types 60 --target sm_90
show ptx 40 --target sm_90
show sass 40 --target sm_90

say "Next"
cat <<END
  $tile_lsp jobs examples/cutile/attention.py           the kernels of a file, and what each is compiled for
  $tile_lsp show sass $kernel --target sm_100 --target sm_120
  $tile_lsp show types FILE::KERNEL --target sm_90      a kernel of your own; --arg A='f16[4096,4096]' gives an argument's type
  $tile_lsp doctor                                      interpreters, compilers, and what is missing
  $tile_lsp --stdio                                     the language server: README.md says how to start it from your editor
END
