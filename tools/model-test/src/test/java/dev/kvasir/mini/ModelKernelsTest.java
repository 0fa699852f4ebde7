package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Caches compute with the kernels that the model was loaded with. */
class ModelKernelsTest {
  @TempDir private Path folder;

  private final Kernels scalar = new ScalarKernels();
  private final Set<String> callers = ConcurrentHashMap.newKeySet(); // simple names of classes

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "patternkv:2,window=0 | KMeans PatternSlab PatternkvPage",
        "commvq:1,beam=1,window=0,sinks=0 | BeamEncoder CommvqPage"
      })
  void theyReachCalibrationAndQuantization(String spec, String expected) {
    EngineOptions options = EngineOptions.defaults().withThreads(1).withKernels(watched());
    try (LoadedModel model = model(spec, options);
        KvCache cache = model.newCache(CacheSpec.parse(spec))) {
      int[] tokens = model.tokenizer().encode("Once upon a time. ".repeat(60));
      // One step fills a page, and the many rows of the next read it expanded.
      run(model, cache, Arrays.copyOf(tokens, 144));
      run(model, cache, Arrays.copyOf(tokens, 16));
    }
    assertThat(callers).contains(expected.split(" "));
  }

  private LoadedModel model(String spec, EngineOptions options) {
    return ShallowModel.serves(spec)
        ? LoadedModel.load(ShallowModel.write(folder.resolve("shallow.gguf")), options)
        : LoadedModel.bundled(options);
  }

  private static void run(LoadedModel model, KvCache cache, int[] tokens) {
    Batch batch = new Batch();
    for (int token : tokens) {
      batch.add(cache, token, false);
    }
    model.forward(batch);
  }

  /** Returns scalar kernels that record their callers. */
  private Kernels watched() {
    return (Kernels)
        Proxy.newProxyInstance(
            Kernels.class.getClassLoader(),
            new Class<?>[] {Kernels.class},
            (proxy, method, arguments) -> {
              callers.add(caller());
              return call(method, arguments);
            });
  }

  private Object call(Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(scalar, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static String caller() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .map(frame -> frame.getClassName())
                    .filter(name -> name.startsWith("dev.kvasir."))
                    .filter(name -> !name.startsWith(ModelKernelsTest.class.getName()))
                    .findFirst()
                    .map(name -> name.substring(name.lastIndexOf('.') + 1))
                    .orElse(""));
  }
}
