# Language level, warnings, sanitizers and where binaries go.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  # Import takes about 200 kB of stack, of 64 kB by default. Below everything else, an overflow traps and
  # does not overwrite.
  add_link_options(-Wl,--stack-first -Wl,-z,stack-size=1048576)
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
include(GNUInstallDirs)

add_library(sparing_build_flags INTERFACE)
# Designated initializers leave members at their defaults on purpose; GCC warns of those that have
# none written down.
target_compile_options(sparing_build_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 and 13 see overlaps in std::string's operator+ that are not there (GCC bug 105651).
  target_compile_options(sparing_build_flags INTERFACE -Wno-restrict)
endif()
if(SPARING_WERROR)
  target_compile_options(sparing_build_flags INTERFACE -Werror)
endif()
if(SPARING_SANITIZE)
  target_compile_options(sparing_build_flags INTERFACE
    -fsanitize=${SPARING_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sparing_build_flags INTERFACE -fsanitize=${SPARING_SANITIZE})
  # Vector code takes minutes to compile so; what is left has each of its ways.
  target_compile_definitions(sparing_build_flags INTERFACE SPARING_FEW_SIMD_TARGETS)
endif()
if(SPARING_BUILD_FUZZ)
  # Coverage for all of our code; the fuzz targets themselves link libFuzzer's main.
  target_compile_options(sparing_build_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(sparing_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The command line takes longer to compile than its own code runs: it is optimised less than the
# library.
add_library(sparing_light_flags INTERFACE)
target_link_libraries(sparing_light_flags INTERFACE sparing_build_flags)
target_compile_options(sparing_light_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:-O1>)

# Unit tests still more so, unless an emulator runs them, and their own lines are only watched for
# what they do to memory: most of the time of a build with sanitizers went there.
add_library(sparing_test_flags INTERFACE)
target_link_libraries(sparing_test_flags INTERFACE sparing_build_flags)
target_compile_options(sparing_test_flags INTERFACE $<IF:$<BOOL:${CMAKE_CROSSCOMPILING}>,-O1,-O0>)
if(SPARING_SANITIZE)
  target_compile_options(sparing_test_flags INTERFACE -fno-sanitize=undefined)
endif()
if(SPARING_BUILD_FUZZ)
  target_compile_options(sparing_test_flags INTERFACE -fno-sanitize=fuzzer-no-link)
endif()
