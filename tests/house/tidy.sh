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
{
  find src plugins -name '*.cpp'
  find "$build/src" -name '*_host.cpp'
} | sort | xargs -P 2 -n 4 "$tool" --config-file=.clang-tidy -p "$build" --quiet
