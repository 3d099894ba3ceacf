#include "../family.hpp"

#include <string>

namespace gpuplan {

/// MiniCPM-V keeps the numbers of its text model at the top; the version says which model that is.
void read_minicpmv(Fields& in, Architecture& a) {
  const Node* said = in.find({"version"});
  const std::string version = said && said->kind == Node::Kind::scalar ? said->scalar : "";
  if (version == "2.6") return read_qwen2(in, a);
  if (version == "2.5") return read_llama(in, a);
  in.unreadable("MiniCPM-V of version '" + version + "'");
}

}  // namespace gpuplan
