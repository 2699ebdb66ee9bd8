# How a program comes to the plugin, and what the plugin and its options refuse: all with PETSc's ex2.
set(solve -m 60 -n 60 -pc_type amgmatching -ksp_type cg -ksp_converged_reason -malloc_dump)
set(ex2 $<TARGET_FILE:ex2> ${solve})

petsc_test(petsc_load_environment ENVIRONMENT ${load} CHECK converges 15 COMMAND ${ex2})
petsc_test(petsc_load_command_line CHECK converges 15 COMMAND ${ex2} -dll_append $<TARGET_LINKER_FILE:amgkit>)
petsc_test(petsc_load_petscrc CHECK converges 15 COMMAND ${ex2})
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/petscrc/.petscrc CONTENT "-dll_append $<TARGET_LINKER_FILE:amgkit>\n")
set_tests_properties(petsc_load_petscrc PROPERTIES WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/petscrc)
petsc_test(petsc_load_nothing CHECK refuses "Unable to find requested PC type amgmatching" COMMAND ${ex2})

petsc_test(petsc_refuse_option RANKS 1 3 ENVIRONMENT ${load} COMMAND ${ex2} -pc_amgmatching_smoother nonsense
  CHECK refuses "-pc_amgmatching_smoother must be one of auto, l1jacobi, jacobi, chebyshev, ilu0, gauss_seidel, and not nonsense")

# Another minor version, by an ex2 that has its own PetscGetVersionNumber()
petsc_program(ex2_other_version PETSc::PETSc ${ex2_source} ${CMAKE_CURRENT_SOURCE_DIR}/other_version.c)
set_target_properties(ex2_other_version PROPERTIES ENABLE_EXPORTS ON)
petsc_test(petsc_refuse_version ENVIRONMENT ${load} COMMAND $<TARGET_FILE:ex2_other_version> ${solve}
  CHECK refuses "AMGKit was built for PETSc ${petsc_minor} and cannot be used with PETSc")

# other_petsc(name dir text): ex2 compiled for the PETSc in dir, which the plugin must refuse with this text
function(other_petsc name dir text)
  set(saved "$ENV{PKG_CONFIG_PATH}")
  set(ENV{PKG_CONFIG_PATH} ${dir}/lib/pkgconfig)
  if(EXISTS ${dir}/lib/pkgconfig/PETSc.pc)
    pkg_check_modules(AMGKIT_${name} QUIET IMPORTED_TARGET PETSc)
  endif()
  set(ENV{PKG_CONFIG_PATH} "${saved}")
  set(source ${dir}/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c)
  if(NOT EXISTS ${source} AND AMGKIT_${name}_VERSION MATCHES "^${petsc_minor}")
    set(source ${ex2_source})
  endif()
  if(NOT AMGKIT_${name}_FOUND OR NOT EXISTS ${source})
    amgkit_skipped_test(petsc_refuse_${name} petsc "there is no PETSc with its ex2 in ${dir}")
    return()
  endif()
  petsc_program(ex2_${name} PkgConfig::AMGKIT_${name} ${source})
  petsc_test(petsc_refuse_${name} ENVIRONMENT ${load} CHECK refuses "${text}" COMMAND $<TARGET_FILE:ex2_${name}> ${solve})
endfunction()

other_petsc(complex ${AMGKIT_COMPLEX_PETSC_DIR} "AMGKit needs a PETSc with real scalars in double precision")
other_petsc(index_size ${AMGKIT_OTHER_INDEX_PETSC_DIR} "AMGKit was built for ${PETSC_INDEX_BITS}-bit PetscInt, this PETSc has")

# A build for GPUs where none can be used: an error on all ranks, or with -amgkit_gpu try the CPU and not a word of an error.
# gpu_test(name reason COMMAND c...)
function(gpu_test name reason)
  cmake_parse_arguments(G "" "" "COMMAND" ${ARGN})
  set(ranks RANKS 1 3 GATE_RANKS 3)
  set(run COMMAND ${G_COMMAND} $<TARGET_FILE:ex2> ${solve})
  petsc_test(petsc_gpu_${name} ${ranks} ENVIRONMENT ${load} CHECK refuses "No GPU to run on, as -amgkit_gpu asks: (on process 0 )?${reason}"
    ${run} -amgkit_gpu)
  petsc_test(petsc_gpu_${name}_try ${ranks} ENVIRONMENT ${load} CHECK prints " not on a GPU, as -amgkit_gpu try allows: (on process 0 )?${reason}"
    ${run} -amgkit_gpu try -ksp_view)
endfunction()
if(AMGKIT_CUDA)
  set(broken ${CMAKE_CURRENT_BINARY_DIR}/broken)
  add_library(old_driver SHARED ${CMAKE_CURRENT_SOURCE_DIR}/broken_gpu.c)
  target_compile_definitions(old_driver PRIVATE OLD_DRIVER)
  set_target_properties(old_driver PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${broken} OUTPUT_NAME cuda SUFFIX .so.1)
  add_dependencies(petsc_examples old_driver)
  gpu_test(old_driver "the NVIDIA driver is for CUDA 11[.]4 and this build needs one for CUDA 1"
    COMMAND ${CMAKE_COMMAND} -E env --modify LD_LIBRARY_PATH=path_list_prepend:${broken})
  if(PETSC_HAVE_CUDA) # else the library has its own runtime inside, where nothing can take its place
    add_library(broken_gpu SHARED ${CMAKE_CURRENT_SOURCE_DIR}/broken_gpu.c)
    add_dependencies(petsc_examples broken_gpu)
    set(preload LD_PRELOAD=$<TARGET_FILE:broken_gpu>)
    gpu_test(busy "the GPU cannot be used: .*cudaErrorDevicesUnavailable" COMMAND ${CMAKE_COMMAND} -E env BROKEN_GPU=46 ${preload})
    petsc_test(petsc_gpu_busy_heads RANKS 3 ENVIRONMENT ${load}
      CHECK prints " not consolidated: a process that would work for others has no GPU that can be used"
      COMMAND ${CMAKE_COMMAND} -E env BROKEN_GPU=46 ${preload} $<TARGET_FILE:ex2> ${solve} -amgkit_gpu try -ksp_view)
    gpu_test(no_memory "the GPU cannot be used: .*cudaErrorMemoryAllocation" COMMAND ${CMAKE_COMMAND} -E env BROKEN_GPU=2 ${preload})
  endif()
endif()
