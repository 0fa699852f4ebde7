package dev.kvasir.stored;

import dev.kvasir.cache.BlockChecksums;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.UncheckedSnapshot;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.format.MappedFile;
import dev.kvasir.memory.SharedMapping;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * One sequence in one file. The index follows the blocks, so an incomplete file is detected:
 *
 * <pre>
 * 8 bytes  "KVSESS01"
 *          for each block: u64, its bytes; the block
 *          u64, its bytes; the sequence
 * u64      offset of the last of these
 * 8 bytes  "KVSEND01"
 * </pre>
 */
public final class SessionFile implements AutoCloseable {
  private static final long HEAD = magic("KVSESS01");
  private static final long END = magic("KVSEND01");
  private static final long MARK = Long.BYTES;

  /** Sessions are saved to the file they came from, and Windows cannot replace a mapped file. */
  private static final boolean MAY_STAY_MAPPED = File.separatorChar == '/';

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Path path;
  private final SharedMapping mapping;
  private final MemorySegment bytes;
  private final long[] parts; // offsets; the last one is the sequence
  private final StoredSequence sequence;

  private SessionFile(Path path, SharedMapping mapping) {
    this.path = path;
    this.mapping = mapping;
    this.bytes = MappedFile.open(path, mapping.arena()).bytes();
    long end = requireEnds();
    this.sequence = StoredSequence.read(part(end));
    this.parts = new long[sequence.blocks().size() + 1];
    requireParts(end);
  }

  private static long magic(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII))
        .order(ByteOrder.LITTLE_ENDIAN)
        .getLong();
  }

  /**
   * Writes a sequence atomically.
   *
   * @param tokens the text of the cache; more tokens may follow
   * @param sequence creates the sequence from the names of its blocks
   */
  public static void write(
      Path file,
      Identity identity,
      int[] tokens,
      CacheSnapshot cache,
      Function<List<String>, StoredSequence> sequence) {
    AtomicFile.write(
        file,
        out -> {
          try {
            write(new PartWriter(out), identity, tokens, cache, sequence);
          } catch (UncheckedIOException e) {
            throw e.getCause();
          }
        });
  }

  private static void write(
      PartWriter parts,
      Identity identity,
      int[] tokens,
      CacheSnapshot cache,
      Function<List<String>, StoredSequence> sequence) {
    parts.put(HEAD);
    List<String> names =
        SequenceBlocks.write(identity, tokens, cache, (name, block) -> parts.put(block));
    long at = parts.written;
    parts.put(sequence.apply(names).toBytes());
    parts.put(at);
    parts.put(END);
  }

  /** Writes parts and counts the bytes. */
  private static final class PartWriter {
    private final WritableByteChannel out;
    private long written;

    PartWriter(WritableByteChannel out) {
      this.out = out;
    }

    void put(long number) {
      ByteBuffer eight = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      write(eight.putLong(number).flip());
    }

    void put(byte[] part) {
      put((long) part.length);
      write(ByteBuffer.wrap(part));
    }

    private void write(ByteBuffer buffer) {
      try {
        while (buffer.hasRemaining()) {
          written += out.write(buffer);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * Opens a file and reads its sequence; blocks are read on demand.
   *
   * @throws InvalidInputException if it is no session or incomplete; the message is one sentence
   */
  public static SessionFile open(Path file) {
    SharedMapping mapping = new SharedMapping();
    try {
      return new SessionFile(file, mapping);
    } catch (InvalidInputException e) {
      mapping.release();
      throw withPath(file, e);
    } catch (RuntimeException | Error e) {
      mapping.release();
      throw e;
    }
  }

  /** Returns an exception whose message names the file. */
  public static InvalidInputException withPath(Path file, InvalidInputException refusal) {
    String message = refusal.getMessage();
    return message.startsWith(file.toString())
        ? refusal
        : new InvalidInputException("%s: %s".formatted(file, message), refusal);
  }

  /** Checks both ends of the file and returns the offset of the sequence. */
  private long requireEnds() {
    long size = bytes.byteSize();
    if (size < 4 * MARK || bytes.get(LONG, 0) != HEAD) {
      throw new InvalidInputException(
          "%s: is no session: it does not begin as one".formatted(path));
    }
    if (bytes.get(LONG, size - MARK) != END) {
      throw new InvalidInputException("%s: is not whole: its end is missing".formatted(path));
    }
    long at = bytes.get(LONG, size - 2 * MARK);
    if (at < MARK || at > size - 3 * MARK) {
      throw new InvalidInputException(
          "%s: says that its last part begins at %d; it has %d bytes".formatted(path, at, size));
    }
    return at;
  }

  /** Rejects parts that are not contiguous up to the end. */
  private void requireParts(long last) {
    long at = MARK;
    for (int i = 0; i < parts.length; i++) {
      if (at > last) {
        throw new InvalidInputException(
            "%s: has %d blocks of %d before its last part".formatted(path, i, parts.length - 1));
      }
      parts[i] = at;
      at += MARK + partBytes(at);
    }
    if (parts[parts.length - 1] != last || at != bytes.byteSize() - 2 * MARK) {
      throw new InvalidInputException(
          "%s: has bytes between its parts that belong to none".formatted(path));
    }
  }

  private long partBytes(long at) {
    long size = bytes.get(LONG, at);
    if (size < 0 || size > Integer.MAX_VALUE || size > bytes.byteSize() - at - 3 * MARK) {
      throw new InvalidInputException(
          "%s: has a part of %d bytes at %d; it has %d in all"
              .formatted(path, size, at, bytes.byteSize()));
    }
    return size;
  }

  private byte[] part(long at) {
    return slice(at).toArray(ValueLayout.JAVA_BYTE);
  }

  private MemorySegment slice(long at) {
    return bytes.asSlice(at + MARK, partBytes(at));
  }

  public StoredSequence sequence() {
    return sequence;
  }

  /** Returns the size of the file. */
  public long bytes() {
    return bytes.byteSize();
  }

  /** Returns the bytes of whole blocks. */
  public long blockBytes() {
    return parts[parts.length - 1] - MARK;
  }

  /**
   * Returns the stored cache, whose blocks are read in order, once each, and checked on reading. A
   * cache may leave its blocks mapped and check them later; the file then stays mapped after {@link
   * #close}.
   */
  public CacheSnapshot cache() {
    return MAY_STAY_MAPPED
        ? new Checked()
        : new SequenceBlocks.StoredSnapshot(sequence, this::copyPart);
  }

  /**
   * Copies a block first: a file truncated during the copy causes an exception instead of a crash.
   */
  private Snapshot copyPart(int index) {
    return Snapshot.of(part(parts[index]));
  }

  /** Mapped blocks, each checked when it is read. */
  private final class Checked extends SequenceBlocks.StoredSnapshot {
    Checked() {
      super(sequence, index -> Snapshot.of(slice(parts[index]).asByteBuffer()));
    }

    @Override
    public Optional<SharedMapping> mapping() {
      return Optional.of(mapping);
    }

    @Override
    public Optional<UncheckedSnapshot> unchecked() {
      return Optional.of(new Unchecked());
    }
  }

  /** Mapped blocks without a check. */
  private final class Unchecked extends SequenceBlocks.StoredSnapshot implements UncheckedSnapshot {
    Unchecked() {
      super(sequence, index -> Snapshot.withDeferredCheck(slice(parts[index]).asByteBuffer()));
    }

    @Override
    public Optional<SharedMapping> mapping() {
      return Optional.of(mapping);
    }

    @Override
    public SharedMapping file() {
      return mapping;
    }

    @Override
    public BlockChecksums checksums() {
      int count = parts.length - 1;
      return new FileChecksums(
          path, IntStream.range(0, count).mapToObj(index -> slice(parts[index])).toList());
    }
  }

  /** Holds the file's name and mapped blocks, and no heap data. */
  private record FileChecksums(Path path, List<MemorySegment> parts) implements BlockChecksums {
    @Override
    public int blocks() {
      return parts.size();
    }

    @Override
    public void verify(int index) {
      try {
        SnapshotHeader.STORED_BLOCK.requireIntact(Snapshot.of(parts.get(index).asByteBuffer()));
      } catch (InvalidInputException e) {
        throw new InvalidInputException(
            "%s: block %d: %s".formatted(path, index, e.getMessage()), e);
      }
    }
  }

  /**
   * Reads and checks every part.
   *
   * @throws InvalidInputException if a bit has changed; the message is one sentence
   */
  public void verify() {
    CacheSnapshot cache = new SequenceBlocks.StoredSnapshot(sequence, this::copyPart);
    for (int i = 0; i < cache.blocks(); i++) {
      try {
        cache.blockToRead(i);
      } catch (InvalidInputException e) {
        throw new InvalidInputException("%s: block %d: %s".formatted(path, i, e.getMessage()), e);
      }
      if (!StoredBlock.name(part(parts[i])).equals(sequence.blocks().get(i))) {
        throw new InvalidInputException("%s: block %d has another name".formatted(path, i));
      }
    }
  }

  @Override
  public void close() {
    mapping.release();
  }
}
