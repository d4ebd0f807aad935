// lpt doctor: capabilities of this library on this machine.
#pragma once

#include <string>

namespace tool {

std::string doctor_report();

// Returns a line for each device, or for each missing kind with the reason.
std::string devices_report();

}  // namespace tool
