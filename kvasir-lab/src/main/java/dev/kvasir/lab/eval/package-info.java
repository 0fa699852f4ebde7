/**
 * Evaluates KV caches on the same tasks, with fp16 as the reference and a confidence interval for
 * every score. {@link dev.kvasir.lab.eval.CacheEvaluator} runs the {@link
 * dev.kvasir.lab.eval.Task}s of {@link dev.kvasir.lab.eval.EvaluationSettings} and returns an
 * {@link dev.kvasir.lab.eval.Evaluation} with a {@link dev.kvasir.lab.eval.Row} for each cache.
 * {@link dev.kvasir.lab.eval.EvaluationJournal} makes long runs resumable. The package uses the lab
 * packages task, text and work, and the cache, codec, engine, sampling and text packages of
 * kvasir-core.
 */
package dev.kvasir.lab.eval;
