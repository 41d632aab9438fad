/* The C interface of the harness: a program in any language describes an operation and kernels as
 * callbacks, and the harness verifies, measures and records them as `ridgebench run` does. The
 * Python package calls it (roofline/ridgebench/kernels).
 *
 * A function returns an exit code of docs/commands.md: 0 is success. ridgebench_message() then says
 * what was wrong, in one line. No C++ exception leaves a function. Texts are UTF-8, lists in them
 * are separated by commas, and the library copies them. One thread at a time uses the library. */
#ifndef RIDGEBENCH_H
#define RIDGEBENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with every incompatible change of this file. */
#define RIDGEBENCH_INTERFACE 3
/* Bytes of the buffer in which a callback that fails leaves one line, with its final zero. */
#define RIDGEBENCH_MESSAGE_BYTES 1024

typedef struct ridgebench_run ridgebench_run;

typedef struct {
  const char* name;
  const char* format; /* of its elements, also int32; null: the format of the case */
  int32_t access;     /* 0: read, 1: written, 2: read and then written in the same place */
} ridgebench_operand;

/* A number that an operation needs besides sizes and operands, and its default. */
typedef struct {
  const char* name;
  double value;
} ridgebench_attribute;

/* An operand at given sizes. */
typedef struct {
  int64_t elements;
  /* Of an operand that is read: 0 as the request's `fill`, 1 uniform from `low` to below `high`, 2
   * whole numbers from 0 to below `high`. */
  int32_t values;
  double low;
  double high;
} ridgebench_extent;

/* The callbacks get the dimensions in their order, and the attributes in theirs. Each returns 0, or
 * -1 after it has written why it failed to `message`. */

/* Fills an extent for each operand. */
typedef int32_t (*ridgebench_extents)(void* user, const int64_t* sizes, const double* attributes,
                                      ridgebench_extent* extents, char* message);

/* Computes every whole output in double from the rounded inputs, which are the operands that are
 * read or updated, as they were before the launch. Output i is `values[i]`. has_norms[i] is 0, or 1
 * after the callback has filled `norms[i]` with the 2-norm of the terms whose sum each value is.
 * Without norms, a value of one term is its own norm, and of several terms the larger of the value
 * and the root mean square of the output. */
typedef int32_t (*ridgebench_reference)(void* user, const int64_t* sizes, const double* attributes,
                                        const double* const* inputs, double* const* values,
                                        double* const* norms, int32_t* has_norms, char* message);

/* Computes the FLOPs of a launch, the terms of a sum, which the tolerance grows with (1: no sum),
 * and the bytes that a launch reads besides its operands. */
typedef int32_t (*ridgebench_amounts)(void* user, const int64_t* sizes, const double* attributes,
                                      double* flops, double* terms, double* more_bytes,
                                      char* message);

typedef struct {
  const char* name;       /* a-z, 0-9 and _, a letter first; no operation of ridgebench */
  const char* dimensions; /* names, in order */
  const ridgebench_attribute* attributes;
  int32_t attribute_count;
  const char* formats; /* in which it may be measured */
  const char* engine;  /* the fastest that may do its arithmetic: fma, tensor, memory or sfu */
  const ridgebench_operand* operands;
  int32_t operand_count;
  ridgebench_extents extents;
  ridgebench_reference reference;
  ridgebench_amounts amounts;
  int32_t reads_more; /* 1: `more_bytes` of amounts counts; 0: the bytes are those of the operands */
  void* user;
} ridgebench_operation;

typedef struct {
  const char* operation;
  const char* name;           /* as an operation's name */
  const char* backend;        /* cpu or cuda */
  const char* formats;        /* of the operation's */
  const char* engine;         /* that does its arithmetic */
  const char* arithmetic;     /* format of its products; null: the format of the case */
  double approximation_error; /* largest, relative to the norm, of an approximate function */
  /* Prepares launches on one set of buffers, untimed. Returns a number that is not negative and
   * names the set in launch() and release(), or -1 with a message. `stream` is a cudaStream_t. */
  int64_t (*bind)(void* user, const char* format, const int64_t* sizes, const double* attributes,
                  void* const* operands, void* stream, char* message);
  /* Runs the kernel once, timed. Returns 0, or -1 with a message. */
  int32_t (*launch)(void* user, int64_t set, char* message);
  void (*release)(void* user, int64_t set);
  void* user;
} ridgebench_technique;

typedef struct {
  const char* device;              /* as --device; "": the default */
  const char* folder;              /* as --out; "": results/local/<time> */
  const char* fill;                /* as --fill */
  const char* regimes;             /* as --regime; "": by the quick profile */
  double seconds;                  /* as --budget; 0: none */
  uint64_t seed;                   /* as --seed */
  const char* const* command_line; /* what environment.json records */
  int32_t command_line_count;
  /* A launch without work: its time is the launch floor of all techniques. */
  int32_t (*empty_launch)(void* user);
  void* user;
} ridgebench_request;

/* The RIDGEBENCH_INTERFACE that the library was built with. */
int32_t ridgebench_interface(void);

ridgebench_run* ridgebench_new(void); /* null: no memory */
void ridgebench_free(ridgebench_run* run);
/* One line on the last function that failed; valid until the next call. */
const char* ridgebench_message(const ridgebench_run* run);

int32_t ridgebench_add_operation(ridgebench_run* run, const ridgebench_operation* operation);
int32_t ridgebench_add_technique(ridgebench_run* run, const ridgebench_technique* technique);
/* A shape to measure in its text form, `m:4096/n:1024`. */
int32_t ridgebench_add_shape(ridgebench_run* run, const char* operation, const char* text);

/* Measures the techniques at the shapes, with the ceilings that they need, prints the table on
 * stdout and leaves a results folder. Returns the exit code of the run, so 6 where a row is wrong
 * or failed. The folder is the one in the request, or the one that ridgebench_folder() names. */
int32_t ridgebench_measure(ridgebench_run* run, const ridgebench_request* request);
const char* ridgebench_folder(const ridgebench_run* run);

/* Serves the operations and techniques to the program that started this process for `--load`, on
 * descriptor 3, and ends this process when that one ends. It verifies and times; `empty_launch` is
 * as in a request. Returns only if the descriptions cannot be served. */
int32_t ridgebench_serve(ridgebench_run* run, int32_t (*empty_launch)(void* user), void* user);

/* Answers as `ridgebench WORDS --json` does, for the commands that compute and open no device:
 * predict, plan, and info with --on. The text of ridgebench_answer() is valid until the next
 * question, and empty after one that failed. */
int32_t ridgebench_ask(ridgebench_run* run, const char* const* words, int32_t word_count);
const char* ridgebench_answer(const ridgebench_run* run);

/* Converts numbers from and to the bits of a format. Encoding rounds as the hardware does. */
int32_t ridgebench_decode(const char* format, const void* bits, int64_t count, double* numbers);
int32_t ridgebench_encode(const char* format, const double* numbers, int64_t count, void* bits);

#ifdef __cplusplus
}
#endif

#endif
