# What `cmake --install` lays down: headers, libraries, a CMake package (ropecache::ropecache, ropecache::model) and
# pkg-config files. All of it can be moved as one folder.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ropecache)
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix "${pkgconfig_to_prefix}")

set(libraries ropecache)
if(ROPECACHE_BUILD_MODEL)
  list(APPEND libraries ropecache_model)
endif()

install(TARGETS ${libraries} EXPORT ropecache-targets)
install(DIRECTORY include/ropecache DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT ropecache-targets NAMESPACE ropecache:: DESTINATION ${package_dir})

# While the major version is 0 a minor one may change the interface.
configure_package_config_file(cmake/ropecache-config.cmake.in ${PROJECT_BINARY_DIR}/ropecache-config.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ropecache-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ropecache-config.cmake ${PROJECT_BINARY_DIR}/ropecache-config-version.cmake
        DESTINATION ${package_dir})

# A static library hands its dependency on.
if(BUILD_SHARED_LIBS)
  set(requires_highway Requires.private)
else()
  set(requires_highway Requires)
endif()
foreach(library IN LISTS libraries)
  configure_file(cmake/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Shared libraries and the programs beside them find each other wherever the folder is moved.
file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
if(APPLE)
  set(here @loader_path)
else()
  set(here $ORIGIN)
endif()
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH ${here})
if(TARGET ropecache_cli)
  set_target_properties(ropecache_cli PROPERTIES INSTALL_RPATH ${here}/${bin_to_lib})
endif()
