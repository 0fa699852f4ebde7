package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecordedCallTest {
  private static final int HEAD = 32; // six numbers, and a name of at most eight letters

  @Test
  void holdsMemoryBeforeAndAfterwards() throws IOException {
    float[] x = {1, 2};
    byte[] same = {3};
    RecordedCall call = RecordedCall.before("kv_scale_avx2", x, 7, same, 0.5f);
    x[1] = 4;
    ByteBuffer file = little(call.after(9f));

    assertThat(ints(file, 0, 5))
        .containsExactly(file.capacity(), 5, 4, 1, Float.floatToRawIntBits(9));
    assertThat(new String(file.array(), 24, 5)).isEqualTo("scale");
    assertThat(ints(file, HEAD, 4)).containsExactly(2, 1, 8, 0);
    assertThat(file.getFloat(HEAD + 20)).isEqualTo(2);
    assertThat(file.getLong(HEAD + 24)).as("changed").isEqualTo(1);
    assertThat(file.getFloat(HEAD + 36)).isEqualTo(4);
    assertThat(ints(file, HEAD + 40, 3)).containsExactly(0, 0, 7);
    assertThat(ints(file, HEAD + 56, 3)).containsExactly(2, 0, 1);
    assertThat(file.get(HEAD + 72)).isEqualTo((byte) 3);
    assertThat(file.getLong(HEAD + 80)).as("changed").isZero();
    assertThat(ints(file, HEAD + 88, 3)).containsExactly(1, 0, Float.floatToRawIntBits(0.5f));
    assertThat(file.capacity()).isEqualTo(HEAD + 104);
  }

  @Test
  void memoryThatIsPassedTwiceIsHeldOnce() throws IOException {
    float[] x = {1, 2};
    ByteBuffer file =
        little(RecordedCall.before("kv_add_neon", x, x, MemorySegment.NULL).after(null));
    assertThat(ints(file, HEAD + 32, 8)).containsExactly(3, 0, 0, 0, 4, 0, 0, 0);
  }

  @Test
  void partsOfOneAnotherAreRefused() {
    MemorySegment all = MemorySegment.ofArray(new float[4]);
    RecordedCall call = RecordedCall.before("kv_add_neon", all, all.asSlice(4));
    assertThatThrownBy(() -> call.after(null)).hasMessage("arguments 0 and 1 of add overlap");
  }

  @Test
  void aSampleIsSpreadOverAllSizes() {
    CallSample sample = new CallSample();
    for (int round = 0; round < 2; round++) {
      for (int size = 0; size < 5_000; size++) {
        CallSample.Rank rank = sample.rank(List.of(size, 1));
        if (sample.takes(rank, 4)) {
          sample.add(rank, new byte[] {(byte) (size / 1_000), (byte) round});
        }
      }
    }
    assertThat(sample.calls()).hasSize(600).allSatisfy(call -> assertThat(call[1]).isZero());
    for (int thousand = 0; thousand < 5; thousand++) {
      byte expected = (byte) thousand;
      assertThat(sample.calls()).filteredOn(call -> call[0] == expected).hasSizeGreaterThan(60);
    }
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int[] ints(ByteBuffer file, int at, int count) {
    return IntStream.range(0, count).map(i -> file.getInt(at + 4 * i)).toArray();
  }
}
