# Unit tests: one program a file. They are run by lit, through the .test files that name them.
file(GLOB unit_sources CONFIGURE_DEPENDS test/unit/*.c)
add_custom_target(unit)
foreach(source ${unit_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(unit_${name} EXCLUDE_FROM_ALL ${source})
  set_target_properties(unit_${name} PROPERTIES OUTPUT_NAME ${name} ENABLE_EXPORTS ON
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unit)
  target_compile_definitions(unit_${name} PRIVATE TILEC_SOURCE="${CMAKE_SOURCE_DIR}")
  target_compile_options(unit_${name} PRIVATE -O1) # of the test alone: half of the time to compile
  target_link_libraries(unit_${name} PRIVATE tilec_frontend tilec_passes tilec_codegen tilec_ir tilec_base
    $<LINK_LIBRARY:WHOLE_ARCHIVE,tile_static,tile_emu> ${JANSSON_LIBRARY} Threads::Threads dl m)
  add_dependencies(unit unit_${name})
endforeach()
target_sources(unit_cgen_run PRIVATE driver/shard.c)

# Libraries that tests preload into a command, to make what it asks of the system fail.
file(GLOB preload_sources CONFIGURE_DEPENDS test/preload/*.c)
foreach(source ${preload_sources})
  get_filename_component(name ${source} NAME_WE)
  add_library(${name} MODULE EXCLUDE_FROM_ALL ${source})
  target_include_directories(${name} PRIVATE runtime/include runtime)
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unit)
  add_dependencies(unit ${name})
endforeach()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
configure_file(test/lit.site.cfg.py.in ${CMAKE_BINARY_DIR}/test/lit.site.cfg.py @ONLY)
