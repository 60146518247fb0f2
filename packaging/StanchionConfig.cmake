# find_package(Stanchion) defines the target Stanchion::stanchion, and Stanchion::static for the archive.
get_filename_component(_stanchion_lib "${CMAKE_CURRENT_LIST_DIR}/../.." REALPATH)
get_filename_component(_stanchion_include "${_stanchion_lib}/@UP@/include" ABSOLUTE)

if(NOT TARGET Stanchion::stanchion)
  add_library(Stanchion::stanchion SHARED IMPORTED)
  set_target_properties(Stanchion::stanchion PROPERTIES
    IMPORTED_LOCATION "${_stanchion_lib}/libstanchion.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_stanchion_include}")
endif()

if(NOT TARGET Stanchion::static)
  add_library(Stanchion::static STATIC IMPORTED)
  set_target_properties(Stanchion::static PROPERTIES
    IMPORTED_LOCATION "${_stanchion_lib}/libstanchion.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_stanchion_include}"
    INTERFACE_LINK_LIBRARIES "@PRIVATE@")
endif()
