#!/usr/bin/env bash
# clang-tidy 14 with .clang-tidy over the library and its host kernels: tidy.sh BUILD_FOLDER, which has compile_commands.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$1
tool=$(command -v clang-tidy-14 || command -v clang-tidy || true)
if ! grep -q 'version 14\.' <<<"$([[ -z $tool ]] || "$tool" --version)"; then
  echo "skipped: there is no clang-tidy 14 (${tool:-none} found)"
  exit 77
fi
# Memory from the system in large pieces: clang-tidy asks for it page by page, which takes half its time where pages are dear.
export MALLOC_TOP_PAD_=$((256 << 20))
# Several sources to a file: every check walks through the headers once for each.
config() { sed -nE "s/^$1:[A-Z]+=//p" "$build/CMakeCache.txt"; }
cmake -S . -B "$build/tidy" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DAMGKIT_TESTS=OFF -DAMGKIT_SOURCES_PER_FILE=7 -DPETSC_DIR="$(config PETSC_DIR)" \
  -DPETSC_ARCH="$(config PETSC_ARCH)" >"$build/tidy.log" || { cat "$build/tidy.log" && exit 1; }
sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$build/tidy/compile_commands.json" | grep -v '_debug\.cpp$' | sort -u |
  xargs -P 2 -n 1 "$tool" --config-file=.clang-tidy -checks=-bugprone-suspicious-include -p "$build/tidy" --quiet
