// Symbols that Windows code refers to and a C library would define.

// Referred to by all code that uses floats.
int _fltused = 0;

// Called by functions with frames larger than a page, before they move the stack pointer. Windows grows a stack when
// the page below it is touched, so pages are touched one after another. Preserves all but two registers.
#if defined(__aarch64__)
// x15: the bytes of the frame, divided by 16
__asm__(".globl __chkstk\n"
        "__chkstk:\n"
        "  mov x16, sp\n"
        "  sub x17, x16, x15, lsl #4\n"
        "1:\n"
        "  sub x16, x16, #4096\n"
        "  ldr xzr, [x16]\n"
        "  cmp x16, x17\n"
        "  b.hi 1b\n"
        "  ret\n");
#else
// rax: the bytes of the frame
__asm__(".globl __chkstk\n"
        "__chkstk:\n"
        "  leaq 8(%rsp), %r10\n"
        "  movq %r10, %r11\n"
        "  subq %rax, %r11\n"
        "1:\n"
        "  subq $4096, %r10\n"
        "  testl %eax, (%r10)\n"
        "  cmpq %r11, %r10\n"
        "  ja 1b\n"
        "  ret\n");
#endif
