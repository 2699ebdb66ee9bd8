# shellcheck shell=bash
# What the tests of packages share. SOURCE is the repository, SCRATCH a folder that the test may fill, PROGRAM PETSc's ex45.
page=$SOURCE/share/amgkit/doc/install.md
small=(-da_grid_x 17 -da_grid_y 17 -da_grid_z 17 -ksp_converged_reason)

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# The commands of the page's block NAME.
commands() { # NAME
  python3 -B "$SOURCE/tests/package/commands_of.py" "$page" "$1"
}

# Runs the page's block NAME in this folder.
run_block() { # NAME
  local text
  text=$(commands "$1")
  printf '\n--- %s, in %s\n%s\n' "$1" "$PWD" "$text"
  bash -euo pipefail -c "$text"
}

# The same for a block that runs ./your_program: PETSc's ex45 takes its place, and must converge with the block's preconditioner.
run_program_block() { # NAME
  local output
  rm -rf "$SCRATCH/run"
  mkdir -p "$SCRATCH/run"
  printf '#!/bin/sh\nexec "%s" %s -ksp_view "$@"\n' "$PROGRAM" "${small[*]}" >"$SCRATCH/run/your_program"
  chmod +x "$SCRATCH/run/your_program"
  output=$(cd "$SCRATCH/run" && run_block "$1" 2>&1) || fail "$1: $output"
  grep -q 'Linear solve converged due to CONVERGED_RTOL' <<<"$output" || fail "$1 does not converge: $output"
  grep -q 'type: amgsa' <<<"$output" || fail "$1 runs another preconditioner: $output"
}

# A copy of the repository without what was built in it.
clean_copy() { # FOLDER
  rm -rf "$1"
  mkdir -p "$1"
  tar -C "$SOURCE" --exclude=./build --exclude=./.git --exclude=./.bundle --exclude=__pycache__ -cf - . | tar -C "$1" -xf -
}
