// The signature of a results folder: SHA256SUMS.sig, made by ssh-keygen over SHA256SUMS, in which
// `publish` lists the checksum of each signed file (PROTOCOL.sshsig of OpenSSH). ssh-keygen of
// OpenSSH 8.2 or newer makes and checks it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ridgebench {

inline constexpr const char* kSignatureFile = "SHA256SUMS.sig";
// The purpose for which a key signs; a signature for another one is refused.
inline constexpr const char* kSignatureNamespace = "ridgebench";

// Returns the files of a results folder that a signature covers, relative to the folder: all files
// except logs, drawings (report.html, figures/) and links. Throws UnreadableFile.
std::vector<std::string> signed_files(const std::filesystem::path& folder);

// Writes the signature by a private key, or by a public key whose private one an agent holds.
// Throws UsageError for a key that cannot sign and without ssh-keygen, StorageError.
void sign_results(const std::filesystem::path& folder, const std::string& key);

// True if the folder has a signature and the sums that it signs.
bool is_signed(const std::filesystem::path& folder);

struct SignatureCheck {
  std::optional<std::string> problem = std::nullopt;
  std::optional<std::string> note = std::nullopt;  // who signed
};

// Checks the signature of a folder. `signers` is a file of allowed signers (ssh-keygen(1)), one of
// whom must have signed; empty: any key may have signed, and none need have. Throws UsageError for
// `signers` that cannot be read and, if it is needed, without ssh-keygen.
SignatureCheck check_signature(const std::filesystem::path& folder, const std::string& signers);

}  // namespace ridgebench
