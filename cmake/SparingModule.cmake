# sparing_module(NAME
#   SOURCES a.cc b.cc          # beside the module's CMakeLists.txt
#   USES base frame            # modules below, PUBLIC: their headers appear in ours
#   PRIVATE PkgConfig::FFMPEG  # third-party targets, never in public headers
#   TESTS a_test.cc ...        # unit tests, one executable for the module
#   HEAVY_TESTS a_test.cc      # of these the ones whose own loops take long: they are optimised
#   TEST_USES backend_fake     # what only the tests need
#   NOT_ON_WASI a.cc a_test.cc)  # of these the ones that WebAssembly has no system for
#
# Makes the library sparing_NAME (alias Sparing::NAME) and, with tests on, the executable NAME_test
# whose cases ctest runs under the label "unit"; the target `unit_tests` builds all of these.
function(sparing_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;PRIVATE;TESTS;HEAVY_TESTS;TEST_USES;NOT_ON_WASI" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sparing_module(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "WASI" AND arg_NOT_ON_WASI)
    list(REMOVE_ITEM arg_SOURCES ${arg_NOT_ON_WASI})
    list(REMOVE_ITEM arg_TESTS ${arg_NOT_ON_WASI})
  endif()
  add_library(sparing_${name} STATIC ${arg_SOURCES})
  add_library(Sparing::${name} ALIAS sparing_${name})
  set_target_properties(sparing_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(sparing_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
           $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_compile_features(sparing_${name} PUBLIC cxx_std_20)
  foreach(used IN LISTS arg_USES)
    target_link_libraries(sparing_${name} PUBLIC sparing_${used})
  endforeach()
  target_link_libraries(sparing_${name} PRIVATE $<BUILD_INTERFACE:sparing_build_flags>
                                                ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY SPARING_MODULES ${name})

  if(SPARING_BUILD_TESTS AND arg_TESTS)
    add_executable(${name}_test ${arg_TESTS})
    set_source_files_properties(${arg_HEAVY_TESTS} PROPERTIES COMPILE_OPTIONS -O1)
    target_link_libraries(${name}_test PRIVATE
      sparing_${name} sparing_test_flags GTest::gmock GTest::gtest_main ${arg_PRIVATE})
    foreach(used IN LISTS arg_TEST_USES)
      target_link_libraries(${name}_test PRIVATE sparing_${used})
    endforeach()
    target_compile_definitions(${name}_test PRIVATE SPARING_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    sparing_unit_tests(${name}_test ${name}.)
    add_dependencies(unit_tests ${name}_test)
  endif()
endfunction()

# sparing_unit_tests(EXECUTABLE PREFIX): its cases as tests PREFIXname under the label "unit". With
# sanitizers and under Node it is one test as a whole: there a process takes longer to start than most
# cases to run.
# AddressSanitizer ends a process in which TBB, which OpenVINO brings, opens libraries its usual way
# (RTLD_DEEPBIND).
function(sparing_unit_tests executable prefix)
  if(SPARING_SANITIZE OR CMAKE_SYSTEM_NAME STREQUAL "WASI")
    add_test(NAME ${executable} COMMAND ${executable})
    set_tests_properties(${executable} PROPERTIES LABELS unit TIMEOUT 900
                         ENVIRONMENT TBB_ENABLE_SANITIZERS=1)
  else()
    gtest_discover_tests(${executable} TEST_PREFIX "${prefix}" DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()

# sparing_fuzz(NAME SOURCE USES...): a libFuzzer executable bin/fuzz_NAME. The target `fuzzers` builds
# them all.
function(sparing_fuzz name source)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers fuzz_${name})
  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE sparing_build_flags)
  foreach(used IN LISTS ARGN)
    target_link_libraries(fuzz_${name} PRIVATE sparing_${used})
  endforeach()
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()
