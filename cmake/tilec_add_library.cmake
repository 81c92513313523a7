# tilec_add_library(NAME [STATIC|SHARED] SOURCES FILE.tile.. [TARGETS TARGET..] [DEFINES DIM=N..] [INCLUDES DIR..]
#                   [RANKS N] [OPTIONS OPTION..] [COMPILE_OPTIONS FLAG..])
#
# A library of the programs of the sources: link it, and include PROGRAM.h. DEFINES are -D, INCLUDES are -I of tilec
# compile, RANKS is --ranks, OPTIONS any others; COMPILE_OPTIONS go to the C compiler, behind those of
# `tilec targets host --flags`. TARGETS are those of `tilec targets`, host if none is said; with a GPU among them tilec calls
# the compilers itself, and COMPILE_OPTIONS are refused. A source is compiled again when it changes, or a file that it imports, or tilec itself.
# Which programs a source has is asked of tilec when the project is configured. Ninja asks again when the source changes,
# and configures only if the answer is another one; with other generators a changed source configures.
cmake_policy(VERSION 3.21) # whatever the project asks for; CMP0116: depfiles have absolute paths
function(tilec_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED" "RANKS" "SOURCES;TARGETS;DEFINES;INCLUDES;OPTIONS;COMPILE_OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "tilec_add_library(${name}): SOURCES are missing, or not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(emit src)
  set(ending c)
  if(arg_TARGETS AND NOT arg_TARGETS STREQUAL "host")
    set(emit obj)
    set(ending o)
    if(arg_COMPILE_OPTIONS)
      message(FATAL_ERROR "tilec_add_library(${name}): COMPILE_OPTIONS are for the host alone, not for ${arg_TARGETS}")
    endif()
  endif()
  tilec_command_words(words)
  get_target_property(tilec tilec::tilec IMPORTED_LOCATION)
  set(generated "")
  foreach(source IN LISTS arg_SOURCES)
    tilec_generate(${source})
  endforeach()

  set(kind STATIC)
  set(runtime tilec::tile)
  if(arg_SHARED)
    set(kind SHARED)
    set(runtime tilec::tile_shared)
  endif()
  add_library(${name} ${kind} ${generated})
  execute_process(COMMAND ${tilec} targets host --flags OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  list(FILTER flags EXCLUDE REGEX "^-I") # tilec::tile has them
  target_compile_options(${name} PRIVATE ${flags} ${arg_COMPILE_OPTIONS})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir)
  target_link_libraries(${name} PUBLIC ${runtime})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C POSITION_INDEPENDENT_CODE ON)
endfunction()

# The options of the call as words of a tilec command.
macro(tilec_command_words to)
  set(${to} ${arg_OPTIONS})
  if(arg_TARGETS)
    list(JOIN arg_TARGETS "," targets)
    list(APPEND ${to} --target=${targets})
  endif()
  if(arg_RANKS)
    list(APPEND ${to} --ranks=${arg_RANKS})
  endif()
  foreach(define IN LISTS arg_DEFINES)
    list(APPEND ${to} -D ${define})
  endforeach()
  foreach(folder IN LISTS arg_INCLUDES)
    get_filename_component(folder ${folder} ABSOLUTE)
    list(APPEND ${to} -I ${folder})
  endforeach()
endmacro()

# Sets programs: those of a source, one to a line of --emit=programs.
macro(tilec_list_programs path)
  set(ask ${tilec} compile ${path} ${words} --emit=programs)
  execute_process(COMMAND ${ask} OUTPUT_VARIABLE programs RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "tilec_add_library(${name}): tilec does not take ${path}")
  endif()
  tilec_watch_programs(${path})
  string(REGEX MATCHALL "[^\n]+" programs "${programs}")
endmacro()

# Ninja brings what the configuration depends on up to date before it looks whether to configure; make does not.
macro(tilec_watch_programs path)
  set(watched ${path})
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(watched ${dir}/${stem}.tile.programs)
    file(WRITE ${watched}.new "${programs}")
    file(COPY_FILE ${watched}.new ${watched} ONLY_IF_DIFFERENT)
    add_custom_command(OUTPUT ${watched} DEPENDS ${path} COMMAND ${ask} > ${watched}.new
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${watched}.new ${watched} COMMENT "tilec ${source}: its programs"
      VERBATIM)
    list(APPEND generated ${watched}) # a rule that no target has is not written
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${watched})
endmacro()

# Adds the rule for the files made of a source; appends them to generated.
macro(tilec_generate source)
  get_filename_component(path ${source} ABSOLUTE)
  get_filename_component(stem ${source} NAME_WE)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir)
  tilec_list_programs(${path})
  string(MD5 key "${programs}") # a depfile of other programs names files that no rule makes
  set(depfile ${dir}/${stem}.${key}.d)
  set(files "")
  foreach(program IN LISTS programs)
    list(APPEND files ${dir}/${program}.${ending})
  endforeach()
  list(TRANSFORM files REPLACE "[co]$" "h" OUTPUT_VARIABLE headers)
  if(emit STREQUAL "obj")
    set_source_files_properties(${files} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  endif()
  file(MAKE_DIRECTORY ${dir})
  add_custom_command(OUTPUT ${files} ${headers} DEPENDS ${path} ${tilec} DEPFILE ${depfile}
    COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} ${tilec} compile ${path} -o ${dir} -MF ${depfile} ${words}
      --emit=${emit}
    COMMENT "tilec ${source}" VERBATIM)
  list(APPEND generated ${files} ${headers})
endmacro()
