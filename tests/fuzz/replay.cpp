// Runs a fuzz target on its corpus, with any compiler and sanitizer. A corpus is a text with one input per line in hexadecimal
// digits. An empty line is the empty input; a line that begins with # is a comment.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s CORPUS\n", argv[0]), 2;
  std::ifstream corpus(argv[1]);
  int inputs = 0;
  for (std::string line; std::getline(corpus, line);) {
    if (!line.empty() && line[0] == '#') continue;
    if (line.size() % 2 != 0 || line.find_first_not_of("0123456789abcdef") != std::string::npos) {
      return std::fprintf(stderr, "%s: input %d is no even number of hexadecimal digits\n", argv[1], inputs), 2;
    }
    // On the heap with the exact size, so that a sanitizer detects reads past the end.
    std::vector<uint8_t> bytes(line.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(std::stoi(line.substr(2 * i, 2), nullptr, 16));
    std::fprintf(stderr, "input %d\r", inputs);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++inputs;
  }
  std::printf("%d inputs of %s\n", inputs, argv[1]);
  return inputs > 0 ? 0 : 1;
}
