# A build by pip (share/amgkit/python): for the PETSc that the Python environment has, with CUDA if that PETSc has it and there is an nvcc.
# The environment's PETSC_DIR and PETSC_ARCH name the PETSc, AMGKIT_CUDA=ON or OFF decides about CUDA, and AMGKIT_CUDA_ARCHITECTURES names the
# compute capabilities.
if(NOT DEFINED PETSC_DIR AND NOT DEFINED ENV{PETSC_DIR})
  # PyPI's package petsc. Python's own variables would lead to pip's environment for the build, where it is not.
  execute_process(COMMAND ${PYTHON_EXECUTABLE} -E -c "import petsc; print(petsc.get_petsc_dir())"
    OUTPUT_VARIABLE petsc_dir RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(status EQUAL 0)
    set(PETSC_DIR ${petsc_dir})
  endif()
endif()
find_package(PETSc REQUIRED)
message(STATUS "PETSc ${PETSC_VERSION}: ${AMGKIT_PETSC_LIBDIR}")

find_program(AMGKIT_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin PATHS /usr/local/cuda/bin)
if(NOT DEFINED AMGKIT_CUDA)
  set(AMGKIT_CUDA OFF)
  if(NOT "$ENV{AMGKIT_CUDA}" STREQUAL "")
    set(AMGKIT_CUDA $ENV{AMGKIT_CUDA})
  elseif(PETSC_HAVE_CUDA AND AMGKIT_NVCC)
    set(AMGKIT_CUDA ON)
  elseif(PETSC_HAVE_CUDA)
    message(STATUS "This PETSc has CUDA, but there is no nvcc: AMGKit is built for CPUs only")
  endif()
endif()
set(AMGKIT_PYTHON_CUDA False)
if(AMGKIT_CUDA)
  set(AMGKIT_PYTHON_CUDA True)
  if(AMGKIT_NVCC AND NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER ${AMGKIT_NVCC})
  endif()
  set(architectures "$ENV{AMGKIT_CUDA_ARCHITECTURES}")
  if(NOT architectures AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES) # those of the GPUs here
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE capabilities ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+[.][0-9]+" architectures "${capabilities}")
    list(REMOVE_DUPLICATES architectures)
    list(TRANSFORM architectures REPLACE "[.]" "")
  endif()
  if(architectures)
    set(CMAKE_CUDA_ARCHITECTURES ${architectures})
  endif()
endif()
message(STATUS "AMGKit is built with CUDA: ${AMGKIT_PYTHON_CUDA}")

# The wheel is a folder of Python's: no links beside the library, which finds its PETSc where it was built, and man pages where man looks,
# beside the environment's bin.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_PLATFORM_NO_VERSIONED_SONAME ON)
set(CMAKE_INSTALL_LIBDIR lib)
set(CMAKE_INSTALL_MANDIR ${SKBUILD_DATA_DIR}/share/man)
