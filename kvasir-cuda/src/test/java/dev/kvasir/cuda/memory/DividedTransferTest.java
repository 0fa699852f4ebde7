package dev.kvasir.cuda.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers from and to arrays in place of several devices; addresses are indices. */
class DividedTransferTest {
  private static final int SLAB_PAGES = 10;
  private static final int PAGE_BYTES = 32;

  /** An array in place of a device that has some of the layers. */
  private record Memory(byte[] bytes, int layers, int pageBytes) {
    Memory(int layers, int pageBytes) {
      this(new byte[layers * SLAB_PAGES * pageBytes], layers, pageBytes);
    }

    PageTransfer transfer() {
      return new PageTransfer(
          layers,
          (long) SLAB_PAGES * pageBytes,
          pageBytes,
          piece -> piece.accept(new ArrayCopies(MemorySegment.ofArray(bytes))));
    }

    long[] addresses(int... pages) {
      return Arrays.stream(pages).mapToLong(page -> (long) page * pageBytes).toArray();
    }
  }

  private record ArrayCopies(MemorySegment memory) implements PageTransfer.Copies {
    @Override
    public void download(MemorySegment target, long from, long count) {
      target.copyFrom(memory.asSlice(from, count));
    }

    @Override
    public void upload(long to, MemorySegment source, long count) {
      memory.asSlice(to, count).copyFrom(source);
    }
  }

  private static MemorySegment random(int bytes) {
    byte[] all = new byte[bytes];
    new Random(7).nextBytes(all);
    return MemorySegment.ofArray(all);
  }

  /** What one device with five layers has stored is restored on two devices, and stored there. */
  @Test
  void bytesAreThoseOfOneDevice() {
    MemorySegment stored = random(5 * 3 * PAGE_BYTES);
    Memory first = new Memory(2, PAGE_BYTES);
    Memory second = new Memory(3, PAGE_BYTES);
    DividedTransfer both = new DividedTransfer(List.of(first.transfer(), second.transfer()), false);
    List<long[]> pages = List.of(first.addresses(4, 0, 9), second.addresses(1, 2, 8));
    both.upload(stored, pages);

    Memory one = new Memory(5, PAGE_BYTES);
    one.transfer().upload(stored, one.addresses(6, 5, 7));
    for (int layer = 0; layer < 5; layer++) {
      int own = layer < 2 ? layer : layer - 2;
      for (int i = 0; i < 3; i++) {
        Memory part = layer < 2 ? first : second;
        long from = pages.get(layer < 2 ? 0 : 1)[i] + (long) own * SLAB_PAGES * PAGE_BYTES;
        long wanted = one.addresses(6, 5, 7)[i] + (long) layer * SLAB_PAGES * PAGE_BYTES;
        assertThat(
                MemorySegment.ofArray(part.bytes())
                    .asSlice(from, PAGE_BYTES)
                    .mismatch(MemorySegment.ofArray(one.bytes()).asSlice(wanted, PAGE_BYTES)))
            .isEqualTo(-1);
      }
    }
    MemorySegment again = MemorySegment.ofArray(new byte[(int) stored.byteSize()]);
    both.download(pages, again);
    assertThat(again.mismatch(stored)).isEqualTo(-1);
  }

  /** Layers of a page lie together in the first part; those of the second have one size. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void layersOfAPageStayTogether(int count) {
    MemorySegment stored = random(count * (96 + 2 * PAGE_BYTES));
    Memory first = new Memory(1, 96);
    Memory second = new Memory(2, PAGE_BYTES);
    DividedTransfer both = new DividedTransfer(List.of(first.transfer(), second.transfer()), true);
    int[] pages = {3, 5};
    List<long[]> addresses =
        List.of(
            first.addresses(Arrays.copyOf(pages, count)),
            second.addresses(Arrays.copyOf(pages, count)));
    both.upload(stored, addresses);
    Memory one = new Memory(1, 96 + 2 * PAGE_BYTES);
    long[] ofOne = one.addresses(Arrays.copyOf(pages, count));
    one.transfer().upload(stored, ofOne);
    MemorySegment again = MemorySegment.ofArray(new byte[(int) stored.byteSize()]);
    both.download(addresses, again);
    assertThat(again.mismatch(stored)).isEqualTo(-1);
    for (int i = 0; i < count; i++) {
      MemorySegment whole = MemorySegment.ofArray(one.bytes()).asSlice(ofOne[i], 96);
      MemorySegment part = MemorySegment.ofArray(first.bytes()).asSlice(addresses.get(0)[i], 96);
      assertThat(part.mismatch(whole)).isEqualTo(-1);
    }
  }

  @Test
  void aWrongLengthIsRejected() {
    Memory part = new Memory(2, PAGE_BYTES);
    DividedTransfer both = new DividedTransfer(List.of(part.transfer(), part.transfer()), false);
    List<long[]> pages = List.of(part.addresses(0), part.addresses(1));
    assertThatThrownBy(() -> both.download(pages, random(4 * PAGE_BYTES + 1)))
        .hasMessage("129 bytes; expected 128 of all parts");
  }
}
