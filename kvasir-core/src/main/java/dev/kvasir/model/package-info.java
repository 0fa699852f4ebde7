/**
 * Decoder-only transformers: configuration, weights and the forward pass on the CPU. {@link
 * dev.kvasir.model.ModelConfig} describes a model, {@link dev.kvasir.model.Architecture} its
 * family, and {@link dev.kvasir.model.TensorPlan} the tensors that a file must contain. {@link
 * dev.kvasir.model.HostEngine} loads weights and runs batches; {@link
 * dev.kvasir.model.DecoderEngine} is the interface shared with engines on other devices, which
 * {@link dev.kvasir.spi.EngineProvider} opens.
 *
 * <p>Uses the packages attention, cache, codec, engine, error, format, kernel, memory and profile.
 */
package dev.kvasir.model;
