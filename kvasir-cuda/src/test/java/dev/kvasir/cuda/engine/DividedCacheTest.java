package dev.kvasir.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.cache.KvCache;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Caches whose parts are on several cards, with parts that stand in for those of cards. */
class DividedCacheTest {
  private static final int BLOCK = 128;

  private final List<Part> opened = new ArrayList<>();

  /** A part that counts what its card would hold. */
  private final class Part implements InvocationHandler {
    private final int most; // tokens that its card has memory for
    private final int layers;
    private final boolean canDequantize;
    private int length;
    private int reserved;
    private boolean closed;

    Part(int most, int layers, boolean canDequantize) {
      this.most = most;
      this.layers = layers;
      this.canDequantize = canDequantize;
      opened.add(this);
    }

    KvCache cache() {
      return (KvCache)
          Proxy.newProxyInstance(
              KvCache.class.getClassLoader(), new Class<?>[] {KvCache.class}, this);
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
      return switch (method.getName()) {
        case "length" -> length;
        case "capacity" -> most;
        case "stepCapacity" -> Math.min((int) arguments[0], most - length);
        case "retainable" -> arguments[0];
        case "reserve" -> reserve((int) arguments[0]);
        case "commit" -> commit((int) arguments[0]);
        case "truncate" -> truncate((int) arguments[0]);
        case "fork" -> fork();
        case "close" -> close();
        case "bytes" -> new CacheBytes(0, 0, (long) layers * reserved, 0, 0);
        case "runs" -> List.of(new CacheRun(length, layers, 2 * layers, CacheRun.Kind.PAGES));
        default -> throw new UnsupportedOperationException(method.getName());
      };
    }

    private Object reserve(int wanted) {
      if (wanted > most) {
        throw new CacheFullException("%d tokens".formatted(wanted));
      }
      reserved = Math.max(reserved, wanted);
      return null;
    }

    private Object commit(int positions) {
      length += positions;
      return null;
    }

    private Object truncate(int wanted) {
      length = canDequantize ? wanted : wanted / BLOCK * BLOCK;
      reserved = length;
      return null;
    }

    private Object fork() {
      if (length == most) {
        throw new CacheFullException("a fork");
      }
      Part fork = new Part(most, layers, canDequantize);
      fork.length = length;
      fork.reserved = length;
      return fork.cache();
    }

    private Object close() {
      closed = true;
      length = 0;
      reserved = 0;
      return null;
    }
  }

  private static KvCache divided(Part... parts) {
    return new DividedCache(
        null,
        Stream.of(parts).map(Part::cache).toList(),
        Stream.of(parts).map(p -> p.layers).toList());
  }

  private static void append(KvCache cache, int tokens) {
    cache.reserve(cache.length() + tokens);
    cache.commit(tokens);
  }

  @Test
  void partsHaveTheSameTokens() {
    Part first = new Part(1000, 3, true);
    Part second = new Part(900, 2, true);
    KvCache cache = divided(first, second);
    append(cache, 300);
    assertThat(cache.length()).isEqualTo(first.length).isEqualTo(second.length).isEqualTo(300);
    assertThat(cache.capacity()).isEqualTo(900);
    assertThat(cache.stepCapacity(2000)).isEqualTo(600);
    assertThat(cache.bytes().total()).isEqualTo(5 * 300);
    cache.truncate(70);
    assertThat(cache.length()).isEqualTo(first.length).isEqualTo(second.length).isEqualTo(70);
  }

  @Test
  void whatOneCardCannotHoldIsReservedOnNone() {
    Part first = new Part(1000, 1, true);
    Part second = new Part(400, 1, true);
    Part third = new Part(1000, 1, true);
    KvCache cache = divided(first, second, third);
    append(cache, 300);
    assertThatThrownBy(() -> cache.reserve(401))
        .isInstanceOf(CacheFullException.class)
        .hasMessage("401 tokens")
        .hasNoSuppressedExceptions();
    assertThat(List.of(first.reserved, second.reserved, third.reserved)).containsOnly(300);
    append(cache, 100);
    assertThat(cache.length()).isEqualTo(400);
  }

  @Test
  void aBlockThatOneCardDropsIsDroppedOnAll() {
    Part first = new Part(1000, 1, true);
    Part second = new Part(1000, 1, false);
    KvCache cache = divided(first, second);
    append(cache, 700);
    cache.truncate(300);
    assertThat(cache.length()).isEqualTo(first.length).isEqualTo(second.length).isEqualTo(256);
  }

  @Test
  void aForkThatOneCardCannotHoldLeavesNone() {
    KvCache cache = divided(new Part(1000, 1, true), new Part(300, 1, true));
    append(cache, 200);
    try (KvCache fork = cache.fork()) {
      append(fork, 50);
      assertThat(fork.length()).isEqualTo(250);
      assertThat(cache.length()).isEqualTo(200);
    }
    append(cache, 100);
    assertThatThrownBy(cache::fork).isInstanceOf(CacheFullException.class).hasMessage("a fork");
    assertThat(opened.stream().skip(2)).hasSize(3).allMatch(fork -> fork.closed);
    cache.close();
    assertThat(opened).allMatch(part -> part.closed);
    assertThat(cache.length()).isZero();
  }

  /** Three layers of 3 and 6 bits and one of 1 and 2. */
  @Test
  void runsHaveTheMeanBitsOfLayers() {
    KvCache cache = divided(new Part(1000, 3, true), new Part(1000, 1, true));
    append(cache, 10);
    assertThat(cache.runs()).containsExactly(new CacheRun(10, 2.5, 5, CacheRun.Kind.PAGES));
  }
}
