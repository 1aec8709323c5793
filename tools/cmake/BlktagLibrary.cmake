# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers that make blktag's libraries, programs and tests. Input: a folder's sources. Output:
# targets. All of them tolerate a folder that is still empty.

# blktag_library(<layer> [LINKS target...]): src/<layer>/*.cpp becomes library blktag_<layer>.
# Its LINKS are the layers (and outside libraries) it may include from; tests/layers reads them.
function(blktag_library layer)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/src/${layer})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  if(sources)
    add_library(blktag_${layer} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(blktag_${layer} PRIVATE blktag_warnings)
  else()
    add_library(blktag_${layer} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(blktag_${layer} ${scope} ${PROJECT_SOURCE_DIR}/include
                                                      ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(blktag_${layer} ${scope} ${ARG_LINKS})
  add_library(blktag::${layer} ALIAS blktag_${layer})
endfunction()

# blktag_program(<name> [LINKS target...]): tools/<name>/*.cpp becomes build/bin/<name>. A name
# in tools/ that has no sources yet makes nothing.
function(blktag_program name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tools) # tools/common
  target_compile_definitions(${name} PRIVATE BLKTAG_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} blktag_warnings)
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# blktag_gtest(<name> LABEL <label> SOURCES file... [LINKS target...]): one GoogleTest program,
# each of whose cases ctest lists by itself.
function(blktag_gtest name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${PROJECT_BINARY_DIR}/tests/${ARG_LABEL})
  target_compile_definitions(${name} PRIVATE BLKTAG_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             BLKTAG_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} blktag_warnings rapidcheck GTest::gmock
                                        GTest::gtest_main)
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                       PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300)
endfunction()
