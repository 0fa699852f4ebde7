package dev.kvasir.cache;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.codec.ValueOrigin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The exact bytes of docs/format.md for one KV head of eight channels in one layer. Another test
 * covers commvq with its codebooks.
 */
class GoldenFormsTest {
  private static final CacheShape SHAPE = new CacheShape(1, 1, 8);
  private static final int CHANNELS = SHAPE.headDim();

  @Test
  void kivi() {
    QuantizedForms quantized = quantized("kivi:2,k=4,group=32");
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
    QuantizedForms quantized = quantized("kivi:2,k=4,group=32", latent);
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
    byte[] page = quantized("kivi:2", latent).pages().getFirst();
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
        quantized("patternkv:2", latent).state(),
        36,
        "e5e453e7",
        "4b565354 01 30 16000000", //
        "4b565354 01 01 08000000", // the method's state
        "00000000 00010000");
    CacheShape wider = new CacheShape(1, 1, 12, 8, ValueOrigin.IN_KEYS);
    try (SequenceCodec shrinking = codec("pmkvq:4,budget=1MiB", wider).newSequence()) {
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
    QuantizedForms quantized = quantized("patternkv:2,patterns=1,rope=static,v-threshold=off");
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
    QuantizedForms quantized = quantized("mixkvq,high=2000,mid=500,group=64");
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
  void ott() {
    QuantizedForms quantized = quantized("ott:2,outliers=1");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        1386,
        "37829511",
        "4b565047 02 28 5c050000", //
        "0100 01 0800 0800", // KV heads, unquantized tokens, channels
        "06"); // which
  }

  @Test
  void zipcacheAndMikv() {
    QuantizedForms quantized = quantized("zipcache:2,keys=token,share=0.25,queries=2");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        2081,
        "4266526c",
        "4b565047 02 29 13080000", //
        "0100", // KV heads
        "03", // keys and values are divided
        "0a 04 0800 2000 0000", // keys by token: 4 bits, 8 x 32
        "0a 02 0800 6000 0000", // 2 bits, 8 x 96
        "09 04 2000 0800 0800", // values: 4 bits, 32 x 8
        "09 02 6000 0800 0800", // 2 bits, 96 x 8
        "9f81c0c0 40606020 30301018 18080c0c"); // marks
    SnapshotAssertions.assertBytes(
        quantized.state(),
        62,
        "ee25fba1",
        "4b565354 01 28 30000000", //
        "0100 0100 0800 0200", // layers, query heads, channels, queries
        "fe000000 ff000000"); // positions
  }

  @Test
  void skvq() {
    QuantizedForms quantized = quantized("skvq:2,group=32");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        1846,
        "8921f671",
        "4b565047 02 2a 28070000", //
        "0100 0800", // KV heads, channels of a value
        "00010203 04050607", // their order
        "0100", // KV heads
        "01 01", // with an order of channels; matrices of keys
        "0a 02 0800 8000 0000", // by token: 2 bits, 8 x 128
        "09 02 8000 0800 0800"); // values: 2 bits, 128 x 8
  }

  @Test
  void kvquant() {
    QuantizedForms quantized = quantized("kvquant:2");
    SnapshotAssertions.assertBytes(
        quantized.pages().getLast(),
        1765,
        "d752bb98",
        "4b565047 02 2b d7060000", //
        "0100 0800 0800", // KV heads, channels of a key, of a value
        "02 02 01 01", // bits and outliers of keys and values
        "00", // after rotation
        "80000000"); // position
  }

  @Test
  void pmkvq() {
    QuantizedForms quantized = quantized("pmkvq:4,budget=1MiB,keys=token");
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

  @Test
  void quarot() {
    QuantizedForms quantized = quantized("quarot:2,k=4,clip=1");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        2090,
        "c3d47003",
        "4b565047 02 14 1c080000", //
        "01000000 01000000", // Hadamard transforms of keys and values
        "0100", // KV heads
        "00 01", // without an order of channels; blocks of keys
        "0a 04 0800 8000 0000", // by token: 4 bits, 8 x 128
        "09 02 8000 0800 0800"); // values: 2 bits, 128 x 8
  }

  @Test
  void turboquant() {
    QuantizedForms quantized = quantized("turboquant:2");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        1322,
        "01c7012e",
        "4b565047 02 14 1c050000", //
        "02010000 02010000", // Hadamard transforms with the signs of seed 1
        "0100", // KV heads
        "00 01", // without an order of channels; blocks of keys
        "15 02 0800 8000 0000", // levels by token: 2 bits, 8 x 128
        "14 02 8000 0800 0000"); // values: 2 bits, 128 x 8
  }

  @Test
  void rotatekv() {
    QuantizedForms quantized = quantized("rotatekv:2,v=4");
    SnapshotAssertions.assertBytes(
        quantized.pages().getLast(),
        2361,
        "bb6f55c9",
        "4b565047 02 15 2b090000", //
        "80000000", // position
        "01 00 01", // heads of a group; not rotated back; in their own order
        "0100 0600 0700 0200 0300 0400 0500 0000", // the order
        "0100", // KV heads
        "00 01", // without an order within a head; blocks of keys
        "0a 02 0800 8000 0000", // by token: 2 bits, 8 x 128
        "09 04 8000 0800 0800"); // values: 4 bits, 128 x 8
  }

  @Test
  void kvarn() {
    QuantizedForms quantized = quantized("kvarn:2,rounds=0");
    SnapshotAssertions.assertBytes(
        quantized.pages().getFirst(),
        1618,
        "cdd54059",
        "4b565047 02 16 44060000", //
        "003c".repeat(128 + 8), // factors of tokens of keys, and of channels of values: 1
        "0100", // KV heads
        "00 01", // without an order of channels; blocks of keys
        "09 02 0800 8000 8000", // by channel: 2 bits, 8 x 128
        "09 02 8000 0800 0800"); // values: 2 bits, 128 x 8
  }

  private record QuantizedForms(List<byte[]> pages, byte[] state) {}

  /** Quantizes two blocks, the second in a batch of its own. */
  private static QuantizedForms quantized(String spec) {
    return quantized(spec, SHAPE);
  }

  private static QuantizedForms quantized(String spec, CacheShape shape) {
    PageCodec method = codec(spec, shape);
    List<byte[]> pages = new ArrayList<>();
    try (SequenceCodec codec = method.newSequence()) {
      for (int position = 0; position < 2 * Page.TOKENS; position += Page.TOKENS) {
        for (int token = position;
            codec.observesQueries() && token < position + Page.TOKENS;
            token++) {
          codec.observe(0, token, vectors(1, 0), 0);
        }
        codec.learn(new Run(position));
        try (Page page = codec.quantize(0, position, block(position), block(position + 1))) {
          pages.add(page.serialize());
        }
      }
      return new QuantizedForms(pages, codec.serializeState());
    }
  }

  private static PageCodec codec(String spec, CacheShape shape) {
    CacheContext context = CacheContext.unknown().withQueryHeads(1);
    return CacheSpec.parse(spec).config().cacheConfig(shape, context).codec().orElseThrow();
  }

  private record Run(int position) implements QuantizationBatch {
    @Override
    public int blocks() {
      return 1;
    }

    @Override
    public void readBlock(int layer, int block, float[] keys, float[] values) {
      System.arraycopy(block(position), 0, keys, 0, keys.length);
      System.arraycopy(block(position + 1), 0, values, 0, values.length);
    }
  }

  private static float[] block(int seed) {
    return vectors(Page.TOKENS, seed);
  }

  /** Returns whole numbers whose range grows from channel to channel. */
  private static float[] vectors(int tokens, int seed) {
    float[] x = SnapshotAssertions.wholeNumbers(tokens * CHANNELS);
    for (int i = 0; i < x.length; i++) {
      x[i] = x[i] * (1 + i % CHANNELS) + seed;
    }
    return x;
  }
}
