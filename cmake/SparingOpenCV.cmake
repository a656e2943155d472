# The imported target sparing_opencv: OpenCV's core, imgproc and video, for the build and for the
# installed package alike. The distribution's component packages have no CMake or pkg-config files of
# their own, and the complete one (libopencv-dev) brings 60 packages more.
find_path(SPARING_OPENCV_INCLUDE opencv2/video/tracking.hpp PATH_SUFFIXES opencv4)
find_library(SPARING_OPENCV_CORE opencv_core)
find_library(SPARING_OPENCV_IMGPROC opencv_imgproc)
find_library(SPARING_OPENCV_VIDEO opencv_video)
mark_as_advanced(SPARING_OPENCV_INCLUDE SPARING_OPENCV_CORE SPARING_OPENCV_IMGPROC
                 SPARING_OPENCV_VIDEO)
if(NOT TARGET sparing_opencv AND SPARING_OPENCV_INCLUDE AND SPARING_OPENCV_CORE AND
   SPARING_OPENCV_IMGPROC AND SPARING_OPENCV_VIDEO)
  add_library(sparing_opencv INTERFACE IMPORTED)
  set_target_properties(sparing_opencv PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${SPARING_OPENCV_INCLUDE}"
    INTERFACE_INCLUDE_DIRECTORIES "${SPARING_OPENCV_INCLUDE}"
    INTERFACE_LINK_LIBRARIES
      "${SPARING_OPENCV_VIDEO};${SPARING_OPENCV_IMGPROC};${SPARING_OPENCV_CORE}")
endif()
