package dev.kvasir.natives;

/** Thrown when native kernels cannot run here; its message is a sentence for users. */
final class NativeUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  NativeUnavailableException(String sentence) {
    super(sentence);
  }

  NativeUnavailableException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
