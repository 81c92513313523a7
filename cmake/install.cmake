# cmake --install: nothing that is installed names a place outside its prefix, which may be moved.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tilec)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/tilecConfig.cmake.in ${CMAKE_BINARY_DIR}/package/tilecConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/tilecConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/tilec.pc.in ${CMAKE_BINARY_DIR}/package/tilec.pc @ONLY)

set(manual ${CMAKE_BINARY_DIR}/package/tilec.1)
add_custom_command(OUTPUT ${manual} COMMAND tilec --manual > ${manual} DEPENDS tilec VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual})

install(TARGETS tilec tile_static tile_shared tile_emu)
if(TARGET tilec_clang) # not in packages, which would depend on Clang: cmake --install build --component remap
  install(TARGETS tilec_clang LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT remap EXCLUDE_FROM_ALL)
endif()
install(DIRECTORY runtime/include/ runtime/device runtime/hip DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilec FILES_MATCHING PATTERN *.h)
install(FILES ${CMAKE_BINARY_DIR}/package/tilecConfig.cmake ${CMAKE_BINARY_DIR}/package/tilecConfigVersion.cmake
  cmake/tilec_add_library.cmake DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/package/tilec.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Completions, from the same tables: each shell looks for them in a folder of its own.
set(completions ${CMAKE_BINARY_DIR}/package/completions)
file(MAKE_DIRECTORY ${completions})
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${completions}/${shell} COMMAND tilec --completion=${shell} > ${completions}/${shell} DEPENDS tilec VERBATIM)
  list(APPEND completion_files ${completions}/${shell})
endforeach()
add_custom_target(completions ALL DEPENDS ${completion_files})
install(FILES ${completions}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tilec)
install(FILES ${completions}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _tilec)
install(FILES ${completions}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME tilec.fish)
file(RELATIVE_PATH examples_from_docs /${CMAKE_INSTALL_DOCDIR} /${CMAKE_INSTALL_DATADIR}/tilec/examples)
foreach(page README.md CONTRIBUTING.md CHANGELOG.md) # their links, as seen from the pages beside them in the prefix
  file(READ ${page} text)
  string(REPLACE "](docs/" "](" text "${text}")
  string(REPLACE "](examples/" "](${examples_from_docs}/" text "${text}")
  file(WRITE ${CMAKE_BINARY_DIR}/package/${page} "${text}")
  install(FILES ${CMAKE_BINARY_DIR}/package/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN *.hip)
install(DIRECTORY frontend/std editors examples DESTINATION ${CMAKE_INSTALL_DATADIR}/tilec)
install(FILES docs/reference/language-index.md DESTINATION ${CMAKE_INSTALL_DATADIR}/tilec) # words for editors
