/** A small model to try Kvasir with. */
module dev.kvasir.mini {
  requires transitive dev.kvasir.core;

  provides dev.kvasir.spi.BundledModel with
      dev.kvasir.mini.MiniModel;
}
