package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.KeyScoring;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.model.RopeLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Attention on CommVQ pages on a device, compared with double precision. */
@NeedsDevice
class CommvqDeviceTest {
  private DeviceFixture device;

  @BeforeEach
  void open() {
    device = DeviceFixture.open();
  }

  @AfterEach
  void close() {
    if (device != null) {
      device.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 64, 8, 2, 2, 0",
    "1, 64, 8, 2, 1, 0",
    "2, 64, 8, 2, 2, 16",
    "1, 128, 8, 2, 2, 16",
    "2, 128, 8, 2, 1, 0",
    "2, 128, 8, 2, 2, 0",
    "1, 128, 6, 2, 2, 5",
    "1, 128, 10, 2, 2, 0",
    "2, 64, 3, 3, 3, 0",
    "1, 64, 18, 2, 2, 16",
    "1, 64, 8, 4, 2, 16",
    "2, 64, 8, 4, 4, 0",
    "1, 128, 8, 4, 4, 0"
  })
  void attentionMatchesDoublePrecision(
      int bits, int headDim, int queryHeads, int kvHeads, int valueHeads, int sinks) {
    AttentionShape shape = new AttentionShape(queryHeads, kvHeads, headDim);
    checkAttention(bits, KeyScoring.SUMS, shape, valueHeads, sinks);
  }

  @ParameterizedTest
  @CsvSource({
    "TABLES, 1, 64, 8, 2, 2, 16",
    "TABLES, 2, 128, 6, 2, 1, 0",
    "TABLES, 1, 128, 10, 2, 2, 5",
    "DECODED, 1, 64, 8, 2, 2, 16",
    "DECODED, 2, 64, 3, 3, 1, 0",
    "DECODED, 1, 128, 10, 2, 2, 5",
    "DECODED, 2, 128, 8, 2, 2, 0"
  })
  void baselinesMatchDoublePrecision(
      KeyScoring scoring,
      int bits,
      int headDim,
      int queryHeads,
      int kvHeads,
      int valueHeads,
      int sinks) {
    AttentionShape shape = new AttentionShape(queryHeads, kvHeads, headDim);
    checkAttention(bits, scoring, shape, valueHeads, sinks);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 64, 8, 2, 0",
    "2, 64, 8, 2, 16",
    "1, 128, 6, 2, 5",
    "2, 128, 10, 2, 0",
    "1, 64, 3, 3, 16",
    "1, 128, 32, 8, 0",
    "2, 128, 8, 8, 16"
  })
  void bitsOfANetworkMatchDoublePrecision(
      int bits, int headDim, int queryHeads, int kvHeads, int sinks) {
    AttentionShape shape = new AttentionShape(queryHeads, kvHeads, headDim);
    CommvqBatch batch = CommvqBatch.ofNetwork(device, bits, shape, sinks, ropes(sinks));
    batch.add(0, 40, 130);
    batch.add(0, 0, 7);
    batch.add(1500, 7, 33);
    batch.check(1);
    batch.check(3);
  }

  private void checkAttention(
      int bits, KeyScoring scoring, AttentionShape shape, int valueHeads, int sinks) {
    CommvqBatch batch =
        CommvqBatch.ofStages(device, bits, scoring, shape, valueHeads, sinks, ropes(sinks));
    batch.add(0, 40, 130);
    batch.add(0, 0, 7);
    batch.add(1500, 7, 33);
    batch.add(3, 1, 1);
    batch.add(0, 130, 64);
    batch.check(1);
    batch.check(3);
  }

  private static RopeLayout ropes(int sinks) {
    return sinks == 0 ? RopeLayout.INTERLEAVED : RopeLayout.HALVES;
  }

  /** The values of 1,024 channels have more sets than the warps of a block have bins for. */
  @ParameterizedTest
  @CsvSource({"1, 32", "2, 8"})
  void manySetsAreAddedInParts(int bits, int queryHeads) {
    AttentionShape shape = new AttentionShape(queryHeads, 8, 128);
    CommvqBatch batch =
        CommvqBatch.ofStages(device, bits, KeyScoring.SUMS, shape, 8, 0, RopeLayout.HALVES);
    batch.add(0, 9, 33);
    batch.add(2, 2, 5);
    batch.check(1);
  }

  @ParameterizedTest
  @CsvSource({"1, 128", "2, 128", "1, 64"})
  void errorsStaySmallOverThirtyTwoThousandTokens(int bits, int headDim) {
    AttentionShape shape = new AttentionShape(8, 2, headDim);
    CommvqBatch batch =
        CommvqBatch.ofStages(device, bits, KeyScoring.SUMS, shape, 2, 16, RopeLayout.HALVES);
    batch.add(0, 510, 112);
    batch.check(1);
  }
}
