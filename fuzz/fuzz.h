/* How a fuzz target begins. In fuzz_NAME, which has the fuzzer in it, the target is the function
 * that libFuzzer calls; in replay, which holds all targets, it is one of a table. */
#ifndef FORAGE_FUZZ_FUZZ_H
#define FORAGE_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef FUZZ_ALONE
#define FUZZ_FUNCTION(name) LLVMFuzzerTestOneInput
#else
#define FUZZ_FUNCTION(name) fuzz_##name
#endif

#define FUZZ_TARGET(name)                                                                          \
    int FUZZ_FUNCTION(name)(const uint8_t *data, size_t size);                                     \
    int FUZZ_FUNCTION(name)(const uint8_t *data, size_t size)

#endif
