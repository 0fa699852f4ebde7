package dev.kvasir.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.store.TieredStore.LocatedBlob;
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

class TieredStoreTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int SIZE = 100;
  private static final long WAITING = 10 * SIZE;

  private final MemoryTier near = new MemoryTier("near");
  private final MemoryTier far = new MemoryTier("far");
  private final TieredStore store = new TieredStore(List.of(near, far), WAITING);
  private final List<SampleBlob> some =
      IntStream.range(0, 4).mapToObj(i -> SampleBlob.block(i, SIZE)).toList();
  private final List<BlobName> names = some.stream().map(SampleBlob::name).toList();

  @AfterEach
  void close() {
    near.writes.release(1000);
    far.writes.release(1000);
    store.close();
  }

  private void keep(MemoryTier tier, int number) {
    tier.blobs.put(names.get(number), some.get(number).bytes());
  }

  @Test
  void aFailedWriteDoesNotStopTheNext() {
    store.write(names.get(0), new byte[0]);
    store.write(names.get(1), some.get(1).bytes());
    assertThat(store.flush(PATIENCE)).isTrue();
    assertThat(near.blobs).containsOnlyKeys(names.get(1));
    assertThat(store.counts().getFirst().dropped()).isEqualTo(1);
  }

  @Test
  void theNearestTierIsReadFirstAndTheNextForTheRest() {
    keep(near, 1);
    keep(near, 3);
    keep(far, 0);
    keep(far, 1);
    Map<BlobName, LocatedBlob> found = store.read(names, Deadline.in(PATIENCE));
    assertThat(found.keySet()).containsExactly(names.get(0), names.get(1), names.get(3));
    assertThat(found.values()).extracting(LocatedBlob::tier).containsExactly(1, 0, 0);
    assertThat(found.get(names.get(0)).toArray()).isEqualTo(some.get(0).bytes());
    assertThat(near.requests).containsExactly(names);
    assertThat(far.requests).containsExactly(List.of(names.get(0), names.get(2)));
    assertThat(store.locate(names, Deadline.in(PATIENCE)))
        .containsExactly(
            Map.entry(names.get(0), 1), Map.entry(names.get(1), 0), Map.entry(names.get(3), 0));
  }

  @Test
  void blobsInTheNearestTierAreNotReadFromOthers() {
    IntStream.range(0, 4).forEach(i -> keep(near, i));
    assertThat(store.read(names)).hasSize(4);
    assertThat(far.requests).isEmpty();
  }

  @Test
  void writesGoToAllTiers() {
    some.forEach(one -> store.write(one.name(), one.bytes()));
    assertThat(store.flush(PATIENCE)).isTrue();
    assertThat(near.blobs).containsOnlyKeys(names);
    assertThat(far.blobs).containsOnlyKeys(names);
  }

  @Test
  void aVerifiedBlobIsCopiedToNearerTiers() {
    IntStream.range(0, 4).forEach(i -> keep(far, i));
    List<LocatedBlob> found = List.copyOf(store.read(names).values());
    store.flush(PATIENCE);
    assertThat(near.blobs).isEmpty();
    store.markVerified(found.subList(0, 2));
    store.flush(PATIENCE);
    assertThat(near.blobs).containsOnlyKeys(names.subList(0, 2));
    assertThat(near.used).containsExactly(names.subList(0, 2));
    assertThat(far.used).containsExactly(names.subList(0, 2));
  }

  @Test
  void aDamagedBlobIsDeletedFromItsTierAndFoundInAnother() {
    near.blobs.put(names.get(0), new byte[3]);
    keep(far, 0);
    List<BlobName> one = names.subList(0, 1);
    store.deleteDamaged(store.read(one).get(names.get(0)));
    LocatedBlob again = store.read(one).get(names.get(0));
    assertThat(again.tier()).isEqualTo(1);
    assertThat(again.toArray()).isEqualTo(some.get(0).bytes());
  }

  @Test
  void deletionsReachAllTiersAndQueuedWrites() {
    far.withBlockedWrites();
    some.forEach(one -> store.write(one.name(), one.bytes()));
    store.delete(names.subList(0, 3));
    far.writes.release(1000);
    assertThat(store.flush(PATIENCE)).isTrue();
    assertThat(near.blobs).containsOnlyKeys(names.get(3));
    assertThat(far.blobs).containsOnlyKeys(names.get(3));
  }

  @Test
  void aCallerThatWaitsForCapacityLosesNothing() {
    for (int i = 0; i < 200; i++) {
      SampleBlob one = SampleBlob.block(100 + i, SIZE);
      store.awaitCapacity(SIZE, PATIENCE);
      store.write(one.name(), one.bytes());
    }
    assertThat(store.flush(PATIENCE)).isTrue();
    assertThat(near.blobs).hasSize(200);
    assertThat(dropped(0)).isZero();
  }

  @Test
  void aSlowTierDelaysNoOtherAndDropsWhatDoesNotFit() throws Exception {
    far.withBlockedWrites();
    for (int i = 0; i < 30; i++) {
      SampleBlob one = SampleBlob.block(100 + i, SIZE);
      store.write(one.name(), one.bytes());
      assertThat(waitFor(near, one.name())).isTrue();
    }
    assertThat(store.flush(Duration.ofMillis(1))).isFalse();
    // Ten are queued, and one is being written.
    assertThat(dropped(1)).isBetween(19L, 20L);
    assertThat(dropped(0)).isZero();
    far.writes.release(1000);
    assertThat(store.flush(PATIENCE)).isTrue();
    assertThat(far.blobs).hasSize((int) (30 - dropped(1)));
  }

  private static boolean waitFor(MemoryTier tier, BlobName name) throws InterruptedException {
    for (int i = 0; i < 10_000 && !tier.blobs.containsKey(name); i++) {
      Thread.sleep(1);
    }
    return tier.blobs.containsKey(name);
  }

  private long dropped(int tier) {
    return store.counts().get(tier).dropped();
  }

  @Test
  void aBlobLargerThanTheQueueIsStillWritten() {
    SampleBlob large = SampleBlob.block(5, (int) WAITING + 1);
    store.write(large.name(), large.bytes());
    store.flush(PATIENCE);
    assertThat(near.blobs).containsKey(large.name());
  }

  @Test
  void closingWritesTheQueue() {
    some.forEach(one -> store.write(one.name(), one.bytes()));
    store.close(PATIENCE);
    assertThat(far.blobs).containsOnlyKeys(names);
    store.write(SampleBlob.block(9, SIZE).name(), new byte[SIZE]);
    assertThat(dropped(0)).isEqualTo(1);
  }

  @Test
  void closingDropsWritesThatExceedTheTimeout() {
    far.withBlockedWrites();
    some.forEach(one -> store.write(one.name(), one.bytes()));
    store.close(Duration.ofMillis(50));
    assertThat(dropped(1)).isBetween(3L, 4L);
    assertThat(near.blobs).hasSize(4);
  }

  @Test
  void readsAreCountedByTier() {
    keep(near, 0);
    keep(far, 1);
    some.forEach(one -> store.write(one.name(), one.bytes()));
    store.flush(PATIENCE);
    near.blobs.remove(names.get(3));
    store.read(names);
    TierCounts counts = store.counts().get(0);
    assertThat(counts.tier()).isEqualTo("near");
    assertThat(counts.hits()).isEqualTo(3);
    assertThat(counts.misses()).isEqualTo(1);
    assertThat(counts.bytesRead()).isEqualTo(3 * SIZE);
    assertThat(counts.bytesWritten()).isEqualTo(4 * SIZE);
    assertThat(counts.readNanos()).isPositive();
    assertThat(store.counts().get(1).hits()).isEqualTo(1);
    assertThat(store.counts().get(1).misses()).isZero();
  }

  @Test
  void theSpeedOfATierIsAnEstimateUntilTheFirstRead() {
    store.read(names);
    assertThat(store.speed(0).bytesPerSecond()).isEqualTo(1000);
    keep(near, 0);
    store.read(names);
    assertThat(store.speed(0).bytesPerSecond()).isPositive().isNotEqualTo(1000);
  }

  @Test
  void foldersComeBeforeServers(@TempDir Path folder) {
    List<String> reports = Collections.synchronizedList(new ArrayList<>());
    List<StoreAddress> typed =
        List.of(StoreAddress.parse("redis://127.0.0.1:1"), StoreAddress.parse(folder + ",1MiB"));
    try (TieredStore opened = TieredStore.open(typed, reports::add)) {
      assertThat(opened.counts())
          .extracting(TierCounts::tier)
          .containsExactly(folder.toString(), "redis://127.0.0.1:1/0");
      opened.write(names.get(0), some.get(0).bytes());
      opened.flush(PATIENCE);
      assertThat(opened.read(names)).containsOnlyKeys(names.get(0));
      assertThat(opened.size(0).orElseThrow().blobs()).isEqualTo(1);
      assertThat(opened.size(1)).isEmpty();
      assertThat(reports).singleElement().asString().contains("redis://127.0.0.1:1/0");
    }
    assertThat(new FolderTier(folder, 0, reports::add).has(names, Deadline.none())).hasSize(1);
  }
}
