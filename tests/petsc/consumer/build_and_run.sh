#!/usr/bin/env bash
# AMGKit installed under a new prefix; the project in tutorials/linked built with that copy, and laplacian.c, built and run.
#   build_and_run.sh install SCRATCH_FOLDER BUILD_FOLDER
#   build_and_run.sh find_package SCRATCH_FOLDER CMAKE_OPTION...
#   build_and_run.sh pkg-config SCRATCH_FOLDER
# PETSC_DIR and PETSC_ARCH name the PETSc (the CMake package knows it), CMAKE the cmake to use, CFLAGS and CXXFLAGS are passed on.
set -euxo pipefail
step=$1 scratch=$2 prefix=$2/prefix here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
shift 2

case $step in
  install)
    rm -rf "$prefix"
    "$CMAKE" --install "$1" --prefix "$prefix"
    ;;
  find_package)
    rm -rf "$scratch/build"
    unset PETSC_DIR PETSC_ARCH
    "$CMAKE" -S "$here/../../../tutorials/linked" -B "$scratch/build" "-DCMAKE_PREFIX_PATH=$prefix" "$@"
    "$CMAKE" --build "$scratch/build"
    ;;
  pkg-config)
    petsc=${PETSC_DIR:-/usr}/${PETSC_ARCH:-.}/lib
    packages=$(dirname "$(find "$prefix" -name amgkit.pc)")
    export PKG_CONFIG_PATH=$packages:$petsc/pkgconfig:${PKG_CONFIG_PATH:-}
    # shellcheck disable=SC2046,SC2086
    $(pkg-config --variable=ccompiler PETSc) ${CFLAGS:-} -o "$scratch/laplacian" "$here/laplacian.c" $(pkg-config --cflags --libs amgkit)
    LD_LIBRARY_PATH=${packages%/pkgconfig}:$petsc "$scratch/laplacian" -ksp_converged_reason
    ;;
esac
