package dev.kvasir.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.store.StoreAddress.FolderAddress;
import dev.kvasir.store.StoreAddress.RedisStoreAddress;
import dev.kvasir.store.redis.RedisAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreAddressTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sessions | sessions | 0",
        "sessions,0 | sessions | 0",
        "/var/kv,50GiB | /var/kv | 53687091200",
        "a,b,1.5KiB | a,b | 1536",
        "a,b,0 | a,b | 0",
        "redis | redis | 0"
      })
  void aFolderMayHaveABudget(String typed, String folder, long budget) {
    assertThat(StoreAddress.parse(typed)).isEqualTo(new FolderAddress(Path.of(folder), budget));
  }

  @Test
  void aServerIsOneByItsScheme() {
    String typed = "rediss://:hush@cache.example:7000/2?ttl=1d";
    assertThat(StoreAddress.parse(typed))
        .isEqualTo(new RedisStoreAddress(RedisAddress.parse(typed)));
    assertThat(StoreAddress.parse(typed).toString()).doesNotContain("hush");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "\"\" | the store is ''; expected DIR, DIR,50GiB, redis://HOST:PORT or rediss://HOST:PORT",
        "\" ,1GiB\" | the store is ' ,1GiB'; expected DIR",
        "http://ann:hush@h | the store is 'http://***@h'; expected DIR",
        "s3://bucket,1GiB | the store is 's3://bucket,1GiB'; expected DIR",
        "a,b | the budget of the store a is 'b'; expected bytes, as in 512MiB or 2GiB",
        "a,50 | the budget of the store a is '50'; expected bytes",
        "a, | the budget of the store a is ''; expected bytes",
        "redis:// | the store 'redis://' is no address"
      })
  void aBadOneIsRefusedInASentence(String typed, String sentence) {
    assertThatThrownBy(() -> StoreAddress.parse(typed))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith(sentence)
        .hasMessageNotContaining("hush");
  }

  @Test
  void aFolderThatCannotBeWrittenIsReportedBeforeAnythingIsSaved(@TempDir Path folder)
      throws IOException {
    StoreAddress.parse(folder.resolve("a/b").toString()).check();
    assertThat(folder.resolve("a/b")).isEmptyDirectory();
    Path file = Files.writeString(folder.resolve("file"), "in the way");
    assertThatThrownBy(() -> StoreAddress.parse(file.resolve("b").toString()).check())
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the store %s/b cannot be written; expected a folder that this user may write to"
                .formatted(file));
  }
}
