#include "harness/device/isolated/rethrow.hpp"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

nlohmann::json described(const char* kind, const char* text) {
  return {{"kind", kind}, {"text", text}};
}

// Has the text of the other process.
class RemoteOutOfMemory : public OutOfMemory {
 public:
  explicit RemoteOutOfMemory(std::string text) : OutOfMemory(0, 0), text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace

nlohmann::json describe_exception() {
  try {
    throw;
  } catch (const UsageError& error) {
    return described("usage", error.what());
  } catch (const Unsupported& error) {
    return described("unsupported", error.what());
  } catch (const OutOfMemory& error) {
    return described("device_memory", error.what());
  } catch (const std::bad_alloc&) {
    return described("host_memory", "");
  } catch (const DeviceError& error) {
    return described("device", error.what());
  } catch (const std::exception& error) {
    return described("other", error.what());
  } catch (...) {
    return described("other", "an exception that is not a std::exception");
  }
}

void rethrow(const nlohmann::json& described) {
  const auto kind = described.at("kind").get<std::string>();
  const auto text = described.at("text").get<std::string>();
  if (kind == "usage") throw UsageError(text);
  if (kind == "unsupported") throw Unsupported(text);
  if (kind == "device_memory") throw RemoteOutOfMemory(text);
  if (kind == "host_memory") throw std::bad_alloc();
  if (kind == "device") throw DeviceError(text);
  throw std::runtime_error(text);
}

}  // namespace ridgebench
