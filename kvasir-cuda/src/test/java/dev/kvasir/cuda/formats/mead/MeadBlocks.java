package dev.kvasir.cuda.formats.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.mead.HostMeadPage;
import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.codec.mead.TestMeadTables;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random fp16 keys and values of consecutive blocks, and the same as the host quantizes them. */
final class MeadBlocks {
  static final int TOKENS = Page.TOKENS;
  private static final int VOCABULARY = 300;

  /**
   * A block.
   *
   * @param keys by layer: rotated halves as floats // (kvHeads, tokens, headDim)
   * @param host by layer
   */
  record Block(
      int position, int[] ids, List<float[]> keys, List<float[]> values, List<HostMeadPage> host) {}

  final MeadModel model;
  final CacheShape shape;
  private final SequenceCodec sequence;
  private final Random random = new Random(5);
  private final List<Block> blocks = new ArrayList<>();

  MeadBlocks(String spec, TableKind kind, int layers, int kvHeads, int headDim, int sinks) {
    this.shape = new CacheShape(layers, kvHeads, headDim, headDim);
    Rotation rotation = rotation(headDim, sinks > 0 ? RopeLayout.HALVES : RopeLayout.INTERLEAVED);
    PageCodec codec = TestMeadTables.codec(shape, spec + ",late-sinks=0", kind, rotation);
    this.model = new MeadModel(MeadParameters.of(codec).orElseThrow(), rotation, sinks, 1 << 16);
    this.sequence = codec.newSequence(MemoryPool.unlimited());
  }

  private static Rotation rotation(int headDim, RopeLayout layout) {
    float[] frequencies = new float[headDim / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(10_000, -(double) pair / frequencies.length);
    }
    return new Rope(layout, frequencies);
  }

  /** Adds the next block. */
  Block add() {
    int position = model.firstPosition() + blocks.size() * TOKENS;
    int[] ids = new int[TOKENS];
    for (int token = 0; token < TOKENS; token++) {
      ids[token] = random.nextInt(VOCABULARY);
      sequence.observe(position + token, ids[token]);
    }
    sequence.commit(position + TOKENS);
    List<float[]> keys = new ArrayList<>();
    List<float[]> values = new ArrayList<>();
    List<HostMeadPage> host = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      keys.add(numbers());
      values.add(numbers());
      host.add(HostMeadPage.of(sequence, layer, position, keys.get(layer), values.get(layer)));
    }
    Block block = new Block(position, ids, keys, values, host);
    blocks.add(block);
    return block;
  }

  /** Returns halves: tokens differ in size, so that they get different scales and tiers. */
  private float[] numbers() {
    float[] numbers = new float[shape.kvHeads() * TOKENS * shape.keyDim()];
    for (int vector = 0; vector < numbers.length / shape.keyDim(); vector++) {
      double size = Math.exp(0.7 * random.nextGaussian());
      for (int i = 0; i < shape.keyDim(); i++) {
        float x = (float) (size * random.nextGaussian());
        numbers[vector * shape.keyDim() + i] = Float.float16ToFloat(Float.floatToFloat16(x));
      }
    }
    return numbers;
  }

  /** Returns the two device pages of a block, written number by number. */
  MemorySegment[] pages(Block block) {
    int bytes = model.layout().pageBytes();
    MemorySegment first = Arena.ofAuto().allocate(bytes, 64);
    MemorySegment second = Arena.ofAuto().allocate(bytes, 64);
    PlainBlock plain = new PlainBlock(model, first, second);
    for (int layer = 0; layer < shape.layers(); layer++) {
      plain.write(layer, block.position(), block.host().get(layer), block.ids());
    }
    return new MemorySegment[] {first, second};
  }
}
