package dev.kvasir.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.store.folder.FolderTier.LocalDisk;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.BlobTier.TierSize;
import dev.kvasir.store.tier.BlobTierContract;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderTierTest extends BlobTierContract {
  private static final SampleBlob BLOCK = SampleBlob.block(7, 5_000);

  @TempDir private Path folder;
  private final List<String> reports = new ArrayList<>();

  @Override
  protected BlobTier open() {
    return open(folder);
  }

  @Override
  protected BlobTier openAgain() {
    return open(folder);
  }

  private FolderTier open(Path place) {
    return new FolderTier(place, 0, reports::add);
  }

  private static byte[] read(BlobTier tier, BlobName name) {
    return tier.read(List.of(name), Deadline.none()).get(name);
  }

  @Test
  void filesAreWhereTheFormatSays() {
    BlobTier tier = open();
    SampleBlob record = SampleBlob.record(7, 100);
    tier.write(BLOCK.name(), BLOCK.bytes());
    tier.write(record.name(), record.bytes());
    String block = BLOCK.name().hex();
    assertThat(folder.resolve("blocks/" + block.substring(0, 2) + "/" + block + ".kvblock"))
        .hasBinaryContent(BLOCK.bytes());
    String other = record.name().hex();
    assertThat(folder.resolve("records/" + other.substring(0, 2) + "/" + other + ".kvrecord"))
        .hasBinaryContent(record.bytes());
    assertThat(folder.resolve("unfinished")).isEmptyDirectory();
  }

  /** Test folders are on a local disk. */
  @Test
  void aLargeBlockStaysMappedAlsoWhenItIsEvicted() {
    assumeTrue(LocalDisk.holds(folder), "files of tests lie on no disk of this machine");
    SampleBlob large = SampleBlob.block(8, 200_000);
    FolderTier tier = open(folder);
    tier.write(BLOCK.name(), BLOCK.bytes());
    tier.write(large.name(), large.bytes());
    try (Arena arena = Arena.ofShared()) {
      Map<BlobName, ByteBuffer> found =
          tier.map(
              List.of(BLOCK.name(), large.name()),
              Deadline.none(),
              file -> Optional.of(file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena)));
      assertThat(found.get(BLOCK.name()).isDirect()).isFalse();
      assertThat(found.get(large.name()).isDirect()).isTrue();
      tier.delete(large.name());
      assertThat(found.get(large.name())).isEqualTo(ByteBuffer.wrap(large.bytes()));
    }
    assertThat(LocalDisk.holds(folder.resolve("nowhere"))).isFalse();
  }

  @Test
  void anotherTierOfTheSameFolderReadsTheSame() {
    open().write(BLOCK.name(), BLOCK.bytes());
    assertThat(read(open(), BLOCK.name())).isEqualTo(BLOCK.bytes());
  }

  @Test
  void aBlockTruncatedByAPowerFailureIsWrittenAgain() throws IOException {
    BlobTier tier = open();
    tier.write(BLOCK.name(), BLOCK.bytes());
    Files.write(new BlobFiles(folder).file(BLOCK.name()), new byte[0]);
    tier.write(BLOCK.name(), BLOCK.bytes());
    assertThat(read(tier, BLOCK.name())).isEqualTo(BLOCK.bytes());
  }

  @Test
  void foreignFilesAreNeitherCountedNorTouched() throws IOException {
    BlobTier tier = open();
    tier.write(BLOCK.name(), BLOCK.bytes());
    String hex = BLOCK.name().hex();
    List<String> others =
        List.of(
            "notes.txt",
            "blocks/readme",
            "blocks/zz/" + hex + ".kvblock",
            "blocks/" + hex.substring(0, 2) + "/" + hex.toUpperCase() + ".kvblock",
            "blocks/" + hex.substring(0, 2) + "/" + hex + ".kvrecord",
            "unfinished/draft.part");
    for (String other : others) {
      Files.createDirectories(folder.resolve(other).getParent());
      Files.write(folder.resolve(other), new byte[100]);
      Files.setLastModifiedTime(folder.resolve(other), FileTime.from(Instant.EPOCH));
    }
    BlobTier again = new FolderTier(folder, 8_000, reports::add);
    assertThat(again.size()).contains(new TierSize(1, 5_000));
    SampleBlob next = SampleBlob.block(8, 5_000);
    again.write(next.name(), next.bytes());
    assertThat(read(again, BLOCK.name())).isNull();
    others.forEach(other -> assertThat(folder.resolve(other)).hasSize(100));
    assertThat(reports).isEmpty();
  }

  @Test
  void aFolderInPlaceOfABlobIsAMissAndIsReported() throws IOException {
    Path file = new BlobFiles(folder).file(BLOCK.name());
    Files.createDirectories(file);
    FolderTier tier = open(folder);
    assertThat(read(tier, BLOCK.name())).isNull();
    assertThat(read(tier, BLOCK.name())).isNull();
    assertThat(tier.has(List.of(BLOCK.name()), Deadline.none())).isEmpty();
    assertThat(tier.failures()).isEqualTo(2);
    assertThat(reports)
        .singleElement()
        .asString()
        .contains("cannot be read")
        .contains(file.toString());
  }

  /** A user with write access to the folder could lead readers anywhere. */
  @Test
  void aLinkInPlaceOfABlobIsNotFollowed() throws IOException {
    Path secret = Files.write(folder.resolve("secret"), BLOCK.bytes());
    FileTime age = Files.getLastModifiedTime(secret);
    Path file = new BlobFiles(folder).file(BLOCK.name());
    Files.createDirectories(file.getParent());
    Files.createSymbolicLink(file, secret);
    FolderTier tier = open(folder);
    assertThat(tier.has(List.of(BLOCK.name()), Deadline.none())).isEmpty();
    assertThat(read(tier, BLOCK.name())).isNull();
    assertThat(reports).singleElement().asString().contains(file + ": is no plain file");
    assertThat(tier.size()).contains(new TierSize(0, 0));
    assertThat(tier.write(BLOCK.name(), BLOCK.bytes())).isTrue();
    assertThat(file).isRegularFile().hasBinaryContent(BLOCK.bytes());
    assertThat(Files.isSymbolicLink(file)).isFalse();
    assertThat(tier.size()).contains(new TierSize(1, BLOCK.bytes().length));
    assertThat(Files.getLastModifiedTime(secret)).isEqualTo(age);
  }

  /** Opening a pipe blocks until a writer opens it. */
  @Test
  void aPipeInPlaceOfABlobIsAMissAndBlocksNobody() throws Exception {
    Path file = new BlobFiles(folder).file(BLOCK.name());
    Files.createDirectories(file.getParent());
    assumeTrue(isMade("mkfifo", file), "pipes cannot be made here");
    FolderTier tier = open(folder);
    assertThat(read(tier, BLOCK.name())).isNull();
    assertThat(tier.write(BLOCK.name(), BLOCK.bytes())).isTrue();
    assertThat(read(tier, BLOCK.name())).isEqualTo(BLOCK.bytes());
  }

  private static boolean isMade(String command, Path file) throws InterruptedException {
    try {
      return new ProcessBuilder(command, file.toString()).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void aFolderThatCannotBeCreatedIsAllMissesAndReportedOncePerKindOfWork() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "no folder");
    FolderTier tier = open(file.resolve("store"));
    assertAllMisses(tier);
    assertThat(file).hasContent("no folder");
  }

  /** Root can write to any folder except those of the kernel. */
  @Test
  void aReadOnlyFolderIsAllMissesAndIsReported() throws IOException {
    Path locked = Files.createDirectory(folder.resolve("locked"));
    Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("r-xr-xr-x"));
    Path kernels = Path.of("/sys");
    assumeTrue(
        !Files.isWritable(locked) || Files.isDirectory(kernels), "root may write to any folder");
    assertAllMisses(open(Files.isWritable(locked) ? kernels.resolve("kvasir-store") : locked));
  }

  private void assertAllMisses(FolderTier tier) {
    for (int i = 0; i < 3; i++) {
      assertThat(tier.write(BLOCK.name(), BLOCK.bytes())).isFalse();
      assertThat(read(tier, BLOCK.name())).isNull();
      tier.touch(List.of(BLOCK.name()));
      tier.delete(BLOCK.name());
    }
    assertThat(tier.failures()).isGreaterThanOrEqualTo(3);
    assertThat(reports).filteredOn(one -> one.contains("cannot be written")).hasSize(1);
    assertThat(reports).allMatch(one -> one.startsWith("the store " + tier.name() + " cannot "));
    tier.close();
  }

  @Test
  void aBlobThatIsRemovedWhileItIsBeingReadIsReadToItsEnd() throws Exception {
    BlobTier tier = open();
    SampleBlob large = SampleBlob.block(9, 8 << 20);
    tier.write(large.name(), large.bytes());
    Thread remover = Thread.ofPlatform().start(() -> alternate(tier, large));
    for (int i = 0; i < 20; i++) {
      byte[] found = read(tier, large.name());
      assertThat(found == null || SampleBlob.isWhole(large.name(), found)).isTrue();
    }
    remover.join();
    assertThat(reports).isEmpty();
  }

  private static void alternate(BlobTier tier, SampleBlob blob) {
    for (int i = 0; i < 20; i++) {
      tier.delete(blob.name());
      tier.write(blob.name(), blob.bytes());
    }
  }
}
