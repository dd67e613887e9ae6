# Flags of our own targets. A consumer inherits the include folder and C++20, nothing else.
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

function(ropecache_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # Contraction changes results (docs/exactness.md): never, on any target that holds arithmetic.
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                           -Wnon-virtual-dtor)
  if(ROPECACHE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(ROPECACHE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ROPECACHE_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${ROPECACHE_SANITIZE})
  endif()
endfunction()

# A library that others link to: NAME becomes ropecache::NAME without its prefix.
function(ropecache_library target)
  string(REGEX REPLACE "^ropecache_" "" short ${target})
  add_library(ropecache::${short} ALIAS ${target})
  ropecache_flags(${target})
  # Before 1.0 a minor version may change the interface, and the package file refuses another one.
  set(ropecache_soversion ${PROJECT_VERSION_MAJOR})
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    string(APPEND ropecache_soversion .${PROJECT_VERSION_MINOR})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${short} VERSION ${PROJECT_VERSION}
                                             SOVERSION ${ropecache_soversion})
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()
