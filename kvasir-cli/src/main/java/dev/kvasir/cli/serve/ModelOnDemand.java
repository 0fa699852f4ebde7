package dev.kvasir.cli.serve;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.AutoCache;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.ServableModel;
import java.util.List;
import java.util.OptionalLong;

/**
 * One of several models of a server.
 *
 * @param typedSpecs its caches as typed
 */
record ModelOnDemand(String name, ModelArguments model, List<String> typedSpecs, Serve serve)
    implements ServableModel {
  @Override
  public long bytes() {
    return outline().weightBytes() + serve.service().cacheBytes();
  }

  private ModelOutline outline() {
    return model.outline(serve.loading());
  }

  @Override
  public List<CacheSpec> cacheSpecs() {
    return ServiceArguments.parse(typedSpecs, () -> choose(outline()));
  }

  private CacheSpec choose(ModelOutline outline) {
    return new AutoCache(
            outline, model.profile(null), serve.device().supportedCaches(model, outline))
        .choose(
            serve.service().tokensAtMost(outline), OptionalLong.of(serve.service().cacheBytes()))
        .spec();
  }

  @Override
  public LoadedModel load() {
    ModelOutline outline = outline();
    List<CacheSpec> specs = cacheSpecs();
    serve
        .service()
        .check(outline, specs, model.profile(null), serve.service().tokensAtMost(outline));
    EngineOptions options = serve.engineOptions(specs);
    LoadedModel loaded = model.load(options, serve.streams());
    serve.report(loaded, specs);
    return loaded;
  }
}
