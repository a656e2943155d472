# sparing_header_check(): compiles each public header alone, twice over (its guard works), and with
# include/ as the only folder of ours (it needs no private header).
function(sparing_header_check)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
       "${PROJECT_SOURCE_DIR}/include/*.h")
  set(sources "")
  foreach(header IN LISTS headers)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/header_check/${header}.cc")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources "${source}")
  endforeach()
  add_library(sparing_header_check OBJECT ${sources})
  target_include_directories(sparing_header_check PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(sparing_header_check PRIVATE sparing_build_flags)
endfunction()
