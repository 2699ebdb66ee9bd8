# amgkit_mpi_test(NAME name COMMAND cmd... RANKS 1 2 ... [GATE_RANKS 1 ...] [REDUCED] [CHECK how what] [LABELS l...] [ENVIRONMENT e...]
# [TIMEOUT s]): one ctest for each number of ranks, name_np<N>; sets `tests` to their names. With CHECK, tests/petsc/run_and_check.sh also judges
# what is printed.
# The gate, which runs before every change lands, has the tests on GATE_RANKS: none, or by default 1 and 3, with sanitizers 3 alone, else the
# first. The others have the label `full` and run on request. REDUCED says that the program leaves out some of its checks unless AMGKIT_FULL is set; name_full_np<N>, labelled
# `full` too, has all of them.
#
# Open MPI gets its permission to run as root and to share cores, and binds no process to one: it would bind those of two tests at a time to the
# same. Other MPIs ignore these variables.
set(AMGKIT_TEST_ENVIRONMENT
    "OMPI_ALLOW_RUN_AS_ROOT=1" "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" "OMPI_MCA_rmaps_base_oversubscribe=1" "OMPI_MCA_hwloc_base_binding_policy=none" "OMPI_MCA_btl_base_warn_component_unused=0"
    "OMPI_MCA_mpi_yield_when_idle=1" "OMP_NUM_THREADS=1" "OPENBLAS_NUM_THREADS=1" "ASAN_OPTIONS=detect_leaks=0" "UBSAN_OPTIONS=print_stacktrace=1")

# out: those numbers of ranks on which this build runs a test. All of them are for the builds that users have; with sanitizers, and with 64-bit
# indices, which are built to see other mistakes than those of a number of ranks, it is one rank and an odd number of them, or the least.
function(amgkit_ranks out)
  set(given ${ARGN})
  set(ranks ${given})
  if(AMGKIT_SANITIZE OR PETSC_INDEX_BITS EQUAL 64)
    list(FILTER ranks INCLUDE REGEX "^[138]$")
    if(given AND NOT ranks)
      list(GET given 0 ranks)
    endif()
  endif()
  set(${out} ${ranks} PARENT_SCOPE)
endfunction()

function(amgkit_mpi_test)
  cmake_parse_arguments(T "REDUCED" "NAME;TIMEOUT" "COMMAND;RANKS;GATE_RANKS;CHECK;LABELS;ENVIRONMENT" ${ARGN})
  set(check)
  if(T_CHECK)
    set(check bash ${PROJECT_SOURCE_DIR}/tests/petsc/run_and_check.sh ${T_CHECK})
  endif()
  amgkit_ranks(all ${T_RANKS})
  set(gate ${T_GATE_RANKS})
  if(NOT gate)
    set(gate ${all})
    if(AMGKIT_SANITIZE)
      list(FILTER gate INCLUDE REGEX "^3$")
    else()
      list(FILTER gate INCLUDE REGEX "^[13]$")
    endif()
    if(all AND NOT gate)
      list(GET all 0 gate)
    endif()
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  set(tests)
  foreach(ranks ${all})
    set(names ${T_NAME}_np${ranks})
    if(T_REDUCED AND ranks IN_LIST gate)
      list(APPEND names ${T_NAME}_full_np${ranks})
    endif()
    foreach(name ${names})
      set(environment ${AMGKIT_TEST_ENVIRONMENT} ${T_ENVIRONMENT})
      set(labels ${T_LABELS})
      if(name MATCHES "_full_np" OR NOT ranks IN_LIST gate)
        list(APPEND environment AMGKIT_FULL=1)
        list(APPEND labels full)
      endif()
      add_test(NAME ${name} COMMAND ${check} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${T_COMMAND})
      set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" LABELS "${labels}" TIMEOUT ${T_TIMEOUT} PROCESSORS ${ranks}
        SKIP_RETURN_CODE 77)
      list(APPEND tests ${name})
    endforeach()
  endforeach()
  set(tests ${tests} PARENT_SCOPE)
endfunction()

function(amgkit_skipped_test name label reason)
  message(STATUS "Test ${name} is skipped: ${reason}")
  add_test(NAME ${name} COMMAND sh -c "echo 'skipped: ${reason}'; exit 77")
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS ${label})
endfunction()
