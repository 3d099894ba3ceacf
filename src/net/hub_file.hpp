#pragma once
// A large file of a repository, of which only what is read is fetched.

#include "hub_connection.hpp"

#include <gpuplan/base/file_set.hpp>

#include <memory>
#include <string>

namespace gpuplan {

// Throws InputError, see HttpClient::ask; the first range is fetched at once, as it says the file's size.
std::unique_ptr<ByteSource> open_hub_file(std::shared_ptr<HubConnection> connection, const std::string& file);

}  // namespace gpuplan
