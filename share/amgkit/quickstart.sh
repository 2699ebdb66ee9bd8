#!/usr/bin/env bash
# From a fresh Debian 12/13 or Ubuntu 24.04 machine to libamgkit at work: installs what is missing, builds, shows or tests.
# Run it again at any time: what is in place already is left as it is.
set -euo pipefail

usage='usage: bash share/amgkit/quickstart.sh demo|test [--gpu | --cuda] [--preset NAME] [--full | --applications] [-- CTEST_OPTION...]

  demo            run PETSc'\''s own example programs through the plugin and compare setup and solve times, about a minute
  test            build everything and run the tests of the preset that gate a change
  --full          with test: run every number of ranks, every seed and every combination of options too, an hour on two cores
  --applications  with test: install FEniCSx, deal.II, GetDP and SLEPc, 2.4 GB, and run the tests with these programs alone
  --gpu           for NVIDIA GPUs with the PETSc of your distribution: AMGKit copies its matrices to the GPU (preset cuda-host-petsc)
  --cuda          for matrices that live on the GPU (preset cuda); brings a PETSc with CUDA, which takes minutes the first time
  --preset NAME   host (default), host-asan, host-int64, cuda-host-petsc or cuda
  CTEST_OPTION    which tests to run, as ctest'\''s: -- -R ex45

environment:
  PETSC_DIR, PETSC_ARCH       use this PETSc instead of installing one
  PETSC_EXAMPLES_DIR          the folder that holds PETSc'\''s src/ksp/ksp/tutorials, when it is not under PETSC_DIR
  AMGKIT_TEST_PROGRAMS        build and run only the test programs whose names match this regular expression
  AMGKIT_WARNINGS_ARE_ERRORS  ON: a warning of a compiler ends the build; default: OFF
  AMGKIT_CUDA_ARCHITECTURES   compute capabilities to compile for, like "80;90"; default: those of the GPUs here
  CMAKE_BUILD_PARALLEL_LEVEL  compile jobs at a time'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
log=$root/build/quickstart.log
cache=${XDG_CACHE_HOME:-$HOME/.cache}/amgkit
cuda_petsc=3.26.1
cores=$(env -u OMP_NUM_THREADS nproc) # nproc tells the number of threads where that is set
mode='' preset='' ctest_options=() full=no applications=no nvcc=no own_petsc=no gpus='' step=0 steps=4 heart='' kinds=()

# --- progress and failure -------------------------------------------------------------------------

die() { # MESSAGE [LINE...]
  printf '\nerror: %s\n' "$1" >&2
  shift
  if (($#)); then printf '       %s\n' "$@" >&2; fi
  exit 1
}

say() { printf '              %s\n' "$@"; }

begin() { printf '[%d/%d] %4d s  %s\n' "$((++step))" "$steps" "$SECONDS" "$*"; }

# A sign of life every half minute: the last words in the log.
heartbeat() {
  while sleep 30 >/dev/null 2>&1; do
    printf '      %4d s  ... %s\n' "$SECONDS" "$(tail -n 20 "$log" | tr -d '\r' | grep -a '[a-z]' | tail -n 1 | cut -c 1-100)"
  done
}

stop_heart() {
  if [[ -n $heart ]]; then kill "$heart" 2>/dev/null || true; fi
  heart=''
}

# Runs one command with its output in the log; when it fails, shows the end of the log and the hint.
quietly() { # HINT COMMAND...
  local hint=$1 status=0
  shift
  printf '\n$ %s\n' "$*" >>"$log"
  heartbeat &
  heart=$!
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  stop_heart
  ((status)) || return 0
  printf '\n--- the end of %s\n' "$log" >&2
  tail -n 40 "$log" >&2
  die "exit status $status from: $*" "$hint"
}

# --- packages ---------------------------------------------------------------------------------------

as_root() {
  if ((EUID)); then set -- sudo env "$@"; else set -- env "$@"; fi
  "$@"
}

# Installs those of the named packages that are missing; asks the network for nothing when none is.
need() {
  local name missing=()
  for name in "$@"; do
    dpkg -s "$name" 2>/dev/null | grep -q '^Status: .* installed$' || missing+=("$name")
  done
  if ((${#missing[@]} == 0)); then return; fi
  command -v apt-get >/dev/null || die 'packages are installed with apt-get, which this system lacks' \
    "Install the counterparts of: ${missing[*]}" "Then: PETSC_DIR=... cmake --preset $preset && cmake --build --preset $preset"
  if ((EUID)) && ! { command -v sudo >/dev/null && sudo -v; }; then
    die 'neither root nor sudo: packages cannot be installed' "Have an administrator run: apt-get install ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  quietly 'Check the network and the package sources of this machine.' as_root apt-get update
  quietly 'See the messages above; "apt-get -f install" repairs a half-done installation.' as_root DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}"
}

# X.Y of an installed package's version
minor_version() { # PACKAGE
  dpkg-query -W -f '${Version}' "$1" | sed -E 's/^([0-9]+:)?([0-9]+\.[0-9]+).*/\2/'
}

install_packages() {
  local names=(cmake ninja-build ccache g++ make pkg-config libgtest-dev)
  begin 'packages'
  if [[ $own_petsc == no ]] || ! command -v mpiexec >/dev/null; then names+=(libopenmpi-dev openmpi-bin libopenblas-dev); fi
  if [[ $own_petsc == yes ]]; then
    need "${names[@]}"
  elif [[ $preset == cuda ]]; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || names+=(python3 python3-venv)
    need "${names[@]}"
  else
    if [[ $mode == demo && $preset == host-* ]]; then names+=(libpetsc64-real-dev); fi
    # tests: the plugin must refuse a complex PETSc and one with the other size of PetscInt
    if [[ $mode == test ]]; then names+=(libpetsc-complex-dev libpetsc64-real-dev); fi
    # the Debian packages, and the Python package in environments of its own
    if [[ $mode-$preset == test-cuda-host-petsc ]]; then names+=(python3 python3-venv); fi
    if [[ $mode-$preset == test-host* && $preset != host-asan ]]; then names+=(dpkg-dev file python3 python3-venv); fi
    # and the tutorial in Python runs with the petsc4py of the preset's PETSc; Python itself cannot be sanitized
    case $mode-$preset in
      test-host | test-cuda-host-petsc) names+=(python3-petsc4py-real) ;;
      test-host-int64) names+=(python3-petsc4py-64-real) ;;
    esac
    if [[ $applications == yes ]]; then names+=(python3-petsc4py-real python3-dolfinx-real libdeal.ii-dev libdeal.ii-doc getdp slepc-dev); fi
    need "${names[@]}" petsc-dev
    # The packages of examples have X.Y in their names.
    need "libpetsc$(minor_version petsc-dev)-dev-examples"
    if [[ $applications == yes ]]; then need "libslepc$(minor_version slepc-dev)-dev-examples"; fi
  fi
}

# --- GPUs and the PETSc with CUDA -------------------------------------------------------------------

find_cuda() {
  local dir=${CUDA_HOME:-/usr/local/cuda}
  command -v nvcc >/dev/null || PATH=$PATH:$dir/bin
  command -v nvcc >/dev/null || die "no CUDA compiler: nvcc is neither in PATH nor in $dir/bin" \
    'Install the CUDA Toolkit, 12.4 or newer (NVIDIA'\''s package cuda-toolkit), and put its bin folder in PATH.'
  gpus=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -xE '[0-9]+\.[0-9]+' | tr -d . | sort -un) || gpus=''
  if [[ -n $gpus ]]; then
    say "GPU of compute capability $(paste -s -d ' ' <<<"$gpus") found: it is used"
  else
    say 'NOTE: nvidia-smi shows no GPU here. The CUDA code is compiled and linked, but the GPU tests are SKIPPED' \
      'and programs run on the CPU. Run this again on a machine with an NVIDIA GPU and its driver.'
  fi
}

# Prints the folder of the PETSc in a venv, if that PETSc is whole and was compiled for the GPUs here.
cuda_petsc_in() { # VENV
  local dir lib arch
  dir=$(compgen -G "$1/lib/python3*/site-packages/petsc") || return 1
  lib=$dir/lib/libpetsc.so.${cuda_petsc%.*}
  if [[ ! -e $1/.complete ]]; then
    "$1/bin/python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$lib" 2>/dev/null || return 1
    touch "$1/.complete"
  fi
  for arch in $gpus; do
    grep -qE -- "--with-cuda-arch=([0-9]+,)*$arch\b" "$dir/lib/petsc/conf/petscvariables" || return 1
  done
  printf '%s\n' "$dir"
}

# PETSc's release as an archive: the library is built from it, and it holds the examples' sources.
fetch_petsc_source() { # VENV
  local archive=$cache/petsc-$cuda_petsc.tar.gz
  if [[ ! -s $archive ]]; then
    quietly 'Check the network: pip must reach its package index.' \
      "$1/bin/pip" download --no-deps --no-binary petsc -d "$cache/download" "petsc==$cuda_petsc"
    mv "$cache/download/petsc-$cuda_petsc.tar.gz" "$archive"
    rmdir "$cache/download"
  fi
  if [[ -n ${PETSC_EXAMPLES_DIR:-} ]]; then return; fi
  PETSC_EXAMPLES_DIR=$cache/petsc-$cuda_petsc-src
  if [[ ! -d $PETSC_EXAMPLES_DIR ]]; then
    rm -rf "$PETSC_EXAMPLES_DIR.part"
    mkdir "$PETSC_EXAMPLES_DIR.part"
    quietly "Remove $archive and try again." tar xzf "$archive" -C "$PETSC_EXAMPLES_DIR.part" --strip-components 1 \
      --wildcards '*/src/ksp/*/tutorials/*' '*/src/snes/tutorials/*' '*/share/petsc/datafiles/*'
    mv "$PETSC_EXAMPLES_DIR.part" "$PETSC_EXAMPLES_DIR"
  fi
}

provide_cuda_petsc() {
  local venv=$cache/petsc-cuda-$cuda_petsc nvcc options
  begin "PETSc $cuda_petsc with CUDA"
  if ! cuda_petsc_in "$venv" >/dev/null; then
    say 'building it: five to eight minutes on two cores, this once'
    rm -rf "$venv"
    mkdir -p "$cache"
    quietly 'Python needs its venv module: install python3-venv.' python3 -m venv "$venv"
    fetch_petsc_source "$venv"
    nvcc=$(command -v nvcc)
    options="--with-cuda=1 --with-cuda-dir=${nvcc%/bin/nvcc} --with-cuda-arch=$(paste -s -d , <<<"${gpus:-90}") --with-fc=0"
    options+=" --with-make-load=$((4 * cores)) --COPTFLAGS=-O2 --CXXOPTFLAGS=-O2 --with-debugging=0 --with-shared-libraries=1 --with-blaslapack-lib=-lopenblas --with-x=0"
    # pip's cache of built wheels does not know the options
    quietly 'The next run starts over with this step.' env -u PETSC_ARCH PETSC_CONFIGURE_OPTIONS="$options" \
      MPICC="$(command -v mpicc)" MPICXX="$(command -v mpicxx)" "$venv/bin/pip" install --no-cache-dir -v "$cache/petsc-$cuda_petsc.tar.gz"
  fi
  fetch_petsc_source "$venv"
  PETSC_DIR=$(cuda_petsc_in "$venv") || die "the PETSc in $venv does not load" 'Remove that folder and try again.'
}

# --- configure, build -------------------------------------------------------------------------------

choose_petsc() {
  local dir
  case $preset-$own_petsc in
    *-yes) ;;
    cuda-no) provide_cuda_petsc ;;
    # the sanitizers with 64-bit indices: that one build sees the mistakes of both
    host-int64-no | host-asan-no) PETSC_DIR=/usr/lib/petscdir/petsc64-real ;;
    *) PETSC_DIR=/usr/lib/petscdir/petsc-real ;;
  esac
  export PETSC_DIR PETSC_ARCH=${PETSC_ARCH:-}
  if [[ $preset == cuda ]] && ! grep -q 'define PETSC_HAVE_CUDA ' "$PETSC_DIR"{,/"$PETSC_ARCH"}/include/petscconf.h 2>/dev/null; then
    die "the PETSc in $PETSC_DIR was configured without CUDA" 'Unset PETSC_DIR to get one that has it, or use --gpu, which needs none.'
  fi
  for dir in "${PETSC_EXAMPLES_DIR:-}" "$PETSC_DIR/share/petsc/examples" "$PETSC_DIR"; do
    PETSC_EXAMPLES_DIR=$dir
    if [[ -d $dir/src/ksp/ksp/tutorials ]]; then return; fi
  done
  PETSC_EXAMPLES_DIR=''
  say "PETSc's example programs are not under $PETSC_DIR: set PETSC_EXAMPLES_DIR to have them"
}

configure() {
  local cached=build/$preset/CMakeCache.txt options=("-DPETSC_DIR=$PETSC_DIR" "-DPETSC_ARCH=$PETSC_ARCH") arch
  # stated each time, so that no earlier run narrows this one
  options+=("-DAMGKIT_TEST_PROGRAMS=${AMGKIT_TEST_PROGRAMS:-.}" "-DCMAKE_COMPILE_WARNING_AS_ERROR=${AMGKIT_WARNINGS_ARE_ERRORS:-OFF}")
  begin "configure: preset $preset, PETSc in $PETSC_DIR"
  if [[ -e $cached ]] && ! grep -qxE "PETSC_DIR:[A-Z]+=$PETSC_DIR" "$cached"; then options+=(--fresh); fi
  if [[ -n $PETSC_EXAMPLES_DIR ]]; then options+=("-DAMGKIT_PETSC_EXAMPLES_DIR=$PETSC_EXAMPLES_DIR"); fi
  if [[ $nvcc == yes ]]; then
    arch=$(paste -s -d ';' <<<"${gpus:-80;90}")
    options+=("-DCMAKE_CUDA_ARCHITECTURES=${AMGKIT_CUDA_ARCHITECTURES:-$arch}")
  fi
  quietly "See above what CMake misses; after an interrupted run, remove build/$preset." cmake --preset "$preset" "${options[@]}"
}

build() { # TARGET...
  begin "build: $*"
  quietly 'See the messages above. Out of memory? Set CMAKE_BUILD_PARALLEL_LEVEL=1.' cmake --build "build/$preset" --target "$@"
}

# --- demo, test -------------------------------------------------------------------------------------

# Runs a program with the plugin loaded, and shows the command as one would type it.
with_plugin() { # PROGRAM ARGUMENT...
  printf '\n$ PETSC_OPTIONS="-dll_append build/%s/libamgkit.so" %s\n' "$preset" "$(printf '%q ' "$@")"
  PETSC_OPTIONS="-dll_append $root/build/$preset/libamgkit.so ${PETSC_OPTIONS:-}" "$@" 2>&1 | tee -a "$log" ||
    die "this failed: $*" "Its whole output is at the end of $log"
}

# Our times beside those of the peers. A peer that does not end does not take the demo with it.
comparison() { # SYSTEM OURS OPTION...
  local system=$1 ours=$2 status=0
  shift 2
  printf '\n$ PETSC_OPTIONS="-dll_append build/%s/libamgkit.so" amgkit_bench -system %s -n 48 ...\n' "$preset" "$system"
  PETSC_OPTIONS="-dll_append $root/build/$preset/libamgkit.so ${PETSC_OPTIONS:-}" timeout 60 "build/$preset/share/amgkit/bench/amgkit_bench" \
    -system "$system" -n 48 -repeat 2 -pcs "amgmatching:$ours" -peers "$@" 2>&1 | tee -a "$log" || status=$?
  if ((status == 124)); then
    say 'NOTE: the preconditioner after the last line did not end within a minute and was stopped. PETSc'\''s GAMG is known for it on GPUs.'
  elif ((status)); then
    die "the comparison failed for the system $system" "Its whole output is at the end of $log"
  fi
}

# One of PETSc's example programs, unchanged: its iterations and the preconditioner's part of -ksp_view.
example() { # PROGRAM ARGUMENT...
  local program=build/$preset/tests/petsc/bin/$1
  shift
  if [[ -x $program ]]; then
    with_plugin "$program" -options_file share/amgkit/options/amgmatching.opts "$@" -ksp_monitor -ksp_converged_reason -ksp_view |
      sed -n -e '/^\$/p' -e '/KSP Residual norm/p' -e '/^ *Linear solve/p' -e '/ERROR/p' -e '/^ *PC Object/,/linear system matrix/{/linear system matrix/!p}'
  else
    say "$program is not there: set PETSC_EXAMPLES_DIR"
  fi
}

demo() {
  local system ours dm=() types=()
  case $preset-${gpus:+gpu} in
    cuda-host-petsc-gpu) dm=(-amgkit_gpu) types=(-amgkit_gpu) ;;
    cuda-host-petsc-) dm=(-amgkit_gpu try) types=(-amgkit_gpu try) ;;
    cuda-gpu)
      dm=(-dm_mat_type aijcusparse -dm_vec_type cuda -use_gpu_aware_mpi 0)
      types=(-mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0)
      ;;
  esac
  begin "PETSc's ex45: Poisson's equation in 3D, 61 x 61 x 61 points"
  example ex45 -da_grid_x 61 -da_grid_y 61 -da_grid_z 61 "${dm[@]}"
  begin "PETSc's ex54: finite elements in 2D, 199 x 199 with a soft inclusion (coefficient 0.001)"
  example ex54 -ne 199 -alpha 1e-3 "${types[@]}"
  begin 'times beside the multigrids that this PETSc has'
  ours=$(sed -e '/^#/d' -e '/^ *$/d' -e '/^-pc_type/d' share/amgkit/options/amgmatching.opts | paste -s -d ' ')
  if [[ $preset == cuda-host-petsc && -n $gpus ]]; then say 'AMGKit works on the GPU, the others on the CPU, where this PETSc has its matrices'; fi
  for system in 7 jump; do
    comparison $system "$ours" "${types[@]}"
  done
  printf '\n      %4d s  done. The plugin is build/%s/libamgkit.so\n' "$SECONDS" "$preset"
}

run_tests() {
  local again="Those alone: ctest --test-dir build/$preset --rerun-failed --output-on-failure" gate=(-LE '^full$')
  begin "test: preset $preset"
  if [[ $full == yes || $applications == yes ]]; then gate=(); fi
  # two more than there are cores: a rank that waits leaves its core to others
  ctest --test-dir "build/$preset" --no-tests=error --parallel "$((cores + 2))" --output-on-failure "${gate[@]}" "${ctest_options[@]}" || die 'tests failed' "$again"
}

while (($#)); do
  case $1 in
    demo | test) mode=$1 ;;
    --gpu | --cuda) kinds+=("$1") ;;
    --full) full=yes ;;
    --applications) applications=yes ;;
    --preset) preset=${2:?--preset needs a name} && shift ;;
    --) shift && ctest_options=("$@") && break ;;
    -h | --help) echo "$usage" && exit ;;
    *) die "unknown argument: $1" "$usage" ;;
  esac
  shift
done
if [[ -z $mode ]]; then die 'demo or test?' "$usage"; fi
declare -A preset_of=([--gpu]=cuda-host-petsc [--cuda]=cuda)
for kind in "${kinds[@]}"; do
  [[ ${preset:=${preset_of[$kind]}} == "${preset_of[$kind]}" ]] || die "$kind means the preset ${preset_of[$kind]}, not $preset"
done
case ${preset:=host} in
  cuda | cuda-host-petsc) nvcc=yes ;;
  host | host-asan | host-int64) ;;
  *) die "no such preset: $preset" "$usage" ;;
esac
if [[ -n ${PETSC_DIR:-} ]]; then own_petsc=yes; fi
if [[ $applications == yes ]]; then
  [[ $mode-$full-$own_petsc == test-no-no ]] || die '--applications is for test alone, with the PETSc of the distribution'
  [[ $preset == host || $preset == cuda-host-petsc ]] || die "--applications means the preset host or cuda-host-petsc, not $preset"
  ctest_options=(-L '^application$' "${ctest_options[@]}")
fi
if [[ $mode == demo ]]; then ((steps += 2)); fi
if [[ $preset-$own_petsc == cuda-no ]]; then ((steps += 1)); fi
if ((EUID == 0)); then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
trap stop_heart EXIT
cd "$root"
mkdir -p build
: >"$log"

if [[ $nvcc == yes ]]; then find_cuda; fi
install_packages
choose_petsc
configure
if [[ $mode == demo ]]; then
  build amgkit amgkit_bench petsc_examples
  demo
elif [[ $applications == yes ]]; then
  build amgkit
  run_tests
else
  build all petsc_examples
  run_tests
fi
