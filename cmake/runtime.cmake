# The runtime: a library of its own, which includes nothing of the compiler.
file(GLOB runtime_sources CONFIGURE_DEPENDS runtime/src/*.c)
add_library(tile_objects OBJECT ${runtime_sources}) # compiled once for both libraries
target_include_directories(tile_objects PRIVATE runtime/include runtime)
target_compile_definitions(tile_objects PRIVATE _GNU_SOURCE)
foreach(kind STATIC SHARED)
  string(TOLOWER tile_${kind} name)
  add_library(${name} ${kind} $<TARGET_OBJECTS:tile_objects>)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME tile)
  target_include_directories(${name} PUBLIC runtime/include runtime)
  target_link_libraries(${name} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
endforeach()

# The emulator of GPUs, in programs that want it: tilec itself, tests.
file(GLOB emulator_sources CONFIGURE_DEPENDS runtime/emu/*.c)
add_library(tile_emu STATIC ${emulator_sources})
target_include_directories(tile_emu PUBLIC runtime/include runtime)
target_compile_definitions(tile_emu PRIVATE _GNU_SOURCE)
target_link_libraries(tile_emu PUBLIC m Threads::Threads)

# The exhaustive check of the protocol runs the text of device/host.h over its own memory.
file(GLOB protocol_sources CONFIGURE_DEPENDS test/protocol/*.c)
add_executable(unit_protocol EXCLUDE_FROM_ALL ${protocol_sources})
set_target_properties(unit_protocol PROPERTIES OUTPUT_NAME protocol RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unit)
target_include_directories(unit_protocol PRIVATE runtime/include runtime test/protocol)
target_compile_definitions(unit_protocol PRIVATE TILE_MODEL="model.h")
cmake_language(DEFER CALL add_dependencies unit unit_protocol)
