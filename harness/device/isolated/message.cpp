#include "harness/device/isolated/message.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>

namespace ridgebench {
namespace {

// A description of a file's operations, the largest message, has some kilobytes.
constexpr std::uint32_t kMostPayload = std::uint32_t{1} << 28U;

struct Header {
  std::uint32_t bytes;
  MessageKind kind;
  std::uint64_t number;
};

using AncillaryData = std::array<char, CMSG_SPACE(sizeof(int))>;

// Sends or receives the whole of `bytes`. Returns false at the end of the connection.
template <class Step>
bool whole(std::span<char> bytes, Step step) {
  while (!bytes.empty()) {
    const ssize_t count = step(bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool send_plain(int socket, std::span<char> bytes) {
  return whole(bytes, [&](std::span<char> rest) {
    return send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
  });
}

// Both must outlive the result.
msghdr message_of(iovec& part, AncillaryData& control) {
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  return message;
}

// The descriptor travels with the first bytes of the message.
ssize_t send_with(int socket, std::span<char> bytes, int descriptor) {
  alignas(cmsghdr) AncillaryData control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message = message_of(part, control);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t receive_with(int socket, std::span<char> bytes, int& descriptor) {
  alignas(cmsghdr) AncillaryData control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message = message_of(part, control);
  const ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    if (descriptor >= 0) close(descriptor);
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  }
  return count;
}

}  // namespace

KernelMessage KernelMessage::of_numbers(MessageKind kind,
                                        const std::vector<std::uint64_t>& numbers) {
  KernelMessage message{.kind = kind};
  message.payload.resize(numbers.size() * sizeof(std::uint64_t));
  if (!numbers.empty()) std::memcpy(message.payload.data(), numbers.data(), message.payload.size());
  return message;
}

KernelMessage KernelMessage::of_json(MessageKind kind, const nlohmann::json& json) {
  KernelMessage message{.kind = kind};
  nlohmann::json::to_msgpack(json, message.payload);
  return message;
}

std::vector<std::uint64_t> KernelMessage::numbers(std::size_t fewest) const {
  std::vector<std::uint64_t> all(payload.size() / sizeof(std::uint64_t));
  if (payload.size() % sizeof(std::uint64_t) != 0 || all.size() < fewest) {
    throw std::runtime_error("a message has too few numbers");
  }
  if (!all.empty()) std::memcpy(all.data(), payload.data(), payload.size());
  return all;
}

nlohmann::json KernelMessage::json() const {
  nlohmann::json json = nlohmann::json::from_msgpack(payload, true, false);
  if (json.is_discarded()) throw std::runtime_error("a message is not JSON");
  return json;
}

bool send_message(int socket, const KernelMessage& message) {
  const Header header{static_cast<std::uint32_t>(message.payload.size()), message.kind,
                      message.number};
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes += message.payload;
  std::span<char> rest(bytes);
  if (message.descriptor >= 0) {
    ssize_t count = 0;
    do count = send_with(socket, rest, message.descriptor);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return false;
    rest = rest.subspan(static_cast<std::size_t>(count));
  }
  return send_plain(socket, rest);
}

std::optional<KernelMessage> receive_message(int socket) {
  KernelMessage message;
  const auto step = [&](std::span<char> rest) {
    return receive_with(socket, rest, message.descriptor);
  };
  std::array<char, sizeof(Header)> bytes{};
  Header header{};
  bool all = whole(bytes, step);
  if (all) {
    std::memcpy(&header, bytes.data(), sizeof header);
    message.kind = header.kind;
    message.number = header.number;
    all = header.bytes <= kMostPayload;
  }
  if (all) {
    message.payload.resize(header.bytes);
    all = whole(message.payload, step);
  }
  if (all) return message;
  if (message.descriptor >= 0) close(message.descriptor);
  return std::nullopt;
}

}  // namespace ridgebench
