#!/usr/bin/env bash
# Runs a program and judges it by its exit status and what it prints.
#   run_and_check.sh converges BOUND COMMAND...  every KSP converged by its relative tolerance, in at most BOUND iterations
#   run_and_check.sh converges_on_gpu BOUND COMMAND...  and -ksp_view says it was on a GPU; without one it is skipped, exit status 77
#   run_and_check.sh prints REGEX COMMAND...     it ended well, and a line matches
#   run_and_check.sh refuses REGEX COMMAND...    it ended with an error whose message matches
# What ended well may not leak: -malloc_dump prints what PETSc allocated and nobody freed.
set -uo pipefail

expected=$1 argument=$2
shift 2
if [[ $expected == converges_on_gpu ]] && ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  echo 'skipped: nvidia-smi -L shows no GPU'
  exit 77
fi
output=$("$@" 2>&1)
status=$?
printf '%s\n(exit status %d)\n' "$output" "$status"

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

no_leak() {
  if grep -E '^\[ *[0-9]+\] ?[0-9]+ bytes ' <<<"$output"; then fail 'this memory was not freed'; fi
}

case $expected in
  converges | converges_on_gpu)
    ((status == 0)) || fail "exit status $status"
    solves=0
    while read -r reason iterations; do
      ((++solves))
      [[ $reason == CONVERGED_RTOL ]] || fail "$reason"
      ((iterations <= argument)) || fail "$iterations iterations, more than $argument"
    done < <(sed -nE 's/^ *Linear .*solve (converged|did not converge) due to ([A-Z_]+) iterations ([0-9]+).*/\2 \3/p' <<<"$output")
    ((solves > 0)) || fail 'no converged reason: nothing was solved'
    if [[ $expected == converges_on_gpu ]]; then
      grep -q 'runs in the cuda space' <<<"$output" || fail 'it was not on the GPU'
    fi
    no_leak
    ;;
  prints)
    ((status == 0)) || fail "exit status $status"
    grep -qE -- "$argument" <<<"$output" || fail "no line matches: $argument"
    no_leak
    ;;
  refuses)
    # 128 and more: ended by a signal, 124: by a time limit
    ((status > 0 && status < 124)) || fail "exit status $status"
    grep -E "PETSC ERROR: $argument" <<<"$output" || fail "no error message: $argument"
    if grep -E 'Caught signal|on signal|Segmentation|AddressSanitizer|runtime error' <<<"$output"; then fail 'it crashed'; fi
    ;;
  *) fail "converges, prints or refuses?" ;;
esac
echo passed
