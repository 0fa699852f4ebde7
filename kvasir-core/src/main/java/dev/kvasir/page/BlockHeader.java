package dev.kvasir.page;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a stored page says of a block of codes. The number of a kind stands in the class of its
 * blocks.
 *
 * <pre>
 * u8   kind
 * u8   bits
 * u16  entries
 * u16  lanes
 * u16  group, 0 where there is none
 * </pre>
 */
public record BlockHeader(int kind, int bits, int entries, int lanes, int group) {
  public static final int BYTES = 8;

  /** Refuses to load where two classes claim a number. */
  private static final Map<Integer, Function<BlockHeader, CodeBlock>> KINDS =
      Stream.of(
              EntryScaledCodes.KINDS,
              LaneScaledCodes.KINDS,
              HalfCodes.KINDS,
              WideCodes.KINDS,
              KeyChannels.KINDS)
          .flatMap(kinds -> kinds.entrySet().stream())
          .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

  public void write(ByteBuffer out) {
    out.put((byte) kind).put((byte) bits);
    out.putShort((short) entries).putShort((short) lanes).putShort((short) group);
  }

  public static BlockHeader read(ByteBuffer in) {
    return new BlockHeader(
        Byte.toUnsignedInt(in.get()),
        Byte.toUnsignedInt(in.get()),
        Short.toUnsignedInt(in.getShort()),
        Short.toUnsignedInt(in.getShort()),
        Short.toUnsignedInt(in.getShort()));
  }

  /**
   * The block that describes itself so.
   *
   * @throws IllegalArgumentException where there is none
   */
  public CodeBlock block() {
    Function<BlockHeader, CodeBlock> make = KINDS.get(kind);
    if (make == null) {
      throw new IllegalArgumentException(
          "a block has kind %d; known are %s"
              .formatted(kind, KINDS.keySet().stream().sorted().toList()));
    }
    CodeBlock block = make.apply(this);
    if (!block.header().equals(this)) {
      throw new IllegalArgumentException(
          "a block of %s calls itself %s".formatted(block.header(), this));
    }
    return block;
  }

  @Override
  public String toString() {
    return "kind %d, %d bits, %d x %d, group %d".formatted(kind, bits, entries, lanes, group);
  }
}
