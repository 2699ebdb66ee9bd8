# The manual: a page in section 3 for each type, under the name of its macro and of the type, made from its Markdown page, which is
# installed as well. The option lists of those pages are the parameter lists: plugin_test compares them.
set(AMGKIT_DOCUMENTED_PCS amgmatching amgclassical amgsa ilu2level)

find_program(AMGKIT_AWK awk)
if(NOT AMGKIT_AWK)
  message(STATUS "There is no awk: man pages are left out")
endif()
set(pages)
foreach(type ${AMGKIT_DOCUMENTED_PCS})
  set(source ${PROJECT_SOURCE_DIR}/share/amgkit/doc/${type}.md)
  install(FILES ${source} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/amgkit)
  if(AMGKIT_AWK)
    string(TOUPPER PC${type} name)
    set(page ${PROJECT_BINARY_DIR}/man/${name}.3)
    add_custom_command(OUTPUT ${page} DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/manual_page.awk VERBATIM
      COMMAND ${AMGKIT_AWK} -v version=${PROJECT_VERSION} -f ${PROJECT_SOURCE_DIR}/cmake/manual_page.awk ${source} > ${page})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/man/${type}.3 CONTENT ".so man3/${name}.3\n")
    list(APPEND pages ${page})
    install(FILES ${page} ${PROJECT_BINARY_DIR}/man/${type}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
  endif()
endforeach()
add_custom_target(amgkit_manual ALL DEPENDS ${pages})
