/* What a child that reads strangers' bytes is left with: the processor, memory, its pipes, and the
 * files that programs are made of. For the warden, in the process that becomes the child. */
#ifndef FORAGE_PROC_CONFINE_H
#define FORAGE_PROC_CONFINE_H

/* Takes from this process, which must have one thread, what `program` does not need to compute:
 * root, files, network, other processes. As much of it as the system allows: the parts of
 * PROC_CONFINED_ALL that hold from now on. */
unsigned confine_files(const char *program);
/* The last step: from here on it can start nobody and only exec is left to do. */
unsigned confine_calls(void);

#endif
