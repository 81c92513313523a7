# frontend/clang: reads HIP files with Clang's libraries, for `tilec remap`. A library of its own, which the command opens
# when it is asked to: everything else starts without Clang. Where libclang-22-dev is missing, the command says so.
find_path(CLANG_INCLUDE clang/Tooling/Tooling.h PATHS /usr/lib/llvm-22/include NO_DEFAULT_PATH)
find_path(LLVM_INCLUDE llvm/ADT/StringRef.h PATHS /usr/lib/llvm-22/include /usr/include/llvm-22 NO_DEFAULT_PATH)
find_library(CLANG_CPP_LIBRARY NAMES clang-cpp libclang-cpp.so.22.1 PATHS /usr/lib/llvm-22/lib NO_DEFAULT_PATH)
find_library(LLVM_LIBRARY NAMES LLVM-22 PATHS /usr/lib/llvm-22/lib NO_DEFAULT_PATH)
find_path(CLANG_RESOURCES include/stddef.h PATHS /usr/lib/llvm-22/lib/clang/22 NO_DEFAULT_PATH)
include(CheckLanguage)
check_language(CXX)
if(NOT TILEC_FUZZ AND CLANG_INCLUDE AND LLVM_INCLUDE AND CLANG_CPP_LIBRARY AND LLVM_LIBRARY AND CLANG_RESOURCES AND CMAKE_CXX_COMPILER)
  enable_language(CXX)
  file(GLOB clang_sources CONFIGURE_DEPENDS frontend/clang/*.cpp)
  add_library(tilec_clang MODULE ${clang_sources})
  target_compile_features(tilec_clang PRIVATE cxx_std_17)
  target_include_directories(tilec_clang PRIVATE ${CMAKE_SOURCE_DIR})
  target_include_directories(tilec_clang SYSTEM PRIVATE ${CLANG_INCLUDE} ${LLVM_INCLUDE})
  target_compile_definitions(tilec_clang PRIVATE TILEC_CLANG_RESOURCES="${CLANG_RESOURCES}" _GNU_SOURCE __STDC_CONSTANT_MACROS
    __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
  # LLVM is built without run-time types; inlined parts of Clang's headers make g++ say `nonnull`.
  target_compile_options(tilec_clang PRIVATE -O1 -Wno-nonnull -fno-rtti -fno-exceptions -fvisibility-inlines-hidden -g0)
  target_link_libraries(tilec_clang PRIVATE ${CLANG_CPP_LIBRARY} ${LLVM_LIBRARY})
endif()
