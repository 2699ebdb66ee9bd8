#!/usr/bin/env bash
# The Debian packages.
#   deb.sh build SOURCE SCRATCH             makes them in a clean copy, and looks at what they hold; lintian too, where it is installed
#   deb.sh install SOURCE SCRATCH PROGRAM   installs them by apt in a copy of this system that vanishes afterwards, and runs PROGRAM, PETSc's
#                                           ex45, there. The copy needs root and the kernel's overlay file system: elsewhere apt only says
#                                           what it would do, and PROGRAM runs with the unpacked packages.
# CFLAGS, PETSC_DIR and the like are passed on.
set -euo pipefail
step=$1 SOURCE=$2 SCRATCH=$3 PROGRAM=${4:-}
source "$SOURCE/tests/package/common.sh"
copy=$SCRATCH/copy
export DEBFULLNAME='A Packager' DEBEMAIL=packager@example.com

library_package() { basename "$copy"/build/deb/libamgkit-petsc*.deb | cut -d_ -f1; }

build() {
  local library deb files file petsc
  clean_copy "$copy"
  (cd "$copy" && run_block deb-build)
  library=$(library_package)
  deb=$(echo "$copy/build/deb/${library}"_*.deb)
  petsc=$(dpkg-deb -f "$deb" Depends | grep -oE 'libpetsc(64)?-real[0-9.]+[a-z0-9]* \(>= ' | cut -d' ' -f1) || fail 'no dependency on PETSc'
  [[ $petsc == "lib${library#libamgkit-}"* ]] || fail "$library depends on $petsc"
  for file in libc6 libstdc++6 mpi blas; do
    dpkg-deb -f "$deb" Depends | grep -q "$file" || fail "$library does not depend on $file"
  done
  [[ $(dpkg-deb -f "$deb" Maintainer) == "$DEBFULLNAME <$DEBEMAIL>" ]] || fail 'another maintainer'
  files=$(dpkg-deb -c "$deb"; dpkg-deb -c "$copy"/build/deb/amgkit-common_*_all.deb)
  for file in lib/libamgkit.so include/amgkit.h lib/cmake/AMGKit/AMGKitConfig.cmake lib/pkgconfig/amgkit.pc; do
    grep -qE "\./usr/lib/petscdir/[^ ]+/$file( |$)" <<<"$files" || fail "no $file"
  done
  for file in "doc/$library/copyright" "doc/$library/changelog.Debian.gz" doc/amgkit-common/copyright doc/amgkit-common/changelog.gz \
    doc/amgkit/install.md man/man3/amgsa.3.gz man/man3/PCAMGSA.3.gz amgkit/options/amgsa.opts; do
    grep -qE "\./usr/share/$file$" <<<"$files" || fail "no $file"
  done
  dpkg-deb -f "$deb" Description | grep -qF -- "$(commands deb-use | sed -nE "s/.*'(.*)'/\1/p")" || fail 'the description says another -dll_append than the page'
  if command -v lintian >/dev/null; then
    # these packages are not for Debian's archive, whose bug reports a first upload would close
    lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$copy"/build/deb/*.deb
  else
    echo 'there is no lintian: the packages were not checked by it'
  fi
}

# In the copy of the system.
installed() {
  local library folder
  library=$(library_package)
  export DEBIAN_FRONTEND=noninteractive
  (cd "$copy" && run_block deb-install)
  run_program_block deb-use
  folder=$(dirname "$(dpkg -L "$library" | grep '/libamgkit.so$')")
  dpkg --verify "$library" amgkit-common
  man -w amgsa 2>/dev/null || echo 'there is no man: the page was not looked up'
  export PKG_CONFIG_PATH=$folder/pkgconfig
  # shellcheck disable=SC2046
  $(pkg-config --variable=ccompiler PETSc) -o "$SCRATCH/run/laplacian" "$SOURCE/tests/petsc/consumer/laplacian.c" $(pkg-config --cflags --libs amgkit)
  LD_LIBRARY_PATH=$folder "$SCRATCH/run/laplacian" -ksp_converged_reason
  apt-get remove -y "$library" amgkit-common
  [[ ! -e $folder/libamgkit.so && ! -e /usr/share/amgkit ]] || fail 'files are left'
}

in_copy_of_system() {
  local root=$SCRATCH/system/root folder
  mount -t tmpfs tmpfs "$SCRATCH/system"
  mkdir "$SCRATCH"/system/{upper,work,root}
  mount -t overlay overlay -o "lowerdir=/,upperdir=$SCRATCH/system/upper,workdir=$SCRATCH/system/work" "$root"
  for folder in proc dev sys; do mount --rbind "/$folder" "$root/$folder"; done
  chroot "$root" bash "$SOURCE/tests/package/deb.sh" installed "$SOURCE" "$SCRATCH" "$PROGRAM"
}

unpacked() {
  local root=$SCRATCH/unpacked deb library
  apt-get install --simulate "$copy"/build/deb/*.deb
  rm -rf "$root"
  for deb in "$copy"/build/deb/*.deb; do dpkg-deb -x "$deb" "$root"; done
  library=$(find "$root" -name libamgkit.so)
  "$PROGRAM" "${small[@]}" -dll_append "$library" -options_file "$root/usr/share/amgkit/options/amgmatching.opts" |
    grep 'converged due to CONVERGED_RTOL'
}

case $step in
  build) build ;;
  install)
    mkdir -p "$SCRATCH/system"
    if ((EUID == 0)) && unshare -m mount -t tmpfs tmpfs "$SCRATCH/system" 2>/dev/null; then
      unshare -m bash "$SOURCE/tests/package/deb.sh" in_copy_of_system "$SOURCE" "$SCRATCH" "$PROGRAM"
    else
      echo 'no copy of the system can be made: apt says what it would do'
    fi
    unpacked
    ;;
  in_copy_of_system | installed) "$step" ;;
  *) fail 'build or install?' ;;
esac
echo "passed, $SECONDS s"
