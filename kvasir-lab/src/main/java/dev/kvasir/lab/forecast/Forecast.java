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
 * The estimated resources of a calibration.
 *
 * @param arrayBytes maximum bytes of arrays on the heap, without the model
 * @param offHeapBytes bytes outside the heap, without the weights
 * @param diskBytes bytes of temporary files next to the result
 */
public record Forecast(
    List<ForecastStage> stages, long arrayBytes, long offHeapBytes, long diskBytes) {
  /** Tokenizer, code and texts, and the garbage collector's overhead for large arrays. */
  private static final long BASE_HEAP = 96L << 20;

  private static final double SLACK = 1.25;

  /** Returns a sufficient heap size in bytes. */
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

  /** Returns the time on a number of machines that are as fast as this one. */
  public double seconds(Speeds speeds, int machines) {
    return stages.stream()
        .mapToDouble(stage -> stage.seconds(speeds.of(stage.kind()), speeds.threads(), machines))
        .sum();
  }

  /**
   * Rejects work that exceeds the resources of this machine.
   *
   * @param out file of the result
   * @param leftovers files and folders that an earlier run may have left next to it
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
          "%s: this takes %d more bytes next to it; the disk has %d left"
              .formatted(out, missing, free));
    }
  }

  /** Returns the additional bytes of disk; leftovers are reused or replaced. */
  long missingDiskBytes(List<Path> leftovers) {
    return Math.max(0, diskBytes - leftovers.stream().mapToLong(Forecast::bytesOf).sum());
  }

  /** Returns the bytes of a file or of all files in a folder; 0 if they cannot be read. */
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

  /** Returns the free bytes of the disk that holds a file. */
  public static long freeDiskBytes(Path file) {
    try {
      return Files.getFileStore(file.toAbsolutePath().getParent()).getUsableSpace();
    } catch (IOException e) {
      throw new InvalidInputException("%s: its disk cannot be asked".formatted(file), e);
    }
  }
}
