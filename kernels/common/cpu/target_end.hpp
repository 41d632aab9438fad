// Closes the region that target_begin.hpp opened.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
