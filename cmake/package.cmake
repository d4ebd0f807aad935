# `cpack` in the build folder: Debian packages, one for each component that this build has, and an archive of them all.
#   liblpt1     what a program needs to start          liblpt-mpi  ranks over MPI
#   liblpt-dev  what it needs to be built              liblpt-cuda GPUs of NVIDIA
#   lpt-tools   the command-line tool                      python3-lpt Debian's Python
set(CPACK_PACKAGE_NAME lpt)
set(CPACK_PACKAGE_VENDOR "LPT")
set(CPACK_PACKAGE_CONTACT "LPT maintainers <maintainers@lpt.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "low-precision training toolkit")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)

set(LPT_COMPONENTS runtime dev tools mpi cuda python)
set(LPT_PACKAGES liblpt1 liblpt-dev lpt-tools liblpt-mpi liblpt-cuda python3-lpt)

# What rooms have installed.
get_cmake_property(there COMPONENTS)
set(CPACK_COMPONENTS_ALL)
foreach(component package IN ZIP_LISTS LPT_COMPONENTS LPT_PACKAGES)
  if(component IN_LIST there)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package}
            COMPONENT ${component} EXCLUDE_FROM_ALL)  # of packages alone: an install has LICENSE
  endif()
endforeach()
set(CPACK_COMPONENT_DEV_DEPENDS runtime)
set(CPACK_COMPONENT_TOOLS_DEPENDS runtime)
set(CPACK_COMPONENT_MPI_DEPENDS runtime)
set(CPACK_COMPONENT_CUDA_DEPENDS runtime)
set(CPACK_COMPONENT_PYTHON_DEPENDS runtime)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What shlibdeps finds of the build's own library is found there; the dependency itself comes from the components.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME liblpt1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME liblpt-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME lpt-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME liblpt-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME liblpt-cuda)
set(CPACK_DEBIAN_CUDA_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-lpt)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
if(LPT_PYTHON_VERSION)
  # The module is for this Python and no other. What is compiled at installation goes at removal.
  string(REGEX MATCH "[0-9]+$" minor ${LPT_PYTHON_VERSION})
  math(EXPR minor "${minor} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= ${LPT_PYTHON_VERSION}~), python3 (<< 3.${minor})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS lpt-tools)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/python3-lpt/postinst
                                                ${PROJECT_SOURCE_DIR}/cmake/python3-lpt/prerm)
endif()
include(CPack)
