package dev.kvasir.methods.kvquant;

/** Whether keys are quantized before or after RoPE. */
enum RopeOrder {
  BEFORE,
  AFTER
}
