package dev.kvasir.store.prefix;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TieredStore;
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

/** Blobs stored for an owner are found by its name and deleted with it. */
class OwnerIndexTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir private Path folder;

  private TieredStore open() {
    return TieredStore.open(List.of(new StoreAddress.FolderAddress(folder, 0)), sentence -> {});
  }

  private static BlobName block(int number) {
    byte[] hash = new byte[BlobName.BYTES];
    Arrays.fill(hash, (byte) number);
    return BlobName.block(hash);
  }

  private static int found(TieredStore store, BlobName... names) {
    return store.locate(List.of(names), Deadline.in(LONG)).size();
  }

  @Test
  void anotherProcessDeletesWhatThisOneHasStored() {
    try (TieredStore here = open()) {
      for (int i = 1; i <= 3; i++) {
        here.write(block(i), new byte[] {1, 2, 3});
      }
      OwnerIndex ownerIndex = new OwnerIndex(here);
      ownerIndex.add("", "a conversation", List.of(block(1)));
      ownerIndex.add("", "a conversation", List.of(block(1), block(2)));
      ownerIndex.add("", "another", List.of(block(3)));
    }
    try (TieredStore there = open()) {
      new OwnerIndex(there).delete("", "a conversation");
      assertThat(there.flush(LONG)).isTrue();
      assertThat(found(there, block(1), block(2))).isZero();
      assertThat(found(there, block(3))).isOne();
      assertThat(found(there, OwnerIndex.ownerRecord("", "a conversation"))).isZero();
    }
  }

  /** Neither process sees the pending writes of the other. */
  @Test
  void processesThatStoreForTheSameOwnerAddToOneList() {
    try (TieredStore here = open();
        TieredStore there = open()) {
      OwnerIndex ownedHere = new OwnerIndex(here);
      OwnerIndex ownedThere = new OwnerIndex(there);
      for (int i = 1; i <= 20; i++) {
        (i % 2 == 0 ? here : there).write(block(i), new byte[] {1, 2, 3});
        (i % 2 == 0 ? ownedHere : ownedThere).add("", "a conversation", List.of(block(i)));
      }
    }
    try (TieredStore last = open()) {
      BlobName[] all =
          IntStream.rangeClosed(1, 20).mapToObj(i -> block(i)).toArray(BlobName[]::new);
      assertThat(found(last, all)).isEqualTo(20);
      new OwnerIndex(last).delete("", "a conversation");
      assertThat(last.flush(LONG)).isTrue();
      assertThat(found(last, all)).isZero();
    }
  }

  @Test
  void theSameOwnerNameOfAnotherTenantIsDifferent() {
    try (TieredStore store = open()) {
      store.write(block(1), new byte[] {1});
      OwnerIndex ownerIndex = new OwnerIndex(store);
      ownerIndex.add("ab", "a conversation", List.of(block(1)));
      ownerIndex.delete("cd", "a conversation");
      assertThat(store.flush(LONG)).isTrue();
      assertThat(found(store, block(1))).isOne();
    }
  }

  @Test
  void linesThatAreNoNamesAreIgnored() {
    try (TieredStore store = open()) {
      store.write(block(1), new byte[] {1});
      String text = "kvasir names 1\nblock ../../etc\n\nrecord\n" + block(1) + "\nblock 12";
      store.write(OwnerIndex.ownerRecord("", "a"), text.getBytes(StandardCharsets.UTF_8));
      assertThat(store.flush(LONG)).isTrue();
      new OwnerIndex(store).delete("", "a");
      assertThat(store.flush(LONG)).isTrue();
      assertThat(found(store, block(1))).isZero();
    }
  }
}
