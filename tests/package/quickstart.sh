#!/usr/bin/env bash
# Which PETSc, preset and options share/amgkit/quickstart.sh takes, by what it calls: compilers, packages and programs are stand-ins that
# note their arguments.
#   quickstart.sh SOURCE SCRATCH
set -euo pipefail
SOURCE=$1 SCRATCH=$2
source "$SOURCE/tests/package/common.sh"
tree=$SCRATCH/tree calls=$SCRATCH/calls
rm -rf "$SCRATCH"
mkdir -p "$tree/share/amgkit" "$SCRATCH/bin" "$SCRATCH/home"
cp "$SOURCE/share/amgkit/quickstart.sh" "$tree/share/amgkit/"
cp -r "$SOURCE/share/amgkit/options" "$tree/share/amgkit/"

stand_in() { # NAME LINE...
  local name=$1
  shift
  printf '#!/usr/bin/env bash\n' >"$SCRATCH/bin/$name"
  printf '%s\n' "$@" >>"$SCRATCH/bin/$name"
  chmod +x "$SCRATCH/bin/$name"
}
noted='echo "$(basename "$0") $*" >>'"$(printf '%q' "$calls")"
stand_in program "$noted" 'echo "  0 KSP Residual norm 1"'
stand_in nvcc 'exit 1'
stand_in nvidia-smi '[[ -n ${GPU:-} ]] && echo "$GPU"'
stand_in dpkg 'echo "Status: install ok installed"'
stand_in dpkg-query 'echo 1:3.18.5+dfsg1-1'
stand_in apt-get 'echo "nothing is missing" >&2; exit 1'
stand_in python3 'exit 0'
stand_in ctest "$noted"
# what it builds are links to the stand-in of a program
stand_in cmake "$noted" '[[ $1 == --build ]] || exit 0' \
  'mkdir -p "$2/tests/petsc/bin" "$2/share/amgkit/bench"' \
  'for name in tests/petsc/bin/ex45 tests/petsc/bin/ex54 share/amgkit/bench/amgkit_bench; do ln -sf "$(dirname "$0")/program" "$2/$name"; done'

# What the script calls and prints, with a GPU of this compute capability, or none.
quickstart() { # CAPABILITY ARGUMENT...
  rm -rf "$tree/build" "$calls"
  output=$(env -u PETSC_DIR -u PETSC_ARCH -u PETSC_OPTIONS -u PETSC_EXAMPLES_DIR -u AMGKIT_CUDA_ARCHITECTURES ${petsc:+"PETSC_DIR=$petsc"} \
    GPU="$1" HOME="$SCRATCH/home" PATH="$SCRATCH/bin:$PATH" bash "$tree/share/amgkit/quickstart.sh" "${@:2}" 2>&1) || return 1
  output+=$'\n'$(cat "$calls")
}
shows() { grep -qE -- "$1" <<<"$output" || fail "no line matches $1: $output"; }
lacks() { ! grep -qE -- "$1" <<<"$output" || fail "a line matches $1: $output"; }
refuses() { # MESSAGE ARGUMENT...
  ! quickstart '' "${@:2}" || fail "not refused: ${*:2}"
  shows "error: $1"
}

petsc=''
quickstart 9.0 demo --gpu || fail "$output"
shows '^cmake --preset cuda-host-petsc -DPETSC_DIR=/usr/lib/petscdir/petsc-real .*-DCMAKE_CUDA_ARCHITECTURES=90$'
shows '^cmake --build build/cuda-host-petsc --target amgkit amgkit_bench petsc_examples$'
for name in ex45 ex54 amgkit_bench; do shows "^$name .*-amgkit_gpu( -|$)"; done
shows 'AMGKit works on the GPU, the others on the CPU'
lacks 'NOTE|cusparse|PETSc 3[.0-9]* with CUDA'

quickstart '' demo --gpu || fail "$output"
shows 'NOTE: nvidia-smi shows no GPU here'
lacks 'works on the GPU'
shows 'CMAKE_CUDA_ARCHITECTURES=80;90$'
for name in ex45 ex54 amgkit_bench; do shows "^$name .*-amgkit_gpu try"; done

quickstart 9.0 test --gpu || fail "$output"
shows '^cmake --build build/cuda-host-petsc --target all petsc_examples$'
shows '^ctest --test-dir build/cuda-host-petsc .*-LE \^full\$$'
quickstart 9.0 test --preset cuda-host-petsc --full -- -L petsc || fail "$output"
shows '^ctest --test-dir build/cuda-host-petsc .*--output-on-failure -L petsc$'

quickstart 9.0 test --applications --gpu || fail "$output"
shows '^cmake --build build/cuda-host-petsc --target amgkit$'
shows '^ctest .*-L \^application\$$'
refuses '--applications is for test alone' demo --applications
refuses '--applications means the preset host or cuda-host-petsc, not cuda' test --applications --cuda

quickstart 9.0 demo || fail "$output"
shows '^cmake --preset host '
lacks 'amgkit_gpu|ARCHITECTURES'

mkdir -p "$SCRATCH/petsc/include"
petsc=$SCRATCH/petsc
quickstart 9.0 demo --gpu || fail "$output"
shows "^cmake --preset cuda-host-petsc -DPETSC_DIR=$petsc "
refuses "the PETSc in $petsc was configured without CUDA" demo --cuda
echo '#define PETSC_HAVE_CUDA 1' >"$petsc/include/petscconf.h"
quickstart 9.0 demo --cuda || fail "$output"
shows "^cmake --preset cuda -DPETSC_DIR=$petsc "
shows '^ex45 .*-dm_mat_type aijcusparse'
lacks 'amgkit_gpu'

refuses '--cuda means the preset cuda, not cuda-host-petsc' demo --gpu --cuda
refuses '--gpu means the preset cuda-host-petsc, not host' test --gpu --preset host
refuses 'unknown argument: --gpus' demo --gpus
echo "passed, $SECONDS s"
