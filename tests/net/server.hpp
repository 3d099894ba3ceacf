#pragma once
/// The server of tests/net/server.py for as long as the object lives, on a free port of the loopback interface.

#include <gpuplan/net/http.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gpuplan::testing {

class Server {
 public:
  explicit Server(const std::vector<std::string>& arguments = {}) {
    ::setenv("no_proxy", "127.0.0.1,localhost", 1);  // whatever the tester's network needs
    std::array<int, 2> in{}, out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    std::vector<std::string> words = {"python3", "-S", GPUPLAN_SOURCE_DIR "/tests/net/server.py"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    std::string line;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(out[0]);
    std::istringstream(line) >> port_ >> cdn_port_;
    if (port_ == 0) throw std::runtime_error("tests/net/server.py did not start");
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// From here on connections are refused.
  void stop() {
    if (child_ <= 0) return;
    ::close(stdin_);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

  [[nodiscard]] std::string url(const std::string& path = {}) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  [[nodiscard]] std::string cdn_url(const std::string& path = {}) const {
    return "http://127.0.0.1:" + std::to_string(cdn_port_) + path;
  }
  void set(const std::string& query) const { HttpClient().get({url("/_set?" + query)}); }
  void clear_log() const { HttpClient().get({url("/_clear")}); }
  /// The requests so far: method, path, cdn and headers by their lower-case names.
  [[nodiscard]] nlohmann::json log() const { return nlohmann::json::parse(HttpClient().get({url("/_log")}).body); }

 private:
  pid_t child_ = 0;
  int stdin_ = -1;
  int port_ = 0;
  int cdn_port_ = 0;
};

}  // namespace gpuplan::testing
