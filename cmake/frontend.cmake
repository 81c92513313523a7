# The language: scanner and parser are generated; everything else is in frontend/.
set(syntax_dir ${CMAKE_BINARY_DIR}/generated/frontend/syntax)
file(MAKE_DIRECTORY ${syntax_dir})
add_custom_command(OUTPUT ${syntax_dir}/lex.c ${syntax_dir}/lex.h
  COMMAND ${FLEX_EXECUTABLE} --outfile=${syntax_dir}/lex.c --header-file=${syntax_dir}/lex.h lex.l
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/frontend/syntax DEPENDS ${CMAKE_SOURCE_DIR}/frontend/syntax/lex.l VERBATIM)
add_custom_command(OUTPUT ${syntax_dir}/gram.c ${syntax_dir}/gram.h
  COMMAND ${BISON_EXECUTABLE} -Wall -Werror --output=${syntax_dir}/gram.c --header=${syntax_dir}/gram.h gram.y
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/frontend/syntax DEPENDS ${CMAKE_SOURCE_DIR}/frontend/syntax/gram.y VERBATIM)
tilec_folder(frontend ${syntax_dir}/lex.c ${syntax_dir}/gram.c)
target_include_directories(tilec_frontend PRIVATE ${CMAKE_BINARY_DIR}/generated)
# What the generators write is not ours to tidy.
set_source_files_properties(${syntax_dir}/lex.c ${syntax_dir}/gram.c PROPERTIES COMPILE_OPTIONS
  "-Wno-sign-compare;-Wno-unused-function;-Wno-unused-parameter;-Wno-missing-prototypes;-Wno-unused-but-set-variable")
target_link_libraries(tilec_frontend PUBLIC tilec_ir ${JANSSON_LIBRARY})
target_link_libraries(tilec_base PUBLIC ${JANSSON_LIBRARY})
