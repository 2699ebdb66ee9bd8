#!/usr/bin/env bash
# Runs a bundle of pack_gpu_bundle.sh on a GPU machine: CUDA, its driver and Open MPI 4.1 are all it needs there.
#
#   run_gpu_bundle.sh [tests | petsc | sanitize | kernels | bench | scaling | all | compare]...      (default: tests)
#
#   tests     every test program on 1 and 2 ranks
#   petsc     PETSc's own examples through the plugin on 1 and 2 ranks
#   sanitize  the Cuda tests under compute-sanitizer: memcheck and racecheck; the lines of kernels if built with -DAMGKIT_CUDA_LINES=ON
#   kernels   amgkit_kernels on one GPU: products with the cycle's matrices in each storage
#   bench     amgkit_bench on one GPU
#   scaling   amgkit_bench on 1, 2, 4, 8 GPUs, as many as there are, with GPU-aware MPI through the bundle's UCX
#   compare   the library beside the other one of the bundle, in turns: see compare.py
#
# Two ranks use two GPUs and GPU-aware MPI where there are two, else they share one GPU and messages go through the host.
# Logs go to $OUT (default ./results), one file a mode; the table and what it was measured on also to $OUT/summary.txt. The modes bench and
# scaling write rows as of results/results.csv to $OUT/measurements.csv.
# The exit status is 1 if anything failed, after everything has run.
#
# Environment, all optional:
#   AMGKIT_BUNDLE           the archive (default: bundle.tar.xz beside this script)
#   AMGKIT_TIMEOUT          seconds for one program (300)
#   AMGKIT_TIME_LIMIT       seconds for everything; what would start later is not run and counts as failed (none)
#   AMGKIT_TESTS            only test programs whose name matches this pattern ('*')
#   AMGKIT_TEST_FILTER      gtest filter of mode tests ('*')
#   AMGKIT_SANITIZE_FILTER  gtest filter of mode sanitize ('*Cuda*' and the tests of the PC, less those that repeat kernels many times)
#   AMGKIT_RANKS            numbers of ranks of modes tests and petsc ('1 2'), and of compare ('1')
#   AMGKIT_TURNS            runs of each library on each system in mode compare (3)
#   AMGKIT_OPTIONS          options of the preconditioner ('-options_file amgmatching.opts')
#   AMGKIT_PCS              a list for amgkit_bench -pcs instead of one run with AMGKIT_OPTIONS
#   AMGKIT_KERNELS          options of amgkit_kernels in mode kernels ('-n7 256 -n27 160')
#   AMGKIT_SYSTEMS          of modes bench and compare, SYSTEM:N ('7:64 7:100 7:128 7:200 7:256 27:128 aniso:200 jump:100 jump:200')
#   AMGKIT_SCALING_SYSTEMS  of mode scaling, SYSTEM:N or SYSTEM:N:weak with N a GPU ('7:200')
#   AMGKIT_HOST_ONLY        1: run on a machine without a GPU, with host types, to try the script
set -euo pipefail
shopt -s nullglob

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command_line="$(basename "$0") $*"
archive=${AMGKIT_BUNDLE:-$here/bundle.tar.xz}
out=${OUT:-./results}
timeout_s=${AMGKIT_TIMEOUT:-300}
time_limit=${AMGKIT_TIME_LIMIT:-0}

say() { echo "run: $*"; }
die() {
  echo "run: $*" >&2
  exit 1
}

modes=()
for mode in "${@:-tests}"; do
  case $mode in
  tests | petsc | sanitize | kernels | bench | scaling | compare) modes+=("$mode") ;;
  all) modes+=(tests petsc sanitize kernels bench scaling) ;;
  *) die "unknown mode '$mode': give tests, petsc, sanitize, kernels, bench, scaling, compare or all" ;;
  esac
done

[ -e "$archive" ] || die "no $archive: make it with pack_gpu_bundle.sh or name it in AMGKIT_BUNDLE"
command -v mpirun >/dev/null || die "no mpirun: install Open MPI 4.1 (openmpi-bin)"
ngpu=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
host_only=${AMGKIT_HOST_ONLY:-0}
[ "$ngpu" -gt 0 ] || [ "$host_only" = 1 ] || die "nvidia-smi -L shows no GPU: check the driver, or try the script with AMGKIT_HOST_ONLY=1"

mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say "unpacking $archive"
tar -C "$work" -xJf "$archive" 2>/dev/null ||
  python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$archive" "$work" ||
  die "cannot unpack $archive: it needs xz or python3"
root=$work/bundle
table=$work/table
lines=$work/lines
: >"$table"
: >"$lines"
for mode in "${modes[@]}"; do : >"$out/$mode.log"; done
csv=$out/measurements.csv
rm -f "$csv"

if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_hwloc_base_binding_policy=none
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 GTEST_COLOR=no
export LD_LIBRARY_PATH=$root/lib:${CUDA_HOME:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [ "$ngpu" -gt 0 ]; then
  mat_types=(-mat_type aijcusparse -vec_type cuda)
  dm_types=(-dm_mat_type aijcusparse -dm_vec_type cuda)
else
  mat_types=()
  dm_types=()
fi
read -r -a systems <<<"${AMGKIT_SYSTEMS:-7:64 7:100 7:128 7:200 7:256 27:128 aniso:200 jump:100 jump:200}"
read -r -a pc_options <<<"${AMGKIT_OPTIONS:--options_file $root/options/amgmatching.opts}"

# launch RANKS PROGRAM...: sets command to start it with host-staged messages, or GPU-aware where every rank has a GPU.
launch() {
  local ranks=$1
  shift
  if [ "$ranks" -gt 1 ] && [ "$ngpu" -ge "$ranks" ]; then
    launch_gpu_aware "$ranks" "$@"
  else
    command=(mpirun -n "$ranks" env "PETSC_OPTIONS=${PETSC_OPTIONS:-} -use_gpu_aware_mpi 0" "$@")
  fi
}

# The bundle's UCX comes before the system's; gpu_aware_check.c says what the preloaded library is for.
launch_gpu_aware() {
  local ranks=$1 ucx=$root/ucx
  shift
  command=(env "LD_LIBRARY_PATH=$ucx/libucx/lib:$ucx/libucx_cu13.libs:$LD_LIBRARY_PATH" "UCX_MODULE_DIR=$ucx/libucx/lib/ucx"
    OMPI_MCA_pml=ucx mpirun -n "$ranks" env "PETSC_OPTIONS=${PETSC_OPTIONS:-} -use_gpu_aware_mpi 1"
    "LD_PRELOAD=$root/lib/liballreduce_self.so" "$@")
}

# judge STATUS LOG MODE: the verdict on a finished program. Tests make and free many of PETSc's own vectors, whose addresses MPI sees
# in MatMult: there UCX's complaint about buffers that come back is not this library's.
judge() {
  if [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then
    echo TIMEOUT
  elif [ "$3" != tests ] && grep -q 'resource already mapped' "$2"; then
    echo "FAIL(IPC)" # UCX fell back to slow copies: a buffer that MPI saw was freed and allocated anew
  elif [ "$1" -eq 77 ] && ! grep -q 'PETSC ERROR' "$2"; then
    echo SKIP # 77 is PETSC_ERR_PLIB as well
  elif grep -q '] 0 tests from 0 test suites ran' "$2"; then
    echo NONE # nothing matched the filter; compute-sanitizer calls a program that leaves CUDA alone an error
  elif [ "$1" -ne 0 ]; then
    echo "FAIL($1)"
  else
    echo PASS
  fi
}

# run MODE NAME RANKS: runs the command in command, appends its output to the mode's log and a line to the table.
run() {
  local mode=$1 name=$2 ranks=$3 log=$work/log status=0 verdict start=$SECONDS limit=$timeout_s
  if [ "$time_limit" -gt 0 ] && [ $((time_limit - SECONDS)) -lt "$limit" ]; then limit=$((time_limit - SECONDS)); fi
  if [ "$limit" -le 0 ]; then
    verdict=NOTIME
    : >"$log"
  else
    timeout -k 10 "$limit" "${command[@]}" >"$log" 2>&1 </dev/null || status=$?
    verdict=$(judge "$status" "$log" "$mode")
    if [ "$mode" = bench ] || [ "$mode" = scaling ]; then
      verdict=$(judge_bench "$verdict" "$log")
      grep -E "^system |$measured" "$log" >>"$lines" || true
    fi
  fi
  printf '%-9s %-40s %5s %-9s %4ds\n' "$mode" "$name" "$ranks" "$verdict" $((SECONDS - start)) | tee -a "$table"
  {
    printf '\n===== %s %s, ranks %s: %s\n$ %s\n' "$mode" "$name" "$ranks" "$verdict" "${command[*]@Q}"
    tail -c 1000000 "$log"
  } >>"$out/$mode.log"
  case $verdict in FAIL* | TIMEOUT) show_end "$log" ;; esac
}

# show_end LOG: the last lines without mpirun's epilogue and the option table of a PETSc error.
show_end() {
  { grep -vE '^-+$|^Primary job|^a non-zero exit|^mpirun detected|^the job to be terminated|^ +(Process name|Exit code):|^$' "$1" || true; } |
    { grep -vE 'PETSC ERROR: (-| *Option left|WARNING|There are|Configure options|PETSc Option Table|See https)|MPI_ABORT' || true; } |
    tail -n 25 | cut -c 1-300 | sed 's/^/    | /'
}

measured='^[a-z0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ [a-z]' # a line of the benchmark's table: system, n, rows, ranks, type
# judge_bench VERDICT LOG: a benchmark passes if it printed results and each converged.
judge_bench() {
  if [ "$1" != PASS ]; then
    echo "$1"
  elif ! grep -qE "$measured" "$2"; then
    echo "FAIL(empty)"
  elif grep -E "$measured" "$2" | grep -vqE ' CONVERGED_[A-Z_]+$'; then
    echo "FAIL(solve)"
  else
    echo PASS
  fi
}

# for_each_test FUNCTION: calls it with each test program.
for_each_test() {
  local program found=0
  for program in "$root"/tests/*; do
    # shellcheck disable=SC2254
    case $(basename "$program") in ${AMGKIT_TESTS:-*}) ;; *) continue ;; esac
    [ -x "$program" ] || continue
    found=1
    "$1" "$program"
  done
  if [ "$found" = 0 ]; then printf '%-9s %-40s %5s %-9s\n' "$mode" "no test program ${AMGKIT_TESTS:-}" - "FAIL(none)" | tee -a "$table"; fi
}

test_program() {
  local ranks
  for ranks in ${AMGKIT_RANKS:-1 2}; do
    launch "$ranks" "$1" --gtest_brief=1 "--gtest_filter=${AMGKIT_TEST_FILTER:-*}"
    run tests "$(basename "$1")" "$ranks"
  done
}

# The driver gives each array, so that the tool sees where it ends.
sanitize_program() {
  local -x PETSC_OPTIONS="${PETSC_OPTIONS:-} -amgkit_small_blocks no"
  local tool filter=${AMGKIT_SANITIZE_FILTER:-*Cuda*:PCTest.*:BadInput.*-*OutOfDeviceMemory*:*ConvergesWithAnySweeps*:*ForEverySmoother*} kernels=()
  for tool in memcheck racecheck; do
    # cuSPARSE's product in MatMult lets the threads of a warp race on purpose
    if [ "$tool" = racecheck ]; then kernels=(--kernel-name-exclude kernel_substring=cusparse); fi
    launch 1 compute-sanitizer --tool "$tool" "${kernels[@]}" --error-exitcode 9 --print-limit 20 "$1" --gtest_brief=1 "--gtest_filter=$filter"
    run sanitize "$(basename "$1") $tool" 1
  done
}

# petsc_case NAME: sets example to the options that give an example some ten thousand unknowns of the right types, and method to the
# solver's; 1 if not known.
petsc_case() {
  method=("${pc_options[@]}")
  case $1 in
  *bench_kspsolve) example=(-n 40 "${mat_types[@]}") ;;
  *snes*ex5 | *snes*ex19) example=(-da_refine 5 "${dm_types[@]}") method=(-pc_type amgmatching -ksp_type fgmres) ;; # not symmetric
  *snes*) return 1 ;;
  *ex2) example=(-m 200 -n 200 "${mat_types[@]}") ;;
  *ex45) example=(-da_grid_x 33 -da_grid_y 33 -da_grid_z 33 "${dm_types[@]}") ;;
  *ex50) example=(-da_grid_x 129 -da_grid_y 129 "${dm_types[@]}") ;;
  *ex54 | *ex55) example=(-ne 119 -alpha 1e-3 "${mat_types[@]}") ;;
  *ex56) example=(-ne 11 -alpha 1e-3 "${mat_types[@]}") ;;
  *) return 1 ;;
  esac
}

mode_petsc() {
  local program name ranks
  export PETSC_OPTIONS="-dll_append $root/lib/libamgkit.so"
  for program in "$root"/petsc/*; do
    name=$(basename "$program")
    if ! petsc_case "$name"; then
      say "petsc: no options are known for '$name': add them to petsc_case in this script"
      continue
    fi
    for ranks in ${AMGKIT_RANKS:-1 2}; do
      if [[ $name == *ex56 && $ranks != [18] ]]; then continue; fi # it cuts a cube
      launch "$ranks" "$program" "${example[@]}" "${method[@]}" -ksp_max_it 500 -ksp_converged_reason -ksp_error_if_not_converged
      run petsc "$name" "$ranks"
    done
  done
  unset PETSC_OPTIONS
}

mode_kernels() {
  local options
  read -r -a options <<<"${AMGKIT_KERNELS:--n7 256 -n27 160}"
  launch 1 "$root/bench/amgkit_kernels" "${options[@]}"
  run kernels amgkit_kernels 1
}

# bench_command SYSTEM N [weak]: sets bench to the benchmark's command line.
bench_command() {
  bench=("$root/bench/amgkit_bench" -system "$1" -n "$2" -memory -csv "$csv" "${mat_types[@]}")
  if [ "${3:-}" = weak ]; then bench+=(-weak); fi
  if [ -n "${AMGKIT_PCS:-}" ]; then bench+=(-pcs "$AMGKIT_PCS"); else bench+=("${pc_options[@]}"); fi
}

mode_bench() {
  local entry system n
  export PETSC_OPTIONS="-dll_append $root/lib/libamgkit.so"
  for entry in "${systems[@]}"; do
    IFS=: read -r system n <<<"$entry"
    bench_command "$system" "$n"
    launch 1 "${bench[@]}"
    run bench "$system $n" 1
  done
  unset PETSC_OPTIONS
}

mode_scaling() {
  local entry system n weak ranks
  export PETSC_OPTIONS="-dll_append $root/lib/libamgkit.so"
  for entry in ${AMGKIT_SCALING_SYSTEMS:-7:200}; do
    IFS=: read -r system n weak <<<"$entry"
    for ranks in 1 2 4 8; do
      [ "$ranks" -eq 1 ] || [ "$ngpu" -ge "$ranks" ] || continue
      bench_command "$system" "$n" "$weak"
      if [ "$ngpu" -gt 0 ]; then launch_gpu_aware "$ranks" "${bench[@]}"; else launch "$ranks" "${bench[@]}"; fi
      run scaling "$system $n ${weak:-strong}" "$ranks"
    done
  done
  unset PETSC_OPTIONS
}

mode_compare() {
  local ranks other=$root/lib/other/libamgkit.so of_types=()
  [ -e "$other" ] || die "the bundle has no other library: name one to pack_gpu_bundle.sh"
  if [ -n "${AMGKIT_PCS:-}" ]; then of_types=(--types "${AMGKIT_PCS//;/,}"); fi
  for ranks in ${AMGKIT_RANKS:-1}; do
    launch "$ranks"
    command=(python3 "$root/bench/compare.py" --bench "$root/bench/amgkit_bench" --libraries "$other" "$root/lib/libamgkit.so" --launch "${command[*]@Q}"
      --systems "${systems[@]}" --turns "${AMGKIT_TURNS:-3}" --limit "$timeout_s" --extra "${mat_types[*]}" --out "$out/compare.$ranks.md" "${of_types[@]}")
    timeout_s=86400 run compare compare.py "$ranks"
    if [ -e "$out/compare.$ranks.md" ]; then cat "$out/compare.$ranks.md"; fi
  done
}

for mode in "${modes[@]}"; do
  say "$mode"
  case $mode in
  tests) for_each_test test_program ;;
  petsc) mode_petsc ;;
  sanitize)
    if command -v compute-sanitizer >/dev/null; then
      for_each_test sanitize_program
    else
      printf '%-9s %-40s %5s %-9s\n' sanitize "no compute-sanitizer in PATH" - "FAIL(none)" | tee -a "$table"
    fi
    ;;
  kernels) mode_kernels ;;
  bench) mode_bench ;;
  scaling) mode_scaling ;;
  compare) mode_compare ;;
  esac
done

# Columns 4 and 6 are the driver's version and the commit, which the benchmark does not know. The rest names no folder of this machine.
if [ -e "$csv" ]; then
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 || true)
  commit=$(awk '$1 == "commit" { print $2 }' "$root/MANIFEST")
  note=
  if [[ $commit == *-dirty ]]; then note="working tree with uncommitted changes"; fi
  commit=${commit%-dirty}
  [[ $commit =~ ^[0-9a-f]{7,40}$ ]] || commit=
  sed -i -e "2,\$ s|^\([^,]*,[^,]*,[^,]*,\),\([^,]*,\),\(.*\)|\1$driver,\2$commit,\3$note|" -e "s|$root/||g" -e "s|$out/||g" "$csv"
fi

failed=$(grep -cE ' (FAIL|TIMEOUT|NOTIME)' "$table" || true)
{
  echo
  echo "date     $(date -u +%Y-%m-%dT%H:%MZ)"
  echo "cards    $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | sort | uniq -c | sed 's/^ *//' | paste -sd ';' -)"
  awk '{ printf "%-8s %s\n", $1, $2 }' "$root/MANIFEST"
  echo "command  $command_line"
  echo
  printf '%-9s %-40s %5s %-9s %5s\n' mode what ranks verdict time
  cat "$table"
  if [ -s "$lines" ]; then
    echo
    awk '!/^system/ || !seen++' "$lines"
  fi
  echo
  echo "$(wc -l <"$table") runs, $failed failed; logs in $out"
} | tee "$out/summary.txt"
[ "$failed" -eq 0 ]
