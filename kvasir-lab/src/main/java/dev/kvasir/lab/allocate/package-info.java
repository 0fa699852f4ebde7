/**
 * Allocates bit widths to layers, the block-wise memory allocation of PM-KVQ. {@link
 * dev.kvasir.lab.allocate.Sensitivities} measures the effect of each width on the loss, {@link
 * dev.kvasir.lab.allocate.LayerBitAllocation} solves the allocation, and {@link
 * dev.kvasir.lab.allocate.AllocationProfile} stores both. The package uses the lab packages
 * calibrate, gradient and work, and the codec, model and profile packages of kvasir-core.
 */
package dev.kvasir.lab.allocate;
