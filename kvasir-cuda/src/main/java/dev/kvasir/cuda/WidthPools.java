package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.pmkvq.KeyScales;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Pages of every width that a sequence's may shrink to, and what makes pages narrower. Level 0 is
 * pages of halves; each further one has codes of half as many bits.
 */
final class WidthPools {
  private static final int THREADS = 256;
  private static final int MOST_VALUE_GROUP = 128;

  private final PagePool halves;
  private final List<PagePool> packed; // from level 1 on
  private final int layers;
  private final AttentionShape shape;
  private final Map<String, Launch> launches = new HashMap<>();
  private final Map<Integer, Unpacking> unpackings = new HashMap<>(); // by level
  private final KernelModule module;

  /**
   * @param packed by level, from 1 on
   */
  WidthPools(
      KernelModule module,
      AttentionShape shape,
      int layers,
      PagePool halves,
      List<PagePool> packed) {
    this.module = module;
    this.shape = shape;
    this.layers = layers;
    this.halves = halves;
    this.packed = packed;
  }

  PagePool at(int level) {
    return level == 0 ? halves : packed.get(level - 1);
  }

  /** From a page of a level to that of the next layer, so many layers on. */
  long offset(int level, int layer) {
    return layer * at(level).layerStride();
  }

  /** Numbers of the widest codes among so many packed pages' bytes. */
  long codeBytes(int level) {
    return 2L
        * layers
        * shape.kvHeads()
        * new PackedPage(WidthFormat.BITS[level], shape.headDim()).codeBytes();
  }

  /** Codes full pages of halves to a level, as if they had never been wider. */
  void pack(PageMoves moves, long[] from, long[] to, int level) {
    pack(moves, "born", from, to, level);
  }

  /**
   * Makes pages narrower: those of halves by way of the codes of 16 bits that they stand for.
   *
   * @param from whole blocks
   */
  void narrow(PageMoves moves, long[] from, int fromLevel, long[] to, int toLevel) {
    if (fromLevel == 0) {
      pack(moves, "shrunk", from, to, toLevel);
    } else {
      String name =
          "narrow_width%d_width%d"
              .formatted(WidthFormat.BITS[fromLevel], WidthFormat.BITS[toLevel]);
      moves.move(
          from, to, (stream, pages, pairs) -> put(name, stream, pages, pairs, fromLevel, toLevel));
    }
  }

  private void pack(PageMoves moves, String how, long[] from, long[] to, int level) {
    String name = "%s_width%d".formatted(how, WidthFormat.BITS[level]);
    moves.move(
        from,
        to,
        (stream, pages, pairs) -> {
          launch(name)
              .argument(3, KeyScales.tokensOfAGroup(shape.headDim()))
              .argument(4, Math.min(MOST_VALUE_GROUP, shape.headDim()));
          put(name, stream, pages, pairs, 0, level);
        });
  }

  /** Makes halves of packed pages again, as attention takes them. */
  void unpack(PageMoves moves, long[] to, long[] from, int level) {
    PagePacker.Layers all = strides(level);
    moves.move(to, from, (stream, pages, pairs) -> unpack(stream, pages, pairs, level, all));
  }

  /** The same of one layer, to pages of halves that no other one has. */
  void expand(Stream stream, int pages, long pairs, int level, int layer) {
    unpack(stream, pages, pairs, level, strides(level).alone(layer));
  }

  private PagePacker.Layers strides(int level) {
    return new PagePacker.Layers(layers, halves.layerStride(), at(level).layerStride(), 0);
  }

  private void unpack(Stream stream, int pages, long pairs, int level, PagePacker.Layers which) {
    unpackings.computeIfAbsent(level, this::newUnpacking).of(pages, pairs, which).on(stream);
  }

  private Unpacking newUnpacking(int level) {
    String name = "unpack_width%d_d%d".formatted(WidthFormat.BITS[level], shape.headDim());
    return new Unpacking(module.kernel(name), shape.kvHeads());
  }

  private void put(String name, Stream stream, int pages, long pairs, int from, int to) {
    launch(name)
        .grid(pages, shape.kvHeads(), layers)
        .argument(0, pairs)
        .argument(1, at(from).layerStride())
        .argument(2, at(to).layerStride())
        .on(stream);
  }

  private Launch launch(String name) {
    return launches.computeIfAbsent(name, this::newLaunch);
  }

  private Launch newLaunch(String name) {
    Kernel kernel = module.kernel("%s_d%d".formatted(name, shape.headDim()));
    if (name.startsWith("narrow")) {
      return new Launch(kernel, 8, 8, 8).block(THREADS);
    }
    int sharedBytes = UniformPacker.sharedBytes(shape.headDim());
    kernel.allowSharedBytes(sharedBytes);
    return new Launch(kernel, 8, 8, 8, 4, 4).block(THREADS).shared(sharedBytes);
  }
}
