// Messages between this process and one that runs kernels of a loaded file, over a pair of sockets.
// The receiver trusts neither their lengths nor their content.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ridgebench {

// Four bytes, as the header of a message has them. NOLINTNEXTLINE(performance-enum-size)
enum class MessageKind : std::uint32_t {
  // Commands. `ask` has a JSON object; the others have numbers.
  ask,
  map,       // arena, bytes, writable; with the arena's descriptor
  unmap,     // arena; has no answer
  populate,  // arena, bytes in use; has no answer
  bind,      // a JSON object; has no answer
  run,       // launches
  time,      // repeats, then pairs of the first launch and the number of launches
  release,   // launches and plans; has no answer
  // Answers.
  value,  // a JSON value
  claim,  // the bits of the seconds that a `time` took by the clock of the process
  error   // a JSON object: kind and text
};

struct KernelMessage {
  MessageKind kind = MessageKind::ask;
  std::uint64_t number = 0;  // of the command, which its answer repeats
  std::string payload = {};  // MessagePack, or numbers of 8 bytes in the order of this host
  int descriptor = -1;       // of a file that travels with the message; -1: none

  static KernelMessage of_numbers(MessageKind kind, const std::vector<std::uint64_t>& numbers);
  static KernelMessage of_json(MessageKind kind, const nlohmann::json& json);
  // Throws std::runtime_error if the payload is not a whole number of numbers, `fewest` at least.
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::size_t fewest) const;
  // Throws std::runtime_error if the payload is not JSON.
  [[nodiscard]] nlohmann::json json() const;
};

// Returns false if the other process has ended or closed its socket.
bool send_message(int socket, const KernelMessage& message);
// Waits for a message. Empty if the other process has ended, or if it sent what is not a message.
// The caller owns the descriptor.
std::optional<KernelMessage> receive_message(int socket);

}  // namespace ridgebench
