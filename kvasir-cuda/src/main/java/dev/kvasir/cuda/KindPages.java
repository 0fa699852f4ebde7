package dev.kvasir.cuda;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the caches of one kind have in common on a device: where their pages come from, and what
 * moves them. All work goes into one stream, by whoever holds its lock; nobody who does asks for
 * memory, since others may have to give some back for it.
 *
 * @param halves where tokens begin
 * @param packed where they go to; null where nothing is packed
 * @param tables where sequences have what they need beside pages; null where they need nothing
 * @param widths pages of all widths, where they shrink; null else
 * @param wider channels of keys that pages have elsewhere; null where they have none
 * @param moves what it takes to pack, to unpack and to copy
 * @param prompts attention of many rows of a sequence; empty where rows are attended to one by one
 */
record KindPages(
    PageKind kind,
    PagePool halves,
    PagePool packed,
    PagePool tables,
    WidthPools widths,
    WiderChannels wider,
    PageMoves moves,
    PagedAttention attention,
    Optional<PromptAttention> prompts,
    ReentrantLock lock)
    implements AutoCloseable {
  boolean packs() {
    return kind.format().isPacked();
  }

  /** Whether a page of halves is taken with the one that it will be packed to. */
  boolean setsAside() {
    return packed != null;
  }

  /** Bytes of so many pages of halves, with what is set aside to pack them. */
  long bytes(int pages) {
    return pages * (halves.bytesOfAll() + (setsAside() ? packed.bytesOfAll() : 0));
  }

  /** Of a page of tables in all layers. */
  long tableBytes() {
    return tables == null ? 0 : tables.bytesOfAll();
  }

  /** Where a layer's pages lie. */
  LayerOffsets offsets(int layer) {
    return new LayerOffsets(
        layer,
        widths != null
            ? widths.offset(1, layer)
            : packed == null ? 0 : layer * packed.layerStride(),
        layer * halves.layerStride(),
        tables == null ? 0 : layer * tables.layerStride(),
        widths == null ? 0 : widths.offset(2, layer),
        widths == null ? 0 : widths.offset(3, layer));
  }

  /** Whether rows of prompts read packed pages as halves, which they are made before. */
  boolean expandsPrompts() {
    return prompts.isPresent() && prompts.get().expands();
  }

  /** Makes halves of the pages of one layer that are listed. */
  void expand(Stream stream, ExpandedPages listed, int layer) {
    if (widths == null) {
      expand(
          listed,
          0,
          (pages, pairs) -> moves.expand(stream, pages, pairs, listed.besideAt(), layer));
      return;
    }
    for (int level = 1; level < WidthFormat.BITS.length; level++) {
      int its = level;
      expand(listed, level - 1, (pages, pairs) -> widths.expand(stream, pages, pairs, its, layer));
    }
  }

  private interface Expansion {
    void launch(int pages, long pairs);
  }

  private static void expand(ExpandedPages listed, int width, Expansion expansion) {
    if (listed.grid(width) > 0) {
      expansion.launch(listed.grid(width), listed.pairsAt(width));
    }
  }

  /** Does something to pages, in the order of the stream. */
  void move(Runnable work) {
    lock.lock();
    try {
      moves.enter();
      work.run();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    Closing.all(moves, attention, wider);
  }
}
