#!/usr/bin/env bash
# Runs blocks of share/amgkit/doc/applications.md one after the other in the folder SCRATCH, which is made anew, with tutorials/ in it.
#   run_blocks.sh SOURCE SCRATCH BLOCK...
# The programs are Debian's, and so is their Python.
set -euo pipefail
source=$1 scratch=$2
shift 2
rm -rf "$scratch"
mkdir -p "$scratch"
ln -s "$source/tutorials" "$scratch/tutorials"
cd "$scratch"
export PATH=/usr/bin:$PATH
unset PETSC_DIR PETSC_ARCH PYTHONPATH
for block in "$@"; do
  text=$(python3 -B "$source/tests/package/commands_of.py" "$source/share/amgkit/doc/applications.md" "$block")
  if [[ $text == *'import '* ]]; then
    printf '%s\n' "$text" >program.py
    python3 program.py
  else
    bash -euo pipefail -c "$text"
  fi
done
