#!/bin/sh
# The editors, the browser and the clang that tests drive, as Debian packages: installed where we may, else named.
set -eu

packages="chromium fonts-dejavu-core emacs-nox elpa-eglot vim vim-ale clang-19"
command -v npm >/dev/null || packages="$packages npm"

missing=
for package in $packages; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing$missing …"
    # shellcheck disable=SC2086
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $missing; } >/dev/null
else
    echo "Tests drive real editors, which are missing. Install them:" >&2
    echo "    sudo apt-get install$missing" >&2
    echo "or leave those tests out: make test EDITORS=no" >&2
    exit 1
fi
