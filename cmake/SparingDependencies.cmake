# Everything from outside, found here once. Versions: DESIGN section 6 and scripts/setup.
if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  include(SparingWasi)
  return()
endif()
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SPARING_HWY REQUIRED IMPORTED_TARGET libhwy>=1.0.3)
if(SPARING_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(SPARING_KERNELS_ONLY)
  return()
endif()

# -DOpenVINO_DIR counts most, then the folder that scripts/setup was told to use.
if(NOT OpenVINO_DIR)
  set(sparing_deps "${PROJECT_SOURCE_DIR}/.deps")
  if(NOT "$ENV{SPARING_DEPS_DIR}" STREQUAL "")
    file(TO_CMAKE_PATH "$ENV{SPARING_DEPS_DIR}" sparing_deps)
  endif()
  file(GLOB sparing_openvino_dirs "${sparing_deps}/openvino-*/openvino/cmake")
  if(sparing_openvino_dirs)
    list(GET sparing_openvino_dirs -1 OpenVINO_DIR)
  endif()
endif()
find_package(OpenVINO REQUIRED COMPONENTS Runtime)
# Installed programs find it where it is now. CMAKE_INSTALL_RPATH_USE_LINK_PATH would leave it out: it
# skips folders inside the source tree, where .deps is.
get_target_property(sparing_openvino_library openvino::runtime IMPORTED_LOCATION_RELEASE)
cmake_path(GET sparing_openvino_library PARENT_PATH sparing_openvino_folder)
list(APPEND CMAKE_INSTALL_RPATH "${sparing_openvino_folder}")

find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(SPARING_FFMPEG REQUIRED IMPORTED_TARGET
  libavformat>=59 libavcodec>=59 libavutil>=57 libswscale>=6)

# Core, imgproc and video, as the imported target sparing_opencv.
include(SparingOpenCV)
if(NOT TARGET sparing_opencv)
  message(FATAL_ERROR "OpenCV's core, imgproc and video were not found; run scripts/setup (Debian: libopencv-video-dev)")
endif()

# The tree learner of `sparing train-scale`; nothing else uses it.
find_library(SPARING_OPENCV_ML opencv_ml)
mark_as_advanced(SPARING_OPENCV_ML)
if(NOT SPARING_OPENCV_ML)
  message(FATAL_ERROR "OpenCV's ml was not found; run scripts/setup (Debian: libopencv-ml-dev)")
endif()
add_library(sparing_opencv_ml INTERFACE)
target_link_libraries(sparing_opencv_ml INTERFACE sparing_opencv "${SPARING_OPENCV_ML}")

# The trainer's; installed programs find oneDNN where it is now, too.
include(SparingTraining)
if(NOT TARGET sparing_onednn)
  message(FATAL_ERROR "oneDNN 3 was not found; run scripts/setup, or give its folder with -DSPARING_ONEDNN_HOME")
endif()
if(NOT TARGET sparing_onnx)
  message(FATAL_ERROR "ONNX's protobuf classes were not found; run scripts/setup (Debian: libonnx-dev, libprotobuf-dev)")
endif()
cmake_path(GET SPARING_ONEDNN PARENT_PATH sparing_onednn_folder)
list(APPEND CMAKE_INSTALL_RPATH "${sparing_onednn_folder}")

# Peers of sparing-bench: measured when present, named as missing when not.
if(SPARING_BUILD_BENCH)
  add_library(sparing_peer_opencv INTERFACE)
  target_include_directories(sparing_peer_opencv SYSTEM INTERFACE "${SPARING_OPENCV_INCLUDE}")
  target_link_libraries(sparing_peer_opencv INTERFACE
    "${SPARING_OPENCV_IMGPROC}" "${SPARING_OPENCV_CORE}")
  find_path(SPARING_LIBYUV_INCLUDE libyuv.h)
  find_library(SPARING_LIBYUV yuv)
  mark_as_advanced(SPARING_LIBYUV_INCLUDE SPARING_LIBYUV)
  if(SPARING_LIBYUV_INCLUDE AND SPARING_LIBYUV)
    add_library(sparing_peer_libyuv INTERFACE)
    target_include_directories(sparing_peer_libyuv SYSTEM INTERFACE "${SPARING_LIBYUV_INCLUDE}")
    target_link_libraries(sparing_peer_libyuv INTERFACE "${SPARING_LIBYUV}")
  endif()
endif()
