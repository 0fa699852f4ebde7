package dev.kvasir.cuda.driver;

/**
 * Thrown when a driver call fails. The message holds the call and CUDA's error name and
 * description.
 */
public final class CudaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Returned by {@code cuMemAlloc} if too little memory is free. */
  static final int OUT_OF_MEMORY = 2;

  private final int code;

  CudaException(String call, int code, String name, String sentence) {
    super("%s: %s (%d), %s".formatted(call, name, code, sentence));
    this.code = code;
  }

  /** Returns CUDA's error code. */
  int code() {
    return code;
  }
}
