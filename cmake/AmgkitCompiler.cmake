# Flags of the whole project, ccache, and the CUDA language when it is asked for.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # A clone in another folder finds what this one compiled. And what ccache must overlook to take precompiled headers.
  set(ccache ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache})
endif()

# No contraction to fused multiply-add: sums that decide a graph must have the same bits in every space.
add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-Wall> $<$<COMPILE_LANGUAGE:CXX,C>:-Wextra> $<$<COMPILE_LANGUAGE:CXX,C>:-ffp-contract=off>)
# -g1: profilers and backtraces show functions and lines, and all else of -g takes a third of the compiler's time
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1")
if(AMGKIT_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined -O1 -g1)
  add_link_options(-fsanitize=address,undefined)
endif()

if(AMGKIT_CUDA)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  cmake_policy(PUSH)
  cmake_policy(VERSION 3.24) # with 3.25's policies, CMake 3.25's FindCUDAToolkit stops at a library that CUDA 13 no longer has
  find_package(CUDAToolkit REQUIRED)
  cmake_policy(POP)
  # The first kernel of a file waits until all code of the file is unpacked and loaded, of which the lines are the larger part.
  option(AMGKIT_CUDA_LINES "Kernels know their source lines, for ncu and compute-sanitizer" OFF)
  set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3 -Xcompiler=-g1")
  if(AMGKIT_CUDA_LINES)
    string(APPEND CMAKE_CUDA_FLAGS_RELWITHDEBINFO " -lineinfo")
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--fmad=false;-Xcompiler=-Wall,-Wextra,-ffp-contract=off;-Werror=all-warnings>")
endif()
