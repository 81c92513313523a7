# Texts that are bytes of the binary: the standard library, frontend/std/*.tile, and the schedules, codegen/schedules/*.hip.
function(tilec_embed target header type list count prefix)
  set(source ${CMAKE_BINARY_DIR}/generated/${list}.c)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUT=${source} "-DFILES=${ARGN}" -DHEADER=${header} -DTYPE=${type} -DLIST=${list}
      -DCOUNT=${count} -DPREFIX=${prefix} -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()

file(GLOB std_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/frontend/std/*.tile)
tilec_embed(tilec_frontend frontend/sema/library.h LibraryFile library_files library_count std/ ${std_files})
file(GLOB schedule_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/codegen/schedules/*.hip)
tilec_embed(tilec_codegen codegen/codegen.h ScheduleFile schedule_files schedule_count schedules/ ${schedule_files})
