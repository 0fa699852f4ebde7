package dev.kvasir.natives;

/** Why native kernels cannot serve here, as a sentence for people. */
final class NativeRefusal extends RuntimeException {
  private static final long serialVersionUID = 1;

  NativeRefusal(String sentence) {
    super(sentence);
  }

  NativeRefusal(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
