# The command itself.
file(GLOB driver_sources CONFIGURE_DEPENDS driver/*.c)
add_executable(tilec ${driver_sources})
target_compile_definitions(tilec PRIVATE TILEC_VERSION="${PROJECT_VERSION}"
  TILEC_SOURCE_RUNTIME="${CMAKE_SOURCE_DIR}/runtime")
target_link_libraries(tilec PRIVATE tilec_frontend tilec_passes tilec_codegen tilec_ir tilec_base
  $<LINK_LIBRARY:WHOLE_ARCHIVE,tile_static> ${JANSSON_LIBRARY} Threads::Threads dl m)
# Generated libraries that `tilec run` loads find the runtime in the command itself.
target_include_directories(tilec PRIVATE runtime/include runtime)
set_target_properties(tilec PROPERTIES ENABLE_EXPORTS ON)
