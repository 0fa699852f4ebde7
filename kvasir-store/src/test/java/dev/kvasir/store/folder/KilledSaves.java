package dev.kvasir.store.folder;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Starts processes that write without end, kills each at a random moment, and checks all completed
 * writes and all files.
 */
final class KilledSaves {
  private static final int MAX_SAVES = 300;
  private static final long BLOCKS_PER_PROCESS = 1_000_000;

  private final Path folder;
  private final Random random = new Random();
  private final List<BlobName> confirmed = new ArrayList<>();
  private long confirmedVersion = -1;
  private int kills;

  KilledSaves(Path folder) {
    this.folder = folder;
  }

  /** Arguments: the folder and the total number of writes to confirm. */
  public static void main(String[] arguments) throws Exception {
    KilledSaves saves = new KilledSaves(Files.createDirectories(Path.of(arguments[0])));
    while (saves.confirmed() < Integer.parseInt(arguments[1])) {
      saves.startAndKill();
    }
    System.out.printf(
        "%d saves, %d kills: %d lost, %d damaged, %d unfinished%n",
        saves.confirmed(),
        saves.kills,
        saves.lost().size(),
        saves.damaged().size(),
        BlobFiles.children(new BlobFiles(saves.folder).unfinished()).size());
  }

  void startAndKill() throws IOException, InterruptedException {
    Process process = ChildJvm.start(EndlessSaves.class, folder, ++kills * BLOCKS_PER_PROCESS);
    int patience = 1 + random.nextInt(MAX_SAVES);
    try (BufferedReader lines = process.inputReader()) {
      String line = lines.readLine();
      for (int i = 0; i < patience && line != null; i++) {
        note(line);
        line = lines.readLine();
      }
      Thread.sleep(0, random.nextInt(1_000_000));
      process.toHandle().destroyForcibly(); // leaves the pipe open
      process.waitFor();
      for (; line != null; line = lines.readLine()) {
        note(line);
      }
    }
  }

  /**
   * Parses a line. A killed process has printed only whole lines, each in one write to the pipe.
   */
  private void note(String line) {
    String[] words = line.split(" ");
    long number = Long.parseLong(words[1]);
    if (words[0].equals("record")) {
      confirmedVersion = number;
    } else {
      confirmed.add(SampleBlob.block(number, Integer.parseInt(words[2])).name());
    }
  }

  int confirmed() {
    return confirmed.size();
  }

  /** Returns confirmed writes that are missing. */
  List<BlobName> lost() {
    FolderTier tier = new FolderTier(folder, 0, System.err::println);
    List<BlobName> lost = new ArrayList<>(confirmed);
    lost.removeAll(tier.has(confirmed, Deadline.none()));
    Map<BlobName, byte[]> record = tier.read(List.of(EndlessSaves.RECORD), Deadline.none());
    if (confirmedVersion >= 0 && version(record) < confirmedVersion) {
      lost.add(EndlessSaves.RECORD);
    }
    return lost;
  }

  private static long version(Map<BlobName, byte[]> found) {
    return found.values().stream().mapToLong(EndlessSaves::version).max().orElse(-1);
  }

  /** Returns files, confirmed or not, whose content does not match their name. */
  List<Path> damaged() throws IOException {
    List<Path> damaged = new ArrayList<>();
    for (BlobFiles.Entry entry : new BlobFiles(folder).list()) {
      if (!isWhole(entry.file())) {
        damaged.add(entry.file());
      }
    }
    return damaged;
  }

  private static boolean isWhole(Path file) throws IOException {
    String name = file.getFileName().toString();
    byte[] bytes = Files.readAllBytes(file);
    return name.endsWith(".kvrecord")
        ? EndlessSaves.version(bytes) >= 0
        : SampleBlob.isWhole(
            new BlobName(BlobName.Kind.BLOCK, name.substring(0, 2 * BlobName.BYTES)), bytes);
  }
}
