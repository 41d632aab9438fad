#include "harness/device/isolated/serve.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "harness/base/loaded_kernels.hpp"
#include "harness/base/terminal.hpp"
#include "harness/device/isolated/kernel_process.hpp"
#include "harness/device/isolated/kernel_server.hpp"
#include "harness/device/isolated/message.hpp"
#include "harness/device/isolated/rethrow.hpp"
#include "harness/device/isolated/start_process.hpp"

namespace ridgebench {
namespace {

// For the handler of exceptions that leave a thread while the file is loaded.
std::string g_loading_file;

void send_failure(std::uint64_t number, const nlohmann::json& described) {
  KernelMessage failure = KernelMessage::of_json(MessageKind::error, described);
  failure.number = number;
  send_message(kKernelSocket, failure);
}

[[noreturn]] void on_terminate_while_loading() {
  std::string what;
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    what = fmt::format(": {}", error.what());
  } catch (...) {
    what.clear();
  }
  send_failure(
      kFirstCommand,
      {{"kind", "usage"},
       {"text", fmt::format("--load {}: it threw while it was loaded{}", g_loading_file, what)}});
  _exit(static_cast<int>(ExitCode::usage));
}

// Returns false if the file cannot be loaded, which the other process learns.
bool load_into_this_process(const std::string& file, const std::string& path) {
  g_loading_file = file;
  const std::terminate_handler before = std::set_terminate(on_terminate_while_loading);
  try {
    open_kernels(file, {.path = path, .sha256 = {}});
  } catch (...) {
    send_failure(kFirstCommand, describe_exception());
    return false;
  }
  std::set_terminate(before);
  return true;
}

bool is_socket(int descriptor) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

// The answer to a command; empty for one that has none.
std::optional<KernelMessage> answer_to(KernelServer& server, const KernelMessage& command) {
  const bool answered = command.kind != MessageKind::bind && command.kind != MessageKind::unmap &&
                        command.kind != MessageKind::populate &&
                        command.kind != MessageKind::release;
  if (answered) server.check_bound();
  switch (command.kind) {
    case MessageKind::bind:
      server.bind(command.json());
      return std::nullopt;
    case MessageKind::ask:
      return KernelMessage::of_json(MessageKind::value, server.answer(command.json()));
    case MessageKind::map:
      server.map(command.numbers(3), command.descriptor);
      return KernelMessage::of_json(MessageKind::value, nullptr);
    case MessageKind::unmap:
      server.unmap(command.numbers(1).front());
      return std::nullopt;
    case MessageKind::populate:
      server.populate(command.numbers(2));
      return std::nullopt;
    case MessageKind::release:
      server.release(command.numbers(0));
      return std::nullopt;
    case MessageKind::run:
      server.run(command.numbers(0));
      return KernelMessage::of_json(MessageKind::value, nullptr);
    case MessageKind::time:
      return KernelMessage::of_numbers(
          MessageKind::claim, {std::bit_cast<std::uint64_t>(server.time(command.numbers(1)))});
    default:
      throw std::runtime_error("an unknown command");
  }
}

}  // namespace

void answer_commands(KernelServer& server) {
  while (std::optional<KernelMessage> command = receive_message(kKernelSocket)) {
    try {
      std::optional<KernelMessage> answer = answer_to(server, *command);
      if (!answer) continue;
      answer->number = command->number;
      if (!send_message(kKernelSocket, *answer)) break;
    } catch (...) {
      send_failure(command->number, describe_exception());
    }
  }
  _exit(0);  // the file's threads may still run
}

ExitCode serve_kernels(const std::string& file, const std::string& path) {
  if (!is_socket(kKernelSocket)) {
    write_error(
        fmt::format("ridgebench: {} is for processes that `run` and `duel` start; allowed: "
                    "run --load FILE\n",
                    kServeKernels));
    return ExitCode::usage;
  }
  KernelServer server;  // counts what the file registers
  if (!path.empty() && !load_into_this_process(file, path)) return ExitCode::usage;
  answer_commands(server);
}

}  // namespace ridgebench
