/* tile_image.h: code of a program's kernels inside the program. */
#ifndef TILE_DEVICE_TILE_IMAGE_H
#define TILE_DEVICE_TILE_IMAGE_H

/* The bytes of a file, which the assembler looks for in its folders, as `name`. */
#define TILE_IMAGE(name, file)                                                                                         \
    extern const char name[];                                                                                          \
    __asm__(".pushsection .rodata\n.balign 4096\n" #name ":\n.incbin \"" file "\"\n.byte 0\n.popsection\n")

/* Kernels in the emulator belong to their library alone. */
#define TILE_EMULATED __attribute__((visibility("hidden")))

/* A row of what stands for code in the emulator: a table of kernels, ended by a NULL. */
typedef struct {
    const char *name;
    void (*run)(const void *call);
} tile_emu_symbol;

#endif
