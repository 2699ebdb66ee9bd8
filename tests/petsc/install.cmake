# An installed copy, used from another project: by find_package(), as tutorials/linked does, and by pkg-config.
set(scratch ${CMAKE_CURRENT_BINARY_DIR}/consumer)
set(consumer bash ${CMAKE_CURRENT_SOURCE_DIR}/consumer/build_and_run.sh)
add_test(NAME install_copy COMMAND ${consumer} install ${scratch} ${PROJECT_BINARY_DIR})
add_test(NAME install_find_package COMMAND ${consumer} find_package ${scratch} -G ${CMAKE_GENERATOR} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
  -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
add_test(NAME install_pkg_config COMMAND ${consumer} pkg-config ${scratch})

set(sanitize)
if(AMGKIT_SANITIZE)
  set(sanitize "CFLAGS=-fsanitize=address,undefined" "CXXFLAGS=-fsanitize=address,undefined")
endif()
set_tests_properties(install_copy install_find_package install_pkg_config PROPERTIES LABELS install TIMEOUT 300
  ENVIRONMENT "${AMGKIT_TEST_ENVIRONMENT};CMAKE=${CMAKE_COMMAND};PETSC_DIR=${PETSC_DIR};PETSC_ARCH=${PETSC_ARCH};${sanitize}")
set_tests_properties(install_copy PROPERTIES FIXTURES_SETUP installed_copy)
set_tests_properties(install_find_package install_pkg_config PROPERTIES FIXTURES_REQUIRED installed_copy)
set_tests_properties(install_find_package PROPERTIES FIXTURES_SETUP linked_program)

# linked_test(name ranks OPTION... CHECK how what): the program of tutorials/linked
function(linked_test name ranks)
  amgkit_mpi_test(NAME tutorial_${name} RANKS ${ranks} LABELS tutorial COMMAND ${scratch}/build/jump -malloc_dump ${ARGN})
  set_tests_properties(${tests} PROPERTIES FIXTURES_REQUIRED "installed_copy;linked_program")
endfunction()
linked_test(jump "1;2;3;4" CHECK prints "^amgmatching +[12][0-9] ")
linked_test(jump_beside_gamg "1;2" -n 20 -other_pc_type gamg CHECK prints "^gamg +[0-9]+ ")
linked_test(jump_wrong 2 -n 20 -ksp_rtol 0.1 CHECK refuses "PC amgmatching: the residual is not small")

if(AMGKIT_AWK)
  set(manual bash ${CMAKE_CURRENT_SOURCE_DIR}/check_manual.sh)
  add_test(NAME install_manual COMMAND ${manual} ${scratch}/prefix ${AMGKIT_DOCUMENTED_PCS})
  add_test(NAME install_manual_check COMMAND ${manual} --self-test ${scratch}/prefix amgmatching)
  set_tests_properties(install_manual install_manual_check PROPERTIES LABELS install FIXTURES_REQUIRED installed_copy)
endif()
