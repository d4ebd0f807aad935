# What `cmake --install` lays down: the library, the headers, their C++ layer, and the files for find_package(LPT) and pkg-config.
# Component `runtime` is what a program needs to start, `dev` what it needs to be built, `mpi` what ranks in processes need,
# `cuda` what GPUs need.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/LPT)

install(TARGETS lpt EXPORT LPTTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(LPT_BUILD_ARCHIVE)
  # The tests' archive carries the flags of the rooms; this one carries nothing but what a program needs.
  add_library(lpt_archive STATIC ${LPT_OBJECTS})
  target_link_libraries(lpt_archive PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_definitions(lpt_archive INTERFACE LPT_STATIC)
  set_target_properties(lpt_archive PROPERTIES OUTPUT_NAME lpt EXPORT_NAME archive LINKER_LANGUAGE CXX)
  install(TARGETS lpt_archive EXPORT LPTTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(LPT_MPI_PLUGINS)
  install(TARGETS ${LPT_MPI_PLUGINS} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
endif()
if(LPT_CUDA_PLUGIN)
  install(TARGETS ${LPT_CUDA_PLUGIN} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/bindings/cpp/lpt.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

install(EXPORT LPTTargets NAMESPACE LPT:: DESTINATION ${config_dir} COMPONENT dev)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/LPTConfig.cmake.in ${PROJECT_BINARY_DIR}/LPTConfig.cmake
                              INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LPTConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LPTConfig.cmake ${PROJECT_BINARY_DIR}/LPTConfigVersion.cmake
        DESTINATION ${config_dir} COMPONENT dev)

# Relative to the .pc file, so that a moved tree still works. How deep it lies depends on the library folder: lib is one
# level, lib/x86_64-linux-gnu two. A distribution that gives absolute folders does not want to move them.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(LPT_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(LPT_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  set(LPT_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
else()
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(LPT_PC_PREFIX "\${pcfiledir}/${up}")
  set(LPT_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  set(LPT_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/pkgconfig/lpt.pc.in ${PROJECT_BINARY_DIR}/lpt.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lpt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
