package dev.kvasir.hub;

import java.io.IOException;

/** Thrown when a server sends a whole file although a part was asked for. */
final class RangesIgnoredException extends IOException {
  private static final long serialVersionUID = 1L;

  RangesIgnoredException() {
    super("the server has no ranges");
  }
}
