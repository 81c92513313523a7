# The command itself. The build tree has the shape of an installed prefix: bin/tilec beside include/tilec.
file(GLOB driver_sources CONFIGURE_DEPENDS driver/*.c)
add_executable(tilec ${driver_sources})
# Texts that it prints from: diagnostics, and the parts of the page of explain --html.
file(GLOB page_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/driver/page/*)
tilec_embed(tilec driver/pages.h Page pages page_count "" ${CMAKE_SOURCE_DIR}/docs/reference/diagnostics.md ${page_files})
file(RELATIVE_PATH runtime_from_bin /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_INCLUDEDIR}/tilec)
file(RELATIVE_PATH library_from_bin /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
target_compile_definitions(tilec PRIVATE TILEC_VERSION="${PROJECT_VERSION}" TILEC_RUNTIME_FROM_BIN="${runtime_from_bin}"
  TILEC_LIBRARY_FROM_BIN="${library_from_bin}")
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_INCLUDEDIR})
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/runtime ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_INCLUDEDIR}/tilec SYMBOLIC)
target_link_libraries(tilec PRIVATE tilec_frontend tilec_passes tilec_codegen tilec_ir tilec_base
  $<LINK_LIBRARY:WHOLE_ARCHIVE,tile_static,tile_emu> ${JANSSON_LIBRARY} Threads::Threads dl m)
# Generated libraries that `tilec run` loads find the runtime in the command itself.
target_include_directories(tilec PRIVATE runtime/include runtime)
set_target_properties(tilec PROPERTIES ENABLE_EXPORTS ON)
