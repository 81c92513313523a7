# cpack: a Debian package and a tarball of what `cmake --install` installs. For machines without isl, gmp and jansson the
# build is made with -D TILEC_STATIC_LIBRARIES=ON.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "tilec")
set(CPACK_PACKAGE_CONTACT "tilec's maintainers <maintainers@tilec.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for tile-dataflow kernels, with its runtime")
set(CPACK_PACKAGE_DESCRIPTION "Turns small programs over tiles of tensors into C for CPUs, and HIP C for GPUs of AMD and
NVIDIA, on one rank or several. Flags between tiles are proved free of races and deadlocks.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gcc | c-compiler, libc6-dev | libc-dev") # for what tilec emits
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, ninja-build, pkg-config")
file(WRITE ${CMAKE_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/package/triggers)
include(CPack)
