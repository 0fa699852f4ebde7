package dev.kvasir.cuda.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Transfers from and to an array in place of a device; addresses are indices. */
class PageTransferTest {
  private static final int LAYERS = 3;
  private static final int SLAB_PAGES = 10;
  private static final int PAGE_BYTES = 96;

  private final List<Long> pieces = new ArrayList<>();

  private PageTransfer transfer(byte[] memory, int pageBytes) {
    return new PageTransfer(
        LAYERS,
        (long) SLAB_PAGES * pageBytes,
        pageBytes,
        piece -> {
          ArrayCopies copies = new ArrayCopies(MemorySegment.ofArray(memory));
          piece.accept(copies);
          pieces.add(copies.bytes);
        });
  }

  /** Copies between off-heap memory and the array, and counts the bytes. */
  private static final class ArrayCopies implements PageTransfer.Copies {
    private final MemorySegment memory;
    private long bytes;

    ArrayCopies(MemorySegment memory) {
      this.memory = memory;
    }

    @Override
    public void download(MemorySegment target, long from, long count) {
      assertThat(target.isNative()).isTrue();
      target.copyFrom(memory.asSlice(from, count));
      bytes += count;
    }

    @Override
    public void upload(long to, MemorySegment source, long count) {
      assertThat(source.isNative()).isTrue();
      memory.asSlice(to, count).copyFrom(source);
      bytes += count;
    }
  }

  private static byte[] randomMemory(int pageBytes) {
    byte[] memory = new byte[LAYERS * SLAB_PAGES * pageBytes];
    new Random(1).nextBytes(memory);
    return memory;
  }

  @Test
  void bytesAreOrderedByLayerThenByPage() {
    byte[] memory = randomMemory(PAGE_BYTES);
    byte[] found = new byte[2 * LAYERS * PAGE_BYTES];
    transfer(memory, PAGE_BYTES)
        .download(new long[] {5 * PAGE_BYTES, 2 * PAGE_BYTES}, MemorySegment.ofArray(found));
    int at = 0;
    for (int layer = 0; layer < LAYERS; layer++) {
      for (int page : new int[] {5, 2}) {
        int from = (layer * SLAB_PAGES + page) * PAGE_BYTES;
        for (int i = 0; i < PAGE_BYTES; i++) {
          assertThat(found[at++]).isEqualTo(memory[from + i]);
        }
      }
    }
    assertThat(pieces).containsExactly((long) found.length);
  }

  @Test
  void uploadsRestoreDownloadsAndNothingElse() {
    byte[] memory = randomMemory(PAGE_BYTES);
    long[] pages = {0, 7 * PAGE_BYTES, 9 * PAGE_BYTES};
    PageTransfer transfer = transfer(memory, PAGE_BYTES);
    byte[] stored = new byte[LAYERS * pages.length * PAGE_BYTES];
    transfer.download(pages, MemorySegment.ofArray(stored));
    byte[] other = new byte[memory.length];
    transfer(other, PAGE_BYTES).upload(MemorySegment.ofArray(stored), pages);
    for (int i = 0; i < memory.length; i++) {
      int page = i / PAGE_BYTES % SLAB_PAGES;
      boolean isStored = page == 0 || page == 7 || page == 9;
      assertThat(other[i]).isEqualTo(isStored ? memory[i] : 0);
    }
  }

  @Test
  void piecesAreBounded() {
    int pageBytes = 1 << 20;
    byte[] memory = randomMemory(pageBytes);
    long[] pages = {3L * pageBytes, 0, 9L * pageBytes};
    PageTransfer transfer = transfer(memory, pageBytes);
    byte[] stored = new byte[LAYERS * pages.length * pageBytes];
    transfer.download(pages, MemorySegment.ofArray(stored));
    assertThat(pieces)
        .containsExactly(PageTransfer.PIECE_BYTES, PageTransfer.PIECE_BYTES, (long) pageBytes);
    byte[] other = new byte[memory.length];
    transfer(other, pageBytes).upload(MemorySegment.ofArray(stored), pages);
    byte[] again = new byte[stored.length];
    transfer(other, pageBytes).download(pages, MemorySegment.ofArray(again));
    assertThat(again).isEqualTo(stored);
  }

  @Test
  void aLargePageIsAPieceOfItsOwn() {
    int pageBytes = 5 << 20;
    byte[] memory = new byte[(2 * SLAB_PAGES + 1) * pageBytes];
    byte[] stored = new byte[LAYERS * pageBytes];
    transfer(memory, pageBytes).download(new long[] {0}, MemorySegment.ofArray(stored));
    assertThat(pieces).hasSize(LAYERS).containsOnly((long) pageBytes);
  }

  @Test
  void noPagesTakeNoPieces() {
    transfer(new byte[0], PAGE_BYTES).download(new long[0], MemorySegment.ofArray(new byte[0]));
    assertThat(pieces).isEmpty();
  }

  @Test
  void aWrongLengthIsRejected() {
    MemorySegment source = MemorySegment.ofArray(new byte[LAYERS * PAGE_BYTES - 1]);
    PageTransfer transfer = transfer(randomMemory(PAGE_BYTES), PAGE_BYTES);
    assertThatThrownBy(() -> transfer.upload(source, new long[] {0}))
        .hasMessage("287 bytes; expected 288 of 1 pages in 3 layers");
    assertThat(source.toArray(JAVA_BYTE)).containsOnly(0);
    assertThat(pieces).isEmpty();
  }
}
