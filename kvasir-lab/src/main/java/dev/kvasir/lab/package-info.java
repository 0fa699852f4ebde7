/**
 * The laboratory: everything around inference that measures or calibrates KV-cache quantization.
 * Its subpackages evaluate caches on tasks and on dumped vectors, calibrate quantization methods
 * for a model, and render the results. {@link dev.kvasir.lab.ProgressListener} is shared by all of
 * them. The lab uses kvasir-core; only the CLI and kvasir-spark use the lab.
 */
package dev.kvasir.lab;
