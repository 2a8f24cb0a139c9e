/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls a kernel's library on the system that it is for: driver LIBRARY QUESTION ANSWER [QUESTION ANSWER ...].

A question is an image (image.py): numbers of bytes, pointers and calls; where in the memory each pointer and each call
is; the memory. Pointers in it count from its start. A call is the number of a function, then its arguments, in words.
An answer is the memory after the calls, with each call's result in its first word. `calls.h` is made from the contract
with the kernel (elsewhere.py). */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h" /* before windows.h, which takes `near` and `far` for itself */

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

enum { COUNT = sizeof NAMES / sizeof *NAMES, ALIGNED = 64 };

static void stop(const char *what, const char *which)
{
    fprintf(stderr, "%s: %s\n", what, which);
    exit(1);
}

/* The addresses of all functions of a library. */
static void load(const char *path, void **functions)
{
#ifdef _WIN32
    HMODULE library = LoadLibraryA(path);
    if (!library)
        fprintf(stderr, "error %lu\n", GetLastError());
#else
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
#endif
    if (!library)
        stop("it cannot be loaded", path);
    for (int k = 0; k < COUNT; k++) {
#ifdef _WIN32
        functions[k] = (void *)GetProcAddress(library, NAMES[k]);
#else
        functions[k] = dlsym(library, NAMES[k]);
#endif
        if (!functions[k])
            stop("the library lacks a function", NAMES[k]);
    }
}

/* `count` words of a file, at least one. */
static int64_t *words(FILE *file, int64_t count, const char *path)
{
    int64_t *read = malloc(8 * (size_t)(count + 1));
    if (!read || fread(read, 8, (size_t)count, file) != (size_t)count)
        stop("it is cut short", path);
    return read;
}

/* Read a question, make its calls and write the answer. */
static void make_calls(void **functions, const char *question, const char *answer)
{
    FILE *file = fopen(question, "rb");
    if (!file)
        stop("it cannot be read", question);
    int64_t *sizes = words(file, 3, question);
    int64_t *pointers = words(file, sizes[1], question), *calls = words(file, sizes[2], question);
    char *room = malloc((size_t)sizes[0] + ALIGNED);
    if (!room)
        stop("there is too little memory", question);
    char *memory = room + ALIGNED - (uintptr_t)room % ALIGNED;
    if (fread(memory, 1, (size_t)sizes[0], file) != (size_t)sizes[0])
        stop("it is cut short", question);
    fclose(file);

    for (int64_t k = 0; k < sizes[1]; k++)
        *(int64_t *)(memory + pointers[k]) += (int64_t)memory;
    for (int64_t k = 0; k < sizes[2]; k++) {
        int64_t *call = (int64_t *)(memory + calls[k]);
        if (call[0] < 0 || call[0] >= COUNT)
            stop("there is no such function", question);
        call_function(call[0], functions[call[0]], call);
    }

    file = fopen(answer, "wb");
    if (!file || fwrite(memory, 1, (size_t)sizes[0], file) != (size_t)sizes[0] || fclose(file))
        stop("it cannot be written", answer);
}

int main(int count, char **arguments)
{
    void *functions[COUNT];
    if (count < 4 || count % 2)
        stop("LIBRARY QUESTION ANSWER are needed", arguments[0]);
    load(arguments[1], functions);
    for (int k = 2; k < count; k += 2)
        make_calls(functions, arguments[k], arguments[k + 1]);
    return 0;
}
