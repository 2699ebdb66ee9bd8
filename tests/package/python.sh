#!/usr/bin/env bash
# The Python package, from the repository and from a source distribution, each installed by pip in a new environment.
#   python.sh SOURCE SCRATCH BUILD PROGRAM PYTHON
# BUILD is a folder beside those of the presets, so that ccache finds what they compiled. AMGKIT_PYPI_PETSC names the folder of PyPI's package
# petsc, which the environment then has.
set -euo pipefail
SOURCE=$1 SCRATCH=$2 BUILD=$3 PROGRAM=$4 python=$5
source "$SOURCE/tests/package/common.sh"
rm -rf "$SCRATCH" "$BUILD"
mkdir -p "$SCRATCH"

environment() { # NAME
  local options=() packages
  if [[ -z ${AMGKIT_PYPI_PETSC:-} ]]; then options=(--system-site-packages); fi # Debian's petsc4py and numpy
  "$python" -m venv "${options[@]}" "$SCRATCH/$1"
  if [[ -n ${AMGKIT_PYPI_PETSC:-} ]]; then
    packages=$("$SCRATCH/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    dirname "$AMGKIT_PYPI_PETSC" >"$packages/petsc.pth"
  fi
}

# In the environment NAME, active.
within() { # NAME COMMAND...
  (
    PATH=$SCRATCH/$1/bin:$PATH
    shift
    "$@"
  )
}

echo "=== from the repository, $SECONDS s"
environment tree
(cd "$SOURCE" && SKBUILD_BUILD_DIR=$BUILD within tree run_block python-install)
within tree python -B "$SOURCE/tests/package/python_test.py"
within tree run_program_block python-program
if [[ -n ${AMGKIT_EXPECT_PETSC4PY:-} ]]; then
  within tree python -c "$(commands python-register)"$'\nassert pc.getType() == "amgsa"'
fi

echo "=== from a source distribution, $SECONDS s"
environment tools
within tools pip install -q 'scikit-build-core>=1.1,<2'
(cd "$SOURCE/share/amgkit/python" && within tools python -c "from scikit_build_core.build import build_sdist; build_sdist('$SCRATCH/dist')")
environment sdist
SKBUILD_BUILD_DIR=source/build/package within sdist pip install "$SCRATCH"/dist/amgkit-*.tar.gz
for name in tree sdist; do
  find "$SCRATCH/$name" -path '*amgkit*' -type f ! -name '*.pyc' ! -name direct_url.json ! -name RECORD | sed "s|^$SCRATCH/$name/||" | sort >"$SCRATCH/$name.files"
done
diff "$SCRATCH/tree.files" "$SCRATCH/sdist.files" || fail 'the source distribution installs other files than the repository'
within sdist python -m amgkit
within sdist run_program_block python-program
echo "passed, $SECONDS s"
