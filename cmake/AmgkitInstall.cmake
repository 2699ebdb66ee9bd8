# cmake --install: the library, its header, a CMake package (find_package(AMGKit), target AMGKit::amgkit), amgkit.pc, and the option files.
include(CMakePackageConfigHelpers)

install(TARGETS amgkit EXPORT AMGKitTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/amgkit.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT AMGKitTargets NAMESPACE AMGKit:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AMGKit)
configure_package_config_file(cmake/AMGKitConfig.cmake.in ${PROJECT_BINARY_DIR}/AMGKitConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AMGKit)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AMGKitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AMGKitConfig.cmake ${PROJECT_BINARY_DIR}/AMGKitConfigVersion.cmake cmake/FindPETSc.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/AMGKit)
file(RELATIVE_PATH AMGKIT_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/amgkit.pc.in ${PROJECT_BINARY_DIR}/amgkit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/amgkit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY share/amgkit/options DESTINATION ${CMAKE_INSTALL_DATADIR}/amgkit COMPONENT common)
if(SKBUILD)
  configure_file(cmake/amgkit_build.py.in ${PROJECT_BINARY_DIR}/_build.py @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/_build.py DESTINATION .)
endif()
if(AMGKIT_DEBIAN)
  install(CODE "file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man3/*.3\")
    execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT common)
  include(CPack)
endif()
