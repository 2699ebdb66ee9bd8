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
# A file that was clean once is not read again while nothing changes that clang-tidy reads: itself, its options, the file after preprocessing
# with its comments, which may say NOLINT.
clean=${XDG_CACHE_HOME:-$HOME/.cache}/amgkit/tidy
mkdir -p "$clean"
fixed=$({ "$tool" --version && cat .clang-tidy tests/house/tidy.sh; } | sha256sum)
check() { # COMPILE_COMMAND FILE
  local command key
  command=$(sed -E 's/ -o [^ ]+ -c / -E -P -C /' <<<"$1")
  key=$({ echo "$fixed" && eval "$command"; } | sha256sum | cut -c 1-64)
  if [[ -e $clean/$key ]]; then return; fi
  "$tool" --config-file=.clang-tidy -checks=-bugprone-suspicious-include -p "$build/tidy" --quiet "$2" && touch "$clean/$key"
}
export -f check
export clean fixed tool build
python3 - "$build/tidy/compile_commands.json" <<'EOF' | xargs -0 -P 2 -n 2 bash -c 'check "$1" "$2"' check
import json, sys
for file, command in sorted({e["file"]: e["command"] for e in json.load(open(sys.argv[1]))}.items()):
    if not file.endswith("_debug.cpp"):
        print(command, file, sep="\0", end="\0")
EOF
