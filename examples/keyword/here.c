/* here.c: listen.c on a machine that has an operating system. */
#include <stdio.h>

int listen(void);
void put(const char *text);

void put(const char *text) { fputs(text, stdout); }
int main(void) { return listen(); }
