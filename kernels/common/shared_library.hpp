// A library that the program loads when it first needs one of its functions. The program starts
// without it; where it is missing, only the rows that call it are.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace ridgebench {

// Where a library may be, in the order of the search, and what installs it.
struct LibraryPlaces {
  std::vector<std::string> names;              // the dynamic loader searches for each
  std::vector<std::filesystem::path> folders;  // then each name is looked for in each of them
  std::string needs;                           // a library beside it that is loaded first, or empty
  std::string advice;                          // where the search looks, and how to install it
};

class SharedLibrary {
 public:
  // A library that maps `bytes` of memory while it is loaded, and waits for ever where it cannot,
  // is not loaded without them.
  explicit SharedLibrary(LibraryPlaces places, std::size_t bytes = 0);
  // `file` is a path, or a name that the dynamic loader searches for ("libopenblas.so.0").
  explicit SharedLibrary(std::string file, std::size_t bytes = 0);

  // True if the loader found the library.
  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  // The function's address; null if the library lacks it, or was not loaded.
  [[nodiscard]] void* find(const char* function) const;
  // The same; throws Unsupported, with the missing name, instead of returning null.
  [[nodiscard]] void* require(const char* function) const;

  // Unloads the library. Without this call it stays until the process ends: functions and threads
  // of a yardstick may outlive every object of ours.
  void unload();

 private:
  std::string name_;
  std::string advice_;
  std::size_t bytes_;
  void* handle_ = nullptr;
};

}  // namespace ridgebench

// Declares a callable with the name and type of ::name, a function that a header declares. The
// first call takes it from `library`, an expression of type SharedLibrary. A macro, in two steps,
// because headers rename some functions to newer versions by macros.
#define RIDGEBENCH_LOADED_FUNCTION(library, name)                                         \
  inline constexpr auto name = [](auto... arguments) {                                    \
    static auto* const function =                                                         \
        reinterpret_cast<decltype(&::name)>((library).require(RIDGEBENCH_AS_TEXT(name))); \
    return function(arguments...);                                                        \
  }
#define RIDGEBENCH_AS_TEXT(name) #name
