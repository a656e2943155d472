# `cmake --install`: binaries, libraries, public headers, manifests and tools, and the package that
# find_package(Sparing) reads.
include(CMakePackageConfigHelpers)

get_property(sparing_modules GLOBAL PROPERTY SPARING_MODULES)
set(sparing_targets ${sparing_modules})
list(TRANSFORM sparing_targets PREPEND sparing_)
install(TARGETS ${sparing_targets} EXPORT SparingTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sparing DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sparing/models
        FILES_MATCHING PATTERN "*.json" PATTERN "README.md" PATTERN "street/*")
# Of tools/ what `sparing models get` runs; the rest is for development.
install(FILES tools/get_model.py tools/tfjs_to_onnx.py tools/requirements.txt
              tools/quantize_model.py tools/requirements-quantize.txt
        DESTINATION ${CMAKE_INSTALL_DATADIR}/sparing/tools)
install(DIRECTORY tools/tfjs DESTINATION ${CMAKE_INSTALL_DATADIR}/sparing/tools
        FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(EXPORT SparingTargets NAMESPACE Sparing::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sparing)
configure_package_config_file(cmake/SparingConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/SparingConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sparing)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/SparingConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SparingConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/SparingConfigVersion.cmake
              cmake/SparingOpenCV.cmake cmake/SparingTraining.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sparing)
