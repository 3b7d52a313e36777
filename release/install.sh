#!/bin/sh
# Installs mnem @VERSION@ for Linux or macOS:
#
#     sh install.sh [DIRECTORY]
#
# It downloads the archive for this platform and the list of checksums, installs nothing unless both agree, and puts the
# program into DIRECTORY (default: $MNEM_BIN, else ~/.local/bin). MNEM_HOST names another place to download from.
set -eu

version=@VERSION@
host=${MNEM_HOST:-@HOST@}
into=${1:-${MNEM_BIN:-$HOME/.local/bin}}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# No redirection may lead to a place without TLS. This machine itself needs none.
case $host in
  https://*) protocol='=https' ;;
  http://127.0.0.1:* | http://localhost:*) protocol='=http' ;;
  *) fail "$host is no https URL" ;;
esac
download() { # URL FILE
  if command -v curl >/dev/null; then
    curl -fsSL --proto "$protocol" --retry 2 -o "$2" "$1"
  elif [ "$protocol" = '=https' ] && wget --help 2>&1 | grep -q -- --https-only; then
    wget -q --https-only -O "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  else
    fail 'needs curl or wget'
  fi || fail "cannot download $1"
}

sha256() { # FILE
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1"
  elif command -v shasum >/dev/null; then
    shasum -a 256 <"$1"
  elif command -v openssl >/dev/null; then
    openssl dgst -sha256 -r <"$1"
  else
    fail 'needs sha256sum, shasum or openssl to verify what it downloads'
  fi | cut -c 1-64
}

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no archive for $(uname -s): for Windows use Scoop, pip or npm" ;;
esac
case $(uname -m) in
  x86_64 | amd64) processor=amd64 ;;
  aarch64 | arm64) processor=arm64 ;;
  *) fail "there is no archive for $(uname -m)" ;;
esac
if [ $system-$processor = darwin-amd64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
  processor=arm64 # this shell is translated
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
archive=mnem_${version}_${system}_$processor.tar.gz
download "$host/v$version/checksums.txt" "$work/checksums.txt"
wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/checksums.txt")
[ ${#wanted} -eq 64 ] || fail "checksums.txt does not list $archive"
download "$host/v$version/$archive" "$work/$archive"
found=$(sha256 "$work/$archive")
[ "$found" = "$wanted" ] || fail "$archive has the checksum $found and not $wanted: nothing is installed"

tar -xzf "$work/$archive" -C "$work" mnem || fail "cannot unpack $archive"
mkdir -p "$into"
cp "$work/mnem" "$into/.mnem.$$" && chmod 755 "$into/.mnem.$$" && mv -f "$into/.mnem.$$" "$into/mnem" || {
  rm -f "$into/.mnem.$$"
  fail "cannot write $into/mnem"
}
"$into/mnem" --version
case :$PATH: in
  *:"$into":*) ;;
  *) echo "Add $into to your PATH." ;;
esac
