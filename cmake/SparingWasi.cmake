# What a build for WebAssembly has in place of the packages of SparingDependencies: the machine's
# Highway, of which only headers are needed (one instruction set is compiled, none is chosen at run
# time), and GoogleTest from the sources that Debian's package brings.
find_path(SPARING_HWY_HEADERS hwy/highway.h PATHS /usr/local/include /usr/include
          NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)
# A folder with hwy/ alone: beside it lie headers of the machine's own C library.
set(sparing_hwy_only "${CMAKE_BINARY_DIR}/third_party")
file(MAKE_DIRECTORY "${sparing_hwy_only}")
file(CREATE_LINK "${SPARING_HWY_HEADERS}/hwy" "${sparing_hwy_only}/hwy" SYMBOLIC)
add_library(sparing_hwy INTERFACE)
add_library(PkgConfig::SPARING_HWY ALIAS sparing_hwy)
target_include_directories(sparing_hwy SYSTEM INTERFACE "${sparing_hwy_only}")

if(SPARING_BUILD_TESTS)
  find_path(SPARING_GTEST_SOURCES googletest/src/gtest-all.cc PATHS /usr/src/googletest
            NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  set(gtest "${SPARING_GTEST_SOURCES}/googletest")
  set(gmock "${SPARING_GTEST_SOURCES}/googlemock")
  add_library(sparing_gtest STATIC EXCLUDE_FROM_ALL
    "${gtest}/src/gtest-all.cc" "${gmock}/src/gmock-all.cc" "${gmock}/src/gmock_main.cc")
  target_include_directories(sparing_gtest SYSTEM
    PUBLIC "${gtest}/include" "${gmock}/include" PRIVATE "${gtest}" "${gmock}")
  # No processes, files or threads, but for what the tests print.
  target_compile_definitions(sparing_gtest PUBLIC
    GTEST_HAS_EXCEPTIONS=0 GTEST_HAS_PTHREAD=0 GTEST_HAS_DEATH_TEST=0
    GTEST_HAS_STREAM_REDIRECTION=0 GTEST_HAS_CLONE=0)
  target_compile_options(sparing_gtest PRIVATE -w -O1)
  add_library(GTest::gmock ALIAS sparing_gtest)
  add_library(GTest::gtest_main ALIAS sparing_gtest)
endif()

# Modules are downloaded: the presets optimise for size.
# sparing_hot_sources(FILE...): but not these, what runs for each pixel, or often. Loops over the components of a pixel
# are to be unrolled, loops over columns are vectors already.
function(sparing_hot_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_FLAGS "-O2 -fno-vectorize \
-fno-slp-vectorize -mllvm -unroll-runtime=0 -mllvm -unroll-allow-partial=0")
endfunction()
