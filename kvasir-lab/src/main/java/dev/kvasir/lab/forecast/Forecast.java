package dev.kvasir.lab.forecast;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a work takes.
 *
 * @param arrays bytes on the heap at the most, the model's own left out
 * @param outside bytes of memory outside the heap, the weights left out
 * @param disk bytes beside the result while it is in the making
 */
public record Forecast(
    List<ForecastStage> stages, long arrayBytes, long offHeapBytes, long diskBytes) {
  /** Tokenizer, code and texts; and what a collector needs beside large arrays. */
  private static final long BASE_HEAP = 96L << 20;

  private static final double SLACK = 1.25;

  /** Bytes of heap that are enough. */
  public long heapBytes() {
    return BASE_HEAP + (long) (SLACK * arrayBytes);
  }

  public double operations() {
    return stages.stream().mapToDouble(ForecastStage::operations).sum();
  }

  public Set<ComputeKind> computeKinds() {
    EnumSet<ComputeKind> all = EnumSet.noneOf(ComputeKind.class);
    stages.forEach(stage -> all.add(stage.kind()));
    return all;
  }

  /** On some machines that are each as fast as this one. */
  public double seconds(Speeds speeds, int machines) {
    return stages.stream()
        .mapToDouble(stage -> stage.seconds(speeds.of(stage.kind()), speeds.threads(), machines))
        .sum();
  }

  /**
   * Refuses what cannot come to its end here.
   *
   * @param out where the result goes
   * @param kept files and folders that an earlier run of the same work may have left beside it
   */
  public void requireCapacity(long maxHeap, Path out, List<Path> leftovers) {
    if (heapBytes() > maxHeap) {
      throw new InvalidInputException(
          "this takes %d bytes of heap; Java may use %d (-Xmx, in KVASIR_JAVA_OPTS)"
              .formatted(heapBytes(), maxHeap));
    }
    long free = freeDiskBytes(out);
    long missing = missingDiskBytes(leftovers);
    if (missing > free) {
      throw new InvalidInputException(
          "%s: this takes %d more bytes beside it; the disk has %d left"
              .formatted(out, missing, free));
    }
  }

  /**
   * Bytes of disk beyond those that are taken already: what is kept is gone on from or replaced.
   */
  long missingDiskBytes(List<Path> leftovers) {
    return Math.max(0, diskBytes - leftovers.stream().mapToLong(Forecast::bytesOf).sum());
  }

  /** Of a file or of all files of a folder; none where they cannot be seen. */
  private static long bytesOf(Path leftovers) {
    if (!Files.exists(leftovers)) {
      return 0;
    }
    try (Stream<Path> files = Files.walk(leftovers, 1)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    } catch (IOException | UncheckedIOException e) {
      return 0;
    }
  }

  /** Bytes that a disk has left for what is kept beside a file. */
  public static long freeDiskBytes(Path file) {
    try {
      return Files.getFileStore(file.toAbsolutePath().getParent()).getUsableSpace();
    } catch (IOException e) {
      throw new InvalidInputException("%s: its disk cannot be asked".formatted(file), e);
    }
  }
}
