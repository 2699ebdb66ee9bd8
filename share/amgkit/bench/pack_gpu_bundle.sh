#!/usr/bin/env bash
# Packs a CUDA build into one archive that run_gpu_bundle.sh runs on a machine with nothing but CUDA and Open MPI.
#
#   pack_gpu_bundle.sh BUILD_DIR OUT_DIR [OTHER_LIBRARY]        e.g.  share/amgkit/bench/pack_gpu_bundle.sh build/cuda .bundle
#
# OTHER_LIBRARY is the libamgkit.so of another build, which the mode compare measures beside this one.
# Makes OUT_DIR/bundle.tar.xz and OUT_DIR/run_gpu_bundle.sh (under 60 MB together). In the archive: libamgkit and the tests, the
# benchmark and PETSc's examples of BUILD_DIR as far as they are built; libpetsc and what else they are linked to, except MPI,
# CUDA and the system's own libraries; a UCX that knows CUDA, from the wheel libucx-cu13.
#
# Environment: XDG_CACHE_HOME (where the wheel is kept, default ~/.cache), CUDA_HOME (default /usr/local/cuda), PYTHON (python3),
# XZ_LEVEL (6).
set -euo pipefail

ucx_version=1.22.0 # the one that was seen working with Open MPI 4.1.4 and 4.1.6
max_mb=60
cuda=${CUDA_HOME:-/usr/local/cuda}
python=${PYTHON:-python3}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/amgkit/wheels
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { echo "pack: $*"; }
die() {
  echo "pack: $*" >&2
  exit 1
}

[ $# -eq 2 ] || [ $# -eq 3 ] || die "usage: pack_gpu_bundle.sh BUILD_DIR OUT_DIR [OTHER_LIBRARY]"
[ $# -eq 2 ] || [ -f "$3" ] || die "no file $3"
[ -d "$1" ] || die "no directory $1: configure and build first (cmake --preset cuda && cmake --build --preset cuda)"
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/bundle
mkdir -p "$root"/{lib,ucx,tests,petsc,bench,options}

# What the GPU machine has: the C and C++ run-time libraries, MPI, CUDA. All else travels.
is_provided() {
  case $1 in
  ld-linux* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libstdc++.so.* | libgcc_s.so.* | libz.so.*) return 0 ;;
  libmpi*.so.* | libopen-*.so.* | libcu*.so.* | libnv*.so.*) return 0 ;;
  esac
  return 1
}

needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# add_libraries FILE: puts the libraries that FILE needs, and theirs, into lib/.
add_libraries() {
  local file=$1 name path
  for name in $(needed "$file"); do
    if is_provided "$name" || [ -e "$root/lib/$name" ]; then continue; fi
    path=$(ldd "$file" | awk -v name="$name" '$1 == name && $3 ~ /^\// { print $3 }')
    [ -n "$path" ] || die "$file needs $name, which ldd does not find: set LD_LIBRARY_PATH or rebuild with an rpath"
    cp -L "$path" "$root/lib/$name"
    chmod u+w "$root/lib/$name"
    add_libraries "$path"
  done
}

# add_programs FROM TO: copies the executables of a folder with the libraries they need.
add_programs() {
  local file pattern count=0
  for file in "$1"/*; do
    for pattern in ${3:-}; do
      # shellcheck disable=SC2053 # a pattern, not a string
      if [[ $file == $pattern ]]; then continue 2; fi
    done
    if [ -f "$file" ] && [ -x "$file" ] && readelf -h "$file" >/dev/null 2>&1; then
      add_libraries "$file"
      cp -L "$file" "$2/"
      count=$((count + 1))
    fi
  done
  say "$count programs of $1"
}

# One copy of each UCX library; the wheel has three, under the names that are links elsewhere.
add_ucx() {
  local wheel dir=$stage/wheel file
  mkdir -p "$cache" "$dir"
  wheel=$(find "$cache" -name "libucx_cu13-$ucx_version-*.whl" | head -n 1)
  if [ -z "$wheel" ]; then
    say "downloading the wheel libucx-cu13 $ucx_version into $cache"
    "$python" -m pip download -q --no-deps -d "$cache" "libucx-cu13==$ucx_version" ||
      die "pip could not get libucx-cu13 $ucx_version: put the wheel into $cache by hand"
    wheel=$(find "$cache" -name "libucx_cu13-$ucx_version-*.whl" | head -n 1)
  fi
  "$python" -m zipfile -e "$wheel" "$dir"
  mkdir -p "$root/ucx/libucx/lib/ucx" "$root/ucx/libucx_cu13.libs"
  for file in "$dir"/libucx/lib/libuc[mpst].so.0 "$dir"/libucx/lib/ucx/lib{ucm_cuda,uct_cuda,uct_cma}.so.0; do
    cp -L "$file" "$root/ucx/${file#"$dir"/}"
    ln -s "$(basename "$file")" "$root/ucx/${file#"$dir"/}.0.0"
    ln -s "$(basename "$file")" "$root/ucx/$(dirname "${file#"$dir"/}")/$(basename "$file" .0)"
  done
  cp "$dir"/libucx_cu13.libs/libcudart-* "$root/ucx/libucx_cu13.libs/"
  find "$root/ucx" -name 'libuc*.so.0' -exec strip --strip-debug {} +
}

add_gpu_aware_check() {
  local flags
  [ -e "$cuda/include/cuda_runtime_api.h" ] || die "no CUDA in $cuda: set CUDA_HOME"
  flags=$(mpicc --showme:compile 2>/dev/null) || die "no Open MPI: install libopenmpi-dev"
  # shellcheck disable=SC2086,SC2046
  cc -O2 -shared -fPIC $flags -I"$cuda/include" "$here/gpu_aware_check.c" -o "$root/lib/liballreduce_self.so" \
    -L"$cuda/lib64" -lcudart $(mpicc --showme:link)
}

plugin=$build/libamgkit.so
[ -e "$plugin" ] || die "no $plugin: build first (cmake --build $build)"
cp -L "$plugin" "$root/lib/libamgkit.so"
add_libraries "$plugin"
add_programs "$build/tests/bin" "$root/tests"
add_programs "$build/tests/petsc/bin" "$root/petsc" '*_complex *_index_size *_other_version' # those are made for another PETSc
add_programs "$build/share/amgkit/bench" "$root/bench"
[ -x "$root/bench/amgkit_bench" ] || say "warning: no amgkit_bench in $build/share/amgkit/bench: the modes bench and scaling will fail"
cp "$here"/../options/*.opts "$root/options/"
cp "$here/gpu_aware_check.c" "$here/regret.py" "$here/compare.py" "$root/bench/"
if [ $# -eq 3 ]; then # PETSc wants this name
  mkdir "$root/lib/other"
  cp -L "$3" "$root/lib/other/libamgkit.so"
fi
petsc=$(find "$root/lib" -name 'libpetsc*.so.*' | head -n 1)
[ -n "$petsc" ] || die "$plugin is not linked to a shared libpetsc"
needed "$petsc" | grep -q '^libcudart' || say "warning: $(basename "$petsc") knows no CUDA: this bundle can only run host types"
add_gpu_aware_check
add_ucx

say "stripping"
strip --strip-unneeded "$petsc"
find "$root/lib" "$root/tests" "$root/petsc" "$root/bench" -type f ! -name '*.c' ! -name '*.py' ! -name "$(basename "$petsc")" -exec strip --strip-debug {} +
{
  echo "commit $(git -C "$here" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)"
  echo "packed $(date -u +%Y-%m-%dT%H:%MZ)"
  echo "petsc $(basename "$petsc")"
} >"$root/MANIFEST"

say "compressing $(du -sm "$root" | cut -f1) MB"
# Every test program has the library in it: a dictionary that spans some of them holds what they share once.
tar -C "$stage" --owner=0 --group=0 --sort=name -cf - bundle | xz -T1 --lzma2="preset=${XZ_LEVEL:-6},dict=256MiB" >"$out/bundle.tar.xz"
install -m 755 "$here/run_gpu_bundle.sh" "$out/run_gpu_bundle.sh"
size=$(($(stat -c %s "$out/bundle.tar.xz") / 1000000))
[ "$size" -lt "$max_mb" ] || die "the bundle has $size MB, more than $max_mb: build fewer CUDA architectures or fewer tests"
say "$out/bundle.tar.xz: $size MB; libraries: $(cd "$root/lib" && echo *)"
