# Several sources to a file save the compiler most of its time, which goes into the headers; one a file keeps a rebuild short and lets every
# header show that it includes what it needs.
# But a process's first kernel of a file waits until all code of the file is loaded: with several files of GPU kernels in one, first setups of
# packages took three times as long.
set(per_file 1)
set(per_gpu_file 1)
if(SKBUILD OR AMGKIT_DEBIAN) # packages are built once
  set(per_file 6)
endif()
if("$ENV{AMGKIT_SOURCES_PER_FILE}" MATCHES "^[1-9][0-9]*$")
  set(per_file $ENV{AMGKIT_SOURCES_PER_FILE})
  set(per_gpu_file ${per_file})
endif()
set(AMGKIT_SOURCES_PER_FILE ${per_file} CACHE STRING "Sources compiled as one file; default: the environment's AMGKIT_SOURCES_PER_FILE, or 1, and 6 for packages")
set(AMGKIT_GPU_SOURCES_PER_FILE ${per_gpu_file} CACHE STRING "The same for GPU kernels; default: the environment's AMGKIT_SOURCES_PER_FILE, or 1")

# amgkit_batches(out name size source...): sources, or files name_<N>.cpp that include `size` of them each. The sources are named as the include
# path finds them: CMake's own UNITY_BUILD names them by absolute paths, with which ccache serves no clone in another folder.
function(amgkit_batches out name size)
  set(sources ${ARGN})
  set(batches)
  while(sources)
    list(SUBLIST sources 0 ${size} batch)
    list(REMOVE_ITEM sources ${batch})
    if(size GREATER 1)
      list(LENGTH batches number)
      list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
      list(JOIN batch "" includes)
      set(batch ${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}.cpp)
      file(CONFIGURE OUTPUT ${batch} CONTENT "${includes}")
      # GCC takes an included source for a header, which ought to have no types of its own.
      set_source_files_properties(${batch} PROPERTIES COMPILE_OPTIONS $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    endif()
    list(APPEND batches ${batch})
  endwhile()
  set(${out} ${batches} PARENT_SCOPE)
endfunction()
