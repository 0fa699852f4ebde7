package dev.kvasir.natives;

/** Why native kernels cannot serve here, as a sentence for people. */
final class NativeUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  NativeUnavailableException(String sentence) {
    super(sentence);
  }

  NativeUnavailableException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
