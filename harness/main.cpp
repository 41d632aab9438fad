#include "harness/cli/commands.hpp"

int main(int argc, char** argv) { return ridgepoint::run_command_line(argc, argv); }
