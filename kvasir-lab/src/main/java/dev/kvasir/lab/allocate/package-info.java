/** Which layers of a model get how many bits: PM-KVQ's block-wise memory allocation. */
package dev.kvasir.lab.allocate;
