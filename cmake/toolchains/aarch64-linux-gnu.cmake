# Cross build for 64-bit Arm Linux with Debian's g++-aarch64-linux-gnu; programs run under qemu-user.
# Highway and GoogleTest for arm64 lie under SPARING_SYSROOT (scripts/setup --ci unpacks them).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)  # notes on an ABI change of GCC 10

# CMake reads this file again in every trial build, which inherits the environment but not -D.
if(SPARING_SYSROOT)
  set(ENV{SPARING_SYSROOT} "${SPARING_SYSROOT}")
elseif(DEFINED ENV{SPARING_SYSROOT})
  set(SPARING_SYSROOT "$ENV{SPARING_SYSROOT}")
elseif(DEFINED ENV{SPARING_DEPS_DIR})
  set(SPARING_SYSROOT "$ENV{SPARING_DEPS_DIR}/arm64")
else()
  set(SPARING_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../../.deps/arm64")
endif()
cmake_path(ABSOLUTE_PATH SPARING_SYSROOT NORMALIZE)

# The C library and the C++ runtime are the cross compiler's own, so this is no --sysroot.
set(CMAKE_FIND_ROOT_PATH "${SPARING_SYSROOT}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${SPARING_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${SPARING_SYSROOT}")

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
