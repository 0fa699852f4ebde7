/** Kernels in C, which the service loader finds. */
module dev.kvasir.natives {
  requires transitive dev.kvasir.core;

  provides dev.kvasir.memory.MappingGuard with
      dev.kvasir.natives.BusErrorGuard;
  provides dev.kvasir.spi.KernelProvider with
      dev.kvasir.natives.NativeKernelProvider;
}
