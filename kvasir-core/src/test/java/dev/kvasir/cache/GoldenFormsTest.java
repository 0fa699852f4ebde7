package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.codec.ValueOrigin;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * The exact bytes of stored forms for one KV head of eight channels in one layer. Another test
 * covers commvq with its codebooks.
 */
class GoldenFormsTest {
  private static final int CHANNELS = QuantizedForms.CHANNELS;

  @Test
  void kivi() {
    QuantizedForms quantized = QuantizedForms.of("kivi:2,k=4,group=32");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        1698,
        "69aa05a8",
        "4b565047 02 01 94060000", // magic, version, kind, bytes
        "0100", // KV heads
        "00 01", // without an order of channels; blocks of keys
        "09 04 0800 8000 2000", // by channel: 4 bits, 8 x 128, groups of 32
        "09 02 8000 0800 0800"); // values: 2 bits, 128 x 8
    SnapshotAssertions.assertBytes(quantized.state(), 14, "12f087be", "4b565354 01 00 00000000");
  }

  @Test
  void kiviWithValuesInKeys() {
    CacheShape latent = new CacheShape(1, 1, CHANNELS, CHANNELS, ValueOrigin.IN_KEYS);
    QuantizedForms quantized = QuantizedForms.of("kivi:2,k=4,group=32", latent);
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        674,
        "36a3e37e",
        "4b565047 02 01 94020000", //
        "0100", // KV heads
        "00 01", // without an order of channels; blocks of keys
        "09 04 0800 8000 2000", // by channel: 4 bits, 8 x 128, groups of 32
        "08 00 8000 0800 0000"); // values: the channels of 128 keys
  }

  @Test
  void latentsWithRotaryChannels() {
    CacheShape latent = new CacheShape(1, 1, CHANNELS, 4, ValueOrigin.IN_KEYS);
    byte[] page = QuantizedForms.of("kivi:2", latent).pages().getFirst();
    int turned = 4 * 128 + 4 * 4;
    SnapshotAssertions.assertBytes(
        page,
        730,
        "6bfe33c9",
        "4b565047 02 30 cc020000", //
        "0100", // KV heads
        "09 08 0400 8000 8000"); // rotary channels: 8 bits, 4 x 128
    int at = 10 + 2 + 8 + turned;
    SnapshotAssertions.assertBytes(
        Arrays.copyOfRange(page, at, page.length - 4),
        178,
        "3bf69240",
        "4b565047 02 01 a4000000", // the latents' page
        "0100", // KV heads
        "00 01", // without an order of channels; blocks of keys
        "09 02 0400 8000 8000", // by channel: 2 bits, 4 x 128
        "08 00 8000 0400 0000"); // values: the same channels
    SnapshotAssertions.assertBytes(
        QuantizedForms.of("patternkv:2", latent).state(),
        36,
        "e5e453e7",
        "4b565354 01 30 16000000", //
        "4b565354 01 01 08000000", // the method's state
        "00000000 00010000");
    CacheShape wider = new CacheShape(1, 1, 12, 8, ValueOrigin.IN_KEYS);
    try (SequenceCodec shrinking =
        QuantizedForms.codec("pmkvq:4,budget=1MiB", wider).newSequence()) {
      SnapshotAssertions.assertBytes(
          shrinking.serializeState(),
          31,
          "c939901a",
          "4b565354 01 31 11000000", //
          "4b565354 01 03 03000000", // the method's state
          "0100 10");
    }
  }

  @Test
  void patternkv() {
    QuantizedForms quantized =
        QuantizedForms.of("patternkv:2,patterns=1,rope=static,v-threshold=off");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        1642,
        "0d5e2f86",
        "4b565047 02 02 5c060000", //
        "00000000", // position
        "01 01", // patterns of keys; new ones
        "00".repeat(128), // indices
        "002f 80b1 8033 0034 50b9 0032 98bc 0000"); // a pattern
    SnapshotAssertions.assertBytes(
        quantized.pages().getLast(),
        1642,
        "0eec1a04",
        "4b565047 02 02 5c060000", //
        "80000000", // position
        "02 01", // patterns of keys; new ones
        "000000000000 0101"); // indices begin
    SnapshotAssertions.assertBytes(
        quantized.state(),
        22,
        "556c679a",
        "4b565354 01 01 08000000", //
        "00000000 00010000"); // patterns from there on and up to there
  }

  @Test
  void mixkvq() {
    QuantizedForms quantized = QuantizedForms.of("mixkvq,high=2000,mid=500,group=64");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        2026,
        "5bae8800",
        "4b565047 02 01 dc070000", //
        "0100", // KV heads
        "01 03", // with an order of channels; blocks of keys
        "03 10 0200 8000 0000", // halves
        "09 04 0400 8000 4000", // 4 bits
        "09 02 0200 8000 4000", // 2 bits
        "09 02 8000 0800 0800", // values
        "05070203 04060001"); // the order
    SnapshotAssertions.assertBytes(
        quantized.state(),
        93,
        "9a887085",
        "4b565354 01 02 4f000000", //
        "0100 0100 0800", // layers, KV heads, channels
        "80000000 80000000 01", // queries, the first one's position, whether the next restarts
        "0000000000009640"); // the sum of the first channel
  }

  @Test
  void pmkvq() {
    QuantizedForms quantized = QuantizedForms.of("pmkvq:4,budget=1MiB,keys=token");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        5156,
        "16dc4227",
        "4b565047 02 03 16140000", //
        "10 00", // bits, not smoothed
        "0100", // KV heads
        "00 01", // without an order of channels; blocks of keys
        "07 10 0800 8000 0800", // wide by column
        "06 10 8000 0800 0800"); // wide by row
    SnapshotAssertions.assertBytes(
        quantized.state(),
        17,
        "8e5a519b",
        "4b565354 01 03 03000000", //
        "0100", // layers
        "10"); // bits
  }
}
