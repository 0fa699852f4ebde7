package dev.kvasir.spi;

import java.net.URL;

/** A model that comes as a module, such as kvasir-mini. The service loader finds it. */
public interface BundledModel {
  /** Returns a short name for messages. */
  String name();

  /** Returns a GGUF file. */
  URL weights();

  /** Returns its calibration profile. */
  URL profile();
}
