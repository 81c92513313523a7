# Fuzz targets: one libFuzzer program a file of test/fuzz. Only in a build that test/fuzz/run.sh configures, with clang.
if(NOT TILEC_FUZZ)
  return()
endif()
# The readers of the examples have targets too.
file(GLOB reader_sources examples/common/input.c examples/stories/checkpoint.c examples/stories/tokenizer.c examples/spmv/market.c)
add_library(readers STATIC EXCLUDE_FROM_ALL ${reader_sources})
target_include_directories(readers PUBLIC examples)
target_compile_definitions(readers PUBLIC _GNU_SOURCE)

file(GLOB fuzz_sources CONFIGURE_DEPENDS test/fuzz/*.c)
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(fuzz_${name} PRIVATE tilec_frontend tilec_codegen tilec_ir readers tile_static m)
endforeach()
