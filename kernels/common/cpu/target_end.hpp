// Closes the region that target_begin.hpp opened.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
