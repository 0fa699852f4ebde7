package dev.kvasir.methods.rotatekv;

/** How rotated key channels are sorted before channels are grouped. */
enum ChannelOrder {
  /** By their means on each page, which stores its order. */
  ON,

  /** By their means over a calibration text, as in the paper: one order for the model. */
  CALIBRATED,

  /** Channels keep their places. */
  OFF
}
