package dev.kvasir.memory;

/** Thrown for what was computed while the bytes of a mapped file could not be read. */
public final class DamagedFileException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DamagedFileException(String message) {
    super(message);
  }
}
