#!/usr/bin/env bash
# All C, C++ and CUDA files are as clang-format 14 lays them out with .clang-format; other versions differ in details.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tool=$(command -v clang-format-14 || command -v clang-format || true)
if ! grep -q 'version 14\.' <<<"$([[ -z $tool ]] || "$tool" --version)"; then
  echo "skipped: there is no clang-format 14 (${tool:-none} found)"
  exit 77
fi
folders=()
for folder in src plugins include tests share tutorials; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
find "${folders[@]}" -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' | sort | xargs "$tool" --dry-run -Werror
