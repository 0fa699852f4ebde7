package dev.kvasir.codec.kvquant;

/** Whether keys are packed as they were before the rotation of positions, or as they are. */
enum RopeOrder {
  BEFORE,
  AFTER
}
