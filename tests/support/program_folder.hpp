// The folder of the running program. Tests find the files of their build relative to it, so that their objects do not depend on
// the build folder.
#pragma once

#include <filesystem>
#include <string>

inline std::string program_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path().string(); }
