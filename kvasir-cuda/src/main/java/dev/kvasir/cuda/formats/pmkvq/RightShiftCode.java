package dev.kvasir.cuda.formats.pmkvq;

import dev.kvasir.codec.pmkvq.RightShift;

/** The numbers by which kernels know right shifts, in the order of widths.cuh. */
enum RightShiftCode {
  /** Numbers are quantized directly to their width. */
  NONE,
  EQUIVALENT,
  DIRECT,
  MODIFIED;

  static RightShiftCode of(RightShift shift) {
    return switch (shift) {
      case EQUIVALENT -> EQUIVALENT;
      case DIRECT -> DIRECT;
      case MODIFIED -> MODIFIED;
    };
  }
}
