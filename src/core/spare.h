/* Descriptors in reserve. A server that has used up its descriptors must still load the library
 * that its next call needs, look at its certificates and take the connection that asks how it is.
 * So it keeps a few that are open on nothing, and closes them for the moment in which one of these
 * things is done. This is the one place where that happens. */
#ifndef FORAGE_CORE_SPARE_H
#define FORAGE_CORE_SPARE_H

/* Takes the reserve; for programs that run for long. What cannot be had now is taken later. */
void spare_keep(void);
/* Frees the reserve for what follows in this thread; others who want it wait. Does nothing where
 * none is kept. */
void spare_lend(void);
/* Ends it, and takes the reserve again as far as there are descriptors. errno stays as it is. */
void spare_return(void);

#endif
