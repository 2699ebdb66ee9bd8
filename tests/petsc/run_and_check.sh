#!/usr/bin/env bash
# Runs a program and judges it by its exit status and what it prints.
#   run_and_check.sh converges BOUND COMMAND...  every KSP converged by its relative tolerance, in at most BOUND iterations
#   run_and_check.sh converges_on_gpu BOUND COMMAND...  and -ksp_view says it was on a GPU; without one it is skipped, exit status 77
#   run_and_check.sh prints REGEX COMMAND...     it ended well, a line matches, and no error was printed
#   run_and_check.sh prints_on_gpu REGEX COMMAND...  the same, for a command that demands a GPU; without one it is skipped
#   run_and_check.sh as_hypre OPTIONS COMMAND...  with PCHYPRE, and with these options in place of it, it converges in the same number of
#                                                iterations but for 2, with the same operator complexity but for 5 percent
#   run_and_check.sh as_gamg OPTIONS COMMAND...  with PCGAMG, and with these options in place of it, it converges in the same number of
#                                                iterations but for 2
#   run_and_check.sh as_gamg_or_fewer OPTIONS mpiexec -n N...  or in fewer, and then in the same number as PCGAMG on one rank but for 2
#   run_and_check.sh as_gamg_on_gpu, as_gamg_or_fewer_on_gpu OPTIONS COMMAND...  and -ksp_view says of the other that it was on a GPU; without
#                                                one it is skipped
#   run_and_check.sh as_ilu OPTIONS COMMAND...   with block Jacobi and ilu(0), and with these options in place of it, every solve converges, in
#                                                the same number of iterations but for 1
#   run_and_check.sh refuses REGEX COMMAND...    it ended with an error whose message matches
# What ended well may not leak: -malloc_dump prints what PETSc allocated and nobody freed. Nor may it leave an option of the plugin's unread,
# which may be misspelt: with -options_left PETSc prints those at the end.
set -uo pipefail

expected=$1 argument=$2
shift 2
if [[ $expected == *_on_gpu ]] && ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  echo 'skipped: nvidia-smi -L shows no GPU'
  exit 77
fi
export PETSC_OPTIONS="${PETSC_OPTIONS:-} -options_left"
run() { # COMMAND...
  output=$("$@" 2>&1)
  status=$?
  printf '%s\n(exit status %d)\n' "$output" "$status"
}

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

nothing_left() {
  if grep -E '^\[ *[0-9]+\] ?[0-9]+ bytes ' <<<"$output"; then fail 'this memory was not freed'; fi
  if grep -E '^Option left: name:-([a-z0-9_]+_)?(pc_amg|pc_ilu2level|ilu2level_schur|ksp_amgf(cg|gmres))' <<<"$output"; then
    fail 'nobody has read this option'
  fi
}

# The choices of amgclassical; without no_CF hypre would sweep over C points and F points one after the other.
hypre='-pc_type hypre -pc_hypre_boomeramg_coarsen_type PMIS -pc_hypre_boomeramg_interp_type ext+i -pc_hypre_boomeramg_P_max 4
  -pc_hypre_boomeramg_strong_threshold 0.25 -pc_hypre_boomeramg_max_row_sum 0.9 -pc_hypre_boomeramg_relax_type_all l1scaled-Jacobi
  -pc_hypre_boomeramg_no_CF -pc_hypre_boomeramg_print_statistics 1'

# The choices of amgsa that are GAMG's.
gamg="-pc_type gamg -pc_gamg_threshold 0 -pc_gamg_coarse_eq_limit 50 -mg_levels_ksp_type chebyshev -mg_levels_ksp_max_it 2
  -mg_levels_pc_type jacobi"

ilu='-pc_type bjacobi -sub_pc_type ilu'

# The iterations of every solve; all have converged
iterations_of_all() {
  ((status == 0)) || return 1
  ! grep -q 'did not converge due to' <<<"$output" || return 1
  sed -nE 's/^ *Linear .*solve converged due to CONVERGED_RTOL iterations ([0-9]+).*/\1/p' <<<"$output" | xargs | grep '[0-9]'
}

# "iterations complexity" of what ran, whose PC, or hypre, has printed its complexity
figures() {
  ((status == 0)) || return 1
  iterations=$(sed -nE 's/.*solve converged due to CONVERGED_RTOL iterations ([0-9]+).*/\1/p' <<<"$output")
  complexity=$(sed -nE 's/.*operator( complexity| =) +([0-9.]+)$/\2/p' <<<"$output")
  [[ $iterations =~ ^[0-9]+$ && $complexity =~ ^[0-9.]+$ ]] && echo "$iterations $complexity"
}

on_gpu() { grep -q 'runs in the cuda space' <<<"$output" || fail 'it was not on the GPU'; }

[[ $expected == as_* ]] || run "$@"
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
    if [[ $expected == converges_on_gpu ]]; then on_gpu; fi
    nothing_left
    ;;
  prints | prints_on_gpu)
    ((status == 0)) || fail "exit status $status"
    grep -qE -- "$argument" <<<"$output" || fail "no line matches: $argument"
    if grep 'PETSC ERROR' <<<"$output"; then fail 'it ended well, but printed an error'; fi
    nothing_left
    ;;
  as_hypre)
    # shellcheck disable=SC2086 # options are words
    run "$@" $hypre
    if grep -q 'Unable to find requested PC type hypre' <<<"$output"; then
      echo 'skipped: this PETSc has no hypre'
      exit 77
    fi
    theirs=$(figures) || fail 'no solution, or no complexity, by hypre'
    # shellcheck disable=SC2086
    run "$@" $argument -ksp_view
    ours=$(figures) || fail 'no solution, or no complexity, by the other'
    nothing_left
    echo "iterations and operator complexity: $ours, hypre: $theirs"
    awk '{exit !(($1 - $3)^2 <= 4 && $2 <= 1.05 * $4 && $2 >= 0.95 * $4)}' <<<"$ours $theirs" || fail 'too far from hypre'
    ;;
  as_gamg | as_gamg_on_gpu | as_gamg_or_fewer | as_gamg_or_fewer_on_gpu)
    # shellcheck disable=SC2086 # options are words
    run "$@" $gamg -ksp_view
    theirs=$(figures) || fail 'no solution, or no complexity, by gamg'
    # shellcheck disable=SC2086
    run "$@" $argument -ksp_view
    ours=$(figures) || fail 'no solution, or no complexity, by the other'
    if [[ $expected == *_on_gpu ]]; then on_gpu; fi
    nothing_left
    echo "iterations and operator complexity: $ours, gamg: $theirs"
    # GAMG's aggregates depend on the number of ranks, and may be worse on more
    if [[ $expected == as_gamg_or_fewer* ]] && awk '{exit !($1 < $3 - 2)}' <<<"$ours $theirs"; then
      # shellcheck disable=SC2086
      run "$1" "$2" 1 "${@:4}" $gamg -ksp_view
      theirs=$(figures) || fail 'no solution, or no complexity, by gamg on one rank'
      echo "gamg on one rank: $theirs"
    fi
    awk '{exit !(($1 - $3)^2 <= 4)}' <<<"$ours $theirs" || fail 'too far from gamg'
    ;;
  as_ilu)
    # shellcheck disable=SC2086 # options are words
    run "$@" $ilu
    theirs=$(iterations_of_all) || fail 'no solution by ilu'
    # shellcheck disable=SC2086
    run "$@" $argument
    ours=$(iterations_of_all) || fail 'no solution by the other'
    nothing_left
    printf 'iterations: %s\nof ilu:     %s\n' "$ours" "$theirs"
    awk '{ n = NF; for (i = 1; i <= NF; i++) a[NR, i] = $i; if (NR == 2 && n != before) exit 1; before = n }
         END { for (i = 1; i <= n; i++) if ((a[1, i] - a[2, i])^2 > 1) exit 1 }' <<<"$ours"$'\n'"$theirs" || fail 'too far from ilu'
    ;;
  refuses)
    # 128 and more: ended by a signal, 124: by a time limit
    ((status > 0 && status < 124)) || fail "exit status $status"
    # mpiexec may put what it says of another rank's end between the two words and the message
    grep -q 'PETSC ERROR: ' <<<"$output" || fail 'no error'
    grep -E "(^|PETSC ERROR: )$argument" <<<"$output" || fail "no error message: $argument"
    if grep -E 'Caught signal|on signal|Segmentation|AddressSanitizer|runtime error' <<<"$output"; then fail 'it crashed'; fi
    ;;
  *) fail "converges, prints, as_hypre, as_gamg, as_ilu or refuses?" ;;
esac
echo passed
