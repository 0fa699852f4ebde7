package dev.kvasir.model;

import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Mxfp4Pair;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
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
  private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;

  /** Columns that are read together: 64 bytes and more of each line. */
  private static final int TILE = 32;

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
    int shorts = (int) (tensor.data().byteSize() / Short.BYTES / ((long) inputs * outputs));
    Columns columns = new Columns(tensor.data(), inputs, outputs, shorts);
    IntStream.range(0, Math.ceilDiv(rows, TILE))
        .map(tile -> tile * TILE)
        .parallel()
        .forEach(
            row -> columns.copy(first + row * step, step, Math.min(TILE, rows - row), to, row));
    return new Tensor(tensor.name(), type, new long[] {rows, inputs}, to);
  }

  /** A matrix with inputs outermost, of numbers of one or two shorts. */
  private record Columns(MemorySegment from, int inputs, int outputs, int shorts) {

    /** Copies every {@code step}th column from {@code first} on to rows from {@code row} on. */
    void copy(int first, int step, int count, MemorySegment to, int row) {
      short[] line = new short[((count - 1) * step + 1) * shorts];
      short[] tile = new short[count * inputs * shorts];
      for (int input = 0; input < inputs; input++) {
        long at = ((long) input * outputs + first) * shorts * Short.BYTES;
        MemorySegment.copy(from, SHORT, at, line, 0, line.length);
        for (int i = 0; i < count; i++) {
          for (int part = 0; part < shorts; part++) {
            tile[(i * inputs + input) * shorts + part] = line[i * step * shorts + part];
          }
        }
      }
      long place = (long) row * inputs * shorts * Short.BYTES;
      MemorySegment.copy(tile, 0, to, SHORT, place, tile.length);
    }
  }
}
