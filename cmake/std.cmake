# The standard library: frontend/std/*.tile become bytes of the binary.
file(GLOB std_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/frontend/std/*.tile)
set(std_source ${CMAKE_BINARY_DIR}/generated/frontend/library_files.c)
add_custom_command(OUTPUT ${std_source}
  COMMAND ${CMAKE_COMMAND} -DOUT=${std_source} "-DFILES=${std_files}" -DHEADER=frontend/library.h
    -DTYPE=LibraryFile -DLIST=library_files -DCOUNT=library_count -DPREFIX=std/ -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${std_files} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
target_sources(tilec_frontend PRIVATE ${std_source})
