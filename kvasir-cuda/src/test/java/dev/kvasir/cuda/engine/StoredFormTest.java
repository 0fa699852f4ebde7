package dev.kvasir.cuda.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.cuda.engine.StoredForm.Residual;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes of stored sequences of a GPU, without one. */
class StoredFormTest {
  private static final CacheShape SHAPE = new CacheShape(3, 2, 64);

  /** Layers times KV heads: pages of a head that are stored for each page. */
  private static final int HEADS = 6;

  private static final int FP16_BYTES = 16_384; // of a page of one head
  private static final int HEADER = 10;
  private static final int CHECKSUM = 4;
  private static final int BLOCK_START = HEADER + 13;
  private static final int RESIDUAL_START = HEADER + 21;

  private static StoredForm form(String spec) {
    return form(SHAPE, spec);
  }

  private static StoredForm form(CacheShape shape, String spec) {
    return new StoredForm(shape, DeviceCacheConfig.of(CacheSpec.parse(spec)));
  }

  private static void fillRandom(MemorySegment pages) {
    byte[] bytes = new byte[(int) pages.byteSize()];
    new Random(1).nextBytes(bytes);
    pages.copyFrom(MemorySegment.ofArray(bytes));
  }

  private static void fillOnes(MemorySegment pages) {
    pages.fill((byte) 1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fp16 | 16 | 16384",
        "kivi:2 | 2 | 3072",
        "kivi:4 | 4 | 5120",
        "kivi:1 | 1 | 2048",
        "kivi:2,k=4 | 66 | 4096",
        "kivi:1,k=8 | 129 | 5632"
      })
  void aBlockHasItsPositionAndTheSizesOfItsPages(String spec, int bits, int headBytes) {
    byte[] block = form(spec).block(272, StoredFormTest::fillRandom);
    ByteBuffer in = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(new String(block, 0, 4)).isEqualTo("KVBL");
    assertThat(Byte.toUnsignedInt(block[5])).isEqualTo(StoredForm.KIND);
    assertThat(in.getInt(HEADER)).isEqualTo(272);
    assertThat(in.getShort(HEADER + 4)).isEqualTo((short) 3);
    assertThat(in.getShort(HEADER + 6)).isEqualTo((short) 2);
    assertThat(in.get(HEADER + 8)).isEqualTo((byte) bits);
    assertThat(in.getInt(HEADER + 9)).isEqualTo(headBytes);
    assertThat(block).hasSize(BLOCK_START + 2 * HEADS * headBytes + CHECKSUM);
    byte[] pages = form(spec).blockPages(Snapshot.of(block), 272).toArray(JAVA_BYTE);
    assertThat(pages).isEqualTo(Arrays.copyOfRange(block, BLOCK_START, block.length - CHECKSUM));
  }

  @Test
  void aBlockOfAnotherCacheIsRejected() {
    Snapshot block = Snapshot.of(form("kivi:2").block(128, StoredFormTest::fillRandom));
    rejects(() -> form("kivi:2").blockPages(block, 0), "begins at position 128; expected 0");
    rejects(
        () -> form("kivi:4").blockPages(block, 128),
        "has 3 layers of 2 KV heads with pages of 2 bits and 3072 bytes; expected 3, 2, 4, 5120");
    rejects(
        () -> form(new CacheShape(2, 2, 64), "kivi:2").blockPages(block, 128), "expected 2, 2, 2");
    rejects(
        () -> form(new CacheShape(3, 2, 128), "kivi:2").blockPages(block, 128), "expected 3, 2, 2");
  }

  private static void rejects(ThrowingCallable reading, String sentence) {
    assertThatThrownBy(reading)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("a stored block ")
        .hasMessageContaining(sentence);
  }

  @Test
  void damageIsRejected() {
    byte[] block = form("kivi:2").block(0, StoredFormTest::fillRandom);
    for (int at : new int[] {0, 5, HEADER, HEADER + 9, BLOCK_START, block.length - 1}) {
      byte[] changed = block.clone();
      changed[at] ^= 4;
      rejects(() -> form("kivi:2").blockPages(Snapshot.of(changed), 0), "");
    }
    for (int length : new int[] {0, HEADER, BLOCK_START, block.length - 1}) {
      byte[] shorter = Arrays.copyOf(block, length);
      rejects(() -> form("kivi:2").blockPages(Snapshot.of(shorter), 0), "");
    }
  }

  @Test
  void missingPagesAreRejected() {
    byte[] block = form("kivi:2").block(0, StoredFormTest::fillRandom);
    byte[] shorter = withPayload(block, block.length - HEADER - CHECKSUM - 3072);
    rejects(
        () -> form("kivi:2").blockPages(Snapshot.of(shorter), 0),
        "ends with 33792 bytes; by what it says of itself it has 36864");
    byte[] shortest = withPayload(block, 6);
    rejects(() -> form("kivi:2").blockPages(Snapshot.of(shortest), 0), "breaks off");
    byte[] residual =
        form("kivi:2").residual(new SnapshotLayout(65, 0, 0), StoredFormTest::fillRandom);
    byte[] withoutPage =
        withPayload(residual, residual.length - HEADER - CHECKSUM - HEADS * FP16_BYTES);
    assertThatThrownBy(() -> form("kivi:2").residual(Snapshot.of(withoutPage)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the rest of a stored cache ends with 98304 bytes; by what it says of itself it has"
                + " 196608");
  }

  /** Returns a form whose payload is cut off, with a valid length and checksum. */
  private static byte[] withPayload(byte[] form, int bytes) {
    byte[] cut = Arrays.copyOf(form, HEADER + bytes + CHECKSUM);
    ByteBuffer out = ByteBuffer.wrap(cut).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(HEADER - Integer.BYTES, bytes);
    CRC32C checksum = new CRC32C();
    checksum.update(cut, 0, HEADER + bytes);
    out.putInt(HEADER + bytes, (int) checksum.getValue());
    return cut;
  }

  @ParameterizedTest
  @CsvSource({
    "fp16, 0, 0, 0, 0",
    "fp16, 1, 0, 0, 1",
    "fp16, 64, 0, 0, 1",
    "fp16, 127, 0, 0, 2",
    "fp16, 128, 1, 0, 0",
    "fp16, 300, 2, 0, 1",
    "kivi:2, 63, 0, 0, 1",
    "kivi:2, 300, 1, 0, 3",
    "'kivi:2,sinks=16', 5, 0, 1, 0",
    "'kivi:2,sinks=16', 16, 0, 1, 0",
    "'kivi:2,sinks=16', 17, 0, 1, 1",
    "'kivi:2,sinks=16', 400, 2, 1, 2",
    "'kivi:2,sinks=65', 64, 0, 1, 0",
    "'kivi:2,sinks=65', 500, 2, 2, 3"
  })
  void aResidualPartHasThePagesThatAreNotInBlocks(
      String spec, int length, int blocks, int sinkPages, int windowPages) {
    int sinks = DeviceCacheConfig.of(CacheSpec.parse(spec)).sinks();
    SnapshotLayout layout = new SnapshotLayout(length, blocks, sinks);
    assertThat(layout.sinkPages()).isEqualTo(sinkPages);
    assertThat(layout.windowPages()).isEqualTo(windowPages);
    byte[] bytes = form(spec).residual(layout, StoredFormTest::fillOnes);
    Residual residual = form(spec).residual(Snapshot.of(bytes));
    assertThat(residual.layout()).isEqualTo(layout);
    assertThat(residual.pages().byteSize())
        .isEqualTo((long) HEADS * FP16_BYTES * (sinkPages + windowPages));
    int tokens = length - SnapshotLayout.BLOCK * blocks;
    long ones = 0;
    for (byte each : residual.pages().toArray(JAVA_BYTE)) {
      ones += each;
    }
    assertThat(ones).as("bytes that belong to tokens").isEqualTo((long) HEADS * tokens * 64 * 4);
  }

  /** Pages are reused, so they may hold tokens of other sequences. */
  @Test
  void whatFollowsTheTokensOfAPageIsNotStored() {
    SnapshotLayout layout = new SnapshotLayout(100, 0, 16);
    byte[] bytes = form("kivi:2,sinks=16").residual(layout, StoredFormTest::fillOnes);
    Fp16Page page = new Fp16Page(64);
    int[] tokens = {16, 64, 20}; // of the pages of a layer
    for (int i = 0; i < tokens.length * HEADS; i++) {
      int start = RESIDUAL_START + i * page.bytes();
      int filled = tokens[i / 2 % tokens.length];
      for (int token = 0; token < Fp16Page.TOKENS; token++) {
        byte wanted = (byte) (token < filled ? 1 : 0);
        assertThat(bytes[start + page.keyOffset(token, 63)]).isEqualTo(wanted);
        assertThat(bytes[start + page.valueOffset(token, 0)]).isEqualTo(wanted);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"-1, 0", "100, -1", "100, 1", "300, 3", "143, 1", "2147483647, 16777216"})
  void impossibleLengthsAreRejected(int length, int blocks) {
    byte[] bytes =
        form("kivi:2,sinks=16").residual(new SnapshotLayout(0, 0, 16), StoredFormTest::fillOnes);
    ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(HEADER, length).putInt(HEADER + 4, blocks);
    byte[] changed = withPayload(bytes, bytes.length - HEADER - CHECKSUM);
    assertThatThrownBy(() -> form("kivi:2,sinks=16").residual(Snapshot.of(changed)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the rest of a stored cache has %d whole blocks of 128 tokens and %d positions"
                .formatted(blocks, length));
  }

  @Test
  void otherSinksOrMissingBlocksAreRejected() {
    byte[] bytes =
        form("kivi:2,sinks=16").residual(new SnapshotLayout(0, 0, 16), StoredFormTest::fillOnes);
    assertThatThrownBy(() -> form("kivi:2").residual(Snapshot.of(bytes)))
        .hasMessage("the rest of a stored cache has 16 sinks; this cache has 0");
    byte[] dense = form("kivi:2").residual(new SnapshotLayout(300, 1, 0), StoredFormTest::fillOnes);
    assertThatThrownBy(() -> form("fp16").residual(Snapshot.of(dense)))
        .hasMessageContaining("has 1 whole blocks of 128 tokens and 300 positions");
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2"})
  void partsOfTheHostAreRejected(String spec) {
    try (KvCache cache = CacheSpec.parse(spec).newCache(SHAPE)) {
      assertThatThrownBy(() -> form(spec).residual(Snapshot.of(cache.snapshot().residual())))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage("the rest of a stored cache is of kind 1; this cache reads kind 129");
    }
  }
}
