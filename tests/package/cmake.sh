#!/usr/bin/env bash
# The page's commands for CMake, in a clean copy.
#   cmake.sh SOURCE SCRATCH PROGRAM
set -euo pipefail
SOURCE=$1 SCRATCH=$2 PROGRAM=$3
source "$SOURCE/tests/package/common.sh"
export PREFIX=$SCRATCH/prefix
rm -rf "$PREFIX"
clean_copy "$SCRATCH/copy"
(cd "$SCRATCH/copy" && run_block cmake-install)
run_program_block cmake-use
echo "passed, $SECONDS s"
