package dev.kvasir.model;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** A mixture of experts from its definition: it computes every expert for every token. */
final class NaiveExperts {
  private final TinyModel model;

  NaiveExperts(TinyModel model) {
    this.model = model;
  }

  double[][] combined(String at, double[][] x, NaiveDecoder decoder) {
    double[][] logits = decoder.project(at + "gate", x);
    double[][] out = new double[x.length][x[0].length];
    for (int expert = 0; expert < TinyModel.EXPERTS; expert++) {
      double[][] given = decoder.gated(at + "experts.%d.".formatted(expert), x);
      for (int t = 0; t < x.length; t++) {
        addTo(out[t], given[t], share(logits[t], expert));
      }
    }
    if (model.tensors.containsKey(at + "shared_expert_gate.weight")) {
      double[][] gate = decoder.project(at + "shared_expert_gate", x);
      double[][] given = decoder.gated(at + "shared_expert.", x);
      for (int t = 0; t < x.length; t++) {
        addTo(out[t], given[t], 1 / (1 + Math.exp(-gate[t][0])));
      }
    }
    return out;
  }

  private double share(double[] logits, int expert) {
    double[] softmax = Arrays.stream(logits).map(Math::exp).toArray();
    double sum = Arrays.stream(softmax).sum();
    List<Integer> chosen =
        IntStream.range(0, logits.length)
            .boxed()
            .sorted(Comparator.comparingDouble(i -> -logits[i]))
            .limit(TinyModel.EXPERTS_USED)
            .toList();
    if (!chosen.contains(expert)) {
      return 0;
    }
    boolean normalized = model.sizes.architecture().equals("qwen3moe");
    double whole = normalized ? chosen.stream().mapToDouble(i -> softmax[i]).sum() : sum;
    return softmax[expert] / whole;
  }

  private static void addTo(double[] out, double[] given, double share) {
    for (int i = 0; i < out.length; i++) {
      out[i] += share * given[i];
    }
  }
}
