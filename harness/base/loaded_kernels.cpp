#include "harness/base/loaded_kernels.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "harness/base/checksum.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/interface/kernel_interface.hpp"
#include "kernels/common/interface/registry_capture.hpp"

namespace ridgebench {
namespace {

constexpr const char* kAllowed =
    "allowed: a shared object that ridgebench_add_kernels() built, or FILE.py:NAME";

std::vector<LoadedKernels>& mutable_list() {
  static std::vector<LoadedKernels> list;
  return list;
}

std::string content_of(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    throw UsageError(fmt::format("--load {}: there is no such file; {}", file, kAllowed));
  }
  std::ifstream stream;
  if (std::filesystem::is_regular_file(file, error)) stream.open(file, std::ios::binary);
  if (!stream.is_open()) {
    throw UsageError(fmt::format("--load {}: the file cannot be read; {}", file, kAllowed));
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <class T>
T read_at(std::string_view content, std::size_t position) {
  T value{};
  if (position <= content.size() && sizeof(T) <= content.size() - position) {
    std::memcpy(&value, content.data() + position, sizeof(T));
  }
  return value;
}

// The loader maps segments without a look at the file's length, and a page beyond its end is a bus
// error.
bool is_whole_shared_object(std::string_view content) {
  const auto header = read_at<Elf64_Ehdr>(content, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) return false;
  const std::size_t size = content.size();
  const std::size_t segments = header.e_phnum * std::size_t{header.e_phentsize};
  if (segments == 0 || header.e_phoff > size || segments > size - header.e_phoff) return false;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment =
        read_at<Elf64_Phdr>(content, header.e_phoff + i * std::size_t{header.e_phentsize});
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return false;
  }
  return true;
}

// A shared object may hold files that were compiled at different times.
void check_tags(const std::string& file, std::string_view content) {
  constexpr std::string_view kBegin = "ridgebench kernel interface ";
  const std::string_view own = kKernelInterfaceTag.data();
  std::size_t found = 0;
  for (std::size_t at = content.find(kBegin); at != std::string_view::npos;
       at = content.find(kBegin, at + 1)) {
    std::string_view tag = content.substr(at, kKernelInterfaceTag.size());
    tag = tag.substr(0, tag.find('\0'));
    if (tag != own) {
      throw UsageError(
          fmt::format("--load {}: it was compiled with '{}', this program with '{}'; allowed: "
                      "kernels compiled with the headers that were installed with this program",
                      file, tag, own));
    }
    ++found;
  }
  if (found == 0) {
    throw UsageError(fmt::format("--load {}: it has no kernel interface; {}", file, kAllowed));
  }
}

// The loader's message, with the C++ name of a missing symbol.
std::string loader_message() {
  const char* const error = dlerror();
  std::string text = error != nullptr ? error : "unknown error";
  constexpr std::string_view kSymbol = "undefined symbol: ";
  const std::size_t at = text.find(kSymbol);
  if (at == std::string::npos) return text;
  const std::string symbol = text.substr(at + kSymbol.size());
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return fmt::format("{}{}", kSymbol, status == 0 ? readable.get() : symbol.c_str());
}

constexpr std::string_view kPython = ".py";

bool is_identifier(std::string_view text) {
  const auto part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c >= 0x80; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, part);
}

// The name of what a Python file has, in FILE.py:NAME; empty for a shared object.
std::string attribute_of(const std::string& file) {
  const std::size_t colon = file.rfind(':');
  const std::string_view path = std::string_view(file).substr(0, colon);
  if (!path.ends_with(kPython)) return {};
  const std::string name = colon == std::string::npos ? "" : file.substr(colon + 1);
  if (is_identifier(name)) return name;
  throw UsageError(
      fmt::format("--load {}: it names no kernel of the Python file; allowed: {}:NAME, where NAME "
                  "is a kernel, or a list of kernels",
                  file, path));
}

void check_shared_object(const std::string& file, std::string_view content) {
  if (!is_whole_shared_object(content)) {
    throw UsageError(
        fmt::format("--load {}: it is not a shared object, or not all of one; {}", file, kAllowed));
  }
  check_tags(file, content);
}

// The file's name in records and messages.
void check_name(const std::string& file, const std::string& name) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
  };
  if (!std::ranges::all_of(name.substr(0, name.find(':')), plain)) {
    throw UsageError(fmt::format(
        "--load {}: the name of the file has other characters than letters, digits, _, . and -",
        file));
  }
  const auto same = [&](const LoadedKernels& other) { return other.name() == name; };
  if (std::ranges::any_of(loaded_kernels(), same)) {
    throw UsageError(
        fmt::format("--load {}: a file named {} is loaded already; allowed: files of "
                    "different names",
                    file, name));
  }
}

}  // namespace

void open_kernels(const std::string& file, const LoadedKernels& kernels) {
  Registry& registry = current_registry();
  const auto registered = [&] {
    return registry.operations().size() + registry.implementations().size();
  };
  const std::size_t before = registered();
  registry.load_from(kernels.name());
  // The file stays loaded: launches and plans of its kernels live until the process ends.
  const void* handle = nullptr;
  // The header declares that dlopen() throws nothing, but the file's code may throw through it.
  void* (*volatile open)(const char*, int) = dlopen;
  try {
    handle = open(kernels.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const std::exception& error) {
    throw UsageError(
        fmt::format("--load {}: it threw while it was loaded: {}", file, error.what()));
  } catch (...) {
    throw UsageError(fmt::format("--load {}: it threw while it was loaded", file));
  }
  registry.load_from("");
  if (handle == nullptr) {
    throw UsageError(fmt::format("--load {}: it cannot be loaded: {}", file, loader_message()));
  }
  if (registered() == before) {
    throw UsageError(fmt::format("--load {}: it registers no operation and no technique", file));
  }
}

void load_kernels(std::span<const std::string> files, const AddKernels& add) {
  for (const std::string& file : files) {
    const std::string attribute = attribute_of(file);
    const std::string path =
        attribute.empty() ? file : file.substr(0, file.size() - attribute.size() - 1);
    const std::string content = content_of(path);
    if (attribute.empty()) check_shared_object(file, content);
    LoadedKernels kernels{std::filesystem::canonical(path), sha256(content), attribute};
    check_name(file, kernels.name());
    add(file, kernels);
    mutable_list().push_back(std::move(kernels));
  }
}

const std::vector<LoadedKernels>& loaded_kernels() { return mutable_list(); }

void add_load_arguments(std::vector<std::string>& arguments) {
  for (const LoadedKernels& kernels : loaded_kernels()) {
    arguments.push_back("--load=" + kernels.text());
  }
}

}  // namespace ridgebench
