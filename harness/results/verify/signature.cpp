#include "harness/results/verify/signature.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "harness/base/child.hpp"
#include "harness/base/process.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/results/files/results_files.hpp"
#include "harness/results/files/whole_file.hpp"
#include "harness/results/verify/checksums.hpp"
#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {
namespace {

constexpr const char* kProgram = "ssh-keygen";
constexpr int kMissing = 127;
constexpr int kUnreadable = 126;
// In which a person types the passphrase of a key.
constexpr double kLongest_s = 300;

// A signature leaves out the sums with the signature itself, the log of a node's process, and the
// drawings that `plot` and `report` make from the results.
constexpr std::array<std::string_view, 5> kUnsigned{kSumsFile, kSignatureFile, kLogFile,
                                                    "report.html", "figures"};

// Runs ssh-keygen with `input` as its standard input. The text has its standard output and its
// standard error. The code is 0 for success only.
ChildAnswer ssh_keygen(std::vector<std::string> words, const std::filesystem::path& input) {
  words.insert(words.begin(), kProgram);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Child child([&](int descriptor) {
    const int file = open(input.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) _exit(kUnreadable);  // else ssh-keygen would read this command's input
    dup2(file, STDIN_FILENO);
    dup2(descriptor, STDOUT_FILENO);
    dup2(descriptor, STDERR_FILENO);
    process_start().execute(kProgram, arguments.data());
    _exit(kMissing);
  });
  ChildAnswer answer = child.wait(steady_s() + kLongest_s);
  if (answer.end == ChildEnd::hung) {
    throw UsageError(fmt::format("{} did not end within {:g} s", kProgram, kLongest_s));
  }
  if (answer.code == kMissing) {
    throw UsageError(
        fmt::format("{} of OpenSSH is not on the PATH; it signs and checks", kProgram));
  }
  if (answer.text.find("usage: ") != std::string::npos) {
    throw UsageError(fmt::format(
        "{} on the PATH cannot sign and check; allowed: that of OpenSSH 8.2 or newer", kProgram));
  }
  return answer;
}

std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

// "ED25519 key SHA256:..." of "Good "ridgebench" signature with ED25519 key SHA256:...".
std::string key_in(const std::string& text) {
  const std::size_t with = text.find(" with ");
  return with == std::string::npos ? "a key" : first_line_of(text.substr(with + 6));
}

}  // namespace

std::vector<std::string> signed_files(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  try {
    for (auto at = fs::recursive_directory_iterator(folder); at != fs::end(at); ++at) {
      const fs::path name = at->path().lexically_relative(folder);
      const bool left_out = std::ranges::find(kUnsigned, name.string()) != kUnsigned.end();
      if (left_out && at->is_directory()) at.disable_recursion_pending();
      if (left_out || at->is_symlink() || !at->is_regular_file()) continue;
      files.push_back(name.string());
    }
  } catch (const fs::filesystem_error& error) {
    throw UnreadableFile(fmt::format("cannot read {}: {}; allowed: a folder that can be read",
                                     folder.string(), error.code().message()));
  }
  std::ranges::sort(files);
  return files;
}

void sign_results(const std::filesystem::path& folder, const std::string& key) {
  static_cast<void>(read_file(key));  // says why it cannot be read
  const ChildAnswer said =
      ssh_keygen({"-Y", "sign", "-f", key, "-n", kSignatureNamespace}, folder / kSumsFile);
  const std::size_t begin = said.text.find("-----BEGIN SSH SIGNATURE-----");
  if (said.code != 0 || begin == std::string::npos) {
    throw UsageError(
        fmt::format("{} cannot sign: {}; allowed: a key of OpenSSH, such as "
                    "~/.ssh/id_ed25519",
                    key, first_line_of(said.text)));
  }
  constexpr std::string_view kEnd = "-----END SSH SIGNATURE-----";
  const std::size_t end = said.text.find(kEnd, begin);
  write_atomically(folder / kSignatureFile,
                   said.text.substr(begin, end + kEnd.size() - begin) + "\n");
}

bool is_signed(const std::filesystem::path& folder) {
  std::error_code unknown;
  return std::filesystem::exists(folder / kSignatureFile, unknown) &&
         std::filesystem::exists(folder / kSumsFile, unknown);
}

SignatureCheck check_signature(const std::filesystem::path& folder, const std::string& signers) {
  if (!signers.empty()) static_cast<void>(read_file(signers));
  const std::string signature = (folder / kSignatureFile).string();
  const std::filesystem::path sums = folder / kSumsFile;
  std::error_code unknown;
  if (!std::filesystem::exists(signature, unknown)) {
    if (signers.empty()) return {};
    return {.problem = fmt::format("{} is missing: nobody signed the results", kSignatureFile)};
  }
  if (!std::filesystem::exists(sums, unknown)) {
    return {.problem = fmt::format("{} signs a {} that is missing", kSignatureFile, kSumsFile)};
  }
  const ChildAnswer any =
      ssh_keygen({"-Y", "check-novalidate", "-n", kSignatureNamespace, "-s", signature}, sums);
  if (any.code != 0) {
    const bool changed = any.text.find("incorrect signature") != std::string::npos;
    return {.problem = fmt::format("{} does not sign this {}: {}", kSignatureFile, kSumsFile,
                                   changed ? "one of them was changed" : first_line_of(any.text))};
  }
  const std::string key = key_in(any.text);
  if (signers.empty())
    return {.note = fmt::format("signed by {}, whose owner --signers names", key)};
  const ChildAnswer found =
      ssh_keygen({"-Y", "find-principals", "-f", signers, "-s", signature}, sums);
  const std::string who = first_line_of(found.text);
  if (found.code != 0) {
    return {.problem = fmt::format("signed by {}, which {} does not list", key, signers)};
  }
  const ChildAnswer verified = ssh_keygen(
      {"-Y", "verify", "-f", signers, "-I", who, "-n", kSignatureNamespace, "-s", signature}, sums);
  if (verified.code != 0) {
    return {.problem = fmt::format("the signature of {} by {} is refused: {}", who, key,
                                   first_line_of(verified.text))};
  }
  return {.note = fmt::format("signed by {}, {}", who, key)};
}

}  // namespace ridgebench
