package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/** Packs, unpacks and copies pages of all layers, in the order of a stream. */
final class PageMoves implements AutoCloseable {
  /** Pages at a time. */
  private static final int MOST = 256;

  private final Context context;
  private final Stream stream;
  private final RowStore store;
  private final RowStore.Layers layers;
  private final long halfBytes; // of a page in a layer
  private final int group;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment pairs = arena.allocate(16L * MOST, 16);
  private final DeviceMemory devicePairs;

  PageMoves(
      Context context,
      Stream stream,
      RowStore store,
      RowStore.Layers layers,
      long halfBytes,
      int group) {
    this.context = context;
    this.stream = stream;
    this.store = store;
    this.layers = layers;
    this.halfBytes = halfBytes;
    this.group = group;
    this.devicePairs = context.allocate(pairs.byteSize());
  }

  /** Makes the device the one that this thread calls. */
  void enter() {
    context.enter();
  }

  /**
   * @param halves full pages, two by two those of a block
   * @param packed where they go
   */
  void pack(long[] halves, long[] packed) {
    inParts(
        halves, packed, pages -> store.pack(stream, pages, devicePairs.address(), layers, group));
  }

  /**
   * @param halves where they go
   */
  void unpack(long[] halves, long[] packed) {
    inParts(halves, packed, pages -> store.unpack(stream, pages, devicePairs.address(), layers));
  }

  private void inParts(long[] halves, long[] packed, IntConsumer launch) {
    for (int from = 0; from < halves.length; from += MOST) {
      int count = Math.min(MOST, halves.length - from);
      for (int i = 0; i < count; i++) {
        pairs.setAtIndex(JAVA_LONG, 2L * i, halves[from + i]);
        pairs.setAtIndex(JAVA_LONG, 2L * i + 1, packed[from + i]);
      }
      // Memory that is not pinned has been read when the call returns.
      devicePairs.upload(stream, 0, pairs, 16L * count);
      launch.accept(count);
    }
  }

  /** Copies a page of halves in all layers. */
  void copy(long from, long to) {
    for (int layer = 0; layer < layers.count(); layer++) {
      long offset = layer * layers.halfStride();
      DeviceMemory.copy(stream, to + offset, from + offset, halfBytes);
    }
  }

  @Override
  public void close() {
    devicePairs.close();
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
