package dev.kvasir.cli.serve;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.ServableModel;
import java.util.List;

/**
 * One of several models of a server.
 *
 * @param typedSpecs its caches as typed
 */
record ModelOnDemand(
    String name, ModelArguments model, List<String> typedSpecs, ModelLoading loading)
    implements ServableModel {
  @Override
  public long bytes() {
    return outline().weightBytes() + loading.service().cacheBytes();
  }

  private ModelOutline outline() {
    return model.outline(loading.load());
  }

  private int tokens(ModelOutline outline) {
    return loading.service().tokensAtMost(outline);
  }

  @Override
  public List<CacheSpec> cacheSpecs() {
    return ServiceArguments.parse(
        typedSpecs,
        () -> {
          ModelOutline outline = outline();
          return loading.choose(model, outline, model.profile(null), tokens(outline)).spec();
        });
  }

  @Override
  public LoadedModel load() {
    ModelOutline outline = outline();
    List<CacheSpec> specs = cacheSpecs();
    loading.check(outline, specs, model.profile(null), tokens(outline));
    LoadedModel loaded = model.load(loading.options(specs), loading.streams());
    loading.report(loaded, specs);
    return loaded;
  }
}
