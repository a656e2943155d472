# Cross build for WebAssembly with Debian's clang-22, wasi-libc and libc++; programs run under Node's
# WASI. One thread and no exceptions: this libc++ has neither, and import needs neither.
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasip1)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/..")  # for Platform/WASI.cmake

# CMake reads this file again in every trial build, which inherits the environment but not -D.
# OFF makes the fallback for engines without 128-bit vectors.
if(DEFINED SPARING_WASM_SIMD)
  set(ENV{SPARING_WASM_SIMD} "${SPARING_WASM_SIMD}")
elseif(DEFINED ENV{SPARING_WASM_SIMD})
  set(SPARING_WASM_SIMD "$ENV{SPARING_WASM_SIMD}")
else()
  set(SPARING_WASM_SIMD ON)
endif()

# Debian has these under the target's older name; the compiler looks for the newer one, and would then
# take the machine's own headers.
set(sparing_wasi /usr/include/wasm32-wasi)
set(sparing_wasm_flags "-nostdlibinc -isystem ${sparing_wasi}/c++/v1 -isystem ${sparing_wasi}")
string(APPEND sparing_wasm_flags " -fno-exceptions -fno-rtti -mbulk-memory")
if(SPARING_WASM_SIMD)
  string(APPEND sparing_wasm_flags " -msimd128")
endif()
set(CMAKE_CXX_FLAGS_INIT "${sparing_wasm_flags}")
# Linked with -O, the driver would hand the module to whatever wasm-opt is installed, and those older
# than the compiler break it.
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-B/usr/lib/wasm32-wasi -L/usr/lib/wasm32-wasi --no-wasm-opt")

set(CMAKE_FIND_ROOT_PATH /usr/lib/wasm32-wasi)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR "${CMAKE_CURRENT_LIST_DIR}/../../bindings/wasm/test/run-wasi.mjs")
