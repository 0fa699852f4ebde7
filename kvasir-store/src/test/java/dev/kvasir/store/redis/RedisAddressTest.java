package dev.kvasir.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisAddressTest {
  @Test
  void allPartsAreRead() {
    assertThat(RedisAddress.parse("rediss://ann:a%3Ab%40c@[::1]:7000/12?ttl=90m"))
        .isEqualTo(
            new RedisAddress(
                true,
                Optional.of("ann"),
                Optional.of("a:b@c"),
                "::1",
                7000,
                12,
                Duration.ofMinutes(90)));
  }

  @Test
  void unsetOptionsHaveDefaults() {
    RedisAddress address = RedisAddress.parse("redis://cache.example");
    assertThat(address)
        .isEqualTo(
            new RedisAddress(
                false,
                Optional.empty(),
                Optional.empty(),
                "cache.example",
                6379,
                0,
                Duration.ofHours(24)));
    assertThat(address).hasToString("redis://cache.example:6379/0");
  }

  @Test
  void aPasswordNeedsNoUser() {
    RedisAddress address = RedisAddress.parse("redis://:hush@h");
    assertThat(address.user()).isEmpty();
    assertThat(address.password()).contains("hush");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "redis://|redis://' is no address; expected redis://[user:password@]host[:port][/db][?ttl=24h]",
        "redis://a b|redis://a b' is no address",
        "redis://ann:hush@a b|redis://***@a b' is no address",
        "redis://h#x|redis://h#x' is no address",
        "redis://hush@h|redis://***@h' has no password before '@'; expected user:password@ or :password@",
        "redis://ann:@h|redis://***@h' has no password",
        "redis://:hu@sh@h:1|redis://***@h:1' is no address",
        "redis://h:0|redis://h:0' has port 0; expected 1 to 65535",
        "redis://h:65536|redis://h:65536' has port 65536",
        "redis://ann:hush@h/x|redis://***@h/x' has the database 'x'; expected a number",
        "redis://h?ttl=0s|redis://h?ttl=0s' ends in 'ttl=0s'; expected ttl=24h, of s, m, h or d, 1s to 365d",
        "redis://h?ttl=366d|redis://h?ttl=366d' ends in",
        "redis://h?time=1h|redis://h?time=1h' ends in"
      })
  void aBadOneIsRefusedInASentenceWithoutItsPassword(String typed, String sentence) {
    assertThatThrownBy(() -> RedisAddress.parse(typed))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("the store '" + sentence)
        .hasMessageNotContaining("hush")
        .hasNoCause();
  }
}
