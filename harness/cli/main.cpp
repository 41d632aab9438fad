#include "harness/cli/commands.hpp"

int main(int argc, char** argv) { return ridgebench::run_command_line(argc, argv); }
