package dev.kvasir.simd;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.CodedKernels;
import dev.kvasir.kernel.DotKernels;
import dev.kvasir.kernel.Family;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowKernels;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Vector kernels that begin as scalar ones. Vector code that is not yet compiled boxes every vector
 * and runs a hundred times slower than plain loops, which would make the first words of a fresh
 * process wait for seconds. So a thread of its own tries the vector kernels that were asked for on
 * small data until they are compiled, and each takes over once it is the faster one. Both give the
 * same bits, so nobody can tell from the results when that was.
 */
final class WarmingKernels implements Kernels {
  private static final long REPORT_PAUSE_NANOS = 20_000_000;

  private final Kernels scalar;
  private final VectorKernels vector;
  private final PriorityBlockingQueue<KernelFamily> waiting = new PriorityBlockingQueue<>();
  private final AtomicBoolean begun = new AtomicBoolean();
  private final Map<Family, KernelFamily> families = new EnumMap<>(Family.class);

  WarmingKernels(Kernels scalar, VectorKernels vector) {
    this.scalar = scalar;
    this.vector = vector;
    for (Family family : Family.values()) {
      families.put(family, new KernelFamily(family, trials -> trials.of(family), waiting::add));
    }
  }

  /** Where the family is served from; asking for it has it tried. */
  private Kernels of(Family family) {
    beginOnce();
    return families.get(family).isWarm() ? vector : scalar;
  }

  /** Not before arithmetic is asked for: loading a model needs the processors itself. */
  private void beginOnce() {
    if (!begun.get() && begun.compareAndSet(false, true)) {
      Thread.ofPlatform().daemon().name("kvasir-warm-up").start(this::warmUp);
    }
  }

  private void warmUp() {
    try (WarmUp trials = new WarmUp(scalar, vector)) {
      while (true) {
        waiting.take().tryOut(trials);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String name() {
    return vector.name();
  }

  /** Tries it if that has not been done. */
  @Override
  public String serving(Family family) {
    beginOnce();
    KernelFamily tried = families.get(family);
    tried.isWarm();
    while (!tried.isDecided()) {
      LockSupport.parkNanos(REPORT_PAUSE_NANOS);
    }
    return tried.report();
  }

  @Override
  public CodedKernels coded(int codeBits) {
    return of(codeBits == 8 ? Family.BYTES : Family.NIBBLES).coded(codeBits);
  }

  @Override
  public FloatKernels floats() {
    return of(Family.FLOATS).floats();
  }

  @Override
  public RowKernels rows() {
    return of(Family.ROWS).rows();
  }

  @Override
  public HalfKernels halves() {
    return of(Family.HALVES).halves();
  }

  @Override
  public DotKernels dots() {
    return of(Family.DOTS).dots();
  }

  @Override
  public PatternKernels patterns() {
    return of(Family.PATTERNS).patterns();
  }

  @Override
  public CodebookKernels codebooks() {
    return of(Family.CODEBOOKS).codebooks();
  }

  @Override
  public RowCodeKernels rowCodes() {
    return of(Family.ROW_CODES).rowCodes();
  }
}
