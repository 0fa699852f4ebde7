package dev.kvasir.cuda;

/** A call of the driver failed: which one, and CUDA's own name and sentence for why. */
public final class CudaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Of {@code cuMemAlloc}: less memory is free than was asked for. */
  static final int OUT_OF_MEMORY = 2;

  private final int code;

  CudaException(String call, int code, String name, String sentence) {
    super("%s: %s (%d), %s".formatted(call, name, code, sentence));
    this.code = code;
  }

  /** CUDA's number of the error. */
  public int code() {
    return code;
  }
}
