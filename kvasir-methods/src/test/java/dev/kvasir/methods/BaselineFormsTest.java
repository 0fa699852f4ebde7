package dev.kvasir.methods;

import dev.kvasir.cache.QuantizedForms;
import dev.kvasir.codec.SnapshotAssertions;
import org.junit.jupiter.api.Test;

/** The serialized forms, byte for byte. */
class BaselineFormsTest {
  @Test
  void ott() {
    QuantizedForms quantized = QuantizedForms.of("ott:2,outliers=1");
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
    QuantizedForms quantized = QuantizedForms.of("zipcache:2,keys=token,share=0.25,queries=2");
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
    QuantizedForms quantized = QuantizedForms.of("skvq:2,group=32");
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
    QuantizedForms quantized = QuantizedForms.of("kvquant:2");
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
  void quarot() {
    QuantizedForms quantized = QuantizedForms.of("quarot:2,k=4,clip=1");
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
    QuantizedForms quantized = QuantizedForms.of("turboquant:2");
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
    QuantizedForms quantized = QuantizedForms.of("rotatekv:2,v=4");
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
    QuantizedForms quantized = QuantizedForms.of("kvarn:2,rounds=0");
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
}
