#!/bin/sh
# Installs placet @VERSION@ on Linux or macOS:
#
#   sh install.sh [--prefix DIR]
#
# DIR is /usr/local for root, and ~/.local for anybody else. The archive is taken from the folder
# of this script, or else downloaded from the address in PLACET_URL (@URL@). Nothing is installed
# unless its SHA-256 sum is the one below.
set -eu

version='@VERSION@'
url=${PLACET_URL:-'@URL@'}
sums='
@SUMS@
'

fail() {
	echo "cannot install placet: $1" >&2
	exit 1
}

case $(id -u) in
0) prefix=/usr/local ;;
*) prefix=${HOME:?}/.local ;;
esac
case ${1:-} in
'') ;;
--prefix)
	[ -n "${2:-}" ] || fail "--prefix needs a folder. Write: sh install.sh --prefix DIR"
	prefix=$2
	;;
--prefix=*) prefix=${1#--prefix=} ;;
*) fail "$1 is not known. Write: sh install.sh [--prefix DIR]" ;;
esac

case $(uname -s) in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "there is no program for $(uname -s). On Windows, install it in WSL." ;;
esac
case $(uname -m) in
x86_64 | amd64) machine=amd64 ;;
aarch64 | arm64) machine=arm64 ;;
*) fail "there is no program for a machine called $(uname -m). Build it: go build ./cmd/placet" ;;
esac

archive=placet-$version-$system-$machine.tar.gz
want=$(printf '%s' "$sums" | sed -n "s/^\([0-9a-f]*\)  $archive\$/\1/p")
[ -n "$want" ] || fail "this script has no sum of $archive"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

here=$(cd "$(dirname "$0")" && pwd)
if [ -f "$here/$archive" ]; then
	cp "$here/$archive" "$tmp/$archive"
elif [ -z "$url" ]; then
	fail "$archive is not beside this script. Put it there, or say in PLACET_URL where it is."
elif command -v curl >/dev/null 2>&1; then
	curl -fsSL -o "$tmp/$archive" "$url/$archive" || fail "$url/$archive could not be downloaded"
elif command -v wget >/dev/null 2>&1; then
	wget -q -O "$tmp/$archive" "$url/$archive" || fail "$url/$archive could not be downloaded"
else
	fail "neither curl nor wget is installed. Download $url/$archive into $here and try again."
fi

if command -v sha256sum >/dev/null 2>&1; then
	have=$(sha256sum "$tmp/$archive")
elif command -v shasum >/dev/null 2>&1; then
	have=$(shasum -a 256 "$tmp/$archive")
else
	fail "neither sha256sum nor shasum is installed, so the archive cannot be checked"
fi
have=${have%% *}
[ "$have" = "$want" ] || fail "the sum of $archive is $have, expected $want. Nothing was installed: the archive is damaged, or not the one of this release."

tar -xzf "$tmp/$archive" -C "$tmp"
from=$tmp/placet-$version-$system-$machine

# put copies a file to a place. A program that runs keeps the file that it was started from.
put() {
	mkdir -p "$(dirname "$3")"
	cp "$2" "$3.new"
	chmod "$1" "$3.new"
	mv -f "$3.new" "$3"
}

put 0755 "$from/placet" "$prefix/bin/placet"
put 0644 "$from/completion/placet.bash" "$prefix/share/bash-completion/completions/placet"
put 0644 "$from/completion/_placet" "$prefix/share/zsh/site-functions/_placet"
put 0644 "$from/completion/placet.fish" "$prefix/share/fish/vendor_completions.d/placet.fish"
(cd "$from" && find . -type f ! -path './man/*' ! -path './completion/*' ! -name placet) | while read -r name; do
	put 0644 "$from/$name" "$prefix/share/doc/placet/${name#./}"
done
(cd "$from" && find man -type f) | while read -r name; do
	put 0644 "$from/$name" "$prefix/share/$name"
done

echo "placet $version is installed: $prefix/bin/placet"
case :$PATH: in
*":$prefix/bin:"*) ;;
*) echo "$prefix/bin is not in your PATH. Add it: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
