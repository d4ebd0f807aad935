// lpt formats: all formats of the library, and the description of one format.
#pragma once

#include <string>

namespace tool {

std::string formats_table();
std::string format_page(const std::string &name);

}  // namespace tool
