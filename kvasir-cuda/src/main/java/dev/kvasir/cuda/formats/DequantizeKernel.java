package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.Launch;
import java.lang.foreign.MemorySegment;

/**
 * A kernel that dequantizes packed pages. Its first argument, with the offsets in store.cuh:
 *
 * <pre>
 * 0 u64 pairs   8 u64 fp16 stride   16 u64 packed stride   24 u32 first layer
 * </pre>
 */
public final class DequantizeKernel {
  private static final int ARGUMENT_BYTES = 32;
  private static final int THREADS = 256;

  private final Launch launch;
  private final int kvHeads;

  /**
   * @param further size of each argument after the first
   */
  public DequantizeKernel(Kernel kernel, int kvHeads, int... further) {
    int[] arguments = new int[further.length + 1];
    arguments[0] = ARGUMENT_BYTES;
    System.arraycopy(further, 0, arguments, 1, further.length);
    this.launch = new Launch(kernel, arguments).block(THREADS);
    this.kvHeads = kvHeads;
  }

  /** Returns the launch, for arguments that stay the same. */
  public Launch launch() {
    return launch;
  }

  /** Returns the launch; the caller sets further arguments. */
  public Launch prepare(int pages, long pairs, PageQuantizer.LayerStrides layers) {
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, pairs);
    argument.set(JAVA_LONG, 8, layers.fp16Stride());
    argument.set(JAVA_LONG, 16, layers.packedStride());
    argument.set(JAVA_INT, 24, layers.first());
    return launch.grid(pages, kvHeads, layers.count());
  }
}
