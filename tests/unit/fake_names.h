/* Names for tests: getaddrinfo() as the program under test finds it, and no c-ares. A test program
 * with fake_names.c in it has its own world of names and asks no server.
 *
 *   NAME.at-A-B-C-D.test   has the IPv4 address A.B.C.D
 *   two.test               has ::1 and 127.0.0.1
 *   mixed.test             has 127.0.0.1 and 127.0.0.66, which tests forbid
 *   many.test              has 40 addresses, odd.test one of no use
 *   stuck.test             is not answered before fake_names_release()
 *   again.test, broken.test, empty.test, memory.test, strange.test
 *                          fail, each in its own way
 *
 * Every other name does not exist.
 */
#ifndef FORAGE_TESTS_FAKE_NAMES_H
#define FORAGE_TESTS_FAKE_NAMES_H

/* Waits until `count` look-ups are stuck. */
void fake_names_await(int count);

/* Answers all that is stuck, and waits until it is. */
void fake_names_release(void);

/* All look-ups so far. */
int fake_names_count(void);

/* The address that switch.test has from now on. */
void fake_names_switch(const char *address);

#endif
