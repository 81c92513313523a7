/* familiar.h: names that other languages use for things of this language, for notes. */
#ifndef TILEC_FRONTEND_SEMA_FAMILIAR_H
#define TILEC_FRONTEND_SEMA_FAMILIAR_H

/* How tiles, or whole tensors in a program, are told to do what the name says elsewhere; NULL: nothing known. */
const char *familiar_in_kernel(const char *name);
const char *familiar_in_program(const char *name);
/* The element type that the name means elsewhere, or is nearest to; NULL: none. */
const char *familiar_elem(const char *name);

#endif
