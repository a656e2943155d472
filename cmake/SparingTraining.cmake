# The imported targets sparing_onednn (oneDNN 3 with GNU OpenMP) and sparing_onnx (ONNX's protobuf
# classes), for the build and for the installed package alike. oneDNN's own CMake package looks for the
# compiler's OpenMP, which clang brings in another kind; ONNX's is not in every release.
set(sparing_deps "$ENV{SPARING_DEPS_DIR}")
if(sparing_deps STREQUAL "")
  set(sparing_deps "${PROJECT_SOURCE_DIR}/.deps")
endif()
file(GLOB sparing_onednn_homes "${sparing_deps}/onednn-*")
list(REVERSE sparing_onednn_homes)  # the newest first
find_path(SPARING_ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp
          HINTS ${SPARING_ONEDNN_HOME} ${sparing_onednn_homes} PATH_SUFFIXES include)
find_library(SPARING_ONEDNN dnnl
             HINTS ${SPARING_ONEDNN_HOME} ${sparing_onednn_homes} PATH_SUFFIXES lib)
find_path(SPARING_ONNX_INCLUDE onnx/onnx_pb.h)
find_library(SPARING_ONNX_PROTO onnx_proto)
find_library(SPARING_PROTOBUF protobuf)
mark_as_advanced(SPARING_ONEDNN_INCLUDE SPARING_ONEDNN SPARING_ONNX_INCLUDE SPARING_ONNX_PROTO
                 SPARING_PROTOBUF)

if(NOT TARGET sparing_onednn AND SPARING_ONEDNN_INCLUDE AND SPARING_ONEDNN)
  file(STRINGS "${SPARING_ONEDNN_INCLUDE}/oneapi/dnnl/dnnl_version.h" sparing_onednn_major
       REGEX "DNNL_VERSION_MAJOR +[0-9]+")
  string(REGEX MATCH "[0-9]+$" sparing_onednn_major "${sparing_onednn_major}")
  if(sparing_onednn_major GREATER_EQUAL 3)
    add_library(sparing_onednn INTERFACE IMPORTED)
    set_target_properties(sparing_onednn PROPERTIES
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${SPARING_ONEDNN_INCLUDE}"
      INTERFACE_INCLUDE_DIRECTORIES "${SPARING_ONEDNN_INCLUDE}"
      INTERFACE_LINK_LIBRARIES "${SPARING_ONEDNN};gomp")
  endif()
endif()
if(NOT TARGET sparing_onnx AND SPARING_ONNX_INCLUDE AND SPARING_ONNX_PROTO AND SPARING_PROTOBUF)
  add_library(sparing_onnx INTERFACE IMPORTED)
  set_target_properties(sparing_onnx PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${SPARING_ONNX_INCLUDE}"
    INTERFACE_INCLUDE_DIRECTORIES "${SPARING_ONNX_INCLUDE}"
    INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
    INTERFACE_LINK_LIBRARIES "${SPARING_ONNX_PROTO};${SPARING_PROTOBUF}")
endif()
