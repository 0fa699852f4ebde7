package dev.kvasir.cache;

/** What a spec stands for, before the model's sizes are known. */
public interface CacheMethod {
  CacheSettings settings(CacheShape shape);
}
