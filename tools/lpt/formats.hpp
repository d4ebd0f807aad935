// lpt formats: every format of the library, and what the bytes of one mean.
#pragma once

#include <string>

namespace tool {

std::string formats_table();
std::string format_page(const std::string &name);

}  // namespace tool
