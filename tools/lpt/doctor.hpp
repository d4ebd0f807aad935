// lpt doctor: what this library and this machine can do together.
#pragma once

#include <string>

namespace tool {

std::string doctor_report();

}  // namespace tool
