package dev.kvasir.model;

import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Mxfp4Pair;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Expert matrices of gpt-oss folders: one tensor of interleaved gates and ups, and one of downs.
 * 16-bit floats are stored with inputs outermost and are transposed on loading. MXFP4 is stored row
 * by row, as blocks and scales.
 *
 * <pre>
 * gate_up_proj (experts, hidden, 2 width): output 2i is gate i, output 2i + 1 is up i
 * down_proj    (experts, width, hidden)
 * </pre>
 */
record InterleavedExperts(ExpertConfig experts, int hidden, TensorNames names)
    implements ExpertLayout {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public void plan(TensorPlan plan, int layer) {
    int both = 2 * experts.width();
    plan(plan, both(layer), both, hidden);
    plan.addRequiredFloats(both(layer) + "_bias", experts.count(), both);
    plan(plan, down(layer), hidden, experts.width());
    plan.addRequiredFloats(down(layer) + "_bias", experts.count(), hidden);
  }

  private void plan(TensorPlan plan, String name, int outputs, int inputs) {
    if (plan.mxfp4(name).isPresent()) {
      plan.addRequiredMxfp4(name, experts.count(), outputs, inputs);
    } else {
      plan.addRequired(name, experts.count(), inputs, outputs);
    }
  }

  private String both(int layer) {
    return names.named(layer, "mlp.experts.gate_up_proj");
  }

  private String down(int layer) {
    return names.named(layer, "mlp.experts.down_proj");
  }

  @Override
  public Tensor matrix(TensorPlan plan, int layer, Kind kind, int expert, SegmentAllocator memory) {
    String name = kind == Kind.DOWN ? down(layer) : both(layer);
    int first = kind == Kind.UP ? 1 : 0;
    int step = kind == Kind.DOWN ? 1 : 2;
    Optional<Mxfp4Pair> pair = plan.mxfp4(name);
    return pair.isPresent()
        ? pair.get().expert(expert, first, step)
        : transposed(plan.require(name).part(expert), first, step, memory);
  }

  @Override
  public float[] bias(TensorPlan plan, int layer, Kind kind, int expert) {
    String name = (kind == Kind.DOWN ? down(layer) : both(layer)) + "_bias";
    float[] all = plan.require(name).part(expert).toFloats();
    int first = kind == Kind.UP ? 1 : 0;
    int step = kind == Kind.DOWN ? 1 : 2;
    float[] bias = new float[all.length / step];
    for (int i = 0; i < bias.length; i++) {
      bias[i] = all[first + i * step];
    }
    return bias;
  }

  /** Returns outputs {@code first}, {@code first + step} and so on as rows. */
  private static Tensor transposed(Tensor tensor, int first, int step, SegmentAllocator memory) {
    int inputs = (int) tensor.shape()[0];
    int outputs = (int) tensor.shape()[1];
    GgmlType type = tensor.type();
    int rows = outputs / step;
    MemorySegment to = memory.allocate(type.bytesFor((long) rows * inputs));
    IntStream.range(0, rows)
        .parallel()
        .forEach(row -> copyColumn(tensor.data(), outputs, first + row * step, inputs, to, row));
    return new Tensor(tensor.name(), type, new long[] {rows, inputs}, to);
  }

  private static void copyColumn(
      MemorySegment from, int outputs, int output, int inputs, MemorySegment to, int row) {
    boolean wide = from.byteSize() == (long) outputs * inputs * Integer.BYTES;
    for (int input = 0; input < inputs; input++) {
      long at = (long) input * outputs + output;
      long place = (long) row * inputs + input;
      if (wide) {
        to.set(INT, place * Integer.BYTES, from.get(INT, at * Integer.BYTES));
      } else {
        to.set(SHORT, place * Short.BYTES, from.get(SHORT, at * Short.BYTES));
      }
    }
  }
}
