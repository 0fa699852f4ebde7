package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice.Wanted;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelChoiceTest {
  private static final String SERVICES = "META-INF/services/dev.kvasir.kernel.KernelProvider";

  @TempDir Path folder;

  /** Kernels that can tell their name and nothing else. */
  private static Kernels named(String name) {
    return (Kernels)
        Proxy.newProxyInstance(
            Kernels.class.getClassLoader(),
            new Class<?>[] {Kernels.class},
            (proxy, method, arguments) -> name);
  }

  /** Offers kernels that can run. */
  public static final class Willing implements KernelProvider {
    @Override
    public String name() {
      return "willing";
    }

    @Override
    public Optional<String> refusal() {
      return Optional.empty();
    }

    @Override
    public int rank() {
      return 2;
    }

    @Override
    public int lanes() {
      return 8;
    }

    @Override
    public Kernels create(Supplier<Kernels> beneath, int lanes) {
      return named("willing, %d lanes, on %s".formatted(lanes, beneath.get().name()));
    }
  }

  /** Offers kernels of a lower rank. */
  public static final class Lowly implements KernelProvider {
    @Override
    public String name() {
      return "lowly";
    }

    @Override
    public int rank() {
      return 1;
    }

    @Override
    public Optional<String> refusal() {
      return Optional.empty();
    }

    @Override
    public int lanes() {
      return 4;
    }

    @Override
    public Kernels create(Supplier<Kernels> beneath, int lanes) {
      return named("lowly, %d lanes, on %s".formatted(lanes, beneath.get().name()));
    }
  }

  /** Offers kernels that cannot run here. */
  public static final class Refusing implements KernelProvider {
    @Override
    public String name() {
      return "refusing";
    }

    @Override
    public Optional<String> refusal() {
      return Optional.of("a flag is missing; add --flag");
    }

    @Override
    public int rank() {
      return 3;
    }

    @Override
    public int lanes() {
      throw new AssertionError("a provider that refuses is not asked");
    }

    @Override
    public Kernels create(Supplier<Kernels> beneath, int lanes) {
      throw new AssertionError("a provider that refuses is not asked");
    }
  }

  @Test
  void withoutProvidersItIsScalarAndSaysWhy() {
    KernelChoice choice = KernelChoice.choose(Optional.empty());
    assertThat(choice.kernels()).isInstanceOf(ScalarKernels.class);
    assertThat(choice.reason())
        .isEqualTo("neither kvasir-simd nor kvasir-native is on the class path");
  }

  @Test
  void theProcessChoosesOnce() {
    assertThat(KernelChoice.ofThisProcess()).isSameAs(KernelChoice.ofThisProcess());
  }

  @Test
  void plainJavaCanBeAskedForThoughOthersAreThere() throws Exception {
    KernelChoice choice = choose("java", Willing.class);
    assertThat(choice.kernels()).isInstanceOf(ScalarKernels.class);
    assertThat(choice.reason()).isEqualTo("chosen because -Dkvasir.kernels=java was given");
  }

  @Test
  void theHighestThatCanRunIsTakenOnTopOfTheOthers() throws Exception {
    KernelChoice choice = choose(null, Refusing.class, Willing.class, Lowly.class);
    assertThat(choice.kernels().name())
        .isEqualTo("willing, 4 lanes, on lowly, 4 lanes, on scalar Java");
    assertThat(choice.reason())
        .isEqualTo(
            "the fastest that can run here; refusing refused: a flag is missing; add --flag");
  }

  @Test
  void oneThatIsAskedForServesThoughAHigherOneCouldRun() throws Exception {
    KernelChoice choice = choose("lowly", Willing.class, Lowly.class);
    assertThat(choice.kernels().name()).isEqualTo("lowly, 4 lanes, on scalar Java");
    assertThat(choice.reason()).isEqualTo("chosen because -Dkvasir.kernels=lowly was given");
  }

  @Test
  void aRefusalIsToldWithTheFallback() throws Exception {
    KernelChoice choice = choose(null, Refusing.class);
    assertThat(choice.kernels()).isInstanceOf(ScalarKernels.class);
    assertThat(choice.reason()).isEqualTo("refusing refused: a flag is missing; add --flag");
  }

  @Test
  void askingForWhatRefusesIsRefusedWithItsSentence() {
    assertThatThrownBy(() -> choose("refusing", Willing.class, Refusing.class))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "-Dkvasir.kernels=refusing cannot be had:"
                + " refusing refused: a flag is missing; add --flag");
  }

  @Test
  void askingForTheUnknownIsRefusedWithTheKnown() {
    assertThatThrownBy(() -> choose("cuda", Willing.class, Refusing.class))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("-Dkvasir.kernels=cuda is unknown; known are java, willing, refusing");
    assertThatThrownBy(() -> choose(""))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("-Dkvasir.kernels= is unknown; known are java");
  }

  /** Chooses while the class path offers these providers, in this order. */
  private KernelChoice choose(String wanted, Class<?>... providers) throws IOException {
    StringBuilder names = new StringBuilder();
    for (Class<?> provider : providers) {
      names.append(provider.getName()).append('\n');
    }
    Path services = folder.resolve(SERVICES);
    Files.createDirectories(services.getParent());
    Files.writeString(services, names);
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    URL[] path = {folder.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(path, getClass().getClassLoader())) {
      thread.setContextClassLoader(loader);
      return KernelChoice.choose(
          Optional.ofNullable(wanted).map(name -> new Wanted(name, "-Dkvasir.kernels=" + name)));
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
