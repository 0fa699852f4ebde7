package dev.kvasir.simd;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.CodedKernels;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.LookupKernels;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RowKernels;
import dev.kvasir.kernel.ScalarKernels;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Vector kernels that begin as scalar ones. Vector code that is not yet compiled boxes every vector
 * and runs a hundred times slower than plain loops, which would make the first words of a fresh
 * process wait for seconds. So a thread of its own tries the vector kernels that were asked for on
 * small data until they are compiled, and each takes over once it is the faster one. Both give the
 * same bits, so nobody can tell from the results when that was.
 */
final class WarmingKernels implements Kernels {
  private static final long REPORT_PAUSE_NANOS = 20_000_000;

  private final ScalarKernels scalar;
  private final VectorKernels vector;
  private final PriorityBlockingQueue<KernelFamily> waiting = new PriorityBlockingQueue<>();
  private final AtomicBoolean begun = new AtomicBoolean();
  private final List<KernelFamily> families = new ArrayList<>();

  // In the order in which they are tried where several wait: products with weights matter most.
  private final KernelFamily bytes =
      family("products with weights of bytes", trials -> trials.coded(8));
  private final KernelFamily nibbles =
      family("products with weights of nibbles", trials -> trials.coded(4));
  private final KernelFamily floats = family("products and sums of floats", WarmUp::floats);
  private final KernelFamily rows = family("norms and exponentials", WarmUp::rows);
  private final KernelFamily halves = family("rows of halves", WarmUp::halves);
  private final KernelFamily lookups = family("attention on packed bits", WarmUp::lookups);
  private final KernelFamily patterns = family("patterns that turn", WarmUp::patterns);
  private final KernelFamily codebooks = family("sums of codebook rows", WarmUp::codebooks);

  WarmingKernels(ScalarKernels scalar, VectorKernels vector) {
    this.scalar = scalar;
    this.vector = vector;
  }

  private KernelFamily family(String familyName, Function<WarmUp, WarmUp.Trial> trial) {
    KernelFamily family = new KernelFamily(familyName, families.size(), trial, waiting::add);
    families.add(family);
    return family;
  }

  /** Where the family is served from; asking for it has it tried. */
  private Kernels of(KernelFamily family) {
    beginOnce();
    return family.isWarm() ? vector : scalar;
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

  /** Tries all that has not been tried. */
  @Override
  public List<String> report() {
    beginOnce();
    families.forEach(KernelFamily::isWarm);
    while (!families.stream().allMatch(KernelFamily::isDecided)) {
      LockSupport.parkNanos(REPORT_PAUSE_NANOS);
    }
    return families.stream().map(KernelFamily::report).toList();
  }

  @Override
  public CodedKernels coded(int codeBits) {
    return of(codeBits == 8 ? bytes : nibbles).coded(codeBits);
  }

  @Override
  public FloatKernels floats() {
    return of(floats).floats();
  }

  @Override
  public RowKernels rows() {
    return of(rows).rows();
  }

  @Override
  public HalfKernels halves() {
    return of(halves).halves();
  }

  @Override
  public LookupKernels lookups() {
    return of(lookups).lookups();
  }

  @Override
  public PatternKernels patterns() {
    return of(patterns).patterns();
  }

  @Override
  public CodebookKernels codebooks() {
    return of(codebooks).codebooks();
  }
}
