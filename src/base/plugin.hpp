// Plugins: libraries that are opened on demand, found where LPT_PLUGIN_PATH tells, or beside the library.
#pragma once

#include <string>

#include "src/base/environment.hpp"
#include "src/base/status.hpp"

namespace lpt {

bool is_folder(const std::string &path);

// Where a plugin's file is: in the folder that LPT_PLUGIN_PATH names, which may lack one that is beside the library. Never
// in the working directory, unless one of the two is.
std::string plugin_path(const char *file);

Status plugin_rejected(const std::string &path, const std::string &why);

// Opens the library at a path, and finds the one symbol of a plugin. A plugin stays loaded.
Status open_plugin(const std::string &path, void **out_entry);

}  // namespace lpt
