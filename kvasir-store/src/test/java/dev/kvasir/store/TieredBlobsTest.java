package dev.kvasir.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.store.TieredBlobs.Found;
import dev.kvasir.store.folder.FolderTier;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.SampleBlob;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TieredBlobsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int SIZE = 100;
  private static final long WAITING = 10 * SIZE;

  private final MemoryTier near = new MemoryTier("near");
  private final MemoryTier far = new MemoryTier("far");
  private final TieredBlobs blobs = new TieredBlobs(List.of(near, far), WAITING);
  private final List<SampleBlob> some =
      IntStream.range(0, 4).mapToObj(i -> SampleBlob.block(i, SIZE)).toList();
  private final List<BlobName> names = some.stream().map(SampleBlob::name).toList();

  @AfterEach
  void close() {
    near.writes.release(1000);
    far.writes.release(1000);
    blobs.close();
  }

  private void keep(MemoryTier tier, int number) {
    tier.kept.put(names.get(number), some.get(number).bytes());
  }

  @Test
  void whateverAWriteEndsInTheNextIsWritten() {
    blobs.write(names.get(0), new byte[0]);
    blobs.write(names.get(1), some.get(1).bytes());
    assertThat(blobs.flush(PATIENCE)).isTrue();
    assertThat(near.kept).containsOnlyKeys(names.get(1));
    assertThat(blobs.counts().getFirst().dropped()).isEqualTo(1);
  }

  @Test
  void theNearestTierIsAskedFirstAndTheNextForTheRest() {
    keep(near, 1);
    keep(near, 3);
    keep(far, 0);
    keep(far, 1);
    Map<BlobName, Found> found = blobs.read(names, Deadline.in(PATIENCE));
    assertThat(found.keySet()).containsExactly(names.get(0), names.get(1), names.get(3));
    assertThat(found.values()).extracting(Found::tier).containsExactly(1, 0, 0);
    assertThat(found.get(names.get(0)).bytes()).isEqualTo(some.get(0).bytes());
    assertThat(near.asked).containsExactly(names);
    assertThat(far.asked).containsExactly(List.of(names.get(0), names.get(2)));
    assertThat(blobs.locate(names, Deadline.in(PATIENCE)))
        .containsExactly(
            Map.entry(names.get(0), 1), Map.entry(names.get(1), 0), Map.entry(names.get(3), 0));
  }

  @Test
  void whatIsAllNearIsNotAskedForFurtherAway() {
    IntStream.range(0, 4).forEach(i -> keep(near, i));
    assertThat(blobs.read(names)).hasSize(4);
    assertThat(far.asked).isEmpty();
  }

  @Test
  void whatIsWrittenGoesToAllTiers() {
    some.forEach(one -> blobs.write(one.name(), one.bytes()));
    assertThat(blobs.flush(PATIENCE)).isTrue();
    assertThat(near.kept).containsOnlyKeys(names);
    assertThat(far.kept).containsOnlyKeys(names);
  }

  @Test
  void whatWasFoundFarAwayComesNearerOnceItWasVerified() {
    IntStream.range(0, 4).forEach(i -> keep(far, i));
    List<Found> found = List.copyOf(blobs.read(names).values());
    blobs.flush(PATIENCE);
    assertThat(near.kept).isEmpty();
    blobs.verified(found.subList(0, 2));
    blobs.flush(PATIENCE);
    assertThat(near.kept).containsOnlyKeys(names.subList(0, 2));
    assertThat(near.used).containsExactly(names.subList(0, 2));
    assertThat(far.used).containsExactly(names.subList(0, 2));
  }

  @Test
  void whatWasDamagedIsForgottenWhereItWasAndFoundFurtherAway() {
    near.kept.put(names.get(0), new byte[3]);
    keep(far, 0);
    List<BlobName> one = names.subList(0, 1);
    blobs.damaged(blobs.read(one).get(names.get(0)));
    Found again = blobs.read(one).get(names.get(0));
    assertThat(again.tier()).isEqualTo(1);
    assertThat(again.bytes()).isEqualTo(some.get(0).bytes());
  }

  @Test
  void whatIsForgottenGoesEverywhereAlsoWhereItWaitsToBeWritten() {
    far.held();
    some.forEach(one -> blobs.write(one.name(), one.bytes()));
    blobs.forget(names.subList(0, 3));
    far.writes.release(1000);
    assertThat(blobs.flush(PATIENCE)).isTrue();
    assertThat(near.kept).containsOnlyKeys(names.get(3));
    assertThat(far.kept).containsOnlyKeys(names.get(3));
  }

  @Test
  void whoCanWaitForRoomLosesNothing() {
    for (int i = 0; i < 200; i++) {
      SampleBlob one = SampleBlob.block(100 + i, SIZE);
      blobs.awaitRoom(SIZE, PATIENCE);
      blobs.write(one.name(), one.bytes());
    }
    assertThat(blobs.flush(PATIENCE)).isTrue();
    assertThat(near.kept).hasSize(200);
    assertThat(dropped(0)).isZero();
  }

  @Test
  void aSlowTierDelaysNoOtherAndDropsWhatDoesNotFit() throws Exception {
    far.held();
    for (int i = 0; i < 30; i++) {
      SampleBlob one = SampleBlob.block(100 + i, SIZE);
      blobs.write(one.name(), one.bytes());
      assertThat(waitFor(near, one.name())).isTrue();
    }
    assertThat(blobs.flush(Duration.ofMillis(1))).isFalse();
    // Ten wait, and one is being written.
    assertThat(dropped(1)).isBetween(19L, 20L);
    assertThat(dropped(0)).isZero();
    far.writes.release(1000);
    assertThat(blobs.flush(PATIENCE)).isTrue();
    assertThat(far.kept).hasSize((int) (30 - dropped(1)));
  }

  private static boolean waitFor(MemoryTier tier, BlobName name) throws InterruptedException {
    for (int i = 0; i < 10_000 && !tier.kept.containsKey(name); i++) {
      Thread.sleep(1);
    }
    return tier.kept.containsKey(name);
  }

  private long dropped(int tier) {
    return blobs.counts().get(tier).dropped();
  }

  @Test
  void oneThatIsLargerThanAllThatMayWaitIsWrittenAllTheSame() {
    SampleBlob large = SampleBlob.block(5, (int) WAITING + 1);
    blobs.write(large.name(), large.bytes());
    blobs.flush(PATIENCE);
    assertThat(near.kept).containsKey(large.name());
  }

  @Test
  void closingWritesWhatWaits() {
    some.forEach(one -> blobs.write(one.name(), one.bytes()));
    blobs.close(PATIENCE);
    assertThat(far.kept).containsOnlyKeys(names);
    blobs.write(SampleBlob.block(9, SIZE).name(), new byte[SIZE]);
    assertThat(dropped(0)).isEqualTo(1);
  }

  @Test
  void closingDropsWhatIsNotWrittenInTime() {
    far.held();
    some.forEach(one -> blobs.write(one.name(), one.bytes()));
    blobs.close(Duration.ofMillis(50));
    assertThat(dropped(1)).isBetween(3L, 4L);
    assertThat(near.kept).hasSize(4);
  }

  @Test
  void readsAreCountedByTier() {
    keep(near, 0);
    keep(far, 1);
    some.forEach(one -> blobs.write(one.name(), one.bytes()));
    blobs.flush(PATIENCE);
    near.kept.remove(names.get(3));
    blobs.read(names);
    TierCounts counts = blobs.counts().get(0);
    assertThat(counts.tier()).isEqualTo("near");
    assertThat(counts.hits()).isEqualTo(3);
    assertThat(counts.misses()).isEqualTo(1);
    assertThat(counts.bytesRead()).isEqualTo(3 * SIZE);
    assertThat(counts.bytesWritten()).isEqualTo(4 * SIZE);
    assertThat(counts.readNanos()).isPositive();
    assertThat(blobs.counts().get(1).hits()).isEqualTo(1);
    assertThat(blobs.counts().get(1).misses()).isZero();
  }

  @Test
  void theSpeedOfATierIsAGuessUntilSomethingCameFromIt() {
    blobs.read(names);
    assertThat(blobs.speed(0).bytesPerSecond()).isEqualTo(1000);
    keep(near, 0);
    blobs.read(names);
    assertThat(blobs.speed(0).bytesPerSecond()).isPositive().isNotEqualTo(1000);
  }

  @Test
  void foldersComeBeforeServers(@TempDir Path folder) {
    List<String> said = Collections.synchronizedList(new ArrayList<>());
    List<StoreAddress> typed =
        List.of(StoreAddress.parse("redis://127.0.0.1:1"), StoreAddress.parse(folder + ",1MiB"));
    try (TieredBlobs opened = TieredBlobs.open(typed, said::add)) {
      assertThat(opened.counts())
          .extracting(TierCounts::tier)
          .containsExactly(folder.toString(), "redis://127.0.0.1:1/0");
      opened.write(names.get(0), some.get(0).bytes());
      opened.flush(PATIENCE);
      assertThat(opened.read(names)).containsOnlyKeys(names.get(0));
      assertThat(opened.size(0).orElseThrow().blobs()).isEqualTo(1);
      assertThat(opened.size(1)).isEmpty();
      assertThat(said).singleElement().asString().contains("redis://127.0.0.1:1/0");
    }
    assertThat(new FolderTier(folder, 0, said::add).has(names, Deadline.none())).hasSize(1);
  }
}
