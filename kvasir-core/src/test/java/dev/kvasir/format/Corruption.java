package dev.kvasir.format;

import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomDistribution;

/** A modification of a file. Positions wrap around, so any number is valid. */
sealed interface Corruption {
  byte[] applyTo(byte[] file);

  /** Changes bits of one byte. */
  record Flip(int position, int bits) implements Corruption {
    @Override
    public byte[] applyTo(byte[] file) {
      byte[] edited = file.clone();
      if (file.length > 0) {
        edited[position % file.length] ^= (byte) bits;
      }
      return edited;
    }
  }

  /** Removes the end. */
  record Truncate(int length) implements Corruption {
    @Override
    public byte[] applyTo(byte[] file) {
      return Arrays.copyOf(file, length % (file.length + 1));
    }
  }

  /** Inserts bytes. */
  record Insert(int position, List<Byte> bytes) implements Corruption {
    @Override
    public byte[] applyTo(byte[] file) {
      int at = position % (file.length + 1);
      LittleEndianBytes edited = new LittleEndianBytes().raw(Arrays.copyOf(file, at));
      bytes.forEach(edited::int8);
      return edited.raw(Arrays.copyOfRange(file, at, file.length)).toArray();
    }
  }

  /** Deletes bytes. */
  record Delete(int position, int length) implements Corruption {
    @Override
    public byte[] applyTo(byte[] file) {
      int from = position % (file.length + 1);
      int to = Math.min(file.length, from + length);
      byte[] rest = Arrays.copyOfRange(file, to, file.length);
      return new LittleEndianBytes().raw(Arrays.copyOf(file, from)).raw(rest).toArray();
    }
  }

  /** Overwrites a 64-bit number, such as a count, length or offset. */
  record Overwrite(int position, long value) implements Corruption {
    @Override
    public byte[] applyTo(byte[] file) {
      return file.length < 8
          ? file
          : LittleEndianBytes.withInt64(file, position % (file.length - 7), value);
    }
  }

  static byte[] all(List<? extends Corruption> edits, byte[] file) {
    for (Corruption edit : edits) {
      file = edit.applyTo(file);
    }
    return file;
  }

  static Arbitrary<Corruption> flips() {
    Arbitrary<Integer> bits = Arbitraries.integers().between(1, 255);
    return Combinators.combine(positions(), bits).as(Flip::new);
  }

  static Arbitrary<Corruption> truncations() {
    return positions().map(Truncate::new);
  }

  static Arbitrary<Corruption> insertions() {
    return insertions(Arbitraries.bytes(), 16);
  }

  /** Inserts characters with a meaning in JSON. */
  static Arbitrary<Corruption> jsonInsertions() {
    Arbitrary<Character> characters = Arbitraries.chars().with("{}[]:,\"\\0123456789-.eEnul ");
    return insertions(characters.map(c -> (byte) c.charValue()), 2);
  }

  private static Arbitrary<Corruption> insertions(Arbitrary<Byte> bytes, int most) {
    Arbitrary<List<Byte>> inserted = bytes.list().ofMinSize(1).ofMaxSize(most);
    return Combinators.combine(positions(), inserted).as(Insert::new);
  }

  static Arbitrary<Corruption> deletions() {
    Arbitrary<Integer> lengths = Arbitraries.integers().between(1, 8);
    return Combinators.combine(positions(), lengths).as(Delete::new);
  }

  static Arbitrary<Corruption> overwrites() {
    Arbitrary<Long> values =
        Arbitraries.oneOf(Arbitraries.longs(), Arbitraries.longs().between(0, 1_000));
    return Combinators.combine(positions(), values).as(Overwrite::new);
  }

  private static Arbitrary<Integer> positions() {
    return Arbitraries.integers()
        .between(0, 1 << 20)
        .withDistribution(RandomDistribution.uniform())
        .withoutEdgeCases();
  }
}
