package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice.KernelRequest;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
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
    public Optional<String> unavailableReason() {
      return Optional.empty();
    }

    @Override
    public Kernels create() {
      return named("willing");
    }
  }

  /** Offers kernels that cannot run here. */
  public static final class Refusing implements KernelProvider {
    @Override
    public String name() {
      return "refusing";
    }

    @Override
    public Optional<String> unavailableReason() {
      return Optional.of("a flag is missing; add --flag");
    }

    @Override
    public Kernels create() {
      throw new AssertionError("a provider that refuses is not asked");
    }
  }

  @Test
  void withoutProvidersItIsScalarAndSaysWhy() {
    KernelChoice choice = KernelChoice.choose(Optional.empty());
    assertThat(choice.kernels()).isInstanceOf(ScalarKernels.class);
    assertThat(choice.reason()).isEqualTo("kvasir-native is not on the class path");
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
  void theFirstThatCanRunIsTaken() throws Exception {
    KernelChoice choice = choose(null, Refusing.class, Willing.class);
    assertThat(choice.kernels().name()).isEqualTo("willing");
    assertThat(choice.reason()).isEqualTo("the fastest that can run here");
  }

  @Test
  void oneThatIsAskedForServes() throws Exception {
    KernelChoice choice = choose("willing", Refusing.class, Willing.class);
    assertThat(choice.kernels().name()).isEqualTo("willing");
    assertThat(choice.reason()).isEqualTo("chosen because -Dkvasir.kernels=willing was given");
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
          Optional.ofNullable(wanted)
              .map(name -> new KernelRequest(name, "-Dkvasir.kernels=" + name)));
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
