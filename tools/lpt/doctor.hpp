// lpt doctor: what this library and this machine can do together.
#pragma once

#include <string>

namespace tool {

std::string doctor_report();

// A line for each device, or for each kind that is not there, and why.
std::string devices_report();

}  // namespace tool
