package dev.kvasir.codec.mixed;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.SharedArena;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The sequence codecs of all parts. Serialized:
 *
 * <pre>
 * u8            parts
 * u32 (parts)   bytes of each state
 *               states
 * </pre>
 */
class MixedHeadsSequence implements SequenceCodec {
  /** The snapshot kind of this state. */
  private static final int KIND = 50;

  final LayerParts layers;
  final List<SequenceCodec> parts;

  MixedHeadsSequence(LayerParts layers, List<SequenceCodec> parts) {
    this.layers = layers;
    this.parts = parts;
  }

  /** Creates the codecs of all parts, or none if one fails. */
  static List<SequenceCodec> create(LayerParts layers, IntFunction<SequenceCodec> create) {
    List<SequenceCodec> parts = new ArrayList<>();
    try {
      for (int part = 0; part < layers.count(); part++) {
        parts.add(create.apply(part));
      }
      return List.copyOf(parts);
    } catch (RuntimeException | Error e) {
      parts.forEach(SequenceCodec::close);
      throw e;
    }
  }

  private SequenceCodec of(int layer) {
    return parts.get(layers.partOf(layer));
  }

  @Override
  public void learn(QuantizationBatch batch) {
    for (int part = 0; part < layers.count(); part++) {
      parts.get(part).learn(new PartBatch(batch, part));
    }
  }

  /** The layers of a part in a batch of blocks. */
  private final class PartBatch implements QuantizationBatch {
    private final QuantizationBatch batch;
    private final int part;

    PartBatch(QuantizationBatch batch, int part) {
      this.batch = batch;
      this.part = part;
    }

    @Override
    public int position() {
      return batch.position();
    }

    @Override
    public int blocks() {
      return batch.blocks();
    }

    @Override
    public boolean quantizes(int layer) {
      return batch.quantizes(layers.layer(part, layer));
    }

    @Override
    public void readBlock(int layer, int block, float[] keys, float[] values) {
      batch.readBlock(layers.layer(part, layer), block, keys, values);
    }
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    return of(layer).quantize(memory, layers.indexOf(layer), position, keys, values);
  }

  @Override
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return of(layer).deserialize(memory, layers.indexOf(layer), snapshot);
  }

  @Override
  public byte[] serializeState() {
    List<byte[]> states = parts.stream().map(SequenceCodec::serializeState).toList();
    long bytes = states.stream().mapToLong(state -> Integer.BYTES + state.length).sum();
    return SnapshotHeader.STATE.wrap(
        KIND,
        1 + bytes,
        out -> {
          out.put((byte) states.size());
          states.forEach(state -> out.putInt(state.length));
          states.forEach(out::put);
        });
  }

  /** Returns the states of the parts from {@link #serializeState}. */
  static List<byte[]> states(byte[] state, int count) {
    return SnapshotHeader.STATE.unwrap(
        state,
        KIND,
        in -> {
          int found = Byte.toUnsignedInt(in.get());
          if (found != count) {
            throw SnapshotHeader.STATE.invalid(
                "has %d sizes of heads; this cache has %d".formatted(found, count));
          }
          int[] sizes = new int[count];
          long bytes = 0;
          for (int part = 0; part < count; part++) {
            sizes[part] = in.getInt();
            bytes += Integer.toUnsignedLong(sizes[part]);
          }
          SnapshotHeader.STATE.requireRemaining(in, bytes);
          List<byte[]> states = new ArrayList<>();
          for (int size : sizes) {
            byte[] ofPart = new byte[size];
            in.get(ofPart);
            states.add(ofPart);
          }
          return states;
        });
  }

  @Override
  public boolean observesTokens() {
    return parts.stream().anyMatch(SequenceObserver::observesTokens);
  }

  @Override
  public void observe(int position, int token) {
    for (SequenceCodec part : parts) {
      if (part.observesTokens()) {
        part.observe(position, token);
      }
    }
  }

  @Override
  public boolean observesQueries() {
    for (SequenceCodec part : parts) { // a step asks for every row, so it must not allocate
      if (part.observesQueries()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void observe(int layer, int position, float[] queries, int at) {
    if (of(layer).observesQueries()) {
      of(layer).observe(layers.indexOf(layer), position, queries, at);
    }
  }

  @Override
  public int attentionHorizon() {
    return parts.stream().mapToInt(SequenceObserver::attentionHorizon).max().orElseThrow();
  }

  @Override
  public void observeAttention(int layer, int kvHead, int from, int[] weights, int count) {
    if (of(layer).attentionHorizon() > 0) {
      of(layer).observeAttention(layers.indexOf(layer), kvHead, from, weights, count);
    }
  }

  @Override
  public void commit(int length) {
    parts.forEach(part -> part.commit(length));
  }

  @Override
  public long tableBytes() {
    return parts.stream().mapToLong(SequenceCodec::tableBytes).sum();
  }

  final List<SequenceCodec> forkParts() {
    return create(layers, part -> parts.get(part).fork());
  }

  @Override
  public SequenceCodec fork() {
    return new MixedHeadsSequence(layers, forkParts());
  }

  @Override
  public void truncate(int length) {
    parts.forEach(part -> part.truncate(length));
  }

  @Override
  public void close() {
    parts.forEach(SequenceCodec::close);
  }
}
