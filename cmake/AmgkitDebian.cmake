# Two packages for a PETSc of Debian's or Ubuntu's, made by CPack:
#   libamgkit-petsc-real3.18  the library, its header and what finds them, in the folder of that PETSc, so that several PETScs have their own
#   amgkit-common             the pages, man pages and files of options
# DEBFULLNAME and DEBEMAIL name the maintainer, as for Debian's own tools.
list(GET AMGKIT_PETSC_LINK_LIBRARIES 0 petsc)
file(REAL_PATH ${petsc} petsc)
execute_process(COMMAND dpkg-query --search ${petsc} OUTPUT_VARIABLE owner ERROR_QUIET)
if(NOT owner MATCHES "^lib(petsc(64)?-real([0-9]+[.][0-9]+))[a-z0-9]*(:[a-z0-9]+)?: ")
  message(FATAL_ERROR "AMGKIT_DEBIAN needs the PETSc of a package such as libpetsc-real3.18; this one is ${petsc}.")
endif()
set(flavour ${CMAKE_MATCH_1})
set(library libamgkit-${flavour})
pkg_get_variable(prefix PETSc prefix)
if(PETSC_DIR)
  file(REAL_PATH ${PETSC_DIR}/${PETSC_ARCH} prefix)
endif()
file(RELATIVE_PATH folder /usr ${prefix})

set(CMAKE_INSTALL_LIBDIR ${folder}/lib)
set(CMAKE_INSTALL_INCLUDEDIR ${folder}/include)
set(CMAKE_SKIP_INSTALL_RPATH ON)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
string(APPEND CMAKE_SHARED_LINKER_FLAGS " -Wl,-z,relro,-z,now")

set(maintainer "The AMGKit developers")
if(DEFINED ENV{DEBFULLNAME})
  set(maintainer "$ENV{DEBFULLNAME}")
endif()
cmake_host_system_information(RESULT host QUERY FQDN)
set(email "root@${host}")
if(DEFINED ENV{DEBEMAIL})
  set(email "$ENV{DEBEMAIL}")
endif()

# copyright and changelog of both
file(READ ${PROJECT_SOURCE_DIR}/LICENSE licence)
string(REGEX MATCH "Copyright [^\n]*" copyright "${licence}")
string(REGEX REPLACE "^.*Copyright [^\n]*\n\n" "" licence "${licence}")
string(STRIP "${licence}" licence)
string(REPLACE "\n" "\n " licence " ${licence}")
string(REPLACE "\n \n" "\n .\n" licence "${licence}")
string(REGEX REPLACE "^Copyright *(\\([cC]\\))? *" "" copyright "${copyright}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/copyright @ONLY CONTENT
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: AMGKit

Files: *
Copyright: @copyright@
License: BSD-2-Clause

License: BSD-2-Clause
@licence@
")
set(version ${PROJECT_VERSION}-1)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(package ${library} amgkit-common)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/${package}/changelog @ONLY CONTENT
"amgkit (@version@) unstable; urgency=medium

  * Packages of AMGKit's own sources, made by CPack.
    The changes of AMGKit itself are in changelog.gz of amgkit-common.

 -- @maintainer@ <@email@>  @date@
")
  execute_process(COMMAND gzip -9nc ${PROJECT_BINARY_DIR}/debian/${package}/changelog
    OUTPUT_FILE ${PROJECT_BINARY_DIR}/debian/${package}/changelog.Debian.gz COMMAND_ERROR_IS_FATAL ANY)
  set(component common)
  if(package STREQUAL "${library}")
    set(component library)
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/debian/copyright ${PROJECT_BINARY_DIR}/debian/${package}/changelog.Debian.gz
    DESTINATION share/doc/${package} COMPONENT ${component})
endforeach()
execute_process(COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md OUTPUT_FILE ${PROJECT_BINARY_DIR}/debian/changelog.gz COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.gz DESTINATION share/doc/amgkit-common COMPONENT common)

set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME amgkit)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "algebraic multigrid preconditioners for PETSc")
set(CPACK_PACKAGE_CONTACT "${maintainer} <${email}>")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library common)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS amgkit-common)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
"AMGKit adds multigrid and ILU preconditioners to PETSc. This package has the
library for the PETSc of the package lib${flavour}, and a header for
programs that are linked with it.

Programs need no change. PETSc loads the library when it starts, if the
command line, or the environment variable PETSC_OPTIONS, has these words:

 -dll_append \${PETSC_LIB_DIR}/libamgkit.so

PETSc itself puts its folder in the place of \${PETSC_LIB_DIR}.")
set(CPACK_DEBIAN_COMMON_PACKAGE_NAME amgkit-common)
set(CPACK_DEBIAN_COMMON_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMMON_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_COMMON_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_COMMON_DESCRIPTION
"AMGKit adds multigrid and ILU preconditioners to PETSc. This package has what
is the same for every PETSc: the manual pages, and files of options in
/usr/share/amgkit/options.")
