package dev.kvasir.bench;

import dev.kvasir.cuda.Context;
import dev.kvasir.cuda.DeviceMemory;
import dev.kvasir.cuda.Event;
import dev.kvasir.cuda.Graph;
import dev.kvasir.cuda.KernelModule;
import dev.kvasir.cuda.PageFormat;
import dev.kvasir.cuda.PageKind;
import dev.kvasir.cuda.PagedAttention;
import dev.kvasir.cuda.Stream;
import java.util.ArrayList;
import java.util.List;

/** Times of one shape's attention on a device: formats take turns, each in two recorded graphs. */
final class GpuTimes implements AutoCloseable {
  private static final int WARM_UPS = 3;

  /**
   * Microseconds of a layer.
   *
   * @param plain kernels one after another
   * @param early each may begin while the one ahead of it ends, as in a step
   * @param planned how the batch was cut
   */
  record Figure(PageFormat format, double plain, double early, String planned) {}

  private final Context context;
  private final KernelModule module;
  private final Stream stream;
  private final GpuShape shape;
  private final DeviceMemory queries;
  private final DeviceMemory outputs;
  private final List<AutoCloseable> opened = new ArrayList<>();

  GpuTimes(Context context, KernelModule module, Stream stream, GpuShape shape) {
    this.context = context;
    this.module = module;
    this.stream = stream;
    this.shape = shape;
    int numbers = shape.batch() * shape.heads().queryHeads() * shape.heads().headDim();
    this.queries = GpuPast.random(context, stream, numbers, 3);
    this.outputs = context.allocate(queries.bytes());
  }

  /** One format's graphs: a launch for each copy of the past. */
  private record Contender(
      PageFormat format, Graph plain, Graph early, int launches, String planned) {}

  List<Figure> measure(List<PageKind> kinds, int rounds) {
    List<Contender> contenders = kinds.stream().map(this::contender).toList();
    double[][] plain = new double[contenders.size()][rounds];
    double[][] early = new double[contenders.size()][rounds];
    try (Event begin = Event.open();
        Event end = Event.open()) {
      for (int round = -WARM_UPS; round < rounds; round++) {
        for (int i = 0; i < contenders.size(); i++) {
          Contender each = contenders.get(i);
          double plainMicros = micros(each.plain(), begin, end) / each.launches();
          double earlyMicros = micros(each.early(), begin, end) / each.launches();
          if (round >= 0) {
            plain[i][round] = plainMicros;
            early[i][round] = earlyMicros;
          }
        }
      }
    }
    List<Figure> figures = new ArrayList<>();
    for (int i = 0; i < contenders.size(); i++) {
      Contender each = contenders.get(i);
      figures.add(
          new Figure(each.format(), Race.median(plain[i]), Race.median(early[i]), each.planned()));
    }
    return figures;
  }

  private Contender contender(PageKind kind) {
    PageFormat format = kind.format();
    GpuPast past = keep(new GpuPast(context, module, stream, kind, shape));
    PagedAttention attention =
        keep(new PagedAttention(module, stream, format, shape.heads(), shape.batch()));
    Graph plain = keep(recorded(past, attention, false));
    Graph early = keep(recorded(past, attention, true));
    return new Contender(format, plain, early, past.copies(), attention.planned());
  }

  private Graph recorded(GpuPast past, PagedAttention attention, boolean early) {
    attention.plan(past.pageTable());
    return stream.capture(
        () -> {
          for (int copy = 0; copy < past.copies(); copy++) {
            attention.atLayer(past.offsets(copy));
            attention.attend(stream, queries.address(), outputs.address(), early);
          }
        });
  }

  private double micros(Graph graph, Event begin, Event end) {
    begin.record(stream);
    graph.launch(stream);
    end.record(stream);
    end.await();
    return end.microsSince(begin);
  }

  private <T extends AutoCloseable> T keep(T each) {
    opened.add(each);
    return each;
  }

  @Override
  public void close() {
    try {
      for (AutoCloseable each : opened.reversed()) {
        each.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e); // none of them throws a checked one
    }
    queries.close();
    outputs.close();
  }
}
