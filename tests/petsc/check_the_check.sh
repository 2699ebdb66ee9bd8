#!/usr/bin/env bash
# run_and_check.sh must be able to fail: outputs of a good run, and of bad ones.
set -uo pipefail
check=$(dirname "${BASH_SOURCE[0]}")/run_and_check.sh
good='  Linear solve converged due to CONVERGED_RTOL iterations 12'
wrong=0

expect() { # passes|fails NAME ARGUMENT...
  local want=$1 name=$2 got=fails
  shift 2
  if bash "$check" "$@" >/dev/null; then got=passes; fi
  [[ $got == "$want" ]] || { echo "$name: $got, expected: $want"; wrong=1; }
}

expect passes 'good' converges 12 echo "$good"
expect passes 'good, inner solve' converges 12 echo "  Linear inner_ solve converged due to CONVERGED_RTOL iterations 12"
expect fails 'bad exit status' converges 12 sh -c "echo '$good'; exit 3"
expect fails 'too many iterations' converges 11 echo "$good"
expect fails 'second solve too slow' converges 12 printf '%s\n' "$good" "${good/12/13}"
expect fails 'diverged' converges 12 echo 'Linear solve did not converge due to DIVERGED_ITS iterations 10'
expect fails 'other reason' converges 12 echo "${good/RTOL/ITS}"
expect fails 'no solve' converges 12 echo hello
expect fails 'leak, PETSc 3.18' converges 12 printf '%s\n' "$good" '[ 0] 64 bytes main() at ex2.c:2'
expect fails 'leak, rank 10' converges 12 printf '%s\n' "$good" '[10]64 bytes main() at ex2.c:2'
expect fails 'option left, PETSc 3.18' converges 12 printf '%s\n' "$good" 'Option left: name:-pc_amgsa_treshold value: 0.1'
expect fails 'option left, PETSc 3.26' converges 12 printf '%s\n' "$good" 'Option left: name:-my_pc_ilu2level_level value: 2 source: command line'
expect fails 'option left, without a value' converges 12 printf '%s\n' "$good" 'Option left: name:-ilu2level_schur_ksp_monitr (no value) source: code'
PETSC_OPTIONS='-dll_append x' expect passes 'asked for options left' prints '^-dll_append x -options_left$' sh -c 'echo "$PETSC_OPTIONS"'
expect passes "option left, not the plugin's" converges 12 printf '%s\n' "$good" 'Option left: name:-mg_levels_pc_type value: jacobi'

# A GPU that nvidia-smi shows, then none
gpu=$(mktemp -d)
trap 'rm -rf "$gpu"' EXIT
PATH=$gpu:$PATH
printf '#!/bin/sh\necho "GPU 0: one"\n' >"$gpu/nvidia-smi"
chmod +x "$gpu/nvidia-smi"
expect passes 'on the GPU' converges_on_gpu 12 printf '%s\n' 'runs in the cuda space' "$good"
expect fails 'on the host' converges_on_gpu 12 printf '%s\n' 'runs in the host space' "$good"
expect fails 'on the GPU, too many iterations' converges_on_gpu 11 printf '%s\n' 'runs in the cuda space' "$good"
# as_gamg: what a program prints, and what it does when GAMG is asked for, on one rank and on several
beside_gamg() { # ITERATIONS GAMG'S_ITERATIONS SPACE [GAMG'S_ITERATIONS_ON_ONE_RANK]
  printf '#!/bin/sh\ncase "$*" in\n"-n 1 "*gamg*) echo "%s" ;;\n*gamg*) echo "%s" ;;\n*) echo "%s"; echo "runs in the %s space" ;;\nesac\necho "operator complexity 1.2"\n' \
    "${good/12/${4:-$2}}" "${good/12/$2}" "${good/12/$1}" "$3" >"$gpu/program"
  chmod +x "$gpu/program"
}
beside_gamg 14 12 host
expect passes 'as GAMG' as_gamg '-pc_type other' program -n 2
expect fails 'as GAMG, on the host' as_gamg_on_gpu '-pc_type other' program -n 2
beside_gamg 14 12 cuda
expect passes 'as GAMG on the GPU' as_gamg_on_gpu '-pc_type other' program -n 2
beside_gamg 15 12 cuda
expect fails 'more iterations than GAMG' as_gamg_on_gpu '-pc_type other' program -n 2
beside_gamg 9 12 cuda
expect fails 'fewer iterations than GAMG' as_gamg_on_gpu '-pc_type other' program -n 2
beside_gamg 9 12 host 11
expect fails 'fewer iterations than GAMG on two ranks' as_gamg '-pc_type other' program -n 2
expect passes 'as GAMG on one rank' as_gamg_or_fewer '-pc_type other' program -n 2
expect fails 'as GAMG on one rank, on the host' as_gamg_or_fewer_on_gpu '-pc_type other' program -n 2
beside_gamg 9 12 host 6
expect fails 'more iterations than GAMG on one rank' as_gamg_or_fewer '-pc_type other' program -n 2
beside_gamg 9 12 host
expect fails 'fewer iterations than GAMG on any number of ranks' as_gamg_or_fewer '-pc_type other' program -n 2
beside_gamg 15 12 host 15
expect fails 'as GAMG on one rank, not as on two' as_gamg_or_fewer '-pc_type other' program -n 2
printf '#!/bin/sh\nexit 9\n' >"$gpu/nvidia-smi"
bash "$check" converges_on_gpu 12 echo "$good" >/dev/null
[[ $? == 77 ]] || { echo 'without a GPU it is not skipped'; wrong=1; }

expect passes 'printed' prints 'at most 1[0-9]' echo 'at most 12 iterations'
expect fails 'printed something else' prints 'at most 1[0-9]' echo 'at most 22 iterations'
expect fails 'printed with a bad exit status' prints 'at most 1[0-9]' sh -c 'echo "at most 12"; exit 3'
expect fails 'printed and leaked' prints 'at most 1[0-9]' printf '%s\n' 'at most 12' '[ 0] 64 bytes main() at ex2.c:2'
expect fails 'printed and left an option' prints 'at most 1[0-9]' printf '%s\n' 'at most 12' 'Option left: name:-pc_amgsa_treshold value: 0.1'
# as_hypre: what a program prints, and what it does when hypre is asked for
two_solvers() { # ITERATIONS COMPLEXITY HYPRE'S_ITERATIONS HYPRE'S_COMPLEXITY
  printf '#!/bin/sh\ncase "$*" in\n*hypre*) echo "%s"; echo "                operator = %s" ;;\n*) echo "%s"; echo "operator complexity %s" ;;\nesac\n' \
    "${good/12/$3}" "$4" "${good/12/$1}" "$2" >"$gpu/program"
  chmod +x "$gpu/program"
}
two_solvers 14 2.7 12 2.6
expect passes 'as hypre' as_hypre '-pc_type other' program
two_solvers 15 2.7 12 2.6
expect fails 'more iterations than hypre' as_hypre '-pc_type other' program
two_solvers 9 2.7 12 2.6
expect fails 'fewer iterations than hypre' as_hypre '-pc_type other' program
two_solvers 12 2.74 12 2.6
expect fails 'larger than hypre' as_hypre '-pc_type other' program
two_solvers 12 2.46 12 2.6
expect fails 'smaller than hypre' as_hypre '-pc_type other' program
two_solvers 12 '' 12 2.6
expect fails 'no complexity' as_hypre '-pc_type other' program
printf '#!/bin/sh\necho "Unable to find requested PC type hypre"; exit 86\n' >"$gpu/program"
bash "$check" as_hypre '-pc_type other' program >/dev/null
[[ $? == 77 ]] || { echo 'without hypre it is not skipped'; wrong=1; }

# as_ilu: two solves, what a program prints and what it does when bjacobi is asked for
two_solves() { # ITERATIONS ITERATIONS ILU'S_ITERATIONS ILU'S_ITERATIONS
  printf '#!/bin/sh\ncase "$*" in\n*bjacobi*) echo "%s"; echo "%s" ;;\n*) echo "%s"; echo "%s" ;;\nesac\n' \
    "${good/12/$3}" "${good/12/$4}" "${good/12/$1}" "${good/12/$2}" >"$gpu/program"
}
two_solves 12 20 13 20
expect passes 'as ilu' as_ilu '-pc_type other' program
two_solves 12 20 12 18
expect fails 'more iterations than ilu' as_ilu '-pc_type other' program
two_solves 10 20 12 20
expect fails 'fewer iterations than ilu' as_ilu '-pc_type other' program
printf '#!/bin/sh\ncase "$*" in\n*bjacobi*) echo "%s"; echo "%s" ;;\n*) echo "%s" ;;\nesac\n' "$good" "$good" "$good" >"$gpu/program"
expect fails 'fewer solves than ilu' as_ilu '-pc_type other' program
printf '#!/bin/sh\necho "Linear solve did not converge due to DIVERGED_ITS iterations 10"\n' >"$gpu/program"
expect fails 'neither converges' as_ilu '-pc_type other' program

expect passes 'refused' refuses 'not so' sh -c 'echo "[0]PETSC ERROR: not so, but thus"; exit 56'
expect fails 'refused with success' refuses 'not so' echo '[0]PETSC ERROR: not so'
expect fails 'another error' refuses 'not so' sh -c 'echo "[0]PETSC ERROR: out of memory"; exit 55'
expect fails 'crash' refuses 'not so' sh -c 'echo "[0]PETSC ERROR: not so"; exit 139'
expect fails 'caught signal' refuses 'not so' sh -c 'echo "[0]PETSC ERROR: not so"; echo "Caught signal number 11"; exit 59'
exit "$wrong"
