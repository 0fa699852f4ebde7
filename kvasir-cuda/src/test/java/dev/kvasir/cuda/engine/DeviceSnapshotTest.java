package dev.kvasir.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.SequenceTableFactory;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Which pages of a sequence are stored in which part, without a device. */
class DeviceSnapshotTest {
  private static final CacheShape SHAPE = new CacheShape(3, 2, 64);

  // Addresses of the first pages, which are 64 bytes apart.
  private static final int SINKS = 1 << 10;
  private static final int PACKED = 1 << 20;
  private static final int FP16 = 1 << 30;

  private static CacheResources resources(String spec) {
    return new CacheResources(
        DeviceCacheConfig.of(CacheSpec.parse(spec)),
        null,
        null,
        null,
        null,
        SequenceTableFactory.NONE,
        null,
        null,
        Optional.empty(),
        new ReentrantLock());
  }

  private static long[] addresses(long first, int count) {
    return LongStream.range(0, count).map(i -> first + 64 * i).toArray();
  }

  private static SequencePages pages(CacheResources resources, int sinks, int packed, int fp16) {
    SequencePages pages = new SequencePages(resources);
    pages.sinks = addresses(SINKS, sinks);
    pages.packed = addresses(PACKED, packed);
    pages.fp16 = addresses(FP16, fp16);
    return pages;
  }

  @Test
  void blocksArePackedPagesAndTheRestIsSinksAndTheWindow() {
    CacheResources resources = resources("kivi:2,sinks=65");
    SequencePages pages = pages(resources, 2, 6, 4);
    int length = 65 + 3 * 128 + 3 * 64 + 1;
    DeviceSnapshot snapshot = new DeviceSnapshot(resources, SHAPE, pages, length);
    assertThat(snapshot.length()).isEqualTo(length);
    assertThat(snapshot.blocks()).isEqualTo(3);
    assertThat(snapshot.end(0)).isEqualTo(65 + 128);
    assertThat(snapshot.end(2)).isEqualTo(65 + 3 * 128);
    assertThat(DeviceSnapshot.blockPages(resources, pages, 2))
        .containsExactly(PACKED + 4 * 64, PACKED + 5 * 64);
    assertThat(DeviceSnapshot.residualPages(resources, pages, new SnapshotLayout(length, 3, 65)))
        .containsExactly(SINKS, SINKS + 64, FP16, FP16 + 64, FP16 + 2 * 64, FP16 + 3 * 64);
  }

  @Test
  void unquantizedBlocksAreFp16Pages() {
    CacheResources resources = resources("fp16");
    SequencePages pages = pages(resources, 0, 0, 5);
    DeviceSnapshot snapshot = new DeviceSnapshot(resources, SHAPE, pages, 300);
    assertThat(snapshot.blocks()).isEqualTo(2);
    assertThat(snapshot.end(1)).isEqualTo(256);
    assertThat(DeviceSnapshot.blockPages(resources, pages, 1))
        .containsExactly(FP16 + 2 * 64, FP16 + 3 * 64);
    assertThat(DeviceSnapshot.residualPages(resources, pages, SnapshotLayout.ofDense(300, 0)))
        .containsExactly(FP16 + 4 * 64);
  }

  @Test
  void pagesBehindTheLastTokenAreNotStored() {
    CacheResources resources = resources("kivi:4,sinks=130");
    SequencePages pages = pages(resources, 3, 0, 2);
    assertThat(DeviceSnapshot.residualPages(resources, pages, new SnapshotLayout(64, 0, 130)))
        .containsExactly(SINKS);
    assertThat(DeviceSnapshot.residualPages(resources, pages, new SnapshotLayout(131, 0, 130)))
        .containsExactly(SINKS, SINKS + 64, SINKS + 2 * 64, FP16);
  }
}
