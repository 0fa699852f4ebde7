package dev.kvasir.codec.kvquant;

/** Whether keys are quantized before or after RoPE. */
enum RopeOrder {
  BEFORE,
  AFTER
}
