#pragma once
#include <cstddef>
#include <string>

namespace hipcpu {
constexpr size_t shared_bytes_per_block = 64 * 1024;
constexpr unsigned threads_per_block = 1024;
void report_fault(std::string why);    // a kernel did not run to its end: always told
void report_refusal(std::string why);  // a launch did not begin: told unless the source asks by itself
}  // namespace hipcpu
