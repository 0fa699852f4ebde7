/**
 * Models by name: finds the files of {@code hf:owner/repo} on a Hugging Face hub, downloads what
 * the cache lacks, and returns a path to load. {@link dev.kvasir.hub.ModelHub} is the entry. {@link
 * dev.kvasir.hub.HubCache} has the layout of the Python package huggingface_hub, so both share
 * downloads.
 *
 * <p>Everything that a server sends is checked before use: names must stay inside of the cache, and
 * content must have the announced size and hash. A token goes to the hub's own address only.
 *
 * <p>Uses {@code format}.
 */
package dev.kvasir.hub;
