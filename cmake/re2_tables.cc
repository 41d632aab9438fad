// The tables of RE2 that its makers generate, which Debian's archive leaves out: here for ASCII
// alone, in which rows are named. Classes such as \pL are unknown to a filter then.
// cmake/dependencies.cmake puts the file beside RE2's sources.
#include "re2/unicode_casefold.h"
#include "re2/unicode_groups.h"

namespace re2 {
namespace {

constexpr URange16 digit[] = {{'0', '9'}};
constexpr URange16 perl_space[] = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
constexpr URange16 word[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
constexpr URange16 alnum[] = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}};
constexpr URange16 alpha[] = {{'A', 'Z'}, {'a', 'z'}};
constexpr URange16 ascii[] = {{0, 127}};
constexpr URange16 blank[] = {{'\t', '\t'}, {' ', ' '}};
constexpr URange16 cntrl[] = {{0, 31}, {127, 127}};
constexpr URange16 graph[] = {{'!', '~'}};
constexpr URange16 lower[] = {{'a', 'z'}};
constexpr URange16 print[] = {{' ', '~'}};
constexpr URange16 punct[] = {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}};
constexpr URange16 space[] = {{'\t', '\r'}, {' ', ' '}};
constexpr URange16 upper[] = {{'A', 'Z'}};
constexpr URange16 xdigit[] = {{'0', '9'}, {'A', 'F'}, {'a', 'f'}};

template <int N>
constexpr UGroup group(const char* name, int sign, const URange16 (&ranges)[N]) {
  return {name, sign, ranges, N, nullptr, 0};
}

template <class T, int N>
constexpr int size(const T (&)[N]) {
  return N;
}

}  // namespace

const UGroup perl_groups[] = {group("\\d", +1, digit),      group("\\D", -1, digit),
                              group("\\s", +1, perl_space), group("\\S", -1, perl_space),
                              group("\\w", +1, word),       group("\\W", -1, word)};
const int num_perl_groups = size(perl_groups);

const UGroup posix_groups[] = {group("[:alnum:]", +1, alnum),   group("[:^alnum:]", -1, alnum),
                               group("[:alpha:]", +1, alpha),   group("[:^alpha:]", -1, alpha),
                               group("[:ascii:]", +1, ascii),   group("[:^ascii:]", -1, ascii),
                               group("[:blank:]", +1, blank),   group("[:^blank:]", -1, blank),
                               group("[:cntrl:]", +1, cntrl),   group("[:^cntrl:]", -1, cntrl),
                               group("[:digit:]", +1, digit),   group("[:^digit:]", -1, digit),
                               group("[:graph:]", +1, graph),   group("[:^graph:]", -1, graph),
                               group("[:lower:]", +1, lower),   group("[:^lower:]", -1, lower),
                               group("[:print:]", +1, print),   group("[:^print:]", -1, print),
                               group("[:punct:]", +1, punct),   group("[:^punct:]", -1, punct),
                               group("[:space:]", +1, space),   group("[:^space:]", -1, space),
                               group("[:upper:]", +1, upper),   group("[:^upper:]", -1, upper),
                               group("[:word:]", +1, word),     group("[:^word:]", -1, word),
                               group("[:xdigit:]", +1, xdigit), group("[:^xdigit:]", -1, xdigit)};
const int num_posix_groups = size(posix_groups);

const UGroup unicode_groups[] = {
    group("Any", +1, ascii)};  // RE2 treats Any itself; an array has an element
const int num_unicode_groups = 0;

const CaseFold unicode_casefold[] = {{'A', 'Z', 'a' - 'A'}, {'a', 'z', 'A' - 'a'}};
const int num_unicode_casefold = size(unicode_casefold);
const CaseFold unicode_tolower[] = {{'A', 'Z', 'a' - 'A'}};
const int num_unicode_tolower = size(unicode_tolower);

}  // namespace re2
