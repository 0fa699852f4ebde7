package dev.kvasir.bench;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaEvent;
import dev.kvasir.cuda.driver.CudaGraph;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.PagedAttention;
import java.util.ArrayList;
import java.util.List;

/** Times attention for one shape on a device. Formats alternate, each with two recorded graphs. */
final class GpuAttentionTimer implements AutoCloseable {
  private static final int WARM_UPS = 3;

  /**
   * Microseconds of a layer.
   *
   * @param plain kernels run one after another
   * @param early each kernel may start while the previous one ends, as in a step
   * @param planned how the batch was split
   */
  record GpuTime(GpuKind kind, double plain, double early, String planned) {}

  private final CudaContext context;
  private final KernelModule module;
  private final CudaStream stream;
  private final GpuShape shape;
  private final DeviceMemory queries;
  private final DeviceMemory outputs;
  private final List<AutoCloseable> resources = new ArrayList<>();

  GpuAttentionTimer(CudaContext context, KernelModule module, CudaStream stream, GpuShape shape) {
    this.context = context;
    this.module = module;
    this.stream = stream;
    this.shape = shape;
    int numbers = shape.batch() * shape.heads().queryHeads() * shape.heads().headDim();
    this.queries = GpuRandomKv.random(context, stream, numbers, 3);
    this.outputs = context.allocate(queries.bytes());
  }

  /** The graphs of one format, with a launch for each copy of the KV data. */
  private record RecordedGraphs(
      GpuKind kind, CudaGraph plain, CudaGraph early, int launches, String planned) {}

  List<GpuTime> measure(List<GpuKind> kinds, int rounds) {
    List<RecordedGraphs> recorded = kinds.stream().map(this::recordGraphs).toList();
    double[][] plain = new double[recorded.size()][rounds];
    double[][] early = new double[recorded.size()][rounds];
    try (CudaEvent begin = CudaEvent.open();
        CudaEvent end = CudaEvent.open()) {
      for (int round = -WARM_UPS; round < rounds; round++) {
        for (int i = 0; i < recorded.size(); i++) {
          RecordedGraphs each = recorded.get(i);
          double plainMicros = micros(each.plain(), begin, end) / each.launches();
          double earlyMicros = micros(each.early(), begin, end) / each.launches();
          if (round >= 0) {
            plain[i][round] = plainMicros;
            early[i][round] = earlyMicros;
          }
        }
      }
    }
    List<GpuTime> figures = new ArrayList<>();
    for (int i = 0; i < recorded.size(); i++) {
      RecordedGraphs each = recorded.get(i);
      figures.add(
          new GpuTime(each.kind(), Race.median(plain[i]), Race.median(early[i]), each.planned()));
    }
    return figures;
  }

  private RecordedGraphs recordGraphs(GpuKind kind) {
    GpuRandomKv kv = register(new GpuRandomKv(context, module, stream, kind, shape));
    PagedAttention attention =
        register(new PagedAttention(module, stream, kind.format(), shape.heads(), shape.batch()));
    CudaGraph plain = register(capture(kv, attention, false));
    CudaGraph early = register(capture(kv, attention, true));
    return new RecordedGraphs(kind, plain, early, kv.copies(), attention.describePlan());
  }

  private CudaGraph capture(GpuRandomKv kv, PagedAttention attention, boolean early) {
    attention.plan(kv.pageTable());
    return stream.capture(
        () -> {
          for (int copy = 0; copy < kv.copies(); copy++) {
            attention.selectLayer(kv.offsets(copy));
            attention.attend(stream, queries.address(), outputs.address(), early);
          }
        });
  }

  private double micros(CudaGraph graph, CudaEvent begin, CudaEvent end) {
    begin.record(stream);
    graph.launch(stream);
    end.record(stream);
    end.await();
    return end.microsSince(begin);
  }

  private <T extends AutoCloseable> T register(T each) {
    resources.add(each);
    return each;
  }

  @Override
  public void close() {
    try {
      for (AutoCloseable each : resources.reversed()) {
        each.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e); // none of them throws a checked exception
    }
    queries.close();
    outputs.close();
  }
}
