# CMake 3.25 does not know WASI: read for the toolchain file's CMAKE_SYSTEM_NAME.
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
set(CMAKE_STATIC_LIBRARY_PREFIX lib)
set(CMAKE_STATIC_LIBRARY_SUFFIX .a)
