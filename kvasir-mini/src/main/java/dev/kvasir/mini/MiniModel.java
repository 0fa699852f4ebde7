package dev.kvasir.mini;

import dev.kvasir.spi.BundledModel;
import java.net.URL;

/** The files of kvasir-mini, in this package. */
public final class MiniModel implements BundledModel {
  @Override
  public String name() {
    return "kvasir-mini";
  }

  @Override
  public URL weights() {
    return MiniModel.class.getResource("kvasir-mini-q8_0.gguf");
  }

  @Override
  public URL profile() {
    return MiniModel.class.getResource("kvasir-mini.profile.safetensors");
  }
}
