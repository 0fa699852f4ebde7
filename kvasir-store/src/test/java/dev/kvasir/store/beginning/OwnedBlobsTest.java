package dev.kvasir.store.beginning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TieredBlobs;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.Deadline;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was stored for somebody is found again by his name, and goes with it. */
class OwnedBlobsTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir private Path folder;

  private TieredBlobs open() {
    return TieredBlobs.open(List.of(new StoreAddress.InFolder(folder, 0)), sentence -> {});
  }

  private static BlobName block(int number) {
    byte[] hash = new byte[BlobName.BYTES];
    Arrays.fill(hash, (byte) number);
    return BlobName.block(hash);
  }

  private static int found(TieredBlobs blobs, BlobName... names) {
    return blobs.locate(List.of(names), Deadline.in(LONG)).size();
  }

  @Test
  void anotherProcessRemovesWhatThisOneHasStored() {
    try (TieredBlobs here = open()) {
      for (int i = 1; i <= 3; i++) {
        here.write(block(i), new byte[] {1, 2, 3});
      }
      OwnedBlobs owned = new OwnedBlobs(here);
      owned.add("", "a conversation", List.of(block(1)));
      owned.add("", "a conversation", List.of(block(1), block(2)));
      owned.add("", "another", List.of(block(3)));
    }
    try (TieredBlobs there = open()) {
      new OwnedBlobs(there).forget("", "a conversation");
      assertThat(there.flush(LONG)).isTrue();
      assertThat(found(there, block(1), block(2))).isZero();
      assertThat(found(there, block(3))).isOne();
      assertThat(found(there, OwnedBlobs.listOf("", "a conversation"))).isZero();
    }
  }

  /** Neither knows of what the other is about to write. */
  @Test
  void processesThatStoreForTheSameOwnerAddToOneList() {
    try (TieredBlobs here = open();
        TieredBlobs there = open()) {
      OwnedBlobs ownedHere = new OwnedBlobs(here);
      OwnedBlobs ownedThere = new OwnedBlobs(there);
      for (int i = 1; i <= 20; i++) {
        (i % 2 == 0 ? here : there).write(block(i), new byte[] {1, 2, 3});
        (i % 2 == 0 ? ownedHere : ownedThere).add("", "a conversation", List.of(block(i)));
      }
    }
    try (TieredBlobs last = open()) {
      BlobName[] all =
          IntStream.rangeClosed(1, 20).mapToObj(i -> block(i)).toArray(BlobName[]::new);
      assertThat(found(last, all)).isEqualTo(20);
      new OwnedBlobs(last).forget("", "a conversation");
      assertThat(last.flush(LONG)).isTrue();
      assertThat(found(last, all)).isZero();
    }
  }

  @Test
  void theSameNameIsSomebodyElseForAnotherTenant() {
    try (TieredBlobs blobs = open()) {
      blobs.write(block(1), new byte[] {1});
      OwnedBlobs owned = new OwnedBlobs(blobs);
      owned.add("ab", "a conversation", List.of(block(1)));
      owned.forget("cd", "a conversation");
      assertThat(blobs.flush(LONG)).isTrue();
      assertThat(found(blobs, block(1))).isOne();
    }
  }

  @Test
  void linesThatAreNoNamesArePassedOver() {
    try (TieredBlobs blobs = open()) {
      blobs.write(block(1), new byte[] {1});
      String text = "kvasir names 1\nblock ../../etc\n\nrecord\n" + block(1) + "\nblock 12";
      blobs.write(OwnedBlobs.listOf("", "a"), text.getBytes(StandardCharsets.UTF_8));
      assertThat(blobs.flush(LONG)).isTrue();
      new OwnedBlobs(blobs).forget("", "a");
      assertThat(blobs.flush(LONG)).isTrue();
      assertThat(found(blobs, block(1))).isZero();
    }
  }
}
