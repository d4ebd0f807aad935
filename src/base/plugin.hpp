// Plugins: libraries that are opened on demand, from the directory of LPT_PLUGIN_PATH or from that of the library.
#pragma once

#include <string>

#include "src/base/environment.hpp"
#include "src/base/status.hpp"

namespace lpt {

bool is_folder(const std::string &path);

// Returns the path of a plugin: in the directory that LPT_PLUGIN_PATH names, or in that of the library if only that one
// contains the file. The working directory is not searched, unless it is one of these.
std::string plugin_path(const char *file);

Status plugin_rejected(const std::string &path, const std::string &why);

// Opens the library at `path` and finds the only symbol of a plugin. Plugins are never closed.
Status open_plugin(const std::string &path, void **out_entry);

}  // namespace lpt
