package dev.kvasir.lab.rotate;

import dev.kvasir.Model;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.basis.Rotated;
import dev.kvasir.codec.oscar.OscarProfile;
import dev.kvasir.kernel.Crew;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.gradient.LayerAttended;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Finds OSCAR's rotations: keys by the spread of the queries that look for them, values by that of
 * what attention finds; and then how far the ranges of rotated vectors are cut.
 */
public final class RotationCalibration {
  /** Of codes that ranges are cut for. */
  public static final int BITS = 2;

  /** Texts whose vectors ranges are tried on; the error hardly depends on them. */
  private static final int TRIED = 2;

  private final TracedDecoder decoder;
  private final CacheShape shape;
  private final int queryHeads;
  private final WorkListener listener;

  public RotationCalibration(Model model, Crew crew, WorkListener listener) {
    this.decoder = TracedDecoder.of(model, 1, crew);
    this.shape = model.config().cacheShape();
    this.queryHeads = model.config().queryHeads();
    this.listener = listener;
  }

  /**
   * @return empty where the listener asked to stop
   */
  public Optional<OscarProfile> run(List<int[]> texts) {
    HeadSpreads queries = new HeadSpreads(shape.layers(), shape.kvHeads(), shape.keyDim());
    HeadSpreads found = new HeadSpreads(shape.layers(), shape.kvHeads(), shape.valueDim());
    List<int[]> tried = texts.subList(0, Math.min(TRIED, texts.size()));
    int inAll = texts.size() + tried.size();
    read(
        texts,
        0,
        inAll,
        attended -> {
          queries.add(attended.layer(), attended.vectors().queries(), queryHeads, decoder.crew());
          found.add(attended.layer(), attended.outputs(), queryHeads, decoder.crew());
        });
    if (listener.stopped()) {
      return Optional.empty();
    }
    List<Rotated> keys = rotations(queries, shape.keyDim());
    List<Rotated> values = rotations(found, shape.valueDim());
    List<ClipSearch> keyClips = searches(shape.keyDim());
    List<ClipSearch> valueClips = searches(shape.valueDim());
    read(
        tried,
        texts.size(),
        inAll,
        attended -> {
          int layer = attended.layer();
          keyClips.get(layer).add(rotated(keys.get(layer), attended.vectors().keys()));
          valueClips.get(layer).add(rotated(values.get(layer), attended.vectors().values()));
        });
    return listener.stopped()
        ? Optional.empty()
        : Optional.of(new OscarProfile(layers(keys, keyClips, values, valueClips)));
  }

  private List<LayerBasis> layers(
      List<Rotated> keys, List<ClipSearch> keyClips, List<Rotated> values, List<ClipSearch> clips) {
    return IntStream.range(0, shape.layers())
        .mapToObj(
            layer ->
                new LayerBasis(
                    keys.get(layer),
                    keyClips.get(layer).best(),
                    values.get(layer),
                    clips.get(layer).best()))
        .toList();
  }

  private interface LayerVisitor {
    void visit(LayerAttended attended);
  }

  private void read(List<int[]> texts, int before, int inAll, LayerVisitor visitor) {
    for (int i = 0; i < texts.size() && !listener.stopped(); i++) {
      decoder.forward(
          texts.get(i),
          new TextVisitor() {
            @Override
            public boolean attended(LayerAttended attended) {
              visitor.visit(attended);
              return !listener.stopped();
            }
          });
      listener.progress(before + i + 1, inAll);
    }
  }

  private List<ClipSearch> searches(int dim) {
    return IntStream.range(0, shape.layers()).mapToObj(i -> new ClipSearch(dim, BITS)).toList();
  }

  private List<Rotated> rotations(HeadSpreads spreads, int dim) {
    List<Rotated> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      float[] rows = new float[shape.kvHeads() * dim * dim];
      for (int head = 0; head < shape.kvHeads(); head++) {
        float[] own = SpectralRotation.of(spreads.of(layer, head), dim);
        System.arraycopy(own, 0, rows, head * dim * dim, own.length);
      }
      layers.add(new Rotated(dim, rows));
    }
    return layers;
  }

  /**
   * @param x (tokens, kvHeads, dim), left as it is
   */
  private float[] rotated(Rotated rotation, float[] x) {
    float[] changed = x.clone();
    for (int at = 0; at < x.length; at += rotation.dim()) {
      rotation.change(at / rotation.dim() % shape.kvHeads(), changed, at, 1);
    }
    return changed;
  }
}
